"""Data sets: by name, or from the user's own files."""

from keras_vaezoo.datasets.arrays import from_arrays
from keras_vaezoo.datasets.csv_files import from_csv
from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.folder import from_folder
from keras_vaezoo.datasets.loading import load, names

__all__ = ["Dataset", "from_arrays", "from_csv", "from_folder", "load", "names"]
