"""Where one method's objective is another's, they train alike."""

import keras
import numpy as np
import pytest

from tests.gradients import compiled_value_and_grad
from tests.models.methods import LATENT_DIM, build, images
from tests.models.steps import loss_of, made_by_hand, weights

STEPS = 10


def weights_after_training(method, **arguments):
    model = build(method, **arguments)
    model.compile(keras.optimizers.Adam(0.01), jit_compile=False)
    x = images(16)
    for _ in range(STEPS):
        model.train_on_batch(x)
    return [weights(network) for network in (model.encoder, model.decoder)]


@pytest.fixture(scope="module")
def vae():
    return weights_after_training("VAE")


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("BetaVAE", {"beta": 1.0}),
        ("InfoVAE", {"alpha": 0.0, "lambda_": 1.0}),
        ("FactorVAE", {"gamma": 0.0}),
    ],
)
def test_trains_as_a_vae_does(vae, method, arguments):
    for network, expected in zip(weights_after_training(method, **arguments), vae, strict=True):
        for one, other in zip(network, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_wise_ale_on_separated_posteriors_is_a_beta_vae():
    rows = 6
    random = np.random.default_rng(0)
    mean = 40.0 * np.arange(rows)[:, None] + random.normal(size=(rows, LATENT_DIM))
    log_variance = random.normal(size=(rows, LATENT_DIM)) - 1.0
    results = {}
    for name, model in (
        ("wise", build("WiSEALE")),
        ("beta", build("BetaVAE", beta=1.0 / rows)),
    ):
        results[name] = compiled_value_and_grad(
            lambda *arrays, model=model: loss_of(model, made_by_hand(*arrays)), mean, log_variance
        )
    difference = results["wise"][0] - results["beta"][0]
    constant = (LATENT_DIM / 2 * (1 - np.log(2)) - np.log(rows)) / rows
    np.testing.assert_allclose(difference, constant, atol=1e-6 * results["beta"][0])
    for one, other in zip(results["wise"][1], results["beta"][1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
