"""The two metrics that draw groups of rows, against loops and closed forms."""

import numpy as np
import pytest

from keras_vaezoo import metrics
from keras_vaezoo.metrics._inputs import checked_inputs
from keras_vaezoo.metrics._same_value_draws import SimulatorSource, TableSource, chunk_sizes

SIZES = (3, 4, 5)
MIXING = np.array([[1.0, 0.6, 0.0], [0.5, 0.9, 0.5], [0.0, 0.4, 0.8], [0.4, 0.3, 0.5]])


def encode(factors):
    """A deterministic simulator and encoder: mixed factors."""
    return factors @ MIXING.T


@pytest.fixture(scope="module")
def grid():
    """Every combination of factors once: the simulator's distribution as a table."""
    factors = np.stack(np.meshgrid(*map(range, SIZES), indexing="ij"), -1).reshape(-1, 3)
    return encode(factors), factors


def loop_factor_vae(codes, factors, batch_size, votes, seed):
    """The definition, one vote at a time."""
    rng = np.random.default_rng(seed)
    std = codes.std(axis=0, ddof=1)

    def vote():
        j = rng.integers(factors.shape[1])
        value = factors[rng.integers(len(factors)), j]
        rows = rng.choice(np.flatnonzero(factors[:, j] == value), batch_size)
        return np.argmin(codes[rows].var(axis=0, ddof=1) / std**2), j

    train = np.zeros((codes.shape[1], factors.shape[1]))
    for _ in range(votes):
        train[vote()] += 1
    own = train.argmax(axis=1)
    return np.mean([own[i] == j for i, j in (vote() for _ in range(votes))])


def test_factor_vae_equals_the_loop(grid):
    expected = loop_factor_vae(*grid, batch_size=3, votes=4000, seed=1)
    score = metrics.factor_vae_score(*grid, batch_size=3, train_votes=20_000, eval_votes=20_000)
    assert 0.4 < expected < 0.95
    assert score == pytest.approx(expected, abs=0.03)
    assert score.matrix.sum() == 20_000
    np.testing.assert_allclose(score.per_code, grid[0].std(axis=0, ddof=1))
    assert np.average(score.per_factor) == pytest.approx(score, abs=0.02)


def test_beta_vae_equals_scikit_learn_on_looped_points(grid):
    linear_model = pytest.importorskip("sklearn.linear_model")
    codes, factors = grid
    rng = np.random.default_rng(2)

    def point():
        j = rng.integers(3)
        first = rng.integers(len(codes), size=2)
        second = [rng.choice(np.flatnonzero(factors[:, j] == factors[a, j])) for a in first]
        return np.abs(codes[first] - codes[second]).mean(axis=0), j

    x, y = map(np.array, zip(*(point() for _ in range(6000)), strict=True))
    model = linear_model.LogisticRegression(max_iter=1000).fit(x[:3000], y[:3000])
    expected = model.score(x[3000:], y[3000:])
    score = metrics.beta_vae_score(*grid, batch_size=2, eval_points=10_000)
    assert 0.4 < expected < 0.95
    assert score == pytest.approx(expected, abs=0.03)
    assert score.matrix.shape == (4, 3) and score.per_factor.shape == (3,)


@pytest.mark.parametrize(
    ("metric", "settings"),
    [
        (metrics.factor_vae_score, {"batch_size": 3, "train_votes": 8000, "eval_votes": 8000}),
        (metrics.beta_vae_score, {"batch_size": 2, "train_points": 8000, "eval_points": 8000}),
    ],
)
def test_simulator_and_table_agree(grid, metric, settings):
    table = metric(*grid, **settings)
    simulated = metric(sample_fn=encode, factor_sizes=SIZES, **settings)
    assert simulated == pytest.approx(table, abs=0.03)
    assert simulated == metric(sample_fn=encode, factor_sizes=SIZES, **settings)
    assert simulated != metric(sample_fn=encode, factor_sizes=SIZES, seed=1, **settings)


@pytest.mark.parametrize("metric", [metrics.factor_vae_score, metrics.beta_vae_score])
def test_rescaled_from_chance(grid, metric):
    plain, rescaled = metric(*grid, batch_size=4), metric(*grid, batch_size=4, rescale=True)
    assert rescaled == pytest.approx((plain - 1 / 3) / (2 / 3))
    assert rescaled.train == pytest.approx((plain.train - 1 / 3) / (2 / 3))
    np.testing.assert_allclose(rescaled.per_factor, (plain.per_factor - 1 / 3) / (2 / 3))


def test_threshold_decides_which_codes_vote():
    factors = np.random.default_rng(0).integers(0, 4, size=(2000, 2))
    codes = factors * [0.01, 1.0]
    score = metrics.factor_vae_score(codes, factors)
    assert score.settings["active_codes"] == 1
    np.testing.assert_array_equal(score.matrix.sum(axis=1), [0, 10_000])
    assert score == pytest.approx(0.5, abs=0.03)
    assert metrics.factor_vae_score(codes, factors, min_std=0.0) == 1.0


def test_groups_of_a_table_share_the_value_and_nothing_else(grid):
    _, factors = grid
    source = TableSource(checked_inputs(factors, factors), "frequency")
    groups = source.groups(1, 2000, 8, np.random.default_rng(0))
    assert (groups[:, :, 1] == groups[:, :1, 1]).all()
    counts = np.bincount(groups[:, 0, 1].astype(int))
    np.testing.assert_allclose(counts / 2000, 1 / 4, atol=0.04)
    for j, size in ((0, 3), (2, 5)):
        counts = np.bincount(groups[:, :, j].astype(int).ravel(), minlength=size)
        np.testing.assert_allclose(counts / 16_000, 1 / size, atol=0.02)


@pytest.mark.parametrize(("value_draw", "share"), [("frequency", 0.9), ("uniform", 0.5)])
def test_values_are_drawn_by_frequency_or_uniformly(value_draw, share):
    v = np.column_stack([np.repeat([0, 1, 2], [900, 100, 1]), np.arange(1001) % 2])
    source = TableSource(checked_inputs(v, v), value_draw)
    drawn = source.groups(0, 4000, 2, np.random.default_rng(0))[:, 0, 0]
    assert np.mean(drawn == 0) == pytest.approx(share, abs=0.03)
    assert (drawn == 2).any() == (value_draw == "frequency")


def test_uniform_values_need_two_rows_of_one():
    v = np.column_stack([np.arange(10), np.arange(10) % 2])
    with pytest.raises(ValueError, match=r"factors\[:, 0\] with 10 different"):
        metrics.factor_vae_score(v, v, value_draw="uniform")


def test_simulator_draws_factors_uniformly():
    source = SimulatorSource(lambda v: v.astype(float), SIZES)
    groups = source.groups(2, 3000, 4, np.random.default_rng(0))
    assert (groups[:, :, 2] == groups[:, :1, 2]).all()
    for j, size in enumerate(SIZES):
        counts = np.bincount(groups[:, 0, j].astype(int), minlength=size)
        np.testing.assert_allclose(counts / 3000, 1 / size, atol=0.03)
    assert source.population(10_000, np.random.default_rng(0)).shape == (10_000, 3)


def test_simulator_is_called_in_bounded_pieces():
    calls = []

    def watched(factors):
        calls.append(len(factors))
        return encode(factors)

    metrics.factor_vae_score(sample_fn=watched, factor_sizes=SIZES, train_votes=500, eval_votes=50)
    assert max(calls) <= 8192 and sum(calls) == 2 + 10_000 + 550 * 64
    assert sum(chunk_sizes(1000, 64)) == 1000 and chunk_sizes(0, 64) == []


def test_a_factor_with_one_value_is_dropped_in_the_simulator_form():
    with pytest.warns(UserWarning, match=r"Factor columns \[1\]"):
        score = metrics.factor_vae_score(
            sample_fn=lambda v: v[:, [0, 2]] + 0.0, factor_sizes=(3, 1, 5)
        )
    assert score == 1.0 and np.isnan(score.per_factor[1])


@pytest.mark.parametrize("metric", [metrics.factor_vae_score, metrics.beta_vae_score])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "none of them"),
        ({"sample_fn": encode}, "Received: sample_fn"),
        ({"codes": np.eye(3)}, "Received: codes"),
        ({"sample_fn": encode, "factor_sizes": (3, 0, 4)}, "factor size"),
        ({"sample_fn": encode, "factor_sizes": 3}, "factor_sizes=3"),
        ({"sample_fn": encode, "factor_sizes": (3,)}, "at least 2"),
        ({"sample_fn": lambda v: v[:, 0], "factor_sizes": SIZES}, r"shape \(2,\)"),
        ({"sample_fn": lambda v: v[:1], "factor_sizes": SIZES}, r"shape \(1, 3\)"),
        ({"sample_fn": lambda v: v * np.nan, "factor_sizes": SIZES}, r"j=\[0, 1, 2\]"),
    ],
)
def test_forms_that_are_refused(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        metric(**arguments)
