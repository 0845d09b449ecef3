"""Discrepancies between two samples: MMD and Mahalanobis distances, against float64 twins."""

import functools

import numpy as np
import pytest
from keras import ops

from keras_vaezoo import divergences
from tests import divergence_oracles as oracles
from tests.gradients import EVALUATIONS, compiled, finite_difference, value_and_grad

KERNELS = {"gaussian": oracles.gaussian_kernel, "imq": oracles.imq_kernel}
MMDS = {
    (kernel, estimator): functools.partial(divergences.mmd, kernel=kernel, estimator=estimator)
    for kernel in KERNELS
    for estimator in ("v", "u")
}
# One row, fewer rows than dimensions, more.
SHAPES = [(1, 4), (3, 8), (8, 3)]
kernel_mahalanobis_through_covariance = functools.partial(
    divergences.kernel_mahalanobis, stop_covariance_gradient=False
)


def scalar(tensor):
    return float(ops.convert_to_numpy(tensor))


def samples(rows, other_rows, dimensions, seed=0, shift=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, dimensions)) + shift, rng.normal(size=(other_rows, dimensions))


def assert_gradients(actual, expected, atol=2e-5):
    for ours, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=5e-4, atol=atol)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("estimator", ["v", "u"])
@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_mmd_value_and_gradient(kernel, estimator, evaluate):
    x, y = samples(6, 9, 3)
    actual, gradients = evaluate(MMDS[kernel, estimator], x, y)
    oracle = functools.partial(oracles.mmd, kernel=KERNELS[kernel], estimator=estimator)
    assert actual == pytest.approx(oracle(x, y), rel=1e-5, abs=2e-6)
    assert_gradients(gradients, finite_difference(oracle, x, y))
    assert np.abs(gradients[0]).max() > 1e-3


def test_mmd_of_one_hand_made_pair():
    # k(x, y) = exp(-4 / 2^2) for points at distance 2 in two dimensions.
    assert scalar(divergences.mmd([[0.0, 0.0]], [[2.0, 0.0]])) == pytest.approx(2 - 2 / np.e)
    one_scale = divergences.mmd([[0.0, 0.0]], [[2.0, 0.0]], kernel="imq", scales=(1.0,))
    assert scalar(one_scale) == pytest.approx(2 - 2 * 4 / (4 + 4))
    narrow = divergences.mmd([[0.0]], [[2.0]], bandwidth=2.0)
    assert scalar(narrow) == pytest.approx(2 - 2 * np.exp(-2))


def statistics_of_draws(count, rows, dimensions, shift, kernel):
    """The U- and V-statistics of `count` independent pairs of samples, each of shape (count,)."""

    def both_statistics(x, y):
        return ops.stack([MMDS[kernel, estimator](x, y) for estimator in ("u", "v")])

    draws = [np.float32(samples(rows, rows, dimensions, seed, shift)) for seed in range(count)]
    both = compiled(both_statistics, *draws[0])
    return np.array([ops.convert_to_numpy(both(*draw)) for draw in draws]).T


def standard_error(values):
    return np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("kernel", KERNELS)
def test_u_statistic_is_unbiased_and_v_is_not(kernel):
    unbiased, biased = statistics_of_draws(200, 15, 2, 0.0, kernel)
    assert abs(unbiased.mean()) < 3 * standard_error(unbiased)
    assert biased.mean() > 10 * standard_error(biased)
    assert unbiased.min() < 0.0 <= biased.min()


@pytest.mark.parametrize("dimensions, shift", [(1, 1.5), (3, 1.0)])
def test_mmd_of_two_shifted_gaussians(dimensions, shift):
    # Two draws differ with variance 2, so E k = (1 + 4/b)^(-d/2) exp(-|difference|^2 / (b + 4)).
    bandwidth = float(dimensions**2)
    self_similarity = (1 + 4 / bandwidth) ** (-dimensions / 2)
    expected = 2 * self_similarity * (1 - np.exp(-dimensions * shift**2 / (bandwidth + 4)))
    values, _ = statistics_of_draws(60, 250, dimensions, shift, "gaussian")
    assert values.mean() == pytest.approx(expected, abs=3 * standard_error(values))
    assert standard_error(values) < 0.02 * expected


@pytest.mark.parametrize("rows, other_rows", [(1, 1), (1, 4), (4, 1)])
@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_u_statistic_with_a_single_row_falls_back_to_v(rows, other_rows, evaluate):
    x, y = samples(rows, other_rows, 3)
    actual, gradients = evaluate(MMDS["gaussian", "u"], x, y)
    assert actual == pytest.approx(oracles.mmd(x, y), rel=1e-5)
    assert all(np.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize("kernel", KERNELS)
def test_mmd_does_not_depend_on_the_origin(kernel):
    x, y = np.float32(samples(20, 20, 4))
    expected = scalar(divergences.mmd(x, y, kernel))
    assert scalar(divergences.mmd(x + 300, y + 300, kernel)) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kernel": "rbf"}, r"kernel must be one of \['gaussian', 'imq'\].*Received: kernel='rbf'"),
        ({"estimator": "biased"}, r"one of \['v', 'u'\].*Received: estimator='biased'"),
        ({"bandwidth": 0.0}, "positive.*Received: bandwidth=0.0"),
        ({"scales": ()}, "positive.*scales="),
        ({"scales": (1.0, -1.0)}, "positive.*scales="),
    ],
)
def test_mmd_refuses_options(options, message):
    with pytest.raises(ValueError, match=message):
        divergences.mmd(np.zeros((2, 3)), np.zeros((2, 3)), **options)


@pytest.mark.parametrize("function", [divergences.mmd, divergences.kernel_mahalanobis])
def test_samples_of_different_width(function):
    with pytest.raises(ValueError, match=r"same latent dimensions.*Received: "):
        function(np.zeros((2, 3)), np.zeros((2, 4)))


def test_mahalanobis_refuses_a_vector():
    with pytest.raises(ValueError, match=r"z must have shape \(batch, latent_dim\).*Received: "):
        divergences.mahalanobis(np.zeros(3))


@pytest.mark.parametrize(
    "codes, expected",
    [
        ([[1.0, 0.0]], 2.0),
        ([[3.0], [3.0]], 18.0),
        ([[2.0, 1.0], [0.0, 1.0]], 3.0),
        ([[3.0], [1.0]], 4.0),
    ],
)
def test_mahalanobis_of_hand_made_codes(codes, expected):
    assert scalar(divergences.mahalanobis(codes)) == pytest.approx(expected, rel=1e-6)


def test_mahalanobis_is_zero_for_codes_of_mean_zero():
    codes, _ = samples(12, 1, 4)
    both_signs = np.concatenate([codes, -codes])
    assert scalar(divergences.mahalanobis(both_signs)) == pytest.approx(0.0, abs=1e-10)


def test_mahalanobis_is_invariant_to_rotation():
    codes, _ = samples(10, 1, 4)
    rotation, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))
    expected = scalar(divergences.mahalanobis(codes))
    assert expected > 0.1
    assert scalar(divergences.mahalanobis(codes @ rotation)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("rows, dimensions", SHAPES)
@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_mahalanobis_value_and_gradient(rows, dimensions, evaluate):
    codes, _ = samples(rows, 1, dimensions)
    actual, (gradient,) = evaluate(divergences.mahalanobis, codes)
    assert actual == pytest.approx(oracles.mahalanobis(codes), rel=1e-5)
    assert_gradients([gradient], finite_difference(oracles.mahalanobis, codes))
    assert np.abs(gradient).max() > 1e-2


@pytest.mark.parametrize("rows, dimensions", SHAPES)
@pytest.mark.parametrize("evaluate", EVALUATIONS)
def test_kernel_mahalanobis_value_and_gradient(rows, dimensions, evaluate):
    codes, prior = samples(rows, 5, dimensions)
    expected = oracles.kernel_mahalanobis(codes, prior)
    frozen = functools.partial(oracles.kernel_mahalanobis, codes_of_covariance=codes)
    for function, oracle in (
        (divergences.kernel_mahalanobis, frozen),
        (kernel_mahalanobis_through_covariance, oracles.kernel_mahalanobis),
    ):
        actual, gradients = evaluate(function, codes, prior)
        assert actual == pytest.approx(expected, rel=5e-5)
        wanted = finite_difference(oracle, codes, prior)
        assert_gradients(gradients, wanted, atol=1e-5 * np.abs(wanted[0]).max() + 2e-5)
        assert np.abs(gradients[0]).max() > 1e-3


def test_gradient_through_the_covariance_rewards_inflation():
    codes, prior = samples(8, 5, 3, shift=1.0)
    outward = codes - codes.mean(axis=0)
    _, (stopped, _) = value_and_grad(divergences.kernel_mahalanobis, codes, prior)
    _, (through, _) = value_and_grad(kernel_mahalanobis_through_covariance, codes, prior)
    assert (through * outward).sum() < (stopped * outward).sum() - 0.1


@pytest.mark.parametrize(
    "codes",
    [
        np.ones((1, 4)),
        np.ones((3, 8)),
        np.zeros((3, 8)),
        1000.0 * np.random.default_rng(0).normal(size=(3, 8)),
        1e-3 * np.random.default_rng(0).normal(size=(3, 8)),
    ],
    ids=["single", "constant", "zero", "few and far", "few and near"],
)
@pytest.mark.parametrize(
    "function",
    [
        divergences.kernel_mahalanobis,
        kernel_mahalanobis_through_covariance,
        divergences.mmd,
        divergences.mahalanobis,
    ],
    ids=["kernel", "kernel through covariance", "mmd", "mahalanobis"],
)
def test_degenerate_codes_are_finite(codes, function):
    samples_of_prior = (np.random.default_rng(1).normal(size=(5, codes.shape[1])),)
    if function is divergences.mahalanobis:
        samples_of_prior = ()
    actual, gradients = value_and_grad(function, codes, *samples_of_prior)
    assert np.isfinite(actual)
    assert actual >= 0.0
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_half_precision_is_computed_in_float32():
    x, y = (sample.astype("float16") for sample in samples(6, 6, 3))
    result = divergences.mmd(ops.convert_to_tensor(x), ops.convert_to_tensor(y))
    assert "float32" in str(result.dtype)
    expected = oracles.mmd(x.astype("float64"), y.astype("float64"))
    assert scalar(result) == pytest.approx(expected, rel=1e-5)
