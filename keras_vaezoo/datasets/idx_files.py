"""Reader of the idx files that MNIST and its relatives come in."""

import gzip
import hashlib
import struct
import zlib

import numpy as np

_UINT8_CODE = 8


def read_idx(path):
    """Reads an idx file of bytes, gzip-compressed or not.

    Format: two zero bytes, the type code 8 (uint8), the number of dimensions, each dimension
    as a big-endian 32-bit number, then the values.

    Args:
        path: `pathlib.Path` of the file; the suffix .gz marks compression.

    Returns:
        `(array, sha256)`: a uint8 array and the checksum of the uncompressed bytes.

    Raises:
        ValueError: If the file is damaged, too short, too long or not an idx file.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"The file {path} is damaged or only partly there ({error}). Get it again."
        ) from error
    if len(data) < 4 or data[:3] != bytes([0, 0, _UINT8_CODE]):
        raise ValueError(
            f"The file {path} is not an idx file of bytes. Received: first bytes {data[:4].hex()}, "
            f"expected 000008 and the number of dimensions."
        )
    header = 4 + 4 * data[3]
    shape = struct.unpack(f">{data[3]}I", data[4:header]) if len(data) >= header else ()
    expected = header + int(np.prod(shape, dtype=np.int64))
    if len(data) != expected:
        raise ValueError(
            f"The file {path} is damaged or only partly there: its header announces {expected} "
            f"bytes for shape {shape}. Received: {len(data)} bytes. Get it again."
        )
    array = np.frombuffer(data, np.uint8, offset=header).reshape(shape)
    return array, hashlib.sha256(data).hexdigest()
