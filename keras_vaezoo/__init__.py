"""keras_vaezoo: a Keras 3 model zoo of variational autoencoders."""

from keras_vaezoo import (
    control,
    datasets,
    divergences,
    likelihoods,
    metrics,
    models,
    networks,
    plots,
    sampling,
)
from keras_vaezoo.models import VAE, BetaVAE
from keras_vaezoo.zoo import from_preset, presets

__version__ = "0.1.0"

__all__ = [
    "VAE",
    "BetaVAE",
    "control",
    "datasets",
    "divergences",
    "from_preset",
    "likelihoods",
    "metrics",
    "models",
    "networks",
    "plots",
    "presets",
    "sampling",
]
