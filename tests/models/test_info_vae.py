import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.sampling import evaluation_noise
from tests.models.methods import LATENT_DIM, build, images
from tests.models.squared_discrepancy import gaussian, mmd
from tests.models.steps import EAGER, evaluated, trained


def test_weights_of_the_terms():
    logs = evaluated(build("InfoVAE", alpha=0.25, lambda_=3.0), images(6))
    np.testing.assert_allclose(logs["kl_weight"], 0.75, rtol=1e-6)
    np.testing.assert_allclose(logs["mmd_weight"], 2.25, rtol=1e-6)
    total = logs["reconstruction"] + 0.75 * logs["kl"] + 2.25 * logs["mmd"]
    np.testing.assert_allclose(logs["loss"], total, rtol=1e-6)


def test_discrepancy_of_codes_and_prior_draws():
    model = build("InfoVAE")
    x = images(9)
    mean, log_variance = (np.asarray(part, "float64") for part in model.encode(x))
    noise = evaluation_noise(2 * LATENT_DIM)[:9].astype("float64")
    z = mean + np.exp(log_variance / 2) * noise[:, :LATENT_DIM]
    expected = mmd(z, noise[:, LATENT_DIM:], gaussian, unbiased=False)
    np.testing.assert_allclose(evaluated(model, x)["mmd"], expected, rtol=1e-4)


def test_training_draws_the_prior_anew_and_pulls_the_codes_to_it():
    model = build("InfoVAE", alpha=1.0, lambda_=100.0)
    model.encoder.get_layer("encoder_mean").bias.assign(np.full(LATENT_DIM, 3.0, "float32"))
    x = images(64)
    optimizer = keras.optimizers.Adam(0.0)
    model.compile(optimizer, jit_compile=not EAGER)
    first, second = (trained(model, x)["mmd"] for _ in range(2))
    assert first != second
    np.testing.assert_allclose(first, second, rtol=0.2)
    optimizer.learning_rate = 0.05
    for _ in range(40):
        last = trained(model, x)["mmd"]
    assert last < 0.2 * first


def test_the_limits_of_alpha_and_lambda_are_allowed():
    assert build("InfoVAE", alpha=1.0, lambda_=0.0).coefficients["mmd"] == 0.0
    assert build("InfoVAE", alpha=-1.0, lambda_=2.0).coefficients["kl"] == 2.0


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"alpha": 1.5}, "alpha <= 1 must hold.*Received: alpha=1.5"),
        ({"alpha": 0.0, "lambda_": 0.5}, r"alpha \+ lambda_ >= 1 must hold.*lambda_=0.5"),
        ({"alpha": "0"}, "Received: alpha='0'"),
        ({"lambda_": float("inf")}, "Received: lambda_=inf"),
    ],
)
def test_wrong_arguments(argument, message):
    with pytest.raises(ValueError, match=message):
        vz.InfoVAE(None, None, **argument)
