"""Estimates from the posteriors against closed forms and quadrature by scipy."""

import numpy as np
import pytest

from keras_vaezoo import metrics

stats = pytest.importorskip("scipy.stats")


@pytest.fixture
def two_classes():
    """Means at -1 and 1 by the first factor, at 0 for an uninformed code."""
    factors = np.stack(np.meshgrid([0, 1], [0, 1, 2], indexing="ij"), -1).reshape(-1, 2)
    factors = np.tile(factors, (50, 1))
    mean = np.column_stack([2.0 * factors[:, 0] - 1, np.zeros(300)])
    log_variance = np.full((300, 2), np.log(0.8**2))
    return mean, log_variance, factors


def quadrature_information(std):
    """I(z; v) of an even mixture of N(-1, std^2) and N(1, std^2), by a fine sum."""
    z = np.linspace(-10, 10, 20_001)
    left, right = stats.norm.pdf(z, -1, std), stats.norm.pdf(z, 1, std)
    mixture = 0.5 * (left + right)
    ratio = np.log(np.maximum(left, 1e-300) / np.maximum(mixture, 1e-300))
    return np.sum(left * ratio) * (z[1] - z[0])


def test_monte_carlo_equals_quadrature(two_classes):
    table = metrics.posterior_information_table(*two_classes, samples=20_000)
    expected = quadrature_information(0.8)
    assert table.mutual_information[0, 0] == pytest.approx(expected, abs=0.01)
    np.testing.assert_allclose(table.mutual_information[[0, 1, 1], [1, 0, 1]], 0, atol=1e-9)
    np.testing.assert_allclose(table.factor_entropy, np.log([2, 3]))
    score = metrics.mig(table=table)
    assert score == pytest.approx(expected / np.log(2) / 2, abs=0.01)
    assert metrics.modularity(table=table, active_only=True) == pytest.approx(1, abs=1e-6)


def test_monte_carlo_weighs_posteriors_of_unequal_width():
    factors = np.tile([[0], [1]], (100, 1))
    std = np.where(factors == 0, 0.3, 1.5)
    table = metrics.posterior_information_table(
        np.zeros((200, 1)), 2 * np.log(std), factors, samples=20_000
    )
    z = np.linspace(-15, 15, 30_001)
    narrow, wide = stats.norm.pdf(z, 0, 0.3), stats.norm.pdf(z, 0, 1.5)
    mixture = (narrow + wide) / 2
    ratio = [
        np.where(p > 0, p * np.log(np.maximum(p, 1e-300) / mixture), 0) for p in (narrow, wide)
    ]
    expected = np.sum(ratio) / 2 * (z[1] - z[0])
    assert table.mutual_information[0, 0] == pytest.approx(expected, abs=0.01)


def test_monte_carlo_does_not_depend_on_the_pieces(two_classes):
    mean, log_variance, factors = (np.tile(x, (10, 1)) for x in two_classes)
    small = metrics.posterior_information_table(*two_classes, samples=2000)
    large = metrics.posterior_information_table(mean, log_variance, factors, samples=2000)
    np.testing.assert_allclose(small, large, atol=0.02)


def test_metrics_that_need_bins_refuse_an_estimate_without(two_classes):
    table = metrics.posterior_information_table(*two_classes, samples=10)
    with pytest.raises(ValueError, match="binned"):
        metrics.jemmig(table=table)
    with pytest.raises(ValueError, match="binned"):
        metrics.mig(table=table, normalize="code")


def test_soft_bins_equal_the_normal_distribution(two_classes):
    mean, log_variance, factors = two_classes
    table = metrics.soft_information_table(mean, log_variance, factors, bins=10, limits=(-4, 4))
    edges = np.r_[-np.inf, np.linspace(-4, 4, 11)[1:-1], np.inf]
    left, right = (np.diff(stats.norm.cdf(edges, m, 0.8)) for m in (-1, 1))
    mixture = (left + right) / 2
    expected = stats.entropy(mixture) - (stats.entropy(left) + stats.entropy(right)) / 2
    assert table.mutual_information[0, 0] == pytest.approx(expected, abs=1e-9)
    assert table.code_entropy[0] == pytest.approx(stats.entropy(mixture))
    joint = stats.entropy(np.r_[left, right] / 2)
    assert table.joint_entropy[0, 0] == pytest.approx(joint)
    assert table.bins == 10 and table.rows == 300
    assert 0 < metrics.jemmig(table=table) < 1


@pytest.mark.parametrize("log_variance", [-60.0, -np.inf])
def test_soft_bins_of_narrow_posteriors_are_hard_bins(log_variance):
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, size=(500, 2))
    mean = np.clip(factors + 0.3 * rng.normal(size=(500, 2)), -3.9, 3.9)
    soft = metrics.soft_information_table(
        mean, np.full(mean.shape, log_variance), factors, bins=16, limits=(-4, 4)
    )
    hard = metrics.mutual_information_table(
        np.digitize(mean, np.linspace(-4, 4, 17)), factors, bins=100
    )
    np.testing.assert_allclose(soft, hard, atol=1e-9)
    np.testing.assert_allclose(soft.joint_entropy, hard.joint_entropy, atol=1e-9)


@pytest.mark.parametrize(
    "make", [metrics.posterior_information_table, metrics.soft_information_table]
)
def test_bad_log_variances_are_refused(two_classes, make):
    mean, log_variance, factors = two_classes
    with pytest.raises(ValueError, match=r"log_variance.shape=\(300, 1\)"):
        make(mean, log_variance[:, :1], factors)
    with pytest.raises(ValueError, match="nan"):
        make(mean, log_variance * np.nan, factors)


def test_a_deterministic_encoder_has_no_density(two_classes):
    mean, log_variance, factors = two_classes
    with pytest.raises(ValueError, match="infinite log_variance"):
        metrics.posterior_information_table(mean, log_variance - np.inf, factors)
    with pytest.raises(ValueError, match="limits"):
        metrics.soft_information_table(mean, log_variance, factors, limits=(4, -4))


def test_constant_codes_are_dead_in_a_soft_table_too():
    factors = np.random.default_rng(0).integers(0, 3, size=(500, 2))
    mean = np.column_stack([factors[:, 0], np.full(500, 0.3), np.full(500, -1.1)]).astype(float)
    table = metrics.soft_information_table(mean, np.full(mean.shape, -1.0), factors)
    assert table.mutual_information[1:].tolist() == [[0.0, 0.0]] * 2
    alone = metrics.soft_information_table(mean[:, :1], np.full((500, 1), -1.0), factors)
    assert metrics.modularity(table=table) == pytest.approx(metrics.modularity(table=alone) / 3)


@pytest.mark.parametrize("shift", [0.0, 0.01])
def test_a_code_without_width_keeps_its_bin_on_an_edge(shift):
    factors = np.tile(np.arange(4), 100)[:, None]
    mean = factors + shift  # the edges of 100 bins from -4 to 4 hold whole numbers
    table = metrics.soft_information_table(mean, np.full(mean.shape, -np.inf), factors)
    assert table.code_entropy[0] == pytest.approx(np.log(4))
    assert table.mutual_information[0, 0] == pytest.approx(np.log(4))
