"""Likelihoods p(x|z): each owns its output activation, its data range and its exact density.

Every likelihood maps the decoder's raw output (linear last layer) to the mean of p(x|z) and
gives the negative log-likelihood of one example in nats, summed over the example's dimensions.
"""

import math

import keras
import numpy as np
from keras import ops

PACKAGE = "keras_vaezoo"
HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class Likelihood(keras.layers.Layer):
    """Base of the likelihoods: a layer from raw decoder output to the mean of p(x|z).

    Subclassing: set `value_range`, then fill in `call` (the mean), `log_density` (elementwise)
    and `draw` (one sample, in NumPy). `parameters_per_value` is 2 when the decoder gives two
    numbers for each value of the data, side by side on its last axis.

    Attributes:
        value_range: `(low, high)` that data must lie in, or `None` for any finite value.
        parameters_per_value: How many numbers the decoder gives for each value of the data.
        refuses_bounded_decoder: Whether a decoder that ends in a sigmoid is a mistake.
    """

    value_range = None
    parameters_per_value = 1
    refuses_bounded_decoder = False

    def __init__(self, **kwargs):
        kwargs["dtype"] = "float32"
        super().__init__(**kwargs)

    def log_density(self, x, parameters):
        """log p(x|z) of every value, in nats, with the shape of `x`."""
        raise NotImplementedError

    def draw(self, parameters, random):
        """One draw from p(x|z) for each row of `parameters` with a NumPy generator."""
        raise NotImplementedError

    def nll(self, x, parameters):
        """Negative log-likelihood of each example in nats, summed over its dimensions: `(M,)`."""
        log_density = self.log_density(ops.cast(x, "float32"), ops.cast(parameters, "float32"))
        return -ops.sum(log_density, axis=tuple(range(1, len(log_density.shape))))

    def data_shape(self, parameters_shape):
        """Shape of the data that raw decoder output of `parameters_shape` describes."""
        *leading, last = parameters_shape
        return (*leading, last // self.parameters_per_value)

    def compute_output_shape(self, parameters_shape):
        return self.data_shape(parameters_shape)

    def get_config(self):
        config = super().get_config()
        config.pop("dtype", None)
        return config


@keras.saving.register_keras_serializable(PACKAGE)
class Bernoulli(Likelihood):
    """Bernoulli likelihood of data in [0, 1].

    `-log p(x|z) = -SUM_j [x_j log s(l_j) + (1 - x_j) log(1 - s(l_j))]`, with logits `l` from the
    decoder (Kingma and Welling 2014, Appendix C.1).

    Args:
        from_logits: Whether the decoder gives logits (linear last layer). With `False` it
            gives probabilities, clipped to [1e-7, 1 - 1e-7]. Default `True`.

    Example:

    >>> likelihood = Bernoulli()
    >>> likelihood.nll(np.ones((2, 3)), np.zeros((2, 3)))   # 3 log 2 = 2.0794 nats each
    """

    value_range = (0.0, 1.0)

    def __init__(self, from_logits=True, **kwargs):
        super().__init__(**kwargs)
        self.from_logits = from_logits
        self.refuses_bounded_decoder = from_logits

    def call(self, parameters):
        return ops.sigmoid(parameters) if self.from_logits else parameters

    def log_density(self, x, parameters):
        return -ops.binary_crossentropy(x, parameters, from_logits=self.from_logits)

    def draw(self, parameters, random):
        probability = ops.convert_to_numpy(self(parameters))
        return (random.random(probability.shape) < probability).astype("float32")

    def get_config(self):
        return {**super().get_config(), "from_logits": self.from_logits}


@keras.saving.register_keras_serializable(PACKAGE)
class ContinuousBernoulli(Likelihood):
    """Continuous Bernoulli likelihood of data in [0, 1], normalised on the interval.

    `p(x) = C(s) s^x (1-s)^(1-x)` with `s = sigmoid(l)`; in logits
    `log p = x l - softplus(l) + log(l / tanh(l/2))` (Loaiza-Ganem and Cunningham 2019, Eq. 7).
    Its mean, `1 / (1 - exp(-l)) - 1 / l`, is the reconstruction.

    Example:

    >>> ContinuousBernoulli().nll(np.full((1, 4), 0.3), np.zeros((1, 4)))   # uniform: 0 nats
    """

    value_range = (0.0, 1.0)
    refuses_bounded_decoder = True

    def call(self, parameters):
        small = ops.abs(parameters) < 0.3
        logits = ops.where(small, 1.0, parameters)
        exact = ops.sigmoid(logits) / ops.tanh(logits / 2.0) - 1.0 / logits
        square = ops.square(parameters)
        series = 0.5 + parameters / 12.0 * (1.0 - square / 60.0 + square * square / 2520.0)
        return ops.where(small, series, exact)

    def log_density(self, x, parameters):
        return -ops.binary_crossentropy(x, parameters, from_logits=True) + self._log_normaliser(
            parameters
        )

    @staticmethod
    def _log_normaliser(logits):
        magnitude = ops.abs(logits)
        small = magnitude < 0.3
        safe = ops.where(small, 1.0, magnitude)
        exact = ops.log(safe) - ops.log(ops.tanh(safe / 2.0))
        square = ops.square(ops.where(small, logits, 0.0))
        series = math.log(2.0) + square / 12.0 * (1.0 - 7.0 * square / 120.0)
        return ops.where(small, series + square**3 * (31.0 / 90720.0), exact)

    def draw(self, parameters, random):
        logits = np.asarray(ops.convert_to_numpy(parameters), "float64")
        logits = np.where(np.abs(logits) < 1e-5, 1e-5, logits)
        uniform = random.random(logits.shape)
        magnitude = np.abs(logits)
        # Inverse distribution function for positive logits, mirrored for negative ones.
        upper = 1.0 + np.log(uniform + (1.0 - uniform) * np.exp(-magnitude)) / magnitude
        return np.where(logits > 0, upper, 1.0 - upper).clip(0.0, 1.0).astype("float32")


class _LocationScale(Likelihood):
    """Shared mathematics of the likelihoods with a location and a scale (Gaussian, Laplace)."""

    scale_name = "scale"

    def __init__(self, scale, **kwargs):
        super().__init__(**kwargs)
        is_number = isinstance(scale, (int, float)) and not isinstance(scale, bool)
        if scale not in ("scalar", "dimension", "decoder") and not (
            is_number and 0.0 < scale < math.inf
        ):
            raise ValueError(
                f"{self.scale_name} must be a positive number (fixed), 'scalar' (one learned "
                "value), 'dimension' (one learned value for each dimension) or 'decoder' (the "
                f"second half of the decoder's last axis). Received: {self.scale_name}={scale!r}"
            )
        self.scale = scale
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


_BY_NAME = {
    "bernoulli": Bernoulli,
    "continuous_bernoulli": ContinuousBernoulli,
    "gaussian": Gaussian,
    "laplace": Laplace,
}


def get(likelihood):
    """The likelihood object for a name or an object.

    Args:
        likelihood: `"bernoulli"`, `"continuous_bernoulli"`, `"gaussian"` (unit sigma),
            `"laplace"` (unit scale), or a `Likelihood`.

    Raises:
        ValueError: For anything else, with the valid names.
    """
    if isinstance(likelihood, Likelihood):
        return likelihood
    if isinstance(likelihood, str) and likelihood in _BY_NAME:
        return _BY_NAME[likelihood](name="likelihood")
    raise ValueError(
        f"likelihood must be one of {sorted(_BY_NAME)} or a keras_vaezoo.likelihoods.Likelihood "
        f"object. Received: likelihood={likelihood!r}"
    )
