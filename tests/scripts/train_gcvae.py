"""Trains a small GCVAE with a backup; may kill itself inside an epoch. Prints what it ends with."""

import hashlib
import json
import os
import signal
import sys

import keras
import numpy as np

from keras_vaezoo.control import Controller
from tests.models.methods import build, images

EPOCHS = 4


class KillInside(keras.callbacks.Callback):
    """SIGKILL in the middle of an epoch."""

    def __init__(self, epoch):
        super().__init__()
        self.epoch, self.now = epoch, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.now = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.now == self.epoch and batch == 1:
            os.kill(os.getpid(), signal.SIGKILL)


def checksum(variables):
    digest = hashlib.sha256()
    for variable in variables:
        digest.update(np.ascontiguousarray(keras.ops.convert_to_numpy(variable)).tobytes())
    return digest.hexdigest()


def main(directory, killed_in_epoch):
    model = build(
        "GCVAE",
        correlation="kernel_mahalanobis",
        alpha=Controller(30.0, kp=0.1, ki=0.01, maximum=0.5, measured="reconstruction", action=-1),
        beta=Controller(0.02, kp=0.1, ki=0.1, maximum=0.5),
    )
    model.compile(keras.optimizers.Adam(0.003))
    backup = keras.callbacks.BackupAndRestore(
        directory, save_freq="epoch", double_checkpoint=True, delete_checkpoint=False
    )
    history = model.fit(
        images(),
        batch_size=11,
        epochs=EPOCHS,
        shuffle=False,
        verbose=0,
        callbacks=[backup, KillInside(int(killed_in_epoch))],
    ).history
    slots = {name: model.loss_coefficients.slot(name) for name in model.coefficients}
    parts = {
        "weights": checksum(model.variables),
        "optimizer": checksum(model.optimizer.variables),
        "noise": checksum([model.sampling.seed_generator.state]),
        "slots": slots,
        "history": history,
    }
    print(json.dumps(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
