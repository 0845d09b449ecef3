"""Formulas of the three information metrics on tables made by hand."""

import numpy as np
import pytest

from keras_vaezoo import metrics


def loop_jemmig(information, joint, factor_entropy, bins):
    """The definition, one factor at a time; dead codes may not win a tie at 0."""
    raw = []
    for j in range(information.shape[1]):
        ranked = sorted(zip(-information[:, j], joint[:, j], strict=True))
        raw.append(ranked[0][1] + ranked[0][0] - ranked[1][0])
    norm = [r / (h + np.log(bins)) for r, h in zip(raw, factor_entropy, strict=True)]
    return np.mean(raw), 1 - np.mean(norm)


def test_jemmig_equals_the_loop(entangled):
    table = metrics.mutual_information_table(*entangled, bins=12)
    raw, normalized = loop_jemmig(
        table.mutual_information, table.joint_entropy, table.factor_entropy, 12
    )
    assert metrics.jemmig(table=table, normalize=False) == pytest.approx(raw)
    assert metrics.jemmig(table=table) == pytest.approx(normalized)


def test_jemmig_takes_the_tied_code_of_smallest_joint_entropy():
    v = np.repeat(np.arange(4), 400)
    fine = 2 * v + np.tile([0, 1], 800)  # knows v, and one bit more
    for columns in ([fine, v], [v, fine]):
        score = metrics.jemmig(np.stack(columns, 1) + 0.0, v[:, None], normalize=False)
        # H(q, v) = log 4 for the exact code; I1 = I2 = log 4.
        assert score == pytest.approx(np.log(4))


def test_jemmig_ceiling_with_more_values_than_bins():
    v = np.repeat(np.arange(40), 100)[:, None]
    assert metrics.jemmig(0.37 * v + 0.05, v) == pytest.approx(0.896, abs=1e-3)


def test_modularity_by_hand(entangled):
    table = metrics.mutual_information_table(*entangled)
    expected = []
    for row in table.mutual_information:
        rest = np.delete(row, row.argmax())
        expected.append(1 - (rest**2).sum() / (row.max() ** 2 * len(rest)))
    score = metrics.modularity(table=table)
    np.testing.assert_allclose(score.per_code, expected)
    assert score == pytest.approx(np.mean(expected))
    own = table.mutual_information.argmax(axis=1)
    for j in range(3):
        assert score.per_factor[j] == pytest.approx(np.mean(np.array(expected)[own == j]))


def test_mig_by_hand_in_each_normalization(entangled):
    table = metrics.mutual_information_table(*entangled)
    ranked = np.sort(table.mutual_information, axis=0)
    gaps = ranked[-1] - ranked[-2]
    assert metrics.mig(table=table, normalize="none") == pytest.approx(gaps.mean())
    np.testing.assert_allclose(metrics.mig(table=table).per_factor, gaps / table.factor_entropy)
    shares = np.sort(table.mutual_information / table.code_entropy[:, None], axis=0)
    by_code = metrics.mig(table=table, normalize="code")
    np.testing.assert_allclose(by_code.per_factor, shares[-1] - shares[-2])


def test_a_dead_code_counts_zero_when_normalizing_by_the_code(cases):
    codes, factors, _ = cases["constant_dim"]
    assert 0.9 < metrics.mig(codes, factors, normalize="code", min_std=0.05) <= 1


def test_a_dead_code_lowers_the_mean_of_modularity_but_no_factors_own():
    factors = np.tile(np.stack(np.meshgrid([0, 1], [0, 1]), -1).reshape(-1, 2), (100, 1))
    perfect, dead = factors.astype("float32"), np.zeros((400, 1))
    score = metrics.modularity(np.hstack([dead, perfect]), factors, bins=2)
    assert score == pytest.approx(2 / 3)
    assert score.per_factor.tolist() == [1.0, 1.0]
    assert score.per_code.tolist() == [0.0, 1.0, 1.0]
