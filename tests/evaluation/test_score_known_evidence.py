"""Likelihoods against models whose evidence is known."""

import keras
import numpy as np
import pytest
from scipy import special, stats

import keras_vaezoo
from tests.evaluation.models_with_known_evidence import linear_gaussian, small_vae

SIGMA = 0.5
# The columns are orthogonal, so that the true posterior has a diagonal covariance.
MATRIX = np.array([[1.0, 0.5], [-0.4, 0.8], [0.3, -0.6]])
OFFSET = np.array([0.2, -0.1, 0.4])
PRECISION = np.eye(2) + MATRIX.T @ MATRIX / SIGMA**2


def data(rows=60):
    random = np.random.default_rng(7)
    z = random.standard_normal((rows, 2))
    return (z @ MATRIX.T + OFFSET + SIGMA * random.standard_normal((rows, 3))).astype("float32")


def evidence(x):
    covariance = MATRIX @ MATRIX.T + SIGMA**2 * np.eye(3)
    return stats.multivariate_normal(OFFSET, covariance).logpdf(x)


def model_with(shift=0.0, widening=1.0):
    """The linear-Gaussian model with its true posterior, or one off by `shift` and `widening`."""
    assert abs(MATRIX[:, 0] @ MATRIX[:, 1]) < 1e-12
    covariance = np.linalg.inv(PRECISION)
    mean_matrix = covariance @ MATRIX.T / SIGMA**2
    log_variance = np.log(widening * np.diag(covariance))
    return linear_gaussian(
        MATRIX, OFFSET, SIGMA, mean_matrix, shift - mean_matrix @ OFFSET, log_variance
    ), (mean_matrix, shift, widening * np.diag(covariance))


def closed_form(x, mean_matrix, shift, variance):
    """Expected reconstruction and KL of each dimension, float64."""
    mean = (x - OFFSET) @ mean_matrix.T + shift
    residual = ((x - OFFSET - mean @ MATRIX.T) ** 2).sum(axis=1) + (MATRIX**2 @ variance).sum()
    reconstruction = residual / (2 * SIGMA**2) + 1.5 * np.log(2 * np.pi * SIGMA**2)
    kl = 0.5 * (mean**2 + variance - 1 - np.log(variance))
    return reconstruction.mean(), kl.mean(axis=0), mean


def test_with_the_true_posterior_a_few_draws_give_the_evidence_exactly():
    x = data()
    model, _ = model_with()
    result = keras_vaezoo.score(model, x, samples=3, verbose=0)
    assert result.log_likelihood == pytest.approx(evidence(x).mean(), abs=2e-5)
    assert result.bits_per_dimension["log_likelihood"] == pytest.approx(
        -evidence(x).mean() / (3 * np.log(2)), abs=1e-5
    )


def test_with_another_posterior_everything_is_within_monte_carlo_error():
    x = data()
    model, posterior = model_with(shift=0.3, widening=1.5)
    reconstruction, kl, mean = closed_form(x, *posterior)
    result = keras_vaezoo.score(model, x, samples=400, seed=3, verbose=0)
    # The draws' share of the error: 24,000 of them, each with a deviation of about 1.2 nats.
    assert result.reconstruction == pytest.approx(reconstruction, abs=0.03)
    assert result.kl_per_dimension == pytest.approx(kl, abs=1e-5)
    assert result.kl == pytest.approx(kl.sum(), abs=1e-5)
    assert result.elbo == pytest.approx(-reconstruction - kl.sum(), abs=0.03)
    assert result.log_likelihood == pytest.approx(evidence(x).mean(), abs=0.005)
    assert result.elbo < evidence(x).mean() - 0.3
    reconstructed = mean @ MATRIX.T + OFFSET
    assert result.mse == pytest.approx(np.mean((x - reconstructed) ** 2), rel=1e-5)
    assert result.code_variance == pytest.approx(mean.var(axis=0), rel=1e-5)
    assert result.standard_errors["kl"] == pytest.approx(
        (0.5 * mean**2).sum(axis=1).std(ddof=1) / np.sqrt(len(x)), rel=1e-4
    )


def test_the_aggregate_kl_is_that_of_the_moments():
    x = data()
    model, (mean_matrix, shift, variance) = model_with(shift=0.3, widening=1.5)
    mean = (x - OFFSET) @ mean_matrix.T + shift
    moments = np.cov(mean.T, ddof=0) + np.diag(variance)
    centre = mean.mean(axis=0)
    expected = 0.5 * (np.trace(moments) + centre @ centre - 2 - np.log(np.linalg.det(moments)))
    result = keras_vaezoo.score(model, x, samples=1, verbose=0)
    assert result.aggregate_kl == pytest.approx(expected, abs=1e-5)


def test_more_draws_raise_the_bound_from_the_elbo_to_the_evidence():
    x = data(400)
    model, _ = model_with(shift=0.5, widening=2.0)
    bounds = [keras_vaezoo.score(model, x, samples=k, verbose=0).log_likelihood for k in (1, 5, 50)]
    elbo = keras_vaezoo.score(model, x, samples=50, verbose=0).elbo
    assert bounds[0] == pytest.approx(elbo, abs=0.2)
    assert elbo + 0.2 < bounds[1] < bounds[2] < evidence(x).mean() + 0.01


def bernoulli_log_density(x, parameters):
    return stats.bernoulli.logpmf(x[:, None], special.expit(parameters)).sum(axis=-1)


def gaussian_log_density(x, parameters):
    location, log_sigma = np.split(parameters, 2, axis=-1)
    return stats.norm.logpdf(x[:, None], location, np.exp(log_sigma)).sum(axis=-1)


@pytest.mark.parametrize(
    ("likelihood", "parameters", "log_density"),
    [
        ("bernoulli", 1, bernoulli_log_density),
        (keras_vaezoo.likelihoods.Gaussian("decoder"), 2, gaussian_log_density),
    ],
    ids=["bernoulli", "gaussian with the decoder's sigma"],
)
def test_a_nonlinear_decoder_agrees_with_quadrature(likelihood, parameters, log_density):
    x = (np.random.default_rng(0).random((20, 5)) < 0.4).astype("float32")
    model = small_vae(likelihood, parameters=parameters, scale=0.4)
    grid = np.linspace(-8, 8, 4001)
    on_grid = keras.ops.convert_to_numpy(model.decoder(grid[:, None].astype("float32")))
    log_joint = log_density(x, on_grid.astype("float64")[None]) + stats.norm.logpdf(grid)
    exact = special.logsumexp(log_joint, axis=1) + np.log(grid[1] - grid[0])
    result = keras_vaezoo.score(model, x, samples=2000, verbose=0)
    assert result.log_likelihood == pytest.approx(exact.mean(), abs=0.02)
    assert result.elbo < exact.mean() - 0.05
