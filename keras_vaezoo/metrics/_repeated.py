"""Intervals of scores from disjoint samples."""

from typing import NamedTuple

import numpy as np

from keras_vaezoo.metrics._inputs import check_integer, to_array

_SMALLEST_SAMPLE = 2000


class Interval(NamedTuple):
    """Mean and standard deviation (ddof 1) of a score over samples, and the scores themselves."""

    mean: float
    standard_deviation: float
    scores: tuple


def repeated(
    metric, codes=None, factors=None, *, draw=None, repeats=None, rows=2000, seed=0, **settings
):
    """Mean and standard deviation of a metric over disjoint samples of the rows.

    The rows are shuffled and cut into samples of `rows` rows, none of them in two samples.
    Drawing rows with replacement (the bootstrap) is not offered: copies of a row inflate mutual
    information. A score depends on the number of rows (the bias of mutual information shrinks with
    it), so the mean is that of the metric at `rows` rows, not at n.

    Args:
        metric: Function of (codes, factors, **settings) that returns a `Score` or a named tuple of
            them (`dci`).
        codes: (n, d) array.
        factors: (n, k) array.
        draw: In place of the two: function of (rows, seed) that returns fresh codes and factors.
        repeats: Number of samples, at least 2. The default is as many as there are (n // rows),
            or 5 with `draw`.
        rows: Rows per sample, at least 2,000.
        seed: Seed of the shuffle; with `draw` the samples get seed, seed + 1, ...
        **settings: Passed on to the metric.

    Returns:
        `Interval(mean, standard_deviation, scores)`, or for a named tuple of scores the same named
        tuple of intervals.

    Raises:
        ValueError: Too few rows for two disjoint samples (or for `repeats`), `rows` below 2,000,
            neither or both of (codes, factors) and `draw`, or a `split` by row numbers.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(10_000, 2))
    repeated(mig, factors.astype("float32"), factors, bins=10).mean
    ```
    """
    check_integer("rows", rows, _SMALLEST_SAMPLE)
    if repeats is not None:
        check_integer("repeats", repeats, 2)
    if isinstance(settings.get("split"), tuple):
        raise ValueError(
            "The samples are shuffled, so that the row numbers of split would name others. Give "
            "split by name. Received: split=(train_rows, test_rows)"
        )
    given = [codes is not None, factors is not None, draw is not None]
    if given == [True, True, False]:
        samples = _disjoint_samples(codes, factors, repeats, rows, seed)
    elif given == [False, False, True]:
        samples = (draw(rows, seed + i) for i in range(repeats or 5))
    else:
        raise ValueError(
            "Give either codes and factors, or draw. Received: "
            f"codes, factors, draw given: {', '.join(map(str, given))}"
        )
    results = [metric(*sample, **settings) for sample in samples]
    if isinstance(results[0], tuple):
        return type(results[0])(*map(_interval, zip(*results, strict=True)))
    return _interval(results)


def _disjoint_samples(codes, factors, repeats, rows, seed):
    codes, factors = to_array(codes, "codes"), to_array(factors, "factors")
    if not codes.ndim or not factors.ndim or len(codes) != len(factors):
        raise ValueError(
            "codes and factors must have the same number of rows. Received: "
            f"codes.shape={codes.shape}, factors.shape={factors.shape}"
        )
    possible = len(codes) // rows
    if possible < max(repeats or 2, 2):
        raise ValueError(
            f"{repeats or 2} disjoint samples of {rows} rows need {(repeats or 2) * rows} rows; "
            f"give more rows, fewer repeats, or draw=... Received: {len(codes)} rows"
        )
    order = np.random.default_rng(seed).permutation(len(codes))
    parts = order[: (repeats or possible) * rows].reshape(-1, rows)
    return [(codes[part], factors[part]) for part in parts]


def _interval(scores):
    values = np.array(scores, dtype=np.float64)
    return Interval(float(values.mean()), float(values.std(ddof=1)), tuple(scores))
