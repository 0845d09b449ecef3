"""One small file a method, all on one base."""

from keras_vaezoo.models.base import BaseVAE as BaseVAE
from keras_vaezoo.models.beta_vae import BetaVAE
from keras_vaezoo.models.control_vae import ControlVAE
from keras_vaezoo.models.factor_vae import FactorVAE
from keras_vaezoo.models.gcvae import GCVAE
from keras_vaezoo.models.info_vae import InfoVAE
from keras_vaezoo.models.mu_vae import MuVAE
from keras_vaezoo.models.vae import VAE
from keras_vaezoo.models.wae import WAE
from keras_vaezoo.models.wise_ale import WiSEALE

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
]
