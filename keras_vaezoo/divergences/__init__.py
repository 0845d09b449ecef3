"""Divergences between posteriors, aggregate posteriors, samples and the prior N(0, I).

Pure functions of `keras.ops`, in nats, float32 for every input dtype. Those that return one
value a row (`gaussian_kl`) do not depend on the batch; all others are statistics of the whole
batch that they are given.
"""

from keras_vaezoo.divergences._aggregate import (
    aggregate_kl_bound,
    aggregate_kl_loose_bound,
    aggregate_kl_moments,
)
from keras_vaezoo.divergences._gaussian import gaussian_kl, gaussian_kl_per_dimension
from keras_vaezoo.divergences._mahalanobis import kernel_mahalanobis, mahalanobis
from keras_vaezoo.divergences._mmd import mmd

__all__ = [
    "aggregate_kl_bound",
    "aggregate_kl_loose_bound",
    "aggregate_kl_moments",
    "gaussian_kl",
    "gaussian_kl_per_dimension",
    "kernel_mahalanobis",
    "mahalanobis",
    "mmd",
]
