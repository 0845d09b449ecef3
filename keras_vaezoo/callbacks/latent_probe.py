"""LatentProbe: a classifier on the codes, trained beside the model."""

import keras
import numpy as np

from keras_vaezoo import checks
from keras_vaezoo.datasets.lazy_images import choose_rows
from keras_vaezoo.evaluation._examples import examples_of
from keras_vaezoo.probe import Probe


class LatentProbe(keras.callbacks.Callback):
    """Trains a `Probe` on the model's codes at the end of epochs and logs its held-out accuracy.

    What mu-VAE does for its tables: a three-layer classifier learns the labels from the posterior
    means while the model trains, and sends no gradient into it. The model's run is the same bit for
    bit with and without this callback: it encodes with the frozen encoder and draws random numbers
    from a generator of its own. The probe goes on from epoch to epoch, as the codes move.

    The accuracy is logged as `probe_accuracy`, which every callback listed after this one sees
    (History and the progress bar always do; list CSVLogger and EarlyStopping after it, the latter
    with `mode="max"`). It is nan in the epochs between two trainings of the probe. `.probe` is
    the trained probe.

    Args:
        data: `datasets.Dataset` with labels (or a single factor), or a tuple (images, labels).
        held_out: Share of the examples that measures the accuracy, above 0 and below 1, or data
            of its own in the same form. Default 0.2.
        probe: A `Probe`, for other sizes, rates or another seed. Default: `Probe()`.
        epochs: Passes over the codes each time. Default 1.
        every: Epochs of the model between two trainings of the probe. Default 1: after each.

    Raises:
        ValueError: For data without labels or with several factors, or a share that leaves one of
            the parts empty.

    Example:

    ```python
    probe = keras_vaezoo.callbacks.LatentProbe((images, labels))
    history = model.fit(images, epochs=20, callbacks=[probe])
    history.history["probe_accuracy"]
    ```
    """

    def __init__(self, data, held_out=0.2, probe=None, epochs=1, every=1):
        super().__init__()
        checks.check_positive_integer("epochs", epochs)
        checks.check_positive_integer("every", every)
        self.probe = Probe() if probe is None else probe
        self.epochs, self.every = epochs, every
        images, labels = _images_and_labels(data)
        if isinstance(held_out, float):
            self._train, self._test = _parts(images, labels, held_out, self.probe.seed)
        else:
            self._train, self._test = (images, labels), _images_and_labels(held_out)

    def on_train_begin(self, logs=None):
        for images, _ in (self._train, self._test):
            checks.check_batch(images, self.model.input_shape[1:], "images")

    def on_epoch_end(self, epoch, logs=None):
        accuracy = float("nan")
        if (epoch + 1) % self.every == 0:
            (images, labels), (test_images, test_labels) = self._train, self._test
            self.probe.fit(self.model.encode(images).mean, labels, epochs=self.epochs)
            accuracy = self.probe.accuracy(self.model.encode(test_images).mean, test_labels)
        if logs is not None:
            logs["probe_accuracy"] = accuracy


def _images_and_labels(data):
    images, factors, _ = examples_of(data)
    columns = 0 if factors is None else factors.shape[1]
    if columns != 1:
        raise ValueError(
            "The probe needs one label for each image: give a Dataset with labels, or a tuple "
            f"(images, labels), such as (dataset.images, dataset.factors[:, 0]). Received: "
            f"{columns} columns of labels"
        )
    return images, factors[:, 0]


def _parts(images, labels, share, seed):
    """Two parts of the rows: those that train, those that are held out."""
    count = round(share * len(labels))
    if not 0.0 < share < 1.0 or not 0 < count < len(labels):
        raise ValueError(
            "held_out must be a share above 0 and below 1 that leaves examples in both parts, or "
            f"data of its own. Received: held_out={share!r} with {len(labels)} examples"
        )
    order = np.random.default_rng(seed).permutation(len(labels))
    rows = np.sort(order[count:]), np.sort(order[:count])
    return [(choose_rows(images, part), labels[part]) for part in rows]
