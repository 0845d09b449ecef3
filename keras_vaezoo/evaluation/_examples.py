"""The accepted forms of data: images with the factors or labels that belong to them."""

from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaezoo.datasets.dataset import Dataset


class Examples(NamedTuple):
    """Images, an array or lazy images `(n, *shape)`, and what is known about each of them.

    Attributes:
        images: NumPy array, or an array-like that gives rows by slices.
        factors: `(n, k)` array, or `None`.
        name: Name of the data set, or `None`.
    """

    images: Any
    factors: Any
    name: str | None

    def block(self, start, size):
        """Images `start ... start + size - 1` as a NumPy array."""
        return np.asarray(self.images[start : start + size])


def examples_of(data):
    """`Examples` from a `datasets.Dataset`, an array of images, or a pair (images, factors).

    A `Dataset` gives its factors, or else its labels; labels `(n,)` count as one factor.

    Raises:
        ValueError: For anything else, or for factors with another number of rows.
    """
    if isinstance(data, Dataset):
        factors = data.labels if data.factors is None else data.factors
        return Examples(data.images, _columns(factors, data.images), data.name)
    if isinstance(data, (tuple, list)) and len(data) == 2:
        images, factors = data
    else:
        images, factors = data, None
    if not (hasattr(images, "shape") and hasattr(images, "dtype")):
        raise ValueError(
            "data must be a keras_vaezoo.datasets.Dataset, an array of images, or a tuple "
            f"(images, factors). Received: {_described(data)}"
        )
    if keras.ops.is_tensor(images):
        images = keras.ops.convert_to_numpy(images)
    return Examples(images, _columns(factors, images), None)


def _columns(factors, images):
    if factors is None:
        return None
    factors = keras.ops.convert_to_numpy(factors) if keras.ops.is_tensor(factors) else factors
    factors = np.asarray(factors)
    if factors.ndim not in (1, 2) or len(factors) != len(images):
        raise ValueError(
            "factors must have shape (n, k), or (n,) for labels, with one row for each image. "
            f"Received: factors.shape={factors.shape} and {len(images)} images"
        )
    return factors[:, None] if factors.ndim == 1 else factors


def _described(data):
    if isinstance(data, (tuple, list)):
        return f"a {type(data).__name__} of {[type(item).__name__ for item in data]}"
    return type(data).__name__
