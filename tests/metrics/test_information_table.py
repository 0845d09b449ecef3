"""Bins, entropy and mutual information against independent oracles."""

import time
from collections import Counter

import numpy as np
import pytest

from keras_vaezoo import metrics


def information_by_counting(q, v):
    """Plug-in mutual information and joint entropy in nats, from dictionaries."""
    n = len(q)
    joint, left, right = Counter(zip(q, v, strict=True)), Counter(q), Counter(v)
    information = sum(c / n * np.log(c * n / (left[a] * right[b])) for (a, b), c in joint.items())
    return information, -sum(c / n * np.log(c / n) for c in joint.values())


def awkward_columns():
    """Values on bin edges, ties, huge and tiny ranges, and ranges of a few float64 steps."""
    rng = np.random.default_rng(0)
    yield np.arange(21) * 0.7
    yield rng.normal(size=500)
    yield np.round(rng.normal(size=500), 1)
    yield rng.integers(0, 21, size=500).astype(float)
    yield 1e12 + rng.normal(size=500)
    yield 1e-300 * rng.normal(size=500)
    yield 1e300 * rng.normal(size=500)
    yield rng.normal(size=500).astype("float32").astype(float)
    yield np.array([0.0, 1.0])


@pytest.mark.parametrize("bins", [1, 2, 7, 10, 20, 100])
def test_bins_are_those_of_histogram_and_digitize(bins):
    for x in awkward_columns():
        expected = np.digitize(x, np.histogram(x, bins)[1][:-1]) - 1
        np.testing.assert_array_equal(metrics.discretize(x[:, None], bins)[:, 0], expected)


def test_values_on_edges_go_where_digitize_puts_them():
    x = np.arange(21)[:, None] * 0.7
    by_floor = np.minimum(np.floor(20 * x / x.max()), 19).astype(int)
    assert metrics.entropy(by_floor)[0] == pytest.approx(2.65, abs=5e-3)
    assert metrics.entropy(metrics.discretize(x))[0] == pytest.approx(2.98, abs=5e-3)


def test_a_range_of_a_few_float_steps_is_binned():
    x = 1.0 + np.arange(4) * np.finfo(float).eps
    binned = metrics.discretize(x[:, None])[:, 0]
    assert np.all(np.diff(binned) > 0) and binned[-1] == 19


@pytest.mark.parametrize("value", [0.25, 0.1, 1e6 + 0.1, -3.0])
def test_a_constant_code_falls_into_one_bin(value):
    assert not metrics.discretize(np.full((7, 1), value)).any()


def test_information_and_joint_entropy_equal_counting(entangled):
    codes, factors = entangled
    table = metrics.mutual_information_table(codes, factors, bins=13)
    binned = metrics.discretize(codes, 13)
    for i in range(codes.shape[1]):
        for j in range(factors.shape[1]):
            information, joint = information_by_counting(
                binned[:, i].tolist(), factors[:, j].tolist()
            )
            assert table.mutual_information[i, j] == pytest.approx(information, abs=1e-12)
            assert table.joint_entropy[i, j] == pytest.approx(joint, abs=1e-12)
    np.testing.assert_allclose(table.code_entropy, metrics.entropy(binned), atol=1e-12)
    np.testing.assert_allclose(table.factor_entropy, metrics.entropy(factors), atol=1e-12)


def test_independent_codes_have_exactly_no_information():
    grid = np.stack(np.meshgrid(range(3), range(7), indexing="ij"), -1).reshape(-1, 2)
    rows = np.tile(grid, (11, 1))
    table = metrics.mutual_information_table(rows.astype(float), rows, bins=7)
    assert table.mutual_information[0, 1] == table.mutual_information[1, 0] == 0.0


def test_entropy_of_one_column_and_of_labels_far_apart():
    assert metrics.entropy(np.array([0, 1, 0, 1])) == pytest.approx(np.log(2))
    assert metrics.entropy([-(10**12), 0, 10**15, 10**15]) == pytest.approx(1.5 * np.log(2))


def test_upward_bias_of_the_estimate_has_the_published_size():
    share = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = metrics.mutual_information_table(
            rng.normal(size=(2000, 1)), rng.integers(0, 40, size=(2000, 1))
        )
        share.append(table.mutual_information[0, 0] / table.factor_entropy[0])
    assert np.mean(share) == pytest.approx(0.044, abs=0.004)


@pytest.mark.parametrize(
    ("values", "bins", "ceiling"), [(40, 20, 0.812), (32, 20, 0.850), (40, 10, 0.624)]
)
def test_a_factor_with_more_values_than_bins_has_the_published_ceiling(values, bins, ceiling):
    v = np.repeat(np.arange(values), 100)[:, None]
    score = metrics.mig(0.37 * v + 0.05, v, bins=bins)
    assert score == pytest.approx(ceiling, abs=1e-3)


def test_one_table_serves_all_three_metrics(entangled):
    codes, factors = entangled
    table = metrics.mutual_information_table(codes, factors, bins=15)
    for metric in (metrics.mig, metrics.modularity, metrics.jemmig):
        assert metric(table=table) == metric(codes, factors, bins=15)
        assert metric(table=table).settings["bins"] == 15
        with pytest.raises(ValueError, match="not both"):
            metric(codes, factors, table=table)
        with pytest.raises(ValueError, match="Received: neither"):
            metric(codes)
        with pytest.raises(ValueError, match="type ndarray"):
            metric(table=np.eye(3))


def test_faster_than_scikit_learn():
    """The benchmark in examples measures it; this bar is low enough for a busy machine."""
    mutual_info_score = pytest.importorskip("sklearn.metrics").mutual_info_score
    rng = np.random.default_rng(0)
    codes, factors = rng.normal(size=(10_000, 10)), rng.integers(0, (3, 6, 40, 32, 32), (10_000, 5))
    binned = metrics.discretize(codes)

    def best(function, repeats):
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times)

    ours = best(lambda: metrics.mutual_information_table(codes, factors), 10)
    theirs = best(lambda: [mutual_info_score(v, q) for v in factors.T for q in binned.T], 3)
    assert theirs > 10 * ours


def test_a_code_is_dead_below_the_limit_not_at_it():
    code = np.tile([[-1.0], [1.0]], (50, 1))
    std = code.std(ddof=1)
    assert metrics.discretize(code, 2, min_std=std).max() == 1
    assert metrics.discretize(code, 2, min_std=np.nextafter(std, 2)).max() == 0


def test_nan_has_no_entropy():
    with pytest.raises(ValueError, match="labels must be finite"):
        metrics.entropy(np.array([0.0, np.nan]))


def test_scores_name_how_their_table_was_made(entangled):
    codes, factors = entangled
    width = np.full(codes.shape, -2.0)
    tables = {
        "histogram": metrics.mutual_information_table(codes, factors, bins=5, min_std=0.1),
        "soft": metrics.soft_information_table(codes, width, factors, bins=5),
        "posterior": metrics.posterior_information_table(codes, width, factors, samples=7),
    }
    settings = {name: metrics.mig(table=table).settings for name, table in tables.items()}
    assert all(found["estimate"] == name for name, found in settings.items())
    assert settings["histogram"]["min_std"] == 0.1 and settings["histogram"]["bins"] == 5
    assert settings["soft"]["limits"] == (-4.0, 4.0) and settings["posterior"]["samples"] == 7
