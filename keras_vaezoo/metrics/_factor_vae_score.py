"""The FactorVAE metric (Kim & Mnih 2018)."""

import numpy as np

from keras_vaezoo.metrics._information import spread
from keras_vaezoo.metrics._inputs import check_integer, check_number, column_stds, warn_caller
from keras_vaezoo.metrics._same_value_draws import (
    chunk_sizes,
    draw_source,
    labels_per_factor,
    rescaled_from_chance,
)
from keras_vaezoo.metrics._score import Score


def factor_vae_score(
    codes=None,
    factors=None,
    *,
    sample_fn=None,
    factor_sizes=None,
    batch_size=64,
    train_votes=10_000,
    eval_votes=5_000,
    min_std=0.05,
    std_rows=10_000,
    value_draw="frequency",
    rescale=False,
    seed=0,
    factor_bins=None,
):
    """FactorVAE metric: does fixing a factor always silence the same code.

    With s_i the standard deviation of code i (ddof 1), active if s_i >= `min_std` and s_i > 0:

        one vote: pick factor j at random, fix its value, draw L rows with that value;
                  i = argmin over active codes of Var_L(z_i) / s_i^2
        score = share of evaluation votes with argmax_j T[i, j] = j

    where T[i, j] counts the training votes. In [1/k, 1], higher is better, 1/k by chance; 0 with a
    warning if no code is active. Kim & Mnih, "Disentangling by Factorising" (2018), section 4.
    Without a threshold a constant code wins every vote (0/0), hence `min_std`.

    Rows come from a table (codes, factors), with replacement, or fresh from a simulator
    (`sample_fn`, `factor_sizes`): the same distribution when the table's factors are independent.
    A simulator and encoder are called on (train_votes + eval_votes) x batch_size rows: 960,000.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes, at least two factors that vary.
        sample_fn: In place of the two: function of (n, k) integer factors that returns (n, d)
            codes; it is called with at most 8,192 rows or one vote at a time.
        factor_sizes: With `sample_fn`: number of values of each factor.
        batch_size: Rows per vote, L.
        train_votes: Number of votes that fill T.
        eval_votes: Number of votes that are scored.
        min_std: Smallest standard deviation of an active code, in units of the codes.
        std_rows: With `sample_fn`: number of fresh rows for s_i.
        value_draw: On a table, `"frequency"` fixes the value of a random row; `"uniform"` one of
            the values with at least two rows, all equally likely.
        rescale: Whether to return (score - 1/k) / (1 - 1/k), which is 0 by chance.
        seed: Seed of all draws.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.

    Returns:
        `Score`; per_factor: share of right votes among those of the factor; matrix: T; per_code:
        s_i; train: the share of training votes.

    Raises:
        ValueError: Shapes that differ, fewer than 2 rows, nan or inf (names the column),
            continuous factors without `factor_bins`, fewer than two factors that vary.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
    factor_vae_score(factors.astype("float32"), factors)  # 1.0
    factor_vae_score(sample_fn=lambda v: encoder(render(v)), factor_sizes=(3, 6, 40, 32, 32))
    ```
    """
    check_integer("batch_size", batch_size, 2)
    check_integer("train_votes", train_votes, 1)
    check_integer("eval_votes", eval_votes, 1)
    check_integer("std_rows", std_rows, 2)
    check_number("min_std", min_std)
    source = draw_source(codes, factors, sample_fn, factor_sizes, value_draw, factor_bins)
    rng = np.random.default_rng(seed)
    stds = column_stds(source.population(std_rows, rng), ddof=1)
    active = np.flatnonzero((stds >= min_std) & (stds > 0))
    settings = {"batch_size": batch_size, "train_votes": train_votes, "eval_votes": eval_votes}
    settings |= {"min_std": min_std, "rescale": bool(rescale), "active_codes": len(active)}
    settings |= {"value_draw": value_draw}
    if not len(active):
        return _score_without_active_codes(source, stds, settings)
    train, evaluation = (
        _votes(source, active, stds, count, batch_size, rng) for count in (train_votes, eval_votes)
    )
    own_factor = train.argmax(axis=1)
    value, train_value = _share_right(evaluation, own_factor), _share_right(train, own_factor)
    right = np.where(own_factor[:, None] == np.arange(len(source.kept)), evaluation, 0).sum(axis=0)
    totals = evaluation.sum(axis=0)
    per_factor = np.divide(right, totals, out=np.full(len(totals), np.nan), where=totals > 0)
    if rescale:
        k = len(source.kept)
        value, train_value = rescaled_from_chance(value, k), rescaled_from_chance(train_value, k)
        per_factor = rescaled_from_chance(per_factor, k)
    return Score(
        value,
        spread(per_factor, source.kept, source.n_factors),
        spread(train, source.kept, source.n_factors),
        per_code=stds,
        train=train_value,
        settings=settings,
    )


def _votes(source, active, stds, count, batch_size, rng):
    """(d, kept) counts of the votes: code of least variance, factor that was fixed."""
    votes = np.zeros((source.n_codes, len(source.kept)), dtype=np.int64)
    for position, n_votes in enumerate(labels_per_factor(source.kept, count, rng)):
        for chunk in chunk_sizes(n_votes, batch_size):
            groups = source.groups(source.kept[position], chunk, batch_size, rng)
            variances = (groups[:, :, active] / stds[active]).var(axis=1, ddof=1)
            winners = active[variances.argmin(axis=1)]
            votes[:, position] += np.bincount(winners, minlength=source.n_codes)
    return votes


def _share_right(votes, own_factor):
    return votes[np.arange(len(votes)), own_factor].sum() / votes.sum()


def _score_without_active_codes(source, stds, settings):
    warn_caller(
        "No code is active: every standard deviation is 0 or below min_std. The score is 0."
    )
    per_factor = spread(np.zeros(len(source.kept)), source.kept, source.n_factors)
    votes = spread(np.zeros((source.n_codes, len(source.kept))), source.kept, source.n_factors)
    return Score(0.0, per_factor, votes, per_code=stds, train=0.0, settings=settings)
