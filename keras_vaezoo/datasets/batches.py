"""Batches of a Dataset for Keras: as tf.data, or as a PyDataset without TensorFlow."""

import numpy as np

from keras_vaezoo.datasets.lazy_images import LazyImages, RememberedImages

# While one batch is handed over, the next is read.
_PARALLEL_READS = 2


class BatchPlan:
    """Which rows stand in which batch of which epoch.

    Args:
        length: Number of rows.
        batch_size: Rows in a batch; the last batch may be smaller.
        shuffle: Whether every epoch visits all rows in an order of its own.
        seed: Seed of those orders: order = permutation drawn from `(seed, epoch)`.
        drop_remainder: Whether a smaller last batch is left out.
    """

    def __init__(self, length, batch_size, shuffle=True, seed=0, drop_remainder=False):
        is_count = isinstance(batch_size, (int, np.integer)) and not isinstance(batch_size, bool)
        if not is_count or batch_size < 1:
            raise ValueError(
                f"`batch_size` must be a positive whole number. Received: batch_size={batch_size!r}"
            )
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ValueError(
                f"`seed` must be a whole number of at least 0. Received: seed={seed!r}"
            )
        if drop_remainder and batch_size > length:
            raise ValueError(
                f"With drop_remainder=True, {length} rows make no batch of {batch_size}. "
                f"Choose a batch_size of at most {length}."
            )
        self.length = length
        self.batch_size = int(batch_size)
        self.shuffle = shuffle
        self.seed = seed
        self.drop_remainder = drop_remainder

    def __len__(self):
        full, rest = divmod(self.length, self.batch_size)
        return full + (rest > 0 and not self.drop_remainder)

    def order(self, epoch):
        """Row numbers in the order in which `epoch` visits them."""
        if not self.shuffle:
            return np.arange(self.length)
        return np.random.default_rng((self.seed, epoch)).permutation(self.length)

    def rows(self, order, batch):
        """Row numbers of one batch of an epoch's order."""
        start = batch * self.batch_size
        return order[start : start + self.batch_size]


class Position:
    """Which epoch and batch of a plan a stream gives next.

    Args:
        plan: A `BatchPlan`.
    """

    def __init__(self, plan):
        self._plan, self._epoch, self._batch = plan, 0, 0

    def starts_at(self, epoch, steps_per_epoch=None):
        """Goes to the beginning of a model's epoch; `fit` of this package's models does so.

        Args:
            epoch: Number of epochs that the model has seen.
            steps_per_epoch: Batches in one of the model's epochs. Default: all of the plan.
        """
        steps = epoch * (steps_per_epoch or len(self._plan))
        self._epoch, self._batch = divmod(steps, len(self._plan))

    def rows_for_ever(self):
        """The row numbers of each batch, epoch after epoch."""
        while True:
            yield from self.rows_of_epoch()

    def rows_of_epoch(self):
        """The row numbers of each batch up to the end of the epoch; the next call goes on."""
        epoch, first = self._epoch, self._batch
        self._epoch, self._batch = epoch + 1, 0
        order = self._plan.order(epoch)
        for batch in range(first, len(self._plan)):
            yield self._plan.rows(order, batch)


def _reader(dataset, labels, cache):
    """A function from row numbers to `(images,)` or `(images, targets)`."""
    targets = dataset.targets() if labels else None
    images = dataset.images
    if cache and isinstance(images, LazyImages):
        images = RememberedImages(images)

    def read(rows):
        return (images[rows],) if targets is None else (images[rows], targets[rows])

    return read


def as_tf(dataset, plan, labels, cache, repeat, prefetch):
    """See `Dataset.as_tf`."""
    import tensorflow as tf

    read = _reader(dataset, labels, cache)
    example = read(np.zeros(1, np.int64))
    dtypes = [tf.as_dtype(part.dtype) for part in example]
    batch_dimension = plan.batch_size if plan.drop_remainder else None
    shapes = [(batch_dimension, *part.shape[1:]) for part in example]
    position = Position(plan)

    def read_in_graph(rows):
        parts = tf.numpy_function(read, [rows], dtypes, stateful=False)
        for part, shape in zip(parts, shapes, strict=True):
            part.set_shape(shape)
        return tuple(parts) if labels else parts[0]

    rows = position.rows_for_ever if repeat else position.rows_of_epoch
    count = tf.data.INFINITE_CARDINALITY if repeat else len(plan)
    batches = tf.data.Dataset.from_generator(
        rows, output_signature=tf.TensorSpec((None,), tf.int64)
    )
    batches = batches.apply(tf.data.experimental.assert_cardinality(count))
    batches = batches.map(read_in_graph, num_parallel_calls=_PARALLEL_READS)
    batches = batches.prefetch(prefetch or tf.data.AUTOTUNE)
    batches.starts_at = position.starts_at
    return batches


def as_pydataset(dataset, plan, labels, cache, **workers):
    """See `Dataset.as_pydataset`."""
    import keras

    read = _reader(dataset, labels, cache)

    class Batches(keras.utils.PyDataset):
        def __init__(self):
            super().__init__(**workers)
            self._epoch = 0
            self._order = plan.order(0)

        def __len__(self):
            return len(plan)

        def __getitem__(self, batch):
            return read(plan.rows(self._order, batch))

        def on_epoch_end(self):
            self.starts_at(self._epoch + 1)

        def starts_at(self, epoch, steps_per_epoch=None):
            """See `Position.starts_at`; goes to the beginning of a whole epoch of the plan."""
            self._epoch = epoch * (steps_per_epoch or len(plan)) // len(plan)
            self._order = plan.order(self._epoch)

    return Batches()
