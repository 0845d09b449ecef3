"""Intervals over disjoint samples."""

import numpy as np
import pytest

from keras_vaezoo import metrics


def data(rows, seed=0):
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, (3, 5), size=(rows, 2))
    return factors + 0.5 * rng.normal(size=(rows, 2)), factors


def test_samples_are_disjoint_and_of_the_size_asked_for():
    seen = []

    def row_numbers(codes, factors):
        assert (codes == factors).all()
        seen.append(codes[:, 0])
        return metrics.Score(codes.mean())

    rows = np.arange(7000)[:, None]
    interval = metrics.repeated(row_numbers, rows, rows)
    assert [len(part) for part in seen] == [2000, 2000, 2000]
    assert len(set(np.concatenate(seen))) == 6000
    means = [part.mean() for part in seen]
    assert interval.mean == pytest.approx(np.mean(means))
    assert interval.standard_deviation == pytest.approx(np.std(means, ddof=1))
    assert interval.scores == tuple(means)


def test_settings_reach_the_metric_and_the_interval_holds_the_score_of_fresh_rows():
    interval = metrics.repeated(metrics.mig, *data(20_000), repeats=6, rows=3000, bins=10)
    assert len(interval.scores) == 6 and interval.scores[0].settings["bins"] == 10
    assert interval.scores[0].settings["rows"] == 3000
    fresh = metrics.mig(*data(3000, seed=1), bins=10)
    assert abs(fresh - interval.mean) < 5 * interval.standard_deviation < 0.1


def test_seeds_repeat_and_differ():
    one, again, other = (
        metrics.repeated(metrics.mig, *data(4000), seed=seed) for seed in (0, 0, 1)
    )
    assert one == again != other


def test_a_named_tuple_of_scores_gives_one_of_intervals():
    result = metrics.repeated(metrics.dci, *data(4000), n_estimators=1, max_rows=300)
    assert isinstance(result, metrics.DCI)
    assert all(isinstance(part, metrics.Interval) and len(part.scores) == 2 for part in result)


def test_fresh_draws():
    interval = metrics.repeated(metrics.mig, draw=data, repeats=3, seed=10)
    assert interval.scores == tuple(metrics.mig(*data(2000, seed)) for seed in (10, 11, 12))
    assert len(metrics.repeated(metrics.mig, draw=data).scores) == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rows": 1999}, "rows=1999"),
        ({"repeats": 1}, "repeats=1"),
        ({"repeats": 3}, "3 disjoint samples of 2000 rows need 6000"),
        ({"rows": 2001}, "2 disjoint samples of 2001"),
        ({"draw": data}, "Give either"),
        ({"split": (range(9), range(9))}, "Give split by name"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        metrics.repeated(metrics.mig, *data(4000), **settings)


def test_shapes_are_named():
    codes, factors = data(4000)
    with pytest.raises(ValueError, match=r"factors.shape=\(3999, 2\)"):
        metrics.repeated(metrics.mig, codes, factors[1:])
    with pytest.raises(ValueError, match="True, False, False"):
        metrics.repeated(metrics.mig, codes)
