"""Fits a small model with BackupAndRestore; `kill_at` ends the process in a step, for real.

python tests/scripts/resumable.py METHOD FOLDER RESULT KILL_AT   (KILL_AT 0: never)
"""

import os
import signal
import sys

import keras
import numpy as np

import keras_vaezoo as vz
from keras_vaezoo.control import Controller
from tests.models.methods import build, images


class Kill(keras.callbacks.Callback):
    """Sends this process the signal that nothing can catch, after a number of steps."""

    def __init__(self, at):
        super().__init__()
        self.at, self.steps = at, 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        if self.steps == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


# Controllers of GCVAE that reach no limit on these images, so that all of them integrate.
ARGUMENTS = {
    "GCVAE": {
        "alpha": Controller(
            30.0, kp=0.1, ki=0.01, maximum=0.5, measured="reconstruction", action=-1
        ),
        "beta": Controller(0.02, kp=0.1, ki=0.1, maximum=0.5),
    }
}


def main(method, folder, result, kill_at):
    model = build(method, **ARGUMENTS.get(method, {}))
    model.compile(keras.optimizers.Adam(0.01))
    callbacks = [
        keras.callbacks.BackupAndRestore(folder, double_checkpoint=True),
        vz.callbacks.CoefficientSchedule(
            "reconstruction", vz.control.Schedule("linear", start=0.5, end=1.0, length=15)
        )
        if "reconstruction" in model.coefficients
        else vz.callbacks.PIDController("gamma", measured="mmd", set_point=0.05, ki=0.01),
        Kill(int(kill_at)),
    ]
    if method == "VAE":
        callbacks.insert(1, vz.callbacks.PIDController("kl", set_point=1.0, ki=0.01))
    history = model.fit(
        images(), batch_size=8, epochs=4, shuffle=False, verbose=0, callbacks=callbacks
    ).history
    variables = [*model.variables, *model.optimizer.variables]
    values = {f"variable_{i}": keras.ops.convert_to_numpy(v) for i, v in enumerate(variables)}
    for name in model.coefficients:
        values[f"integral_{name}"] = model.loss_coefficients.slot(name)["integral"]
    np.savez(result, **values, **{f"history_{name}": v for name, v in history.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
