"""Modularity (Ridgeway & Mozer 2018)."""

import numpy as np

from keras_vaezoo.metrics._information import resolve_table
from keras_vaezoo.metrics._inputs import check_factor_count
from keras_vaezoo.metrics._score import Score


def modularity(
    codes=None,
    factors=None,
    *,
    bins=20,
    active_only=False,
    min_std=0.0,
    factor_bins=None,
    table=None,
):
    """Modularity: how nearly each code informs about one factor only.

        t_i = max over j of I(q_i; v_j)
        m_i = 1 - sum over the other j of I(q_i; v_j)^2 / ( t_i^2 (k - 1) )
        modularity = mean over i of m_i

    In [0, 1], higher is better. Ridgeway & Mozer, "Learning Deep Disentangled Embeddings with the
    F-Statistic Loss" (2018). It says nothing about how much is encoded: pure noise
    scores about 0.64, so never read it alone. A dead code (t_i = 0) has m_i = 0 and counts in the
    mean. The histogram is scale-invariant: a collapsed code with tiny noise is not dead unless
    `min_std` says so.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes, at least two factors that vary.
        bins: Number of bins B per code.
        active_only: Whether the mean runs over the codes with t_i > 0 only (0 if there is none).
        min_std: A code whose standard deviation is below this counts as dead. Off by default.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.
        table: An `InformationTable` to use in place of codes and factors; then `bins`, `min_std`
            and `factor_bins` are those it was made with.

    Returns:
        `Score`; per_code: m_i; per_factor: mean m_i of the active codes whose largest information
        is about that factor, nan where there is none; matrix: the mutual information in nats.

    Raises:
        ValueError: As for `mig`, and for fewer than two factors that vary.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
    modularity(factors.astype("float32"), factors)  # close to 1
    ```
    """
    table = resolve_table(codes, factors, table, bins, min_std, factor_bins)
    check_factor_count(len(table.kept), 2)
    information = table.mutual_information[:, table.kept]
    largest = information.max(axis=1)
    active = largest > 0
    relative = information / np.where(active, largest, 1.0)[:, None]
    others = (relative**2).sum(axis=1) - 1.0
    per_code = np.where(active, 1.0 - others / (len(table.kept) - 1), 0.0)
    counted = per_code[active] if active_only else per_code
    settings = {**table.settings, "active_only": active_only}
    return Score(
        counted.mean() if counted.size else 0.0,
        _mean_of_own_codes(per_code, information.argmax(axis=1), active, table),
        table.mutual_information,
        per_code=per_code,
        settings=settings,
    )


def _mean_of_own_codes(per_code, own_factor, active, table):
    means = np.full(len(table.factor_entropy), np.nan)
    for position, j in enumerate(table.kept):
        own = active & (own_factor == position)
        if own.any():
            means[j] = per_code[own].mean()
    return means
