"""What the callbacks that set a coefficient share: one of them for a coefficient in a fit."""

import keras


class CoefficientHolder(keras.callbacks.Callback):
    """Base of the callbacks that set one coefficient.

    Subclassing: fill in `hold`, called when training begins, before any step.

    Args:
        coefficient: Name of the coefficient, one of `model.coefficients`.
    """

    def __init__(self, coefficient):
        super().__init__()
        if not isinstance(coefficient, str):
            raise ValueError(
                f"coefficient must be the name of one. Received: coefficient={coefficient!r}"
            )
        self.coefficient = coefficient

    def hold(self):
        """Writes what the model needs to know; a ValueError where it cannot be held."""
        raise NotImplementedError

    def set_model(self, model):
        super().set_model(model)
        if not hasattr(model, "loss_coefficients"):
            raise ValueError(
                f"{type(self).__name__} sets a coefficient of a keras_vaezoo model. "
                f"Received: model={type(model).__name__}"
            )
        # Keras calls set_model of every callback before on_train_begin of any: nothing is held yet.
        model.loss_coefficients.index(self.coefficient)
        first = model.loss_coefficients.holders.setdefault(self.coefficient, self)
        if first is not self:
            raise ValueError(
                f"Two callbacks set coefficient {self.coefficient!r} in one fit: {first!r} and "
                f"{self!r}. Keep one of them."
            )

    def on_train_begin(self, logs=None):
        self.hold()

    def on_train_end(self, logs=None):
        self.model.loss_coefficients.holders.pop(self.coefficient, None)
