"""Likelihoods against scipy in float64: value, gradient, mean and draws."""

import keras
import numpy as np
import pytest
from scipy import integrate, stats

from keras_vaezoo import likelihoods
from tests.gradients import value_and_grad

RNG = np.random.default_rng(0)
EXTREME = np.array([-1e4, -90.0, -20.0, -1e-3, 0.0, 1e-6, 0.299, 0.301, 3.0, 40.0, 1e4])


def nll(likelihood, x, parameters):
    return keras.ops.convert_to_numpy(likelihood.nll(x.astype("float32"), parameters))


def continuous_bernoulli(logits):
    """log density of scipy-free oracle: truncated exponential of rate -logit on [0, 1]."""
    logits = np.asarray(logits, "float64")
    magnitude = np.maximum(np.abs(logits), 1e-12)
    log_normaliser = np.where(
        magnitude > 1e-4, np.log(magnitude) - np.log(np.tanh(magnitude / 2)), np.log(2.0)
    )
    return lambda x: x * logits - np.logaddexp(0.0, logits) + log_normaliser


@pytest.mark.parametrize("x", [0.0, 1.0, 0.3])
def test_bernoulli_at_extreme_logits(x):
    data = np.full((1, len(EXTREME)), x)
    value, gradient = value_and_grad(
        lambda t: keras.ops.sum(likelihoods.Bernoulli().nll(data.astype("float32"), t)),
        EXTREME[None].astype("float32"),
    )
    expected = np.logaddexp(0.0, EXTREME) - x * EXTREME
    np.testing.assert_allclose(value, expected.sum(), rtol=1e-5)
    sigmoid = np.exp(-np.logaddexp(0.0, -EXTREME))
    np.testing.assert_allclose(gradient[0], (sigmoid - x)[None], atol=1e-6)


def test_bernoulli_from_probabilities():
    x = RNG.integers(0, 2, (4, 3, 2)).astype("float32")
    p = RNG.uniform(0.1, 0.9, (4, 3, 2)).astype("float32")
    expected = -stats.bernoulli.logpmf(x, p).sum((1, 2))
    np.testing.assert_allclose(
        nll(likelihoods.Bernoulli(from_logits=False), x, p), expected, rtol=1e-5
    )
    logits = np.log(p / (1 - p))
    np.testing.assert_allclose(nll(likelihoods.Bernoulli(), x, logits), expected, rtol=1e-5)


@pytest.mark.parametrize("x", [0.0, 1.0, 0.3])
def test_continuous_bernoulli_value_and_gradient(x):
    data = np.full((1, len(EXTREME)), x, "float32")
    value, gradient = value_and_grad(
        lambda t: keras.ops.sum(likelihoods.ContinuousBernoulli().nll(data, t)),
        EXTREME[None].astype("float32"),
    )
    logits = EXTREME.astype("float32").astype("float64")
    np.testing.assert_allclose(value, -continuous_bernoulli(logits)(x).sum(), rtol=1e-5)
    wide = np.where(np.abs(logits) < 1e-2, 1.0, logits)
    mean = np.where(
        np.abs(logits) < 1e-2, 0.5 + logits / 12, 0.5 + 0.5 / np.tanh(wide / 2) - 1 / wide
    )
    np.testing.assert_allclose(gradient[0], (mean - x)[None], atol=2e-6)


@pytest.mark.parametrize("logit", [-30.0, -0.5, 0.1, 0.31, 6.0])
def test_continuous_bernoulli_is_normalised_and_its_mean_right(logit):
    density = continuous_bernoulli(logit)
    assert integrate.quad(lambda x: np.exp(density(x)), 0, 1)[0] == pytest.approx(1.0, abs=1e-7)
    mean = integrate.quad(lambda x: x * np.exp(density(x)), 0, 1)[0]
    likelihood = likelihoods.ContinuousBernoulli()
    logits = np.full((20_000, 1), logit, "float32")
    given = float(keras.ops.convert_to_numpy(likelihood(logits[:1]))[0, 0])
    assert given == pytest.approx(mean, abs=1e-6)
    draws = likelihood.draw(logits, np.random.default_rng(0))
    assert draws.min() >= 0 and draws.max() <= 1
    assert draws.mean() == pytest.approx(mean, abs=5 * draws.std() / np.sqrt(20_000))


class Laplace:
    """scipy's own takes the logarithm of the density and underflows at 745 scales."""

    std = stats.laplace.std

    @staticmethod
    def logpdf(x, location, scale):
        return -np.abs(x - location) / scale - np.log(2 * scale)


DISTRIBUTIONS = {likelihoods.Gaussian: stats.norm, likelihoods.Laplace: Laplace}


def test_laplace_oracle_agrees_with_scipy():
    assert Laplace.logpdf(1.0, 3.0, 0.7) == pytest.approx(stats.laplace.logpdf(1.0, 3.0, 0.7))


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
@pytest.mark.parametrize("scale", [1e-3, 0.5, 30.0])
def test_fixed_scale(kind, scale):
    x, location = RNG.normal(size=(2, 5, 4, 3)).astype("float32")
    expected = -DISTRIBUTIONS[kind].logpdf(x, location, scale).sum((1, 2))
    np.testing.assert_allclose(nll(kind(scale), x, location), expected, rtol=1e-5)


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
@pytest.mark.parametrize("scale", ["scalar", "dimension"])
def test_learned_scale(kind, scale):
    x, location = RNG.normal(size=(2, 5, 4, 3)).astype("float32")
    likelihood = kind(scale)
    likelihood.build((None, 4, 3))
    wanted = 0.7 if scale == "scalar" else RNG.uniform(1e-4, 3.0, (4, 3))
    likelihood.log_scale.assign(np.log(wanted))
    np.testing.assert_allclose(likelihood.current_scale(), wanted, rtol=1e-5)
    expected = -DISTRIBUTIONS[kind].logpdf(x, location, wanted).sum((1, 2))
    np.testing.assert_allclose(nll(likelihood, x, location), expected, rtol=1e-5)


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_decoder_given_scale_in_value_gradient_and_draws(kind):
    x, location = RNG.normal(size=(2, 5, 4, 3)).astype("float32")
    log_scale = RNG.uniform(-6, 2, (5, 4, 3)).astype("float32")
    parameters = np.concatenate([location, log_scale], axis=-1)
    likelihood = kind("decoder")
    assert likelihood.data_shape(parameters.shape) == x.shape
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(likelihood(parameters)), location)
    distribution = DISTRIBUTIONS[kind]

    def oracle(parameters):
        location, log_scale = np.split(parameters, 2, axis=-1)
        return -distribution.logpdf(x, location, np.exp(log_scale)).sum()

    value, gradient = value_and_grad(
        lambda t: keras.ops.sum(likelihood.nll(x, t)), parameters.astype("float32")
    )
    exact = parameters.astype("float64")
    np.testing.assert_allclose(value, oracle(exact), rtol=1e-5)
    for index in [(0, 0, 0), (4, 3, 5), (2, 1, 4)]:
        step = np.zeros_like(exact)
        step[index] = 1e-6
        slope = (oracle(exact + step) - oracle(exact - step)) / 2e-6
        np.testing.assert_allclose(gradient[0][index], slope, rtol=1e-3)
    wide = np.repeat(parameters[:1], 4000, axis=0)
    draws = likelihood.draw(wide, np.random.default_rng(0))
    spread = distribution.std(scale=np.exp(log_scale[0]))
    np.testing.assert_allclose(draws.std(0) / spread, 1.0, atol=0.1)


@pytest.mark.parametrize("sigma", [0, -1.0, float("inf"), float("nan"), "pixel", True, None])
def test_impossible_scale_is_refused(sigma):
    with pytest.raises(ValueError, match="sigma must be"):
        likelihoods.Gaussian(sigma)


def test_an_array_is_no_scale():
    with pytest.raises(ValueError, match="sigma must be a positive number"):
        likelihoods.Gaussian(np.array([1.0, 2.0]))


def test_unknown_name_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"'bernoulli', 'continuous_bernoulli', 'gaussian'"):
        likelihoods.get("binomial")
    with pytest.raises(ValueError, match="Did you mean 'bernoulli'"):
        likelihoods.get("bernouli")
    with pytest.raises(ValueError, match=r"go by name, as in beta=4.0"):
        likelihoods.get(4.0)  # BetaVAE(encoder, decoder, 4.0)


@pytest.mark.parametrize("name", ["bernoulli", "continuous_bernoulli", "gaussian", "laplace"])
def test_config_round_trip_and_float16_input(name):
    likelihood = likelihoods.get(name)
    config = keras.saving.serialize_keras_object(likelihood)
    again = keras.saving.deserialize_keras_object(config)
    x = RNG.uniform(0, 1, (2, 50_000)).astype("float16")
    parameters = RNG.normal(size=(2, 50_000)).astype("float16")
    value = nll(again, x, parameters)
    assert value.dtype == "float32" and np.isfinite(value).all()
    np.testing.assert_array_equal(value, nll(likelihood, x, parameters))
