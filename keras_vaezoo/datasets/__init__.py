"""Data sets: by name, or from the user's own files."""

from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.loading import load, names

__all__ = ["Dataset", "load", "names"]
