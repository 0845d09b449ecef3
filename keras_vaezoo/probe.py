"""Probe: a small classifier on frozen codes says what can be read from them."""

import keras
import numpy as np

from keras_vaezoo import checks
from keras_vaezoo.models.batching import run_in_batches


class Probe:
    """Three-layer classifier on frozen codes: Dense 128 ReLU, Dense 128 ReLU, Dense classes.

    The measure of mu-VAE: the classifier is trained with cross-entropy and Adam on the posterior
    means, no gradient reaches the encoder, and its accuracy on held-out codes says how much of the
    labels the codes carry. Layer sizes and training are defaults of this package: the paper names
    three fully connected layers.

    All random numbers come from `seed`: neither Keras's nor the backend's global random state is
    read or changed, so a probe can be trained in the midst of another training.

    Args:
        hidden: Units of the hidden layers. Default (128, 128).
        epochs: Passes over the codes in one call of `fit`. Default 20.
        batch_size: Codes in a step. A smaller rest is left out of an epoch. Default 128.
        learning_rate: Of Adam. Default 1e-3.
        seed: Integer seed of the initial weights and of the order of the codes. Default 0.

    Example:

    ```python
    train, test = model.encode(images).mean, model.encode(test_images).mean
    keras_vaezoo.probe.Probe().fit(train, labels).accuracy(test, test_labels)
    ```
    """

    def __init__(self, hidden=(128, 128), epochs=20, batch_size=128, learning_rate=1e-3, seed=0):
        for units in hidden:
            checks.check_positive_integer("units of every hidden layer", units)
        checks.check_positive_integer("epochs", epochs)
        checks.check_positive_integer("batch_size", batch_size)
        checks.check_number("learning_rate", learning_rate, above=0)
        self.hidden, self.epochs, self.batch_size = tuple(hidden), epochs, batch_size
        self.learning_rate, self.seed = learning_rate, seed
        self.classes = None
        self._network = None
        self._random = np.random.default_rng(seed)

    def fit(self, codes, labels, epochs=None):
        """Trains the classifier; a further call goes on from the weights that it has.

        Args:
            codes: `(n, d)` array, finite.
            labels: `(n,)` integer classes, at least two different ones.
            epochs: Passes over the codes. Default: that of the constructor.

        Returns:
            The probe itself.

        Raises:
            ValueError: For other shapes, labels that are no classes, fewer than two classes, or
                a class that the first call did not have.
        """
        epochs = self.epochs if epochs is None else epochs
        checks.check_positive_integer("epochs", epochs)
        codes, labels = self._checked(codes), _checked_labels(labels, len(codes))
        if self._network is None:
            self.classes = np.unique(labels)
            if len(self.classes) < 2:
                raise ValueError(
                    f"A probe needs labels of at least two classes. Received: {self.classes}"
                )
            self._network = self._new_network(codes.shape[1])
        unknown = np.setdiff1d(labels, self.classes)
        if unknown.size:
            raise ValueError(
                f"labels must be among the classes of the first fit, {self.classes.tolist()}. "
                f"Received: {unknown.tolist()}"
            )
        targets = np.searchsorted(self.classes, labels).astype("int32")
        for _ in range(epochs):
            self._train_one_epoch(codes, targets)
        return self

    def predict(self, codes):
        """The most likely class of each code, `(n,)`."""
        if self._network is None:
            raise ValueError("Call fit(codes, labels) first.")
        logits = run_in_batches(self._network, self._checked(codes), 4096)
        return self.classes[logits.argmax(axis=1)]

    def accuracy(self, codes, labels):
        """Share of codes whose class is predicted right; give codes that `fit` has not seen.

        A class that `fit` has not seen counts as wrong.
        """
        labels = _checked_labels(labels, len(codes))
        return float(np.mean(self.predict(codes) == labels))

    def _train_one_epoch(self, codes, targets):
        order = self._random.permutation(len(codes))
        size = min(self.batch_size, len(codes))
        for start in range(0, len(codes) - size + 1, size):
            rows = order[start : start + size]
            # Not fit: a DataLoader draws from torch's global generator even without a shuffle.
            self._network.train_on_batch(codes[rows], targets[rows])

    def _new_network(self, latent_dim):
        layers = [keras.Input((latent_dim,), name="probe_input")]
        for number, units in enumerate((*self.hidden, len(self.classes)), start=1):
            is_last = number > len(self.hidden)
            layers.append(
                keras.layers.Dense(
                    units,
                    activation=None if is_last else "relu",
                    kernel_initializer=keras.initializers.GlorotUniform(self.seed + number),
                    dtype="float32",
                    name=f"probe_dense_{number}",
                )
            )
        network = keras.Sequential(layers, name="probe")
        network.compile(
            keras.optimizers.Adam(self.learning_rate, name="probe_adam"),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True, name="probe_loss"),
            # XLA takes seconds to compile what trains in seconds; JAX is slow without it.
            jit_compile=keras.backend.backend() == "jax",
        )
        return network

    def _checked(self, codes):
        codes = np.asarray(keras.ops.convert_to_numpy(codes), "float32")
        width = None if self._network is None else self._network.input_shape[1]
        if codes.ndim != 2 or width not in (None, codes.shape[1]) or not len(codes):
            raise ValueError(
                f"codes must have shape (n, {width or 'd'}). Received: codes.shape={codes.shape}"
            )
        checks.check_values(codes, None, "codes")
        return codes


def _checked_labels(labels, count):
    labels = np.asarray(keras.ops.convert_to_numpy(labels))
    if labels.shape != (count,) or labels.dtype.kind not in "iub":
        raise ValueError(
            f"labels must be integer classes of shape ({count},), one for each code. Received: "
            f"labels.shape={labels.shape}, labels.dtype={labels.dtype}"
        )
    return labels
