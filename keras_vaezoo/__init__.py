"""keras_vaezoo: a Keras 3 model zoo of variational autoencoders."""

from keras_vaezoo import (
    callbacks,
    control,
    datasets,
    divergences,
    evaluation,
    exporting,
    likelihoods,
    metrics,
    models,
    networks,
    plots,
    probe,
    sampling,
    zoo,
)
from keras_vaezoo.evaluation import score
from keras_vaezoo.exporting import export_networks
from keras_vaezoo.models import (
    GCVAE,
    VAE,
    WAE,
    BetaVAE,
    ControlVAE,
    FactorVAE,
    InfoVAE,
    MuVAE,
    WiSEALE,
)
from keras_vaezoo.zoo import from_preset, presets

__version__ = "0.1.0"

__all__ = [
    "GCVAE",
    "VAE",
    "WAE",
    "BetaVAE",
    "ControlVAE",
    "FactorVAE",
    "InfoVAE",
    "MuVAE",
    "WiSEALE",
    "callbacks",
    "control",
    "datasets",
    "divergences",
    "evaluation",
    "export_networks",
    "exporting",
    "from_preset",
    "likelihoods",
    "metrics",
    "models",
    "networks",
    "plots",
    "presets",
    "probe",
    "sampling",
    "score",
    "zoo",
]
