"""from_arrays: arrays in memory, and .npy, .npz and HDF5 files."""

import collections
from pathlib import Path

import numpy as np

from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.hdf5_files import Hdf5Images, keys_of, open_hdf5, read_hdf5
from keras_vaezoo.datasets.lazy_images import ARRAY_LIMIT_BYTES, StoredImages
from keras_vaezoo.datasets.npz_files import npz_keys, read_npz
from keras_vaezoo.datasets.scaling import check_value_range
from keras_vaezoo.datasets.splits import part

KINDS = ("images", "signals", "table")
HDF5_SUFFIXES = (".h5", ".hdf5")
SUFFIXES = (".npy", ".npz", *HDF5_SUFFIXES)

_Facts = collections.namedtuple("_Facts", "shape dtype")

# A three-dimensional array of floats with at most this many values along its last axis holds
# signals.
_MOST_SIGNAL_CHANNELS = 4


def from_arrays(
    images,
    labels=None,
    factors=None,
    factor_names=None,
    key=None,
    kind=None,
    value_range=None,
    name=None,
    split="train",
    test_fraction=None,
    seed=0,
):
    """Makes a data set of arrays, in memory or in files.

    Shapes: `(n, height, width, channels)` and `(n, height, width)` are images, the latter
    grey; floats `(n, samples, channels)` with at most 4 channels are signals; `(n, columns)` is
    a table. `kind` overrides the guess for two and three dimensions.

    Values: bool, uint8 and uint16 pixels are scaled to `value_range`. Floats are taken as
    they are, as float32, and must be finite. Other whole numbers are refused, since their
    scale is not known.

    Files: .npy and uncompressed .npz files are memory-mapped, HDF5 files are read row by row,
    compressed .npz files are read into memory.

    Args:
        images: Array, or path of a file (.npy, .npz, .h5, .hdf5).
        labels: Array `(n,)`, the key of one in the same .npz or HDF5 file, or the path of a
            .npy file.
        factors: Array `(n, k)`, key or path likewise. Whole numbers are counted from 0 and
            give `factor_sizes`.
        factor_names: k names. Defaults to "factor_0", "factor_1", ...
        key: Name of the images in an .npz or HDF5 file. None: the only array there with two
            or more dimensions.
        kind: "images", "signals" (a channel axis is added to `(n, samples)`) or "table".
        value_range: `(low, high)`. For pixels, what 0 and the largest of the dtype become;
            defaults to `(0.0, 1.0)`. For floats, what you know their range to be; defaults to
            their smallest and largest value in memory, and to None for files.
        name: Name of the data set. Defaults to the name of the file, or "arrays".
        split: "train", "test" or "all".
        test_fraction: Share of the rows that form "test". None: "train" has all of them.
        seed: Seed of the split.

    Returns:
        A `Dataset`.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file, a key, the dtype, the shape, a value or a length does not fit.

    Example:

    ```python
    data = keras_vaezoo.datasets.from_arrays("scans.h5", key="volumes/slices")
    model.fit(data.as_tf(64), epochs=10)
    ```
    """
    if kind not in (None, *KINDS):
        raise ValueError(f"`kind` must be one of {', '.join(KINDS)}. Received: kind={kind!r}")
    path = _path_of(images)
    stored, key = (_in_memory(images), None) if path is None else _open(path, key)
    pixels = _check_dtype(stored.dtype)
    shape = _item_shape(stored.shape, kind, pixels)
    if pixels or value_range is not None:
        value_range = check_value_range((0.0, 1.0) if value_range is None else value_range)
    if path is not None and path.suffix.lower() in HDF5_SUFFIXES:
        rows = Hdf5Images(path, key, shape, value_range)
    else:
        rows = StoredImages(stored, shape, value_range)
        if path is None and rows.nbytes <= ARRAY_LIMIT_BYTES // 2:
            rows = np.asarray(rows)
            if value_range is None:
                value_range = (float(rows.min()), float(rows.max()))
    factors = _column(factors, path, "factors")
    dataset = Dataset(
        rows,
        name or (path.stem if path else "arrays"),
        labels=_column(labels, path, "labels"),
        value_range=value_range,
        **_factor_facts(factors, factor_names),
    )
    return part(dataset, split, test_fraction, seed)


def _path_of(source):
    if not isinstance(source, (str, Path)):
        return None
    path = Path(source).expanduser()
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"A file must be one of {', '.join(SUFFIXES)}. Received: {str(path)!r}")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    return path


def _in_memory(images):
    array = np.asarray(images)
    if array.dtype.kind == "f" and array.dtype.itemsize > 4 and array.size:
        array = array.astype(np.float32)
    return array


def _open(path, key):
    """The array in a file, or for HDF5 only its shape and dtype; and its key."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return _open_npy(path), None
    if suffix == ".npz":
        arrays = npz_keys(path)
        if key is None:
            key = arrays[0] if len(arrays) == 1 else None
        if key is None:
            shapes = {name: read_npz(path, name).shape for name in arrays}
            key = _only_wide(path, shapes)
        return read_npz(path, key), key
    with open_hdf5(path) as file:
        if key is None:
            key = _only_wide(path, {name: file[name].shape for name in keys_of(file)})
        stored = read_hdf5(file, key)
        return _Facts(stored.shape, stored.dtype), key


def _open_npy(path):
    try:
        return np.load(path, mmap_mode="r")
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"The file {path} is not a whole .npy file of numbers: {error}") from error


def _only_wide(path, shapes):
    wide = [name for name, shape in shapes.items() if len(shape) > 1]
    if len(wide) == 1:
        return wide[0]
    listed = ", ".join(f"{name} {shape}" for name, shape in sorted(shapes.items()))
    raise ValueError(f"Say which array of {path} holds the images: key=... It has: {listed}")


def _item_shape(shape, kind, pixels):
    if len(shape) not in (2, 3, 4) or 0 in shape:
        raise ValueError(
            "The images must have shape (n, height, width, channels), (n, height, width), "
            f"(n, samples, channels) or (n, columns), none of them 0. Received: shape {shape}"
        )
    if len(shape) == 4:
        fits = kind in (None, "images")
        item = shape[1:]
    elif len(shape) == 3:
        narrow = shape[2] <= _MOST_SIGNAL_CHANNELS and not pixels
        signals = kind == "signals" or (kind is None and narrow)
        fits = kind != "table"
        item = shape[1:] if signals else (*shape[1:], 1)
    else:
        fits = kind != "images"
        item = (*shape[1:], 1) if kind == "signals" else shape[1:]
    if not fits:
        raise ValueError(f"An array of shape {shape} cannot hold {kind}. Received: kind={kind!r}")
    return item


def _check_dtype(dtype):
    """Whether values of `dtype` are pixels that are to be scaled; floats are not."""
    if dtype.kind == "f":
        return False
    if dtype in (np.bool_, np.uint8, np.uint16):
        return True
    raise ValueError(
        "The values must be bool, uint8 or uint16 (which are scaled) or floats (which are not). "
        f"Received: dtype {dtype}. Convert pixels of 0 to 255 with .astype('uint8'), other "
        "numbers with .astype('float32')."
    )


def _column(source, path, what):
    """Labels or factors: an array, a key of the images' file, or the path of a .npy file."""
    if source is None or not isinstance(source, (str, Path)):
        return None if source is None else np.asarray(source)
    if str(source).endswith(".npy"):
        return np.asarray(_open_npy(_path_of(source)))
    if path is None or path.suffix.lower() == ".npy":
        raise ValueError(
            f"`{what}` must be an array or the path of a .npy file. Received: {what}={source!r}"
        )
    if path.suffix.lower() == ".npz":
        return np.asarray(read_npz(path, str(source)))
    with open_hdf5(path) as file:
        return read_hdf5(file, str(source))[()]


def _factor_facts(factors, names):
    if factors is None:
        if names is not None:
            raise ValueError("`factor_names` names the columns of `factors`, which is missing.")
        return {}
    if factors.ndim != 2:
        raise ValueError(f"`factors` must have shape (n, k). Received: shape {factors.shape}")
    names = tuple(names or (f"factor_{j}" for j in range(factors.shape[1])))
    if len(names) != factors.shape[1]:
        raise ValueError(
            f"`factor_names` must name the {factors.shape[1]} columns of `factors`. "
            f"Received: factor_names={names!r}"
        )
    whole = factors.dtype.kind in "iu" and factors.min() >= 0
    sizes = tuple(int(top) + 1 for top in factors.max(axis=0)) if whole else None
    return {"factors": factors, "factor_names": names, "factor_sizes": sizes}
