"""One small run, with shuffling and validation, and all the numbers that it leaves behind."""

import functools

import keras

from tests.models.methods import build, images

EPOCHS = 4
IMAGES = images(64)


def trained(callbacks, epochs=EPOCHS):
    """`(model, {column: list})` after training; every call starts from the same seeds."""
    model = build("VAE")
    keras.utils.set_random_seed(3)
    model.compile(keras.optimizers.Adam(1e-2), jit_compile=keras.backend.backend() == "jax")
    history = model.fit(
        IMAGES,
        epochs=epochs,
        batch_size=32,
        validation_data=images(20, seed=1),
        verbose=0,
        callbacks=callbacks,
    )
    return model, history.history


def everything(model):
    """All numbers of a model, bit for bit: weights, optimizer, the noise's seed state."""
    variables = [*model.variables, *model.optimizer.variables]
    variables.append(model.sampling.seed_generator.state)
    return [keras.ops.convert_to_numpy(variable).tobytes() for variable in variables]


@functools.cache
def alone():
    """`everything` and the History of the run without callbacks."""
    model, history = trained([])
    return everything(model), history


class Steps(keras.callbacks.Callback):
    """Counts the steps that were done."""

    done = 0

    def on_train_batch_end(self, batch, logs=None):
        self.done += 1


def with_lost_weights(callback, model):
    """Runs what the callback does in an epoch that ends with NaN weights; gives the logs."""
    callback.set_model(model)
    callback.on_train_begin()
    model.encoder.set_weights([weight * float("nan") for weight in model.encoder.get_weights()])
    logs = {}
    callback.on_epoch_end(0, logs)
    return logs
