"""A learned sigma ends where the best sigma of the trained networks is."""

import keras
import numpy as np
import pytest

import keras_vaezoo as vz


@pytest.mark.parametrize("kind", ["scalar", "dimension"])
def test_learned_sigma_is_the_residuals_deviation(kind):
    images = vz.datasets.load("digits", split="all").as_numpy()
    keras.utils.set_random_seed(0)
    networks = vz.networks.autoencoder((8, 8, 1), 6, architecture="mlp", hidden=(64,))
    model = vz.VAE(*networks, likelihood=vz.likelihoods.Gaussian(sigma=kind), seed=0)
    model.compile(keras.optimizers.Adam(1e-2))
    model.fit(images, batch_size=64, epochs=12, verbose=0)
    mean, log_variance = model.encode(images)
    noise = np.random.default_rng(0).standard_normal(mean.shape)
    z = (mean + np.exp(log_variance / 2) * noise).astype("float32")
    squares = (images - model.decode(z)) ** 2
    sigma = model.likelihood.current_scale()
    if kind == "scalar":
        assert sigma == pytest.approx(np.sqrt(squares.mean(dtype="float64")), rel=0.05)
    else:
        best = np.sqrt(squares.mean(axis=0, dtype="float64"))
        assert np.median(np.abs(sigma / best - 1.0)[best > 0.1]) < 0.05
