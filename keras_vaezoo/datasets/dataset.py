"""Dataset: what every loader returns."""

import numpy as np

from keras_vaezoo.datasets import batches
from keras_vaezoo.datasets.grids import grid_rows
from keras_vaezoo.datasets.lazy_images import choose_rows, resolve_indices


class Dataset:
    """Examples with what is known about them, and the roads to `fit`.

    Args:
        images: float32 array `(n, *shape)`, or `LazyImages`, which are indexed alike. Grey
            images have shape `(height, width, 1)`, signals `(samples, channels)`, table
            rows `(columns,)`.
        name: Name of the data set.
        labels: Class of each example, `(n,)`, or None.
        label_names: Name of each class, or None.
        factors: True factors of variation, `(n, k)`, or None. Whole numbers counting from 0
            where `factor_sizes` is given; real numbers in their own units where it is None.
        factor_names: k names, or None.
        factor_sizes: Number of values of each factor, or None for real-valued factors.
        factor_values: k arrays; `factor_values[j][factors[i, j]]` is the factor's value in
            its own unit. None where not known.
        value_range: `(low, high)` that the images were scaled to, or that they span where
            nothing was scaled. None where it is not known.
        is_grid: Whether every combination of factors occurs exactly once and the last
            factor varies fastest.

    The attributes have the same names. `fit` takes `dataset.images` (where it fits into
    memory), `dataset.as_tf(64)` and `dataset.as_pydataset(64)`.

    Example:

    >>> data = keras_vaezoo.datasets.load("sprites")
    >>> data.images[[0, 5]].shape, data.factor_names[0], data.value_range
    ((2, 64, 64, 1), 'shape', (0.0, 1.0))
    """

    def __init__(
        self,
        images,
        name,
        labels=None,
        label_names=None,
        factors=None,
        factor_names=None,
        factor_sizes=None,
        factor_values=None,
        value_range=(0.0, 1.0),
        is_grid=False,
    ):
        for what, column in (("labels", labels), ("factors", factors)):
            if column is not None and len(column) != len(images):
                raise ValueError(
                    f"`{what}` must have one row for each of the {len(images)} examples. "
                    f"Received: {len(column)} rows"
                )
        self.images = images
        self.name = name
        self.labels = labels
        self.label_names = label_names
        self.factors = factors
        self.factor_names = factor_names
        self.factor_sizes = factor_sizes
        self.factor_values = factor_values
        self.value_range = value_range
        self.is_grid = is_grid

    def __len__(self):
        return len(self.images)

    def __repr__(self):
        parts = [f"<Dataset {self.name}: {len(self)} examples of shape {self.shape}"]
        if self.labels is not None:
            parts.append("labels")
        if self.factor_names is not None:
            names = self.factor_names
            parts.append(f"factors {', '.join(names[:6])}{', ...' if len(names) > 6 else ''}")
        return f"{'; '.join(parts)}; range {self.value_range}>"

    @property
    def shape(self):
        """Shape of one example: the `input_shape` of a network."""
        return tuple(self.images.shape[1:])

    def as_numpy(self):
        """All images as one float32 array; up to 2 GiB where they are lazy."""
        return np.asarray(self.images)

    def targets(self):
        """The labels, or else the factors.

        Raises:
            ValueError: If the data set has neither.
        """
        if self.labels is None and self.factors is None:
            raise ValueError(f"The data set '{self.name}' has neither labels nor factors.")
        return self.factors if self.labels is None else self.labels

    def take(self, indices):
        """The rows `indices` as a data set; lazy images stay lazy.

        Args:
            indices: Slice, sequence of ints (repeats allowed), or boolean mask.

        Example:

        >>> few = keras_vaezoo.datasets.load("sprites").take([165421, 551820])
        """
        rows, is_scalar = resolve_indices(indices, len(self))
        if is_scalar or len(rows) == 0:
            raise ValueError(
                "take() needs at least one row, as a slice or a sequence of row numbers. "
                f"Received: indices={indices!r}"
            )
        everything = len(rows) == len(self) and bool((rows == np.arange(len(self))).all())
        return Dataset(
            choose_rows(self.images, rows),
            self.name,
            labels=None if self.labels is None else self.labels[rows],
            label_names=self.label_names,
            factors=None if self.factors is None else self.factors[rows],
            factor_names=self.factor_names,
            factor_sizes=self.factor_sizes,
            factor_values=self.factor_values,
            value_range=self.value_range,
            is_grid=self.is_grid and everything,
        )

    def split(self, test_fraction=0.1, seed=0):
        """Splits at random into `(train, test)`, which keep the order of their rows.

        Args:
            test_fraction: Share of the rows in the second part, above 0 and below 1.
            seed: Whole number; the same seed gives the same parts.

        Raises:
            ValueError: If one of the parts would be empty.
        """
        if not 0.0 < test_fraction < 1.0:
            raise ValueError(
                "`test_fraction` must lie above 0 and below 1. "
                f"Received: test_fraction={test_fraction!r}"
            )
        count = round(test_fraction * len(self))
        if not 0 < count < len(self):
            raise ValueError(
                f"{len(self)} examples cannot be split with test_fraction={test_fraction}: one "
                "part would be empty. Add examples or choose another fraction."
            )
        order = np.random.default_rng(seed).permutation(len(self))
        return self.take(np.sort(order[count:])), self.take(np.sort(order[:count]))

    def index_of(self, factors):
        """Row numbers of given combinations of factors, `(m, k)` whole numbers.

        Raises:
            ValueError: If the data set is not a full grid of factors, or a value is out of
                its factor's range.
        """
        if not self.is_grid:
            raise ValueError(
                "index_of() needs a data set that holds every combination of factors once; "
                f"'{self.name}' as it stands here does not."
            )
        return grid_rows(factors, self.factor_sizes)

    def sample(self, n, seed=None, fixed=None):
        """Draws `n` examples, independently and uniformly.

        Args:
            n: Number of examples.
            seed: Whole number or `numpy.random.Generator`. None draws anew at each call.
            fixed: Dict from factor names to a value, or to n values, that those factors
                keep; the other factors are free.

        Returns:
            A `Dataset` of n rows (lazy images stay lazy).

        Raises:
            ValueError: If a name is not a factor, or no example has the fixed values.

        Example:

        >>> same_shape = keras_vaezoo.datasets.load("sprites").sample(64, 0, {"shape": 2})
        """
        rng = np.random.default_rng(seed)
        fixed = self._fixed_columns(fixed or {}, n)
        if self.is_grid:
            columns = [
                fixed.get(j, rng.integers(size, size=n)) for j, size in enumerate(self.factor_sizes)
            ]
            return self.take(self.index_of(np.stack(columns, axis=1)))
        if not fixed:
            return self.take(rng.integers(len(self), size=n))
        chosen = np.empty(n, np.int64)
        wanted = np.stack(list(fixed.values()), axis=1)
        have = self.factors[:, list(fixed)]
        for values in np.unique(wanted, axis=0):
            rows = np.flatnonzero((wanted == values).all(axis=1))
            candidates = np.flatnonzero((have == values).all(axis=1))
            if len(candidates) == 0:
                raise ValueError(f"No example of '{self.name}' has the factors {values.tolist()}.")
            chosen[rows] = rng.choice(candidates, size=len(rows))
        return self.take(chosen)

    def _fixed_columns(self, fixed, n):
        names = list(self.factor_names or ())
        columns = {}
        for name, values in fixed.items():
            if name not in names:
                raise ValueError(
                    f"'{self.name}' has no factor '{name}'. Its factors: {', '.join(names)}"
                    if names
                    else f"'{self.name}' has no factors that could be fixed."
                )
            column = names.index(name)
            values = np.asarray(values)
            if values.shape not in ((), (n,)):
                raise ValueError(
                    f"fixed['{name}'] must be one value, or one for each of the {n} examples. "
                    f"Received: shape {values.shape}"
                )
            values = np.broadcast_to(values, (n,))
            sizes = self.factor_sizes
            if sizes is not None and not ((values >= 0) & (values < sizes[column])).all():
                raise ValueError(
                    f"Factor '{name}' takes the values 0 to {sizes[column] - 1}. "
                    f"Received: {fixed[name]!r}"
                )
            columns[column] = values
        return columns

    def as_tf(
        self,
        batch_size,
        shuffle=True,
        seed=0,
        labels=False,
        cache=False,
        repeat=False,
        prefetch=None,
        drop_remainder=False,
    ):
        """Batches as a `tf.data.Dataset`; needs TensorFlow.

        Args:
            batch_size: Examples in a batch. The last batch of an epoch may be smaller.
            shuffle: Whether each epoch visits all rows in a new order (a full shuffle of
                the row numbers, whatever the size of the data).
            seed: Seed of those orders.
            labels: Yield `(images, labels)` (factors where there are no labels) in place
                of images alone.
            cache: Keep decoded rows in memory, as uint8 where the source is; for files that
                are slow to decode and fit into memory.
            repeat: Whether to go on for ever.
            prefetch: Batches prepared ahead. None leaves the choice to TensorFlow.
            drop_remainder: Leave out a smaller last batch.

        Returns:
            A `tf.data.Dataset` of float32 batches, with its number of batches known. `fit` of
            this package's models begins with the order of its `initial_epoch`, so that a
            resumed run sees what an unbroken one sees; not so if you map it further.
        """
        plan = batches.BatchPlan(len(self), batch_size, shuffle, seed, drop_remainder)
        return batches.as_tf(self, plan, labels, cache, repeat, prefetch)

    def as_pydataset(
        self,
        batch_size,
        shuffle=True,
        seed=0,
        labels=False,
        cache=False,
        drop_remainder=False,
        workers=1,
        max_queue_size=10,
    ):
        """Batches as a `keras.utils.PyDataset`; needs no TensorFlow.

        `fit` of this package's models begins with the order of its `initial_epoch`, so that a
        resumed run sees what an unbroken one sees. That of other Keras models also shuffles the
        batches with Python's global random numbers, unless it is told `shuffle=False`.

        Args:
            batch_size: Examples in a batch. The last batch of an epoch may be smaller.
            shuffle: Whether each epoch visits all rows in a new order.
            seed: Seed of those orders.
            labels: Yield `(images, labels)` (factors where there are no labels) in place
                of `(images,)`.
            cache: Keep decoded rows in memory, as uint8 where the source is.
            drop_remainder: Leave out a smaller last batch.
            workers: Threads that prepare batches.
            max_queue_size: Batches prepared ahead when there are several workers.
        """
        plan = batches.BatchPlan(len(self), batch_size, shuffle, seed, drop_remainder)
        workers = {"workers": workers, "max_queue_size": max_queue_size}
        return batches.as_pydataset(self, plan, labels, cache, **workers)
