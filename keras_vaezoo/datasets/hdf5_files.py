"""Rows of HDF5 files, read when they are asked for."""

import threading

import numpy as np

from keras_vaezoo.datasets.lazy_images import LazyImages, runs


def open_hdf5(path):
    """Opens an HDF5 file for reading; a damaged one is named in a ValueError."""
    import h5py

    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise ValueError(
            f"The file {path} is not a whole HDF5 file ({error}). Get it again."
        ) from error


def read_hdf5(file, key):
    """The HDF5 data set `key` of an open file, not yet read.

    Raises:
        ValueError: If there is none of that name; the message lists those that there are.
    """
    import h5py

    if key in file and isinstance(file[key], h5py.Dataset):
        return file[key]
    raise ValueError(
        f"The file {file.filename} has no data set '{key}'. It has: {', '.join(keys_of(file))}"
    )


def keys_of(file):
    """Full names of all data sets in an open HDF5 file, sorted."""
    import h5py

    found = []

    def note(name, item):  # a result other than None would end the visit
        if isinstance(item, h5py.Dataset):
            found.append(name)

    file.visititems(note)
    return sorted(found)


class Hdf5Images(LazyImages):
    """Rows of one data set of an HDF5 file; the rest of the file stays on disk.

    Rows in compressed chunks are slow to read in shuffled order, since a whole chunk is
    decompressed for each of them.

    Args:
        path: The file.
        key: Name of the data set in it.
        item_shape: Shape of one example; only a last axis of 1 may be added.
        value_range: `(low, high)` that whole-number pixels are scaled to.
    """

    def __init__(self, path, key, item_shape, value_range=(0.0, 1.0)):
        self._path = path
        self._key = key
        self._lock = threading.Lock()
        self._file = open_hdf5(path)
        super().__init__(len(self._file[key]), item_shape, value_range)

    def __getstate__(self):
        return {**self.__dict__, "_file": None, "_lock": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def _read(self, indices):
        with self._lock:
            if self._file is None:
                self._file = open_hdf5(self._path)
            stored = self._file[self._key]
            wanted, places = np.unique(indices, return_inverse=True)
            blocks = [stored[start:stop] for start, stop in runs(wanted)]
        rows = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return rows[places].reshape(len(indices), *self.shape[1:])
