"""Divergences between posteriors and the prior."""

from keras import ops


def gaussian_kl(mean, log_variance):
    square = ops.square(mean) + ops.exp(log_variance) - 1.0 - log_variance
    return 0.5 * ops.sum(square, axis=-1)
