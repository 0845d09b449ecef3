"""What the callbacks that look at a model share: images that stay the same in every epoch."""

import keras
import numpy as np

from keras_vaezoo import checks
from keras_vaezoo.evaluation._examples import Examples, examples_of
from keras_vaezoo.models.base import BaseVAE


def chosen_at_random(data, most, seed):
    """`Examples` of at most that many rows of `data`, drawn without repeats, in memory."""
    images, factors, name = examples_of(data)
    rows = np.random.default_rng(seed).permutation(len(images))[:most]
    rows.sort()
    return Examples(np.asarray(images[rows]), None if factors is None else factors[rows], name)


def check_images(callback, images):
    """A ValueError unless the callback's model is one of ours and takes these images."""
    if not isinstance(callback.model, BaseVAE):
        raise ValueError(
            f"{type(callback).__name__} looks at a model of keras_vaezoo. "
            f"Received: model={type(callback.model).__name__}"
        )
    checks.check_batch(images, callback.model.input_shape[1:], "images")
    checks.check_values(images, None, "images")


class EveryEpochs(keras.callbacks.Callback):
    """Base of the callbacks that look at the model every few epochs.

    A model whose codes are no longer finite is not looked at.

    Subclassing: fill in `look(epoch)` and, to show errors before the first step, `try_out`.

    Args:
        images: Array `(n, *input_shape)`.
        every: Epochs between two looks.
    """

    def __init__(self, images, every):
        super().__init__()
        checks.check_positive_integer("every", every)
        self.images, self.every = images, every

    def try_out(self):
        """Does what `look` will do, without leaving a trace. Default: nothing."""

    def look(self, epoch):
        """Called at the end of every `every`-th epoch; epochs count from 0."""
        raise NotImplementedError

    def on_train_begin(self, logs=None):
        check_images(self, self.images)
        checks.check_values(self.images, self.model.likelihood.value_range, "images")
        self.try_out()

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0 and self._has_finite_codes():
            self.look(epoch)

    def _has_finite_codes(self):
        return bool(np.isfinite(self.model.encode(self.images[:32]).mean).all())
