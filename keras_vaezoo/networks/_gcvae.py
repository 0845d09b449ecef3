"""The two networks of GCVAE's authors' code: convolutions, pooling and batch normalisation."""

import math
from typing import NamedTuple

import keras
from keras import layers

from keras_vaezoo.networks._arguments import checked_count, kernel_initializer, parameter_shape
from keras_vaezoo.networks._mlp import dense_stack, encoder_with_heads


class Convolution(NamedTuple):
    """One convolution and the pooling or upsampling beside it."""

    filters: int
    kernel_size: int
    padding: str
    scale: int


class Plan(NamedTuple):
    """A GCVAE network: the image side that it is made for, and its stages."""

    side: int
    encoder: tuple
    decoder: tuple
    output: Convolution


HIDDEN = (200, 25)

DSPRITES = Plan(
    side=64,
    encoder=(
        Convolution(64, 3, "same", 2),
        Convolution(64, 3, "same", 2),
        Convolution(32, 3, "same", 3),
        Convolution(32, 3, "same", 2),
    ),
    decoder=(
        Convolution(32, 3, "valid", 2),
        Convolution(32, 3, "valid", 2),
        Convolution(64, 3, "valid", 2),
        Convolution(64, 3, "valid", 2),
    ),
    output=Convolution(1, 3, "valid", 1),
)

MNIST = Plan(
    side=28,
    encoder=(Convolution(64, 3, "same", 2), Convolution(32, 3, "valid", 2)),
    decoder=(Convolution(32, 3, "valid", 2), Convolution(64, 3, "same", 2)),
    output=Convolution(1, 1, "same", 1),
)


def gcvae_autoencoder(plan, input_shape, latent_dim, initializer, parameters_per_value):
    """Build GCVAE's encoder and decoder for images of the plan's side."""
    if input_shape[:-1] != (plan.side, plan.side):
        raise ValueError(
            f"This network of GCVAE takes images of shape ({plan.side}, {plan.side}, channels); "
            'use architecture="conv" for any other size. '
            f"Received: input_shape={input_shape}"
        )
    latent_dim = checked_count("latent_dim", latent_dim)
    initializer = "he_normal" if initializer is None else initializer
    output_shape = parameter_shape(
        input_shape, checked_count("parameters_per_value", parameters_per_value)
    )
    encoder, map_shape = _encoder(plan, input_shape, latent_dim, initializer)
    return encoder, _decoder(plan, map_shape, output_shape[-1], latent_dim, initializer)


def _encoder(plan, input_shape, latent_dim, initializer):
    inputs = x = keras.Input(input_shape, name="encoder_input")
    for i, stage in enumerate(plan.encoder, start=1):
        x = layers.Conv2D(
            stage.filters,
            stage.kernel_size,
            padding=stage.padding,
            activation="relu",
            data_format="channels_last",
            kernel_initializer=kernel_initializer(initializer),
            name=f"encoder_conv_{i}",
        )(x)
        x = layers.MaxPooling2D(stage.scale, data_format="channels_last", name=f"encoder_pool_{i}")(
            x
        )
        x = layers.BatchNormalization(name=f"encoder_normalization_{i}")(x)
    map_shape = x.shape[1:]
    x = layers.Flatten(data_format="channels_last", name="encoder_flatten")(x)
    x = dense_stack(x, "encoder", HIDDEN, "relu", initializer)
    return encoder_with_heads(inputs, x, latent_dim, initializer), map_shape


def _decoder(plan, map_shape, output_channels, latent_dim, initializer):
    inputs = keras.Input((latent_dim,), name="decoder_input")
    widths = (*HIDDEN[::-1], math.prod(map_shape))
    x = dense_stack(inputs, "decoder", widths, "relu", initializer)
    x = layers.Reshape(map_shape, name="decoder_map")(x)
    for i, stage in enumerate(plan.decoder, start=1):
        x = layers.BatchNormalization(name=f"decoder_normalization_{i}")(x)
        x = layers.UpSampling2D(
            stage.scale, data_format="channels_last", name=f"decoder_upsampling_{i}"
        )(x)
        x = layers.Conv2DTranspose(
            stage.filters,
            stage.kernel_size,
            padding=stage.padding,
            activation="relu",
            data_format="channels_last",
            kernel_initializer=kernel_initializer(initializer),
            name=f"decoder_conv_{i}",
        )(x)
    outputs = layers.Conv2DTranspose(
        output_channels,
        plan.output.kernel_size,
        padding=plan.output.padding,
        data_format="channels_last",
        kernel_initializer=kernel_initializer(initializer),
        dtype="float32",
        name="decoder_output",
    )(x)
    return keras.Model(inputs, outputs, name="decoder")
