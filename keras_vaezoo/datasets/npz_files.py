"""Arrays in .npz files, in pieces or memory-mapped where the file allows it."""

import zipfile
import zlib

import numpy as np

_LOCAL_HEADER_BYTES = 30


def npz_keys(path):
    """Names of the arrays in an .npz file; a damaged file is named in a ValueError."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        raise ValueError(
            f"The file {path} is not a whole .npz file ({error}). Get it again."
        ) from error
    return [member.removesuffix(".npy") for member in members]


def check_npz_key(path, key):
    """Raises a ValueError that lists the arrays of an .npz file, unless `key` is one."""
    keys = npz_keys(path)
    if key not in keys:
        raise ValueError(f"The file {path} has no array '{key}'. It has: {', '.join(sorted(keys))}")


def read_npz(path, key):
    """One array of an .npz file: memory-mapped where it is stored uncompressed."""
    check_npz_key(path, key)
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(key + ".npy")
    if member.compress_type == zipfile.ZIP_STORED:
        return _map_member(path, member)
    pieces = list(iterate_npz(path, key, 4096))
    return np.concatenate(pieces)


def iterate_npz(path, key, rows):
    """Yields one array of an .npz file in pieces of `rows` rows, never all at once."""
    check_npz_key(path, key)
    with zipfile.ZipFile(path) as archive, archive.open(key + ".npy") as stream:
        shape, dtype = _read_header(stream, path, key)
        row_bytes = dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))
        for start in range(0, shape[0], rows):
            count = min(rows, shape[0] - start)
            try:
                data = stream.read(count * row_bytes)
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                data = b""
                reason = error
            else:
                reason = "it ends too early"
            if len(data) != count * row_bytes:
                raise ValueError(f"The array '{key}' in {path} is damaged ({reason}).")
            yield np.frombuffer(data, dtype).reshape(count, *shape[1:])


def _read_header(stream, path, key):
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, fortran_order, dtype = read(stream)
    if dtype.hasobject or fortran_order or not shape:
        raise ValueError(
            f"The array '{key}' in {path} must hold numbers in C order with examples along its "
            f"first axis. Received: shape {shape}, dtype {dtype}, fortran_order={fortran_order}"
        )
    return shape, dtype


def _map_member(path, member):
    with open(path, "rb") as file:
        file.seek(member.header_offset)
        header = file.read(_LOCAL_HEADER_BYTES)
        # The lengths of the member's name and of its extra field end the fixed header.
        skip = sum(np.frombuffer(header, "<u2", 2, _LOCAL_HEADER_BYTES - 4).tolist())
        file.seek(member.header_offset + _LOCAL_HEADER_BYTES + skip)
        shape, dtype = _read_header(file, path, member.filename.removesuffix(".npy"))
        offset = file.tell()
    if member.file_size == 0 or 0 in shape:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, "r", offset, shape)
