"""Encoders and decoders: factories for any shape, and the papers' networks by name."""

from keras_vaezoo.networks._architectures import architectures, autoencoder
from keras_vaezoo.networks._conv import conv_decoder, conv_encoder
from keras_vaezoo.networks._discriminator import discriminator
from keras_vaezoo.networks._mlp import mlp_decoder, mlp_encoder

__all__ = [
    "architectures",
    "autoencoder",
    "conv_decoder",
    "conv_encoder",
    "discriminator",
    "mlp_decoder",
    "mlp_encoder",
]
