import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.sampling import clip_by_latent_norm
from tests.gradients import finite_difference, value_and_grad
from tests.models.methods import LATENT_DIM, build, images
from tests.models.steps import evaluated, made_by_hand, weights

VARIANCES = {
    "log": lambda log_v: np.abs(log_v),
    "kl": lambda log_v: np.exp(log_v) - log_v - 1,
    "difference": lambda log_v: np.abs(np.exp(log_v) - 1),
}


def test_loss_is_the_papers():
    model = build("MuVAE", clip=0.1)
    x = images(7)
    mean, log_variance = (np.asarray(part, "float64") for part in model.encode(x))
    logs = evaluated(model, x)
    aggregate_mean = np.abs(mean.sum(axis=0)).sum() / 7
    np.testing.assert_allclose(logs["aggregate_mean"], aggregate_mean, rtol=1e-5)
    variance = np.abs(log_variance).sum() / 7
    np.testing.assert_allclose(logs["variance"], variance, rtol=1e-5)
    total = logs["reconstruction"] + aggregate_mean + variance
    np.testing.assert_allclose(logs["loss"], total, rtol=1e-5)
    second_moment = np.mean(mean**2 + np.exp(log_variance))
    np.testing.assert_allclose(logs["second_moment"], second_moment, rtol=1e-5)


@pytest.mark.parametrize("variance", VARIANCES)
def test_variants_of_the_variance_term(variance):
    mean, log_variance = np.random.default_rng(0).normal(size=(2, 6, LATENT_DIM))
    terms = build("MuVAE", variance=variance).compute_terms(made_by_hand(mean, log_variance))
    expected = VARIANCES[variance](log_variance).sum(axis=1)
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(terms["variance"]), expected, rtol=1e-5, atol=1e-6
    )


def test_default_likelihood_is_the_squared_error():
    likelihood = build("MuVAE").likelihood
    random = np.random.default_rng(0)
    x, output = random.normal(size=(2, 4, *images(1).shape[1:])).astype("float32")
    nll = keras.ops.convert_to_numpy(likelihood.nll(x, output))
    constant = 0.5 * np.log(np.pi) * x[0].size
    np.testing.assert_allclose(nll - constant, ((x - output) ** 2).sum(axis=(1, 2, 3)), rtol=1e-5)


@pytest.mark.parametrize("clip", [0.05, 2.0])
def test_means_lie_within_the_bound_in_every_use(clip):
    model = build("MuVAE", clip=clip)
    unbounded = build("MuVAE", clip=None)
    for free, bounded in zip(unbounded.encoder.weights, model.encoder.weights, strict=True):
        free.assign(8 * keras.ops.convert_to_numpy(free))
        bounded.assign(free)
    x = images(20)
    raw, mean = unbounded.encode(x).mean, model.encode(x).mean
    norm, limit = np.linalg.norm(raw, axis=1), clip * np.sqrt(LATENT_DIM)
    expected = raw * np.minimum(1.0, limit / norm)[:, None]
    np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-6)
    assert (norm > 0.05 * np.sqrt(LATENT_DIM)).any()
    assert (np.linalg.norm(mean, axis=1) <= limit * (1 + 1e-6)).all()


def test_gradient_through_the_clip():
    random = np.random.default_rng(1)
    mean = random.normal(size=(6, 4)) * np.array([[0.1], [1], [3], [10], [2.5], [30]])
    direction = random.normal(size=(6, 4))

    def oracle(mean):
        norm = np.linalg.norm(mean, axis=1, keepdims=True)
        return np.sum(direction * mean * np.minimum(1.0, 2 * 1.5 / norm))

    towards = keras.ops.convert_to_tensor(direction, "float32")
    value, (gradient,) = value_and_grad(
        lambda m: keras.ops.sum(towards * clip_by_latent_norm(m, 1.5)), mean
    )
    np.testing.assert_allclose(value, oracle(mean), rtol=1e-5)
    np.testing.assert_allclose(gradient, *finite_difference(oracle, mean), rtol=1e-3, atol=1e-5)


def test_clip_is_a_tool_for_any_means():
    zero = np.zeros((2, 3), "float32")
    _, (gradient,) = value_and_grad(lambda m: keras.ops.sum(clip_by_latent_norm(m, 1.0)), zero)
    np.testing.assert_array_equal(gradient, np.ones((2, 3)))
    assert clip_by_latent_norm(zero, None) is zero
    with pytest.raises(ValueError, match="Received: clip=-1"):
        clip_by_latent_norm(zero, -1.0)


def test_the_mean_term_shifts_all_means_alike():
    model = build("MuVAE")
    random = np.random.default_rng(2)
    mean, log_variance = random.normal(size=(2, 5, LATENT_DIM))
    mean[:, 0] += 2.0
    mean[:, 1] -= 2.0
    _, (gradient, _) = value_and_grad(
        lambda *arrays: model.compute_terms(made_by_hand(*arrays))["aggregate_mean"],
        mean,
        log_variance,
    )
    expected = np.broadcast_to(np.sign(mean.sum(axis=0)) / 5, mean.shape)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_config_and_weights_survive_a_file(tmp_path):
    model = build("MuVAE", clip=6.0, variance="kl")
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert (loaded.clip, loaded.variance) == (6.0, "kl")
    assert loaded.likelihood.sigma == model.likelihood.sigma
    for new, old in zip(weights(loaded), weights(model), strict=True):
        np.testing.assert_array_equal(new, old)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"clip": 0.0}, "clip must be a finite number above 0. Received: clip=0.0"),
        ({"clip": "3"}, "Received: clip='3'"),
        ({"variance": "square"}, "difference.*Received: variance='square'"),
    ],
)
def test_wrong_arguments(argument, message):
    with pytest.raises(ValueError, match=message):
        vz.MuVAE(None, None, **argument)
