"""keras_vaezoo: a Keras 3 model zoo of variational autoencoders."""

from keras_vaezoo import (
    divergences,
    likelihoods,
    networks,
    sampling,
)
from keras_vaezoo.models import VAE, BetaVAE

__version__ = "0.1.0"

__all__ = [
    "VAE",
    "BetaVAE",
    "divergences",
    "likelihoods",
    "networks",
    "sampling",
]
