"""A restarted fit sees the batches of the package's own streams in the order of an unbroken one."""

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from tests.models.methods import build, images

DATA = vz.datasets.from_arrays(images(40))
STREAMS = {
    "as_tf": lambda: DATA.as_tf(8, seed=1),
    "as_tf, repeated": lambda: DATA.as_tf(8, seed=1, repeat=True),
    "as_pydataset": lambda: DATA.as_pydataset(8, seed=1),
}


class Interrupt(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if self.model.seen_epochs == 2 and batch >= 2:
            raise KeyboardInterrupt

    def on_epoch_begin(self, epoch, logs=None):
        self.model.seen_epochs = epoch


def run(stream, folder, *callbacks):
    keras.utils.set_random_seed(0)
    model = build("ControlVAE")
    model.compile(keras.optimizers.Adam(1e-2))
    backup = keras.callbacks.BackupAndRestore(str(folder), double_checkpoint=True)
    steps = {"steps_per_epoch": 3} if stream == "as_tf, repeated" else {}
    kept = [backup, *callbacks]
    history = model.fit(STREAMS[stream](), epochs=4, verbose=0, callbacks=kept, **steps)
    return [keras.ops.convert_to_numpy(v) for v in model.variables], history.history["loss"]


@pytest.mark.parametrize("stream", STREAMS)
def test_an_interrupted_run_ends_like_an_unbroken_one(stream, tmp_path):
    if stream != "as_pydataset":
        pytest.importorskip("tensorflow")
    unbroken, losses = run(stream, tmp_path / "unbroken")
    with pytest.raises(KeyboardInterrupt):
        run(stream, tmp_path / "broken", Interrupt())
    resumed, last_losses = run(stream, tmp_path / "broken")
    np.testing.assert_array_equal(losses[2:], last_losses)
    for expected, found in zip(unbroken, resumed, strict=True):
        np.testing.assert_array_equal(expected, found)


class SeenBatches(keras.callbacks.Callback):
    """The running mean of the KL divergence after each batch: it tells the order of the batches."""

    def on_train_begin(self, logs=None):
        self.epochs = []

    def on_epoch_begin(self, epoch, logs=None):
        self.epochs.append([])

    def on_train_batch_end(self, batch, logs=None):
        self.epochs[-1].append(float(logs["kl"]))


@pytest.mark.parametrize("stream", STREAMS)
def test_every_fit_begins_with_the_order_of_its_initial_epoch(stream):
    if stream != "as_pydataset":
        pytest.importorskip("tensorflow")
    batches, seen = STREAMS[stream](), SeenBatches()
    model = build("VAE")
    model.compile(keras.optimizers.SGD(0.0))
    steps = {"steps_per_epoch": 5} if stream == "as_tf, repeated" else {}

    def orders(**epochs):
        model.fit(batches, verbose=0, callbacks=[seen], **epochs, **steps)
        return seen.epochs

    first, second = orders(epochs=2)
    assert not np.allclose(first, second, rtol=1e-4)
    np.testing.assert_allclose(orders(epochs=2), [first, second], rtol=1e-5)
    np.testing.assert_allclose(orders(epochs=2, initial_epoch=1), [second], rtol=1e-5)
