"""Both ends of every network have the promised shapes and dtypes, on odd sizes too."""

import functools

import keras
import numpy as np
import pytest

from keras_vaezoo import networks

# Zeros take no time to compile for each shape, as random kernels do on JAX.
build = functools.partial(networks.autoencoder, initializer="zeros")
SHAPES = [
    (1,),
    (7,),
    (1, 1),
    (255, 3),
    (256, 1),
    (1, 1, 1),
    (1, 9, 2),
    (3, 17, 2),
    (5, 3, 1),
    (8, 8, 7),
    (28, 28, 1),
    (45, 31, 3),
    (218, 178, 3),
]
PAPER_SHAPES = {
    "burgess": (64, 64, 1),
    "gcvae_dsprites": (64, 64, 1),
    "gcvae_mnist": (28, 28, 1),
    "higgins": (64, 64, 1),
    "mu_vae": (28, 28, 1),
    "wise_ale_celeba": (64, 64, 3),
    "wise_ale_mnist": (28, 28, 1),
    "wise_ale_sine": (256, 1),
}
ANY_SIZE = ["burgess", "higgins", "mu_vae", "wise_ale_mnist"]


def declared_shapes(encoder, decoder):
    return [head.shape[1:] for head in encoder.outputs], decoder.outputs[0].shape[1:]


def test_every_paper_architecture_is_covered_here():
    assert {"auto", "mlp", "conv", *PAPER_SHAPES} == set(networks.architectures())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("parameters_per_value", [1, 2])
def test_auto_gives_back_any_input_shape(shape, parameters_per_value):
    encoder, decoder = build(shape, 3, parameters_per_value=parameters_per_value)
    heads, output = declared_shapes(encoder, decoder)
    assert encoder.input_shape == (None, *shape)
    assert heads == [(3,), (3,)]
    assert decoder.input_shape == (None, 3)
    assert output == (*shape[:-1], shape[-1] * parameters_per_value)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_mlp_gives_back_any_input_shape(shape):
    heads, output = declared_shapes(*build(shape, 2, "mlp"))
    assert heads == [(2,), (2,)]
    assert output == shape


@pytest.mark.parametrize("shape", [(5, 3, 1), (33, 70, 2)], ids=str)
@pytest.mark.parametrize("architecture", [*ANY_SIZE, "wise_ale_celeba"])
def test_papers_networks_for_images_of_other_sizes(architecture, shape):
    heads, output = declared_shapes(*build(shape, 2, architecture))
    assert heads == [(2,), (2,)]
    assert output == shape


@pytest.mark.parametrize("length", [1, 100, 257, 300])
def test_sine_network_for_other_lengths(length):
    _, output = declared_shapes(*build((length, 2), 4, "wise_ale_sine"))
    assert output == (length, 2)


@pytest.mark.parametrize("strides", [3, (3, 1), (1, 5)], ids=str)
def test_strides_other_than_two(strides):
    decoder = networks.conv_decoder(
        (10, 11, 2), 2, filters=(8, 4), strides=strides, initializer="zeros"
    )
    encoder = networks.conv_encoder(
        (10, 11, 2), 2, filters=(8, 4), strides=strides, initializer="zeros"
    )
    assert decoder.output_shape == (None, 10, 11, 2)
    assert encoder.output_shape == [(None, 2), (None, 2)]


@pytest.mark.parametrize("shape", [(7,), (9, 2), (5, 3, 1)], ids=str)
def test_values_have_the_declared_shapes(shape):
    encoder, decoder = build(shape, 3, filters=(4,) if len(shape) > 1 else None)
    mean, log_variance = encoder(np.ones((2, *shape), "float32"))
    assert mean.shape == log_variance.shape == (2, 3)
    assert decoder(mean).shape == (2, *shape)


def test_empty_hidden_layers():
    heads, output = declared_shapes(*build((6, 5, 1), 2, "conv", hidden=()))
    assert heads == [(2,), (2,)]
    assert output == (6, 5, 1)


def test_ends_are_float32_under_mixed_float16():
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        pairs = [build(shape, 3, name) for name, shape in PAPER_SHAPES.items()] + [
            build(shape, 3) for shape in [(7,), (13, 2), (5, 3, 1)]
        ]
    finally:
        keras.config.set_dtype_policy(previous)
    for encoder, decoder in pairs:
        for output in (*encoder.outputs, *decoder.outputs):
            assert output.dtype == "float32"
    encoder, decoder = pairs[-1]
    assert decoder.get_layer("decoder_dense_1").compute_dtype == "float16"
    mean, log_variance = encoder(np.ones((2, 5, 3, 1), "float32"))
    for value in (mean, log_variance, decoder(mean)):
        assert keras.backend.standardize_dtype(value.dtype) == "float32"


def test_last_layers_are_linear():
    for name, shape in PAPER_SHAPES.items():
        encoder, decoder = build(shape, 2, name)
        for layer in (
            encoder.get_layer("encoder_mean"),
            encoder.get_layer("encoder_log_variance"),
            decoder.get_layer("decoder_output"),
        ):
            assert layer.activation is keras.activations.linear, (name, layer.name)
