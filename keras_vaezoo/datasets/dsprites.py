"""dsprites: the real dSprites, from its HDF5 or NPZ file or from tensorflow_datasets."""

import numpy as np

from keras_vaezoo.datasets import gcvae_rows, tfds_sets
from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.grids import in_grid_order
from keras_vaezoo.datasets.hdf5_files import open_hdf5, read_hdf5
from keras_vaezoo.datasets.lazy_images import LazyImages, StoredImages
from keras_vaezoo.datasets.local_files import DATA_VARIABLE, check_file, find_file, folders_of
from keras_vaezoo.datasets.npz_files import check_npz_key, iterate_npz
from keras_vaezoo.datasets.scaling import check_value_range
from keras_vaezoo.datasets.sources import download_way, first_found, prepared_way
from keras_vaezoo.datasets.splits import part
from keras_vaezoo.datasets.sprites import FACTOR_NAMES, FACTOR_SIZES, FACTOR_VALUES

_STEM = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64"
_CHECKS = {
    ".hdf5": (
        "sha256",
        "729fa22e884c9c500e1f17415d580746b4c5894fbbb780a1319bbcfa39a745bb",
        28_024_106,
    ),
    ".npz": ("md5", "7da33b31b13a06f4b04a70402ce90c2e", None),
}
_TFDS_LABELS = (
    "label_shape",
    "label_scale",
    "label_orientation",
    "label_x_position",
    "label_y_position",
)
_ROWS = 8192


def load_dsprites(
    split,
    data_dir=None,
    value_range=(0.0, 1.0),
    path=None,
    verify=True,
    download=False,
    test_fraction=None,
    seed=0,
):
    """dSprites: 737,280 binary images, 64x64x1, kept in memory as bits. See `load`."""
    value_range = check_value_range(value_range)
    folders = folders_of("dsprites", data_dir)
    suffixes = tuple(_CHECKS)
    file = find_file([_STEM + suffix for suffix in suffixes], folders, path)
    pixels, classes = first_found(
        "dsprites",
        data_dir or path,
        folders,
        lambda: None if file is None else _read_file(file, verify),
        lambda: _read_prepared(data_dir, download),
        ways=(
            download_way("dsprites"),
            f"Get {_STEM}.hdf5 (or .npz) of github.com/google-deepmind/dsprites-dataset and pass "
            f"path=file, or its folder as data_dir, or put it into the sub-folder 'dsprites' of "
            f"the folder that {DATA_VARIABLE} names.",
            prepared_way("dsprites"),
        ),
    )
    images = _held(pixels, value_range)
    images, factors, is_grid = in_grid_order(images, classes, FACTOR_SIZES)
    dataset = Dataset(
        images,
        "dsprites",
        factors=factors,
        factor_names=FACTOR_NAMES,
        factor_sizes=FACTOR_SIZES,
        factor_values=FACTOR_VALUES,
        value_range=value_range,
        is_grid=is_grid,
    )
    if split == gcvae_rows.SPLIT:
        return dataset.take(gcvae_rows.gcvae_rows())
    return part(dataset, split, test_fraction, seed)


class BinaryImages(LazyImages):
    """Images of 0 and 255, kept as bits: an eighth of a byte a pixel.

    Args:
        bits: uint8 array `(n, bytes)`, each row the `numpy.packbits` of an image.
        item_shape: Shape of one image.
        value_range: `(low, high)` of black and white.
    """

    def __init__(self, bits, item_shape, value_range=(0.0, 1.0)):
        super().__init__(len(bits), item_shape, value_range)
        self._bits = bits

    def _read(self, indices):
        pixels = np.unpackbits(self._bits[indices], axis=1, count=int(np.prod(self.shape[1:])))
        return pixels.reshape(-1, *self.shape[1:]) * np.uint8(255)


def _held(chunks, value_range):
    """Lazy images of chunks of `(n, 64, 64)` pixels: bits where the pixels are 0 and 1."""
    first = next(chunks)
    if first.max() > 1:
        return StoredImages(np.concatenate([first, *chunks])[..., None], value_range=value_range)
    bits = [_pack(first), *map(_pack, chunks)]
    return BinaryImages(np.concatenate(bits), (64, 64, 1), value_range)


def _pack(chunk):
    if chunk.max() > 1:
        raise ValueError(
            "The images of dSprites are 0 and 1, or 0 to 255, all alike. "
            f"Received: both 1 and {chunk.max()} as the maximum of parts of them"
        )
    return np.packbits(chunk.reshape(len(chunk), -1), axis=1)


def _read_file(path, verify):
    suffix = path.suffix.lower()
    if suffix not in _CHECKS:
        raise ValueError(f"dSprites comes as {' or '.join(_CHECKS)}. Received: path={str(path)!r}")
    if verify:
        check_file(path, *_CHECKS[suffix])
    return (_read_hdf5_file if suffix == ".hdf5" else _read_npz_file)(path)


def _read_hdf5_file(path):
    with open_hdf5(path) as file:
        count = len(read_hdf5(file, "imgs"))
        classes = read_hdf5(file, "latents/classes")[()]
    return _with_progress(_hdf5_chunks(path), count), classes[:, -len(FACTOR_SIZES) :]


def _hdf5_chunks(path):
    with open_hdf5(path) as file:
        stored = read_hdf5(file, "imgs")
        for start in range(0, len(stored), _ROWS):
            yield stored[start : start + _ROWS]


def _read_npz_file(path):
    check_npz_key(path, "imgs")
    classes = np.concatenate(list(iterate_npz(path, "latents_classes", 2**20)))
    chunks = _with_progress(iterate_npz(path, "imgs", _ROWS), len(classes))
    return chunks, classes[:, -len(FACTOR_SIZES) :]


def _read_prepared(data_dir, download):
    features = ("image", *_TFDS_LABELS)
    wanted = dict.fromkeys(features, True)
    prepared = tfds_sets.open_prepared("dsprites", "train", wanted, data_dir, download)
    if prepared is None:
        return None
    parts = [
        (images[..., 0], np.stack(labels, axis=1))
        for images, *labels in tfds_sets.chunks_of(prepared, features)
    ]
    return (images for images, _ in parts), np.concatenate([labels for _, labels in parts])


def _with_progress(chunks, count):
    import keras

    progress = keras.utils.Progbar(count, unit_name="image")
    done = 0
    for chunk in chunks:
        done += len(chunk)
        progress.update(done)
        yield chunk
