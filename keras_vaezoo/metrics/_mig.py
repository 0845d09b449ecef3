"""Mutual information gap (Chen et al. 2018)."""

import numpy as np

from keras_vaezoo.metrics._information import resolve_table, top_two
from keras_vaezoo.metrics._inputs import check_choice
from keras_vaezoo.metrics._score import Score

_NORMALIZERS = ("factor", "code", "none")


def mig(
    codes=None,
    factors=None,
    *,
    bins=20,
    normalize="factor",
    min_std=0.0,
    factor_bins=None,
    table=None,
):
    """Mutual information gap: how far the best code of a factor is ahead of the second best.

        MIG = mean over j of ( I1(j) - I2(j) ) / H(v_j)

    I1(j) and I2(j) are the largest and second largest I(q_i; v_j) over the codes; with a single
    code I2 = 0. In [0, 1], higher is better, about 0 by chance (with a small positive bias).
    Chen et al., "Isolating Sources of Disentanglement in VAEs" (2018), section 4, computed from
    histograms of the mean codes. With B bins I <= log B: a factor with more values than bins
    cannot reach 1 (dSprites: about 0.90 at B = 20), so report B with the number.

    Chen's own estimate of I from the posteriors is another estimator, with other numbers: pass
    `table=posterior_information_table(mean, log_variance, factors)`.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes.
        bins: Number of bins B per code.
        normalize: `"factor"` divides by H(v_j) (the definition); `"code"` divides each I(q_i; v_j)
            by H(q_i) before the gap, as some review code does (a dead code counts 0); `"none"`
            gives the gap in nats.
        min_std: A code whose standard deviation is below this counts as dead. Off by default.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.
        table: An `InformationTable` to use in place of codes and factors; then `bins`, `min_std`
            and `factor_bins` are those it was made with.

    Returns:
        `Score`; per_factor: the gap of each factor; matrix: the mutual information in nats.

    Raises:
        ValueError: Shapes that differ, fewer than 2 rows, nan or inf (names the column),
            continuous factors without `factor_bins`, no factor that varies.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
    mig(factors.astype("float32"), factors)  # close to 1
    ```
    """
    check_choice("normalize", normalize, _NORMALIZERS)
    table = resolve_table(codes, factors, table, bins, min_std, factor_bins)
    information = table.mutual_information
    if normalize == "code":
        information = _share_of_code_entropy(table)
    first, second = top_two(information)
    gaps = first - second
    if normalize == "factor":
        gaps = gaps / table.factor_entropy
    settings = {**table.settings, "normalize": normalize}
    return Score(np.nanmean(gaps), gaps, table.mutual_information, settings=settings)


def _share_of_code_entropy(table):
    if table.code_entropy is None:
        raise ValueError("normalize='code' needs a table of binned codes. Received: bins=None")
    entropy = table.code_entropy[:, None]
    return table.mutual_information / np.where(entropy > 0, entropy, 1.0)
