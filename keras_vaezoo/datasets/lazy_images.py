"""Images that are read, decoded or rendered when they are asked for."""

import threading

import numpy as np

from keras_vaezoo.datasets.scaling import to_float32

# A larger array is never made by accident: lazy images refuse it.
ARRAY_LIMIT_BYTES = 2 * 2**30


def resolve_indices(key, length):
    """Turns an index expression into `(int64 indices in [0, length), is_scalar)`.

    Args:
        key: An int, a slice, a sequence of ints (negative ones count from the end), or a
            boolean mask of `length` entries.
        length: Number of rows that can be asked for.

    Returns:
        A one-dimensional int64 array, and whether `key` was a single int.

    Raises:
        IndexError: If an index is out of bounds or `key` is of another kind.
    """
    if isinstance(key, slice):
        return np.arange(*key.indices(length), dtype=np.int64), False
    indices = np.asarray(key)
    if indices.size == 0:
        return np.zeros(0, np.int64), False
    if indices.dtype == bool and indices.shape == (length,):
        return np.flatnonzero(indices), False
    if indices.dtype.kind not in "iu" or indices.ndim > 1:
        raise IndexError(
            "Rows are chosen by an int, a slice, a sequence of ints or a boolean mask of "
            f"length {length}. Received: {str(key)[:80]} (dtype {indices.dtype}, "
            f"shape {indices.shape})"
        )
    flat = np.atleast_1d(indices).astype(np.int64)
    flat = np.where(flat < 0, flat + length, flat)
    outside = (flat < 0) | (flat >= length)
    if outside.any():
        raise IndexError(
            f"Index {np.atleast_1d(indices)[outside][0]} is out of bounds for {length} rows."
        )
    return flat, indices.ndim == 0


def check_finite(rows, indices):
    """Raises a ValueError that names the first of `indices` whose row holds NaN or inf."""
    finite = np.isfinite(rows)
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ValueError(
            f"Example {indices[where[0]]} holds {rows[where]} at position {where[1:]}. "
            "Remove or repair it: a model cannot be trained on NaN or inf."
        )


def runs(sorted_indices):
    """Consecutive stretches `(start, stop)` of sorted, unrepeated indices."""
    gaps = np.flatnonzero(np.diff(sorted_indices) != 1) + 1
    starts = sorted_indices[np.concatenate([[0], gaps])]
    stops = sorted_indices[np.concatenate([gaps, [len(sorted_indices)]]) - 1] + 1
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


class LazyImages:
    """An array-like of float32 examples of which only the rows asked for exist.

    `images[i]` is one example, `images[3:9]`, `images[[4, 0, 4]]` and `images[mask]` are
    batches, `images[:9, ..., 0]` is a part of one. `np.asarray(images)` makes the whole array.
    Nothing above 2 GiB is made at once.

    Subclassing: set the attributes with `super().__init__()` and fill in `_read`. It gets
    int64 indices, all within bounds, in any order and perhaps repeated, and returns those
    rows as bool, uint8 or uint16, which this class scales to `value_range`, or as floats,
    which are checked to be finite and become float32. It must give the same rows whenever it
    is called, also from several threads at once.

    Args:
        length: Number of examples.
        item_shape: Shape of one example.
        value_range: `(low, high)` that uint8 rows are scaled to.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, length, item_shape, value_range=(0.0, 1.0)):
        self.shape = (int(length), *item_shape)
        self.value_range = value_range

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def nbytes(self):
        """Bytes that the whole array would take."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        rows_key, *rest = key if isinstance(key, tuple) else (key,)
        if rows_key is Ellipsis:
            rows_key, rest = slice(None), [Ellipsis, *rest]
        indices, is_scalar = resolve_indices(rows_key, len(self))
        self._check_size(len(indices))
        # Taken first, the memory of an earlier batch fits and is used again.
        scaled = np.empty((len(indices), *self.shape[1:]), np.float32)
        rows = self.read_raw(indices)
        if rows.dtype.kind == "f":
            check_finite(rows, indices)
            rows = rows.astype(np.float32, copy=False)
        else:
            rows = to_float32(rows, self.value_range, out=scaled)
        if is_scalar:
            return rows[0][tuple(rest)] if rest else rows[0]
        if rest and rest[0] is not Ellipsis:
            rest = [slice(None), *rest]
        return rows[tuple(rest)] if rest else rows

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("Lazy images cannot become an array without making one.")
        return self[:].astype(dtype or self.dtype, copy=False)

    def _check_size(self, rows):
        size = rows * self.nbytes // max(len(self), 1)
        if size > ARRAY_LIMIT_BYTES:
            raise ValueError(
                f"{rows} rows of shape {self.shape[1:]} would take {size / 2**30:.1f} GiB at once. "
                "Stream them with as_tf(batch_size) or as_pydataset(batch_size), or take fewer "
                "rows: dataset.take(indices) or images[indices]."
            )

    def __repr__(self):
        return f"<{type(self).__name__} shape={self.shape} dtype=float32>"

    def read_raw(self, indices):
        """Rows at checked `indices` before scaling: bool, uint8, uint16 or floats."""
        if len(indices) == 0:
            return np.zeros((0, *self.shape[1:]), np.float32)
        return self._read(indices)

    def _read(self, indices):
        raise NotImplementedError


class StoredImages(LazyImages):
    """Rows of an array, in memory or memory-mapped, scaled when they are read.

    Args:
        array: Array of bool, uint8, uint16 or floats, examples along its first axis.
        item_shape: Shape of one example, where it is not `array.shape[1:]`.
        value_range: `(low, high)` that whole-number pixels are scaled to.
    """

    def __init__(self, array, item_shape=None, value_range=(0.0, 1.0)):
        super().__init__(len(array), item_shape or array.shape[1:], value_range)
        self._array = array

    def _read(self, indices):
        return np.asarray(self._array[indices]).reshape(len(indices), *self.shape[1:])


class ChosenImages(LazyImages):
    """The rows `indices` of other lazy images."""

    def __init__(self, images, indices):
        super().__init__(len(indices), images.shape[1:], images.value_range)
        self._images = images
        self._indices = indices

    def _read(self, indices):
        return self._images.read_raw(self._indices[indices])


class RememberedImages(LazyImages):
    """Keeps each row of other lazy images in memory, unscaled, once it has been read."""

    def __init__(self, images):
        super().__init__(len(images), images.shape[1:], images.value_range)
        self._images = images
        self._known = np.zeros(len(images), bool)
        self._rows = None
        self._lock = threading.Lock()

    def _read(self, indices):
        with self._lock:
            self._remember(indices)
        return self._rows[indices]

    def _remember(self, indices):
        missing = np.unique(indices[~self._known[indices]])
        if len(missing):
            fresh = self._images.read_raw(missing)
            if self._rows is None:
                self._rows = np.empty(self.shape, fresh.dtype)
            self._rows[missing] = fresh
            self._known[missing] = True


def choose_rows(images, indices):
    """The rows `indices` of an array (copied) or of lazy images (still lazy)."""
    if isinstance(images, LazyImages):
        return ChosenImages(images, indices)
    return images[indices]


def hold(pixels, value_range=(0.0, 1.0)):
    """A float32 array of uint8 `pixels`, or lazy images where that would pass the limit."""
    stored = StoredImages(pixels, value_range=value_range)
    return np.asarray(stored) if stored.nbytes <= ARRAY_LIMIT_BYTES // 2 else stored
