"""The base of the likelihoods."""

import keras
from keras import ops

PACKAGE = "keras_vaezoo"


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
