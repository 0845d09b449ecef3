"""Joint entropy minus mutual information gap (Do & Tran 2020)."""

import numpy as np

from keras_vaezoo.metrics._information import resolve_table, top_two
from keras_vaezoo.metrics._inputs import warn_caller
from keras_vaezoo.metrics._score import Score

# Nats within which two codes tie: far above rounding, far below any real difference.
_TIE = 1e-10


def jemmig(
    codes=None,
    factors=None,
    *,
    bins=20,
    normalize=True,
    min_std=0.0,
    factor_bins=None,
    table=None,
):
    """JEMMIG: like MIG, and the best code should hold nothing but its factor.

        raw_j  = H(q_i*, v_j) - I1(j) + I2(j)             [nats, LOWER is better]
        JEMMIG = mean over j of 1 - raw_j / ( H(v_j) + log B )

    i* is the code with the largest information I1(j) about factor j (of tied codes that are not
    constant the one with the smallest joint entropy), I2(j) the second largest (0 with a single
    code). In [0, 1], HIGHER is better. Do & Tran, "Theory and Evaluation Metrics for Learning
    Disentangled Representations" (2020), turned round as the field does; their own code reports
    the quotient itself, where lower is better. Numbers with different B cannot be compared, and a
    factor with more values than bins cannot reach 1.

    It rewards a dead representation: all codes constant gives mean of log B / (H(v) + log B),
    0.65 for factors of 4 to 6 values, with a warning. Never report it alone.

    Do & Tran's soft binning of the posteriors: pass
    `table=soft_information_table(mean, log_variance, factors)`.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes.
        bins: Number of bins B per code.
        normalize: `False` gives mean raw_j in nats; the direction flips: lower is better.
        min_std: A code whose standard deviation is below this counts as dead. Off by default.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.
        table: An `InformationTable` to use in place of codes and factors; then `bins`, `min_std`
            and `factor_bins` are those it was made with.

    Returns:
        `Score`; per_factor: the term of each factor; matrix: the mutual information in nats.

    Raises:
        ValueError: As for `mig`, and for a table without bins.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
    jemmig(factors.astype("float32"), factors)  # close to 1
    ```
    """
    table = resolve_table(codes, factors, table, bins, min_std, factor_bins)
    if table.bins is None:
        raise ValueError("jemmig needs a table of binned codes. Received: a table with bins=None")
    alive = table.code_entropy > 0
    if not alive.any():
        alive[:] = True
        warn_caller(
            "All codes are constant. JEMMIG rewards that by its definition; the score is no sign "
            "of disentanglement."
        )
    first, second = top_two(table.mutual_information)
    # A dead code ties where no code knows the factor; as the best code it would earn a reward.
    tied = (table.mutual_information >= first - _TIE) & alive[:, None]
    joint = np.where(tied, table.joint_entropy, np.inf).min(axis=0)
    per_factor = joint - first + second
    if normalize:
        per_factor = 1.0 - per_factor / (table.factor_entropy + np.log(table.bins))
    settings = {**table.settings, "normalize": bool(normalize)}
    return Score(np.nanmean(per_factor), per_factor, table.mutual_information, settings=settings)
