"""A user's own controller, as the documentation of `control.Controller` describes one."""

import keras
from keras import ops

from keras_vaezoo.control import Controller


@keras.saving.register_keras_serializable("tests")
class StepwiseController(Controller):
    """Adds a tenth where the measured term is above the set point, and takes one where below."""

    def __init__(self, set_point, **kwargs):
        super().__init__(set_point, **kwargs)
        self.height = self.add_weight(
            shape=(),
            initializer="zeros",
            trainable=False,
            autocast=False,
            aggregation="mean",
            name="height",
        )

    def update(self, measured):
        height = ops.convert_to_tensor(self.height)
        self.height.assign(height + 0.1 * ops.sign(measured - self.set_point))
        return ops.convert_to_tensor(self.height)
