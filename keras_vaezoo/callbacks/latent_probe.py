"""LatentProbe: a classifier on the codes, trained beside the model."""

import numpy as np

from keras_vaezoo import checks
from keras_vaezoo.callbacks._fixed_images import EveryEpochs, check_images
from keras_vaezoo.evaluation._examples import examples_of
from keras_vaezoo.probe import Probe


class LatentProbe(EveryEpochs):
    """Trains a `Probe` on the model's codes at the end of epochs and logs its held-out accuracy.

    What mu-VAE does for its tables: a three-layer classifier learns the labels from the posterior
    means while the model trains, and sends no gradient into it. The model's run is the same bit for
    bit with and without this callback: it encodes with the frozen encoder and draws random numbers
    from a generator of its own. The probe goes on from epoch to epoch, as the codes move.

    The accuracy is logged as `probe_accuracy`, which every callback listed after this one sees
    (History and the progress bar always do; list CSVLogger and EarlyStopping after it, the latter
    with `mode="max"`). It is nan in the epochs between two trainings of the probe, and after the
    model has diverged. `.probe` is the trained probe.

    Args:
        data: `datasets.Dataset` with labels (or a single factor), or a tuple (images, labels). The
            images are held in memory.
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
        checks.check_positive_integer("epochs", epochs)
        self.probe = Probe() if probe is None else probe
        self.epochs = epochs
        images, self._labels = _images_and_labels(data)
        if isinstance(held_out, float):
            rows, held_out_rows = _parts(len(images), held_out, self.probe.seed)
            self._held_out = images[held_out_rows], self._labels[held_out_rows]
            images, self._labels = images[rows], self._labels[rows]
        else:
            self._held_out = _images_and_labels(held_out)
        super().__init__(images, every)

    def try_out(self):
        check_images(self, self._held_out[0])

    def look(self, epoch):
        images, labels = self._held_out
        self.probe.fit(self.model.encode(self.images).mean, self._labels, epochs=self.epochs)
        self._accuracy = self.probe.accuracy(self.model.encode(images).mean, labels)

    def on_epoch_end(self, epoch, logs=None):
        self._accuracy = float("nan")
        super().on_epoch_end(epoch, logs)
        if logs is not None:
            logs["probe_accuracy"] = self._accuracy


def _images_and_labels(data):
    images, factors, _ = examples_of(data)
    columns = 0 if factors is None else factors.shape[1]
    if columns != 1:
        raise ValueError(
            "The probe needs one label for each image: give a Dataset with labels, or a tuple "
            f"(images, labels), such as (dataset.images, dataset.factors[:, 0]). Received: "
            f"{columns} columns of labels"
        )
    return np.asarray(images), factors[:, 0]


def _parts(count, share, seed):
    """Numbers of the rows that train, and of those that are held out."""
    held_out = round(share * count)
    if not 0.0 < share < 1.0 or not 0 < held_out < count:
        raise ValueError(
            "held_out must be a share above 0 and below 1 that leaves examples in both parts, or "
            f"data of its own. Received: held_out={share!r} with {count} examples"
        )
    order = np.random.default_rng(seed).permutation(count)
    return np.sort(order[held_out:]), np.sort(order[:held_out])
