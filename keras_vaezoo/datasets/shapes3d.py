"""shapes3d: 3D Shapes, from its HDF5 file or from tensorflow_datasets."""

import numpy as np

from keras_vaezoo.datasets import tfds_sets
from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.decoded_files import gather
from keras_vaezoo.datasets.grids import in_grid_order
from keras_vaezoo.datasets.hdf5_files import open_hdf5, read_hdf5
from keras_vaezoo.datasets.lazy_images import StoredImages
from keras_vaezoo.datasets.local_files import DATA_VARIABLE, check_file, find_file, folders_of
from keras_vaezoo.datasets.scaling import check_value_range
from keras_vaezoo.datasets.sources import download_way, first_found, prepared_way
from keras_vaezoo.datasets.splits import part

FACTOR_NAMES = ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
FACTOR_VALUES = (
    np.linspace(0.0, 0.9, 10),
    np.linspace(0.0, 0.9, 10),
    np.linspace(0.0, 0.9, 10),
    np.linspace(0.75, 1.25, 8),
    np.arange(4),
    np.linspace(-30.0, 30.0, 15),
)
FACTOR_SIZES = tuple(len(values) for values in FACTOR_VALUES)

_FILE = "3dshapes.h5"
_SHA256 = "0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785"
_BYTES = 267_573_662
_ITEM_SHAPE = (64, 64, 3)
_ROWS = 4096


def load_shapes3d(
    split,
    data_dir=None,
    value_range=(0.0, 1.0),
    path=None,
    verify=True,
    download=False,
    test_fraction=None,
    seed=0,
):
    """3D Shapes: 480,000 colour images, 64x64x3, decoded once to disk (5.5 GiB). See `load`."""
    value_range = check_value_range(value_range)
    folders = folders_of("shapes3d", data_dir)
    file = find_file([_FILE], folders, path)
    pixels, classes = first_found(
        "shapes3d",
        data_dir or path,
        folders,
        lambda: None if file is None else _read_file(file, verify),
        lambda: _read_prepared(data_dir, download),
        ways=(
            download_way("shapes3d"),
            f"Get {_FILE} of github.com/google-deepmind/3d-shapes and pass path=file, or its "
            "folder as data_dir, or put it into the sub-folder 'shapes3d' of the folder that "
            f"{DATA_VARIABLE} names.",
            prepared_way("shapes3d"),
        ),
    )
    images, factors, is_grid = in_grid_order(
        StoredImages(pixels, value_range=value_range), classes, FACTOR_SIZES
    )
    dataset = Dataset(
        images,
        "shapes3d",
        factors=factors,
        factor_names=FACTOR_NAMES,
        factor_sizes=FACTOR_SIZES,
        factor_values=FACTOR_VALUES,
        value_range=value_range,
        is_grid=is_grid,
    )
    return part(dataset, split, test_fraction, seed)


def _read_file(path, verify):
    if verify:
        check_file(path, "sha256", _SHA256, _BYTES)
    with open_hdf5(path) as file:
        shape, values = read_hdf5(file, "images").shape, read_hdf5(file, "labels")[()]
    if shape[1:] != _ITEM_SHAPE or values.shape != (shape[0], len(FACTOR_SIZES)):
        raise ValueError(
            f"The file {path} must hold images (n, 64, 64, 3) and labels (n, 6). "
            f"Received: {shape} and {values.shape}"
        )
    classes = _classes_of(values)

    def chunks():
        with open_hdf5(path) as file:
            stored = read_hdf5(file, "images")
            for start in range(0, len(stored), _ROWS):
                rows = slice(start, start + _ROWS)
                yield stored[rows], classes[rows]

    # The size and the date tell apart files that were not verified.
    state = path.stat()
    mark = _SHA256[:12] if verify else f"{state.st_size}-{state.st_mtime_ns}"
    return gather(f"shapes3d-{mark}", shape[0], _ITEM_SHAPE, chunks)


def _classes_of(values):
    """Whole-number factors of their values: the number of the nearest one."""
    columns = [
        np.abs(values[:, j, None] - known).argmin(axis=1) for j, known in enumerate(FACTOR_VALUES)
    ]
    return np.stack(columns, axis=1).astype(np.int32)


def _read_prepared(data_dir, download):
    features = ("image", *(f"label_{name}" for name in FACTOR_NAMES))
    wanted = dict.fromkeys(features, True)
    prepared = tfds_sets.open_prepared("shapes3d", "train", wanted, data_dir, download)
    if prepared is None:
        return None

    def chunks():
        for images, *labels in tfds_sets.chunks_of(prepared, features):
            yield images, np.stack(labels, axis=1)

    count = tfds_sets.count_of(prepared)
    return gather("shapes3d-tfds", count, _ITEM_SHAPE, chunks)
