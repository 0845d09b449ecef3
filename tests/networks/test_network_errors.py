"""Wrong arguments are refused before anything is built, with what was received."""

import numpy as np
import pytest

from keras_vaezoo import networks

FACTORIES = [
    networks.mlp_encoder,
    networks.mlp_decoder,
    networks.conv_encoder,
    networks.conv_decoder,
    networks.autoencoder,
]


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("latent_dim", [0, -1, 2.0, "2", None, True])
def test_latent_dim_below_one(factory, latent_dim):
    with pytest.raises(ValueError, match=r"latent_dim .* at least 1.*Received: latent_dim="):
        factory((8, 8, 1), latent_dim)


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("shape", [(), (0, 8, 1), (None, 8, 1), 8, "888", (8.0, 8, 1)])
def test_shapes_that_are_not_positive_integers(factory, shape):
    with pytest.raises(ValueError, match=r"positive integers.*Received: input_shape="):
        factory(shape, 2)


@pytest.mark.parametrize("factory", [networks.conv_encoder, networks.conv_decoder])
@pytest.mark.parametrize("shape", [(8,), (4, 8, 8, 1)], ids=str)
def test_convolutions_refuse_other_ranks(factory, shape):
    with pytest.raises(ValueError, match=r"\(height, width, channels\).*Received: input_shape="):
        factory(shape, 2)


@pytest.mark.parametrize(
    "architecture, shape",
    [
        ("auto", (4, 8, 8, 1)),
        ("conv", (8,)),
        ("mlp", (4, 8, 8, 1)),
        ("burgess", (64, 64)),
        ("wise_ale_sine", (28, 28, 1)),
    ],
)
def test_architectures_refuse_other_ranks(architecture, shape):
    with pytest.raises(ValueError, match=r"batch axis.*Received: input_shape="):
        networks.autoencoder(shape, 2, architecture)


def test_unknown_architecture_lists_the_names():
    with pytest.raises(ValueError, match="Received: architecture='resnet'") as error:
        networks.autoencoder((8, 8, 1), 2, "resnet")
    assert all(name in str(error.value) for name in networks.architectures())


@pytest.mark.parametrize("architecture", ["gcvae_dsprites", "gcvae_mnist"])
def test_gcvae_networks_name_the_size_they_take(architecture):
    with pytest.raises(ValueError, match=r"use architecture=.conv.*Received: input_shape=\(32"):
        networks.autoencoder((32, 32, 1), 2, architecture)


@pytest.mark.parametrize(
    "architecture, options",
    [("burgess", {"hidden": (8,)}), ("mu_vae", {"filters": (8,)}), ("mlp", {"filters": (8,)})],
)
def test_fixed_layers_refuse_options(architecture, options):
    with pytest.raises(ValueError, match=r"are not set by.*Received: "):
        networks.autoencoder((28, 28, 1), 2, architecture, **options)


@pytest.mark.parametrize("factory", [networks.conv_encoder, networks.conv_decoder])
def test_filters_and_strides_of_different_length(factory):
    with pytest.raises(ValueError, match=r"agree in length.*filters=\(8, 4\), strides=\(2,\)"):
        factory((8, 8, 1), 2, filters=(8, 4), strides=(2,))


@pytest.mark.parametrize(
    "options", [{"filters": (8, 0)}, {"hidden": (0,)}, {"kernel_size": 0}, {"strides": 0}]
)
@pytest.mark.parametrize("factory", [networks.conv_encoder, networks.conv_decoder])
def test_counts_below_one(factory, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name}.* at least 1"):
        factory((8, 8, 1), 2, **options)


def test_hidden_that_is_no_sequence():
    with pytest.raises(ValueError, match=r"sequence of integers.*Received: hidden=400"):
        networks.mlp_encoder((784,), 2, hidden=400)


@pytest.mark.parametrize("factory", [networks.mlp_decoder, networks.conv_decoder])
@pytest.mark.parametrize("count", [0, 1.5])
def test_parameters_per_value_below_one(factory, count):
    with pytest.raises(ValueError, match=r"parameters_per_value .* at least 1"):
        factory((8, 8, 1), 2, parameters_per_value=count)


def test_integers_of_numpy_are_integers():
    shape = np.array([8, 8, 1])
    encoder, decoder = networks.autoencoder(shape, np.int64(2))
    assert encoder.output_shape == [(None, 2), (None, 2)]
    assert decoder.output_shape == (None, 8, 8, 1)


def test_a_mistyped_architecture_is_answered_with_a_close_one():
    with pytest.raises(ValueError, match="Did you mean 'burgess'"):
        networks.autoencoder((64, 64, 1), 2, "burges")


def test_images_without_a_channel_axis_are_not_taken_for_a_signal_in_silence(recwarn):
    with pytest.warns(UserWarning, match=r"signal of length 28 with 28 channels.*\(28, 28, 1\)"):
        networks.autoencoder((28, 28), 2, "mlp")
    recwarn.clear()
    networks.autoencoder((128, 12), 2, "mlp")  # a signal with 12 channels
    assert not recwarn
