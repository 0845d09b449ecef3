import keras
import numpy as np
import pytest
from scipy.special import logsumexp

import keras_vaezoo as vz
from tests.gradients import compiled_value_and_grad, finite_difference
from tests.models.methods import LATENT_DIM, build, images
from tests.models.steps import EAGER, evaluated, given_posteriors, loss_of, made_by_hand, trained


def bound(mean, v, rowwise=True):
    """The bound in float64, pair by pair as it is printed."""
    count = len(mean)
    overlap = np.empty((count, count))
    for i in range(count):
        for j in range(count):
            total, difference = v[i] + v[j], mean[i] - mean[j]
            overlap[i, j] = -0.5 * np.sum(np.log(2 * np.pi * total) + difference**2 / total)
    if rowwise:
        first = np.mean(logsumexp(overlap, axis=1)) - np.log(count)
    else:
        first = logsumexp(overlap) - 2 * np.log(count)
    return first + 0.5 * np.mean(np.sum(v + mean**2 + np.log(2 * np.pi), axis=1))


def moments(mean, v, diagonal=False):
    covariance = np.diag(v.mean(axis=0)) + np.cov(mean.T, bias=True).reshape(v.shape[1], -1)
    if diagonal:
        covariance = np.diag(np.diag(covariance))
    trace, (_, log_determinant) = np.trace(covariance), np.linalg.slogdet(covariance)
    return 0.5 * (trace + np.sum(mean.mean(axis=0) ** 2) - v.shape[1] - log_determinant)


ORACLES = {
    "bound": bound,
    "loose_bound": lambda mean, v: bound(mean, v, rowwise=False),
    "moments": moments,
    "diagonal_moments": lambda mean, v: moments(mean, v, diagonal=True),
}


def test_the_bound_and_what_stands_beside_it():
    model = build("WiSEALE")
    x = images(9)
    mean, log_variance = (np.asarray(part, "float64") for part in model.encode(x))
    logs = evaluated(model, x)
    np.testing.assert_allclose(logs["aggregate_kl"], bound(mean, np.exp(log_variance)), rtol=1e-4)
    expected = moments(mean, np.exp(log_variance))
    np.testing.assert_allclose(logs["aggregate_kl_moments"], expected, rtol=1e-4, atol=1e-6)
    expected = 0.5 * np.sum(mean**2 + np.exp(log_variance) - 1 - log_variance, axis=1).mean()
    np.testing.assert_allclose(logs["kl"], expected, rtol=1e-4)
    np.testing.assert_allclose(logs["elbo"], -logs["reconstruction"] - logs["kl"], rtol=1e-5)
    np.testing.assert_allclose(logs["aggregate_kl_weight"], 1 / 9, rtol=1e-6)


def test_the_papers_figure_4():
    model = vz.WiSEALE(*given_posteriors(1), likelihood="gaussian", seed=0)
    printed = {1.0: (0.25, 0.16), 0.709: (0.30, 0.14), 0.106: (1.60, 0.35)}
    for variance, (aevb, wise) in printed.items():
        x = np.array([[-0.5, np.log(variance)], [0.5, np.log(variance)]], "float32")
        logs = evaluated(model, x)
        assert round(2 * logs["kl"], 2) == aevb  # the paper prints the sum over the two
        assert round(logs["aggregate_kl"], 2) == wise


def test_the_order_of_the_batch_does_not_matter():
    model = build("WiSEALE")
    x = images(12)
    first, second = evaluated(model, x), evaluated(model, x[::-1].copy())
    np.testing.assert_allclose(first["aggregate_kl"], second["aggregate_kl"], rtol=1e-5)


@pytest.mark.parametrize("estimator", ORACLES)
def test_loss_and_gradient_of_each_estimator(estimator):
    model = build("WiSEALE", estimator=estimator)
    random = np.random.default_rng(0)
    arrays = random.normal(size=(5, LATENT_DIM)), random.normal(size=(5, LATENT_DIM))
    value, gradients = compiled_value_and_grad(
        lambda mean, log_variance: loss_of(model, made_by_hand(mean, log_variance)), *arrays
    )

    def oracle(mean, log_variance):
        return ORACLES[estimator](mean, np.exp(log_variance)) / 5

    np.testing.assert_allclose(value, oracle(*arrays), rtol=1e-4)
    for gradient, expected in zip(gradients, finite_difference(oracle, *arrays), strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("kl_weight", "of_five", "of_one"),
    [("batch", 0.2, 1.0), ("example", 1.0, 1.0), (0.3, 0.3, 0.3)],
)
def test_effective_weight_of_a_batch(kl_weight, of_five, of_one):
    model = build("WiSEALE", kl_weight=kl_weight)

    def weight(rows):
        batch = made_by_hand(np.zeros((rows, LATENT_DIM)), np.zeros((rows, LATENT_DIM)))
        return float(model.term_weights(model.loss_coefficients.current(), batch)["aggregate_kl"])

    np.testing.assert_allclose([weight(5), weight(1)], [of_five, of_one], rtol=1e-6)
    model.coefficients["aggregate_kl"] *= 2.0
    np.testing.assert_allclose(weight(5), 2 * of_five, rtol=1e-6)


def test_collapsed_and_single_posteriors():
    model = vz.WiSEALE(*given_posteriors(4), likelihood="gaussian", seed=0)
    slack = 4 / 2 * (1 - np.log(2))
    collapsed = evaluated(model, np.zeros((6, 8), "float32"))
    np.testing.assert_allclose(collapsed["aggregate_kl"], slack, rtol=1e-5)
    single = evaluated(model, np.linspace(-1, 1, 8, dtype="float32")[None])
    np.testing.assert_allclose(single["aggregate_kl"], single["kl"] + slack, rtol=1e-5)


def test_extreme_variances_stay_finite():
    model = vz.WiSEALE(*given_posteriors(2), likelihood="gaussian", seed=0)
    model.compile(keras.optimizers.SGD(1e-12), run_eagerly=EAGER)
    x = np.array([[0, 0, -20, 20], [1, 1, 20, -20], [1, 1, -20, -20]], "float32")
    assert all(np.isfinite(value) for value in trained(model, x).values())
    assert all(np.isfinite(keras.ops.convert_to_numpy(v)).all() for v in model.trainable_variables)


def test_config_keeps_weight_and_estimator():
    model = build("WiSEALE", kl_weight=0.25, estimator="loose_bound")
    again = vz.WiSEALE.from_config(model.get_config())
    assert (again.kl_weight, again.estimator) == (0.25, "loose_bound")
    assert again.coefficients["aggregate_kl"] == 0.25


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"kl_weight": "dataset"}, "'batch'.*Received: kl_weight='dataset'"),
        ({"kl_weight": -1.0}, "kl_weight.*Received: kl_weight=-1.0"),
        ({"kl_weight": float("nan")}, "Received: kl_weight=nan"),
        ({"estimator": "exact"}, "loose_bound.*Received: estimator='exact'"),
    ],
)
def test_wrong_arguments(argument, message):
    with pytest.raises(ValueError, match=message):
        build("WiSEALE", **argument)
