"""Likelihoods with a location and a scale: Gaussian and Laplace."""

import math

import keras
import numpy as np
from keras import ops

from keras_vaezoo.checks import is_number
from keras_vaezoo.likelihoods.base import PACKAGE, Likelihood

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class _LocationScale(Likelihood):
    """Shared mathematics of the likelihoods with a location and a scale (Gaussian, Laplace)."""

    scale_name = "scale"

    def __init__(self, scale, **kwargs):
        super().__init__(**kwargs)
        is_fixed = is_number(scale) and scale > 0
        by_name = isinstance(scale, str) and scale in ("scalar", "dimension", "decoder")
        if not (is_fixed or by_name):
            raise ValueError(
                f"{self.scale_name} must be a positive number (fixed), 'scalar' (one learned "
                "value), 'dimension' (one learned value for each dimension) or 'decoder' (the "
                f"second half of the decoder's last axis). Received: {self.scale_name}={scale!r}"
            )
        self.scale = float(scale) if is_fixed else scale
        self.parameters_per_value = 2 if scale == "decoder" else 1

    def build(self, parameters_shape):
        if self.scale in ("scalar", "dimension"):
            shape = () if self.scale == "scalar" else tuple(parameters_shape[1:])
            self.log_scale = self.add_weight(
                shape=shape, initializer="zeros", name=f"log_{self.scale_name}", autocast=False
            )

    def call(self, parameters):
        return self._location_and_log_scale(parameters)[0]

    def log_density(self, x, parameters):
        location, log_scale = self._location_and_log_scale(parameters)
        return self.standard_log_density((x - location) * ops.exp(-log_scale)) - log_scale

    def draw(self, parameters, random):
        location, log_scale = self._location_and_log_scale(ops.cast(parameters, "float32"))
        location = ops.convert_to_numpy(location)
        scale = np.exp(ops.convert_to_numpy(log_scale))
        return (location + scale * self.standard_draw(random, location.shape)).astype("float32")

    def current_scale(self):
        """The fixed or learned scale as a NumPy value; `None` when the decoder gives it."""
        if self.scale == "decoder":
            return None
        if self.scale in ("scalar", "dimension"):
            return np.exp(ops.convert_to_numpy(self.log_scale))
        return np.asarray(self.scale, "float32")

    def _location_and_log_scale(self, parameters):
        if self.scale == "decoder":
            return ops.split(parameters, 2, axis=-1)
        if self.scale in ("scalar", "dimension"):
            return parameters, ops.convert_to_tensor(self.log_scale)
        return parameters, ops.convert_to_tensor(math.log(self.scale), "float32")

    def get_config(self):
        return {**super().get_config(), self.scale_name: self.scale}


@keras.saving.register_keras_serializable(PACKAGE)
class Gaussian(_LocationScale):
    """Gaussian likelihood, its mean from the decoder (linear output).

    `-log p(x|z) = SUM_j [log sigma_j + 1/2 log(2 pi) + (x_j - m_j)^2 / (2 sigma_j^2)]`
    (Kingma and Welling 2014, Appendix C.2). With `sigma=1` the loss is half the squared error
    up to a constant.

    Args:
        sigma: A positive number in the data's unit (fixed), `"scalar"` (one learned value),
            `"dimension"` (one learned value for each dimension), or `"decoder"` (the decoder's
            last axis is doubled: means, then log sigmas). Default 1.0.

    Raises:
        ValueError: If `sigma` is none of these.

    Example:

    >>> Gaussian(sigma=0.5).nll(np.zeros((1, 2)), np.zeros((1, 2)))   # 2 (log 0.5 + 0.9189)
    """

    scale_name = "sigma"

    def __init__(self, sigma=1.0, **kwargs):
        super().__init__(sigma, **kwargs)

    @property
    def sigma(self):
        """The fixed or learned standard deviation; `None` when the decoder gives it."""
        return self.current_scale()

    @staticmethod
    def standard_log_density(residual):
        return -0.5 * ops.square(residual) - HALF_LOG_TWO_PI

    @staticmethod
    def standard_draw(random, shape):
        return random.standard_normal(shape)


@keras.saving.register_keras_serializable(PACKAGE)
class Laplace(_LocationScale):
    """Laplace likelihood, its location from the decoder (linear output).

    `-log p(x|z) = SUM_j [log(2 b_j) + |x_j - m_j| / b_j]`: with `b=1` the loss is the absolute
    error up to a constant.

    Args:
        b: The scale in the data's unit: a positive number (fixed), `"scalar"`, `"dimension"`
            or `"decoder"`, as for `Gaussian`. Default 1.0.

    Raises:
        ValueError: If `b` is none of these.

    Example:

    >>> Laplace(b=2.0).nll(np.ones((1, 1)), np.zeros((1, 1)))   # log 4 + 1/2
    """

    scale_name = "b"

    def __init__(self, b=1.0, **kwargs):
        super().__init__(b, **kwargs)

    @property
    def b(self):
        """The fixed or learned scale; `None` when the decoder gives it."""
        return self.current_scale()

    @staticmethod
    def standard_log_density(residual):
        return -ops.abs(residual) - math.log(2.0)

    @staticmethod
    def standard_draw(random, shape):
        return random.laplace(size=shape)
