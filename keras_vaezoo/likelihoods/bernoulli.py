"""Likelihoods of data in [0, 1]: Bernoulli and continuous Bernoulli."""

import math

import keras
import numpy as np
from keras import ops

from keras_vaezoo.likelihoods.base import PACKAGE, Likelihood


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
