"""Layer names, parameter counts and initialisers: what a weights file relies on."""

import functools
import itertools
import math

import keras
import numpy as np
import pytest

from keras_vaezoo import networks

# Zeros take no time to compile for each shape, as random kernels do on JAX.
build = functools.partial(networks.autoencoder, initializer="zeros")


def conv(kernel, inputs, outputs):
    return kernel * inputs * outputs + outputs


def dense(*widths):
    return sum(a * b + b for a, b in itertools.pairwise(widths))


def heads(inputs, latent_dim):
    return 2 * dense(inputs, latent_dim)


# Every count is written down from the papers' tables, one term a layer.
COUNTS = {
    "burgess": (
        (64, 64, 1),
        10,
        conv(16, 1, 32) + 3 * conv(16, 32, 32) + dense(512, 256, 256) + heads(256, 10),
        dense(10, 256, 256, 512) + 3 * conv(16, 32, 32) + conv(16, 32, 1),
    ),
    "higgins": (
        (64, 64, 1),
        10,
        dense(4096, 1200, 1200) + heads(1200, 10),
        dense(10, 1200, 1200, 1200, 4096),
    ),
    "wise_ale_mnist": (
        (28, 28, 1),
        2,
        conv(16, 1, 16)
        + conv(16, 16, 32)
        + conv(16, 32, 64)
        + dense(4 * 4 * 64, 32)
        + heads(32, 2),
        dense(2, 16, 128, 784),
    ),
    "wise_ale_celeba": (
        (64, 64, 3),
        64,
        conv(25, 3, 128)
        + conv(25, 128, 256)
        + conv(25, 256, 512)
        + conv(25, 512, 1024)
        + heads(4 * 4 * 1024, 64),
        dense(64, 8 * 8 * 1024)
        + conv(25, 1024, 512)
        + conv(25, 512, 256)
        + conv(25, 256, 128)
        + 4 * (512 + 256 + 128)
        + conv(25, 128, 3),
    ),
    "wise_ale_sine": (
        (256, 1),
        4,
        conv(4, 1, 16)
        + conv(4, 16, 32)
        + conv(4, 32, 64)
        + conv(4, 64, 64)
        + conv(4, 64, 128)
        + dense(8 * 128, 32)
        + heads(32, 4),
        dense(4, 128)
        + conv(4, 128, 64)
        + conv(4, 64, 64)
        + conv(4, 64, 32)
        + conv(4, 32, 16)
        + conv(4, 16, 1),
    ),
    "mu_vae": (
        (28, 28, 1),
        10,
        conv(16, 1, 32) + conv(16, 32, 64) + dense(7 * 7 * 64, 128) + heads(128, 10),
        dense(10, 128, 7 * 7 * 64) + conv(16, 64, 32) + conv(16, 32, 1),
    ),
    "gcvae_dsprites": (
        (64, 64, 1),
        10,
        conv(9, 1, 64)
        + conv(9, 64, 64)
        + conv(9, 64, 32)
        + conv(9, 32, 32)
        + 4 * (64 + 64 + 32 + 32)
        + dense(2 * 2 * 32, 200, 25)
        + heads(25, 10),
        dense(10, 25, 200, 2 * 2 * 32)
        + 2 * conv(9, 32, 32)
        + conv(9, 32, 64)
        + conv(9, 64, 64)
        + 4 * (32 + 32 + 32 + 64)
        + conv(9, 64, 1),
    ),
    "gcvae_mnist": (
        (28, 28, 1),
        10,
        conv(9, 1, 64)
        + conv(9, 64, 32)
        + 4 * (64 + 32)
        + dense(6 * 6 * 32, 200, 25)
        + heads(25, 10),
        dense(10, 25, 200, 6 * 6 * 32)
        + conv(9, 32, 32)
        + conv(9, 32, 64)
        + 4 * (32 + 32)
        + conv(1, 64, 1),
    ),
}


def names(model):
    return [layer.name for layer in model.layers]


def paths(*models):
    return [variable.path for model in models for variable in model.variables]


@pytest.mark.parametrize("architecture", COUNTS)
def test_parameter_counts_of_the_papers_networks(architecture):
    shape, latent_dim, encoder_count, decoder_count = COUNTS[architecture]
    encoder, decoder = build(shape, latent_dim, architecture)
    assert encoder.count_params() == encoder_count
    assert decoder.count_params() == decoder_count


def test_mlp_784_400_20():
    encoder, decoder = build((784,), 20, "mlp", hidden=(400,))
    assert encoder.count_params() == dense(784, 400) + heads(400, 20)
    assert decoder.count_params() == dense(20, 400, 784)


@pytest.mark.parametrize("architecture", [*COUNTS, "mlp", "conv"])
def test_names_are_prefixed_unique_and_stable(architecture):
    shape = COUNTS[architecture][0] if architecture in COUNTS else (20, 12, 2)
    first = build(shape, 2, architecture)
    second = build(shape, 2, architecture)
    for model, prefix in zip(first, ("encoder_", "decoder_"), strict=True):
        assert all(name.startswith(prefix) for name in names(model))
    assert len(set(paths(*first))) == len(paths(*first))
    assert paths(*first) == paths(*second)
    assert [names(model) for model in first] == [names(model) for model in second]


def test_names_that_weight_files_hold():
    encoder, decoder = build((9, 9, 1), 2, "conv", filters=(4, 8), hidden=(5,))
    assert names(encoder) == [
        "encoder_input",
        "encoder_conv_1",
        "encoder_conv_2",
        "encoder_flatten",
        "encoder_dense_1",
        "encoder_mean",
        "encoder_log_variance",
    ]
    assert names(decoder) == [
        "decoder_input",
        "decoder_dense_1",
        "decoder_dense_2",
        "decoder_map",
        "decoder_conv_1",
        "decoder_conv_1_crop",
        "decoder_output",
        "decoder_output_crop",
    ]


@pytest.mark.parametrize("architecture", ["conv", "wise_ale_mnist", "gcvae_mnist"])
def test_a_saved_network_loads_without_custom_objects(architecture, tmp_path):
    for model in build((28, 28, 1), 2, architecture):
        model.set_weights([np.full(weight.shape, 0.25) for weight in model.weights])
        model.save(tmp_path / "network.keras")
        loaded = keras.saving.load_model(tmp_path / "network.keras")
        assert {type(layer).__module__.split(".")[0] for layer in loaded.layers} == {"keras"}
        assert names(loaded) == names(model)
        for ours, theirs in zip(model.weights, loaded.weights, strict=True):
            np.testing.assert_array_equal(
                keras.ops.convert_to_numpy(ours), keras.ops.convert_to_numpy(theirs)
            )


def test_default_initializer_is_uniform_within_one_over_root_fan_in():
    kernel = networks.mlp_encoder((900,), 2, hidden=(50,)).get_layer("encoder_dense_1").kernel
    values = keras.ops.convert_to_numpy(kernel)
    limit = 1 / math.sqrt(900)
    assert np.abs(values).max() <= limit
    assert values.std() == pytest.approx(limit / math.sqrt(3), rel=0.02)


def test_networks_with_convolutions_start_from_he_normal():
    for model in networks.autoencoder((4, 4, 1), 2, "wise_ale_mnist"):
        for layer in model.layers:
            if hasattr(layer, "kernel"):
                assert isinstance(layer.kernel_initializer, keras.initializers.HeNormal)


def test_initializer_reaches_every_kernel():
    for name in ("mlp", "conv", *COUNTS):
        shape = COUNTS[name][0] if name in COUNTS else (6, 5, 1)
        for model in networks.autoencoder(shape, 2, name, initializer="zeros"):
            kernels = [v for v in model.variables if v.name == "kernel"]
            assert kernels
            assert not any(keras.ops.convert_to_numpy(kernel).any() for kernel in kernels)


def test_kernels_of_equal_shape_start_different():
    encoder = networks.mlp_encoder((6,), 3, hidden=(6, 6), initializer="glorot_uniform")
    first, second = (encoder.get_layer(f"encoder_dense_{i}").kernel for i in (1, 2))
    assert np.abs(keras.ops.convert_to_numpy(first - second)).max() > 0.01


@pytest.mark.parametrize("name", ["mlp", "conv", "burgess"])
def test_an_initializer_object_is_copied_for_each_layer(name):
    shape = (64, 64, 1) if name == "burgess" else (8, 8, 1)
    keras.utils.set_random_seed(0)
    initializer = keras.initializers.HeNormal()
    for model in networks.autoencoder(shape, 4, name, initializer=initializer):
        kernels = [v for v in model.variables if v.name == "kernel"]
        shapes = {}
        for kernel in map(keras.ops.convert_to_numpy, kernels):
            shapes.setdefault(kernel.shape, []).append(kernel)
        for same in shapes.values():
            assert len({kernel.tobytes() for kernel in same}) == len(same)


def test_batch_normalization_and_dropout_only_where_the_paper_has_them():
    normalised = {"gcvae_dsprites", "gcvae_mnist", "wise_ale_celeba"}
    for name, (shape, latent_dim, _, _) in COUNTS.items():
        layers = [layer for model in build(shape, latent_dim, name) for layer in model.layers]
        has = any(isinstance(layer, keras.layers.BatchNormalization) for layer in layers)
        assert has == (name in normalised), name
        assert not any(isinstance(layer, keras.layers.Dropout) for layer in layers)
