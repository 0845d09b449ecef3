"""Gaussian KL and the estimates of the aggregate posterior's KL, against float64 twins."""

import functools

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaezoo import divergences
from keras_vaezoo.divergences import _overlap
from tests import divergence_oracles as oracles
from tests.gradients import (
    EVALUATIONS,
    compiled_value_and_grad,
    finite_difference,
    value_and_grad,
)

CHECK_MEAN = np.array([[0.0, 1.0], [1.0, -1.0], [-2.0, 0.5]])
CHECK_LOG_VARIANCE = np.log([[1.0, 0.5], [0.25, 1.0], [0.5, 0.5]])


def mean_gaussian_kl(mean, log_variance):
    return ops.mean(divergences.gaussian_kl(mean, log_variance))


def diagonal_moments(mean, log_variance):
    return divergences.aggregate_kl_moments(mean, log_variance, diagonal=True)


ESTIMATES = {
    "gaussian_kl": (mean_gaussian_kl, lambda m, s: oracles.gaussian_kl(m, s).mean()),
    "bound": (divergences.aggregate_kl_bound, oracles.aggregate_kl_bound),
    "loose_bound": (divergences.aggregate_kl_loose_bound, oracles.aggregate_kl_loose_bound),
    "moments": (divergences.aggregate_kl_moments, oracles.aggregate_kl_moments),
    "diagonal_moments": (
        diagonal_moments,
        functools.partial(oracles.aggregate_kl_moments, diagonal=True),
    ),
}
# One row, more rows than dimensions, fewer.
SHAPES = [(1, 3), (7, 3), (3, 5)]
CHAIN = ["diagonal_moments", "moments", "bound", "loose_bound"]


def value(name, mean, log_variance):
    return value_and_grad(ESTIMATES[name][0], mean, log_variance)[0]


def posteriors(count, dimensions, seed=0):
    rng = np.random.default_rng(seed)
    mean = 1.2 * rng.normal(size=(count, dimensions))
    return mean, rng.uniform(-2.5, 0.3, size=(count, dimensions))


@pytest.mark.parametrize(
    "name, expected",
    [
        ("gaussian_kl", 1.4109560),
        ("bound", 0.8423610),
        ("loose_bound", 0.8442527),
        ("diagonal_moments", 0.2889381),
        ("moments", 0.3561121),
    ],
)
def test_check_vector(name, expected):
    assert value(name, CHECK_MEAN, CHECK_LOG_VARIANCE) == pytest.approx(expected, abs=3e-7)


def test_check_vector_true_kl():
    assert oracles.true_aggregate_kl(CHECK_MEAN, CHECK_LOG_VARIANCE) == pytest.approx(
        0.6220, abs=8e-4
    )


@pytest.mark.parametrize(
    "variance, kl_sum, bound",
    [(1.0, 0.250, 0.1612), (0.709, 0.303, 0.1440), (0.106, 1.600, 0.3507)],
)
def test_figure_4_of_wise_ale(variance, kl_sum, bound):
    mean, log_variance = np.array([[-0.5], [0.5]]), np.full((2, 1), np.log(variance))
    assert 2 * value("gaussian_kl", mean, log_variance) == pytest.approx(kl_sum, abs=5e-4)
    assert value("bound", mean, log_variance) == pytest.approx(bound, abs=1e-4)


@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize("count, dimensions", SHAPES)
@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_value_and_gradient(name, count, dimensions, evaluate):
    function, oracle = ESTIMATES[name]
    arguments = posteriors(count, dimensions)
    actual, gradients = evaluate(function, *arguments)
    assert actual == pytest.approx(oracle(*arguments), rel=1e-5, abs=2e-6)
    for gradient, expected in zip(gradients, finite_difference(oracle, *arguments), strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("count, dimensions", [(2, 1), (3, 2), (8, 2)])
def test_chain_of_inequalities(seed, count, dimensions):
    mean, log_variance = posteriors(count, dimensions, seed)
    diagonal, full, bound, loose = (value(name, mean, log_variance) for name in CHAIN)
    true_kl = oracles.true_aggregate_kl(mean, log_variance, points=1201 if dimensions == 1 else 301)
    slack = 1e-5
    assert diagonal <= full + slack
    assert full <= true_kl + slack
    assert true_kl <= bound + slack
    assert bound <= loose + slack
    assert bound > true_kl + 1e-3


@pytest.mark.parametrize("name", CHAIN)
def test_order_of_the_batch_does_not_matter(name):
    mean, log_variance = posteriors(7, 3)
    order = np.random.default_rng(1).permutation(7)
    expected = value(name, mean, log_variance)
    assert value(name, mean[order], log_variance[order]) == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("count, dimensions", SHAPES)
def test_separated_posteriors_leave_the_mean_kl(count, dimensions):
    _, log_variance = posteriors(count, dimensions)
    mean = np.outer(np.arange(count), np.full(dimensions, 100.0))
    bound, gradients = value_and_grad(divergences.aggregate_kl_bound, mean, log_variance)
    mean_kl, expected = value_and_grad(mean_gaussian_kl, mean, log_variance)
    constant = dimensions / 2 * (1 - np.log(2)) - np.log(count)
    assert bound == pytest.approx(mean_kl + constant, rel=1e-6)
    for ours, theirs in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count, dimensions", SHAPES)
def test_bound_at_collapse(count, dimensions):
    zeros = np.zeros((count, dimensions))
    assert value("bound", zeros, zeros) == pytest.approx(0.1534264 * dimensions, rel=1e-5)


def test_bound_vanishes_for_many_narrow_posteriors_that_make_up_the_prior():
    count, variance = 4096, 0.001
    mean = np.sqrt(1 - variance) * oracles.norm.ppf((np.arange(count) + 0.5) / count)[:, None]
    log_variance = np.full_like(mean, np.log(variance))
    bound = ops.convert_to_numpy(divergences.aggregate_kl_bound(mean, log_variance))
    assert 0.0 < bound < 0.003
    # Each posterior alone is far from the prior.
    assert ops.convert_to_numpy(mean_gaussian_kl(mean, log_variance)) > 2.9


@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize("count, dimensions", SHAPES)
@pytest.mark.parametrize("log_variance", [-20.0, 20.0, "both"])
def test_extreme_log_variances_are_finite(name, count, dimensions, log_variance):
    mean, _ = posteriors(count, dimensions)
    logs = np.full_like(mean, 20.0 if log_variance == "both" else log_variance)
    if log_variance == "both":
        logs[::2] *= -1.0
    for means in (mean, np.zeros_like(mean)):
        actual, gradients = value_and_grad(ESTIMATES[name][0], means, logs)
        assert np.isfinite(actual)
        assert all(np.isfinite(gradient).all() for gradient in gradients)
        if name != "moments":
            assert actual == pytest.approx(ESTIMATES[name][1](means, logs), rel=1e-5)


def test_full_moments_of_codes_that_fill_few_dimensions():
    mean, _ = posteriors(3, 5)
    log_variance = np.full_like(mean, -9.0)
    assert value("moments", mean, log_variance) == pytest.approx(
        oracles.aggregate_kl_moments(mean, log_variance), rel=1e-5
    )


@pytest.mark.parametrize("name", ESTIMATES)
def test_half_precision_is_computed_in_float32(name):
    mean = np.array([[0.5, -3.0], [2.0, 1.0]], "float16")
    log_variance = np.array([[12.0, 0.5], [-2.0, 12.0]], "float16")
    result = ESTIMATES[name][0](ops.convert_to_tensor(mean), ops.convert_to_tensor(log_variance))
    assert "float32" in str(result.dtype)
    expected = ESTIMATES[name][1](mean.astype("float64"), log_variance.astype("float64"))
    assert float(ops.convert_to_numpy(result)) == pytest.approx(expected, rel=1e-5)


def test_kl_per_dimension_sums_to_the_kl():
    mean, log_variance = posteriors(5, 3)
    terms = ops.convert_to_numpy(divergences.gaussian_kl_per_dimension(mean, log_variance))
    assert terms.shape == (5, 3)
    np.testing.assert_allclose(terms.sum(1), oracles.gaussian_kl(mean, log_variance), rtol=1e-5)


def weighted_overlap_sums(mean, log_variance):
    return ops.sum(_overlap.log_overlap_sums(mean, log_variance) * ops.cos(mean[:, 0]))


def weighted_overlap_sums_by_autodiff(mean, log_variance):
    variance = ops.exp(log_variance)
    total = variance[:, None] + variance
    overlaps = -0.5 * ops.sum(ops.log(total) + (mean[:, None] - mean) ** 2 / total, axis=-1)
    return ops.sum(ops.logsumexp(overlaps, axis=1) * ops.cos(mean[:, 0]))


@pytest.mark.parametrize("count", [64, 65, 200])
@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_blocked_form_equals_the_direct_form(monkeypatch, count, evaluate):
    monkeypatch.setattr(_overlap, "LARGEST_DIRECT_SIZE", 0)
    arguments = posteriors(count, 5)
    expected, expected_gradients = value_and_grad(weighted_overlap_sums_by_autodiff, *arguments)
    actual, gradients = evaluate(weighted_overlap_sums, *arguments)
    assert actual == pytest.approx(expected, rel=1e-5, abs=1e-5)
    for ours, theirs in zip(gradients, expected_gradients, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [70, 71])
@pytest.mark.parametrize("name", ["bound", "loose_bound"])
def test_either_form_is_chosen_by_the_size(monkeypatch, name, count):
    monkeypatch.setattr(_overlap, "LARGEST_DIRECT_SIZE", 70 * 70 * 2)
    function, oracle = ESTIMATES[name]
    arguments = posteriors(count, 2)
    actual, gradients = compiled_value_and_grad(function, *arguments)
    assert actual == pytest.approx(oracle(*arguments), rel=1e-5)
    _, expected = value_and_grad(function, *arguments)
    for ours, theirs in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="XLA by TensorFlow")
@pytest.mark.parametrize("count", [70, 71])
def test_either_form_under_xla(monkeypatch, count):
    import tensorflow as tf

    monkeypatch.setattr(_overlap, "LARGEST_DIRECT_SIZE", 70 * 70 * 2)
    signature = [tf.TensorSpec((None, 2))] * 2

    @tf.function(jit_compile=True, input_signature=signature, autograph=False)
    def bound_and_gradient(mean, log_variance):
        with tf.GradientTape() as tape:
            tape.watch([mean, log_variance])
            bound = divergences.aggregate_kl_bound(mean, log_variance)
        return bound, tape.gradient(bound, [mean, log_variance])

    arguments = np.float32(posteriors(count, 2))
    actual, gradients = bound_and_gradient(*arguments)
    expected, expected_gradients = value_and_grad(divergences.aggregate_kl_bound, *arguments)
    assert float(actual) == pytest.approx(expected, rel=1e-5)
    for ours, theirs in zip(gradients, expected_gradients, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        divergences.gaussian_kl,
        divergences.aggregate_kl_bound,
        divergences.aggregate_kl_loose_bound,
        divergences.aggregate_kl_moments,
    ],
)
@pytest.mark.parametrize(
    "mean_shape, log_variance_shape", [((3,), (3,)), ((3, 2), (3, 1)), ((3, 2), (2, 2))]
)
def test_shapes_that_do_not_fit(function, mean_shape, log_variance_shape):
    with pytest.raises(ValueError, match="Received: "):
        function(np.zeros(mean_shape), np.zeros(log_variance_shape))
