"""One small file a method, all on one base."""

from keras_vaezoo.models.beta_vae import BetaVAE
from keras_vaezoo.models.vae import VAE

__all__ = ["VAE", "BetaVAE"]
