"""Information tables from the posteriors q(z|x), where the default bins their means."""

import math

import numpy as np

from keras_vaezoo.metrics._information import InformationTable, entropy, spread, table_from_counts
from keras_vaezoo.metrics._inputs import (
    Inputs,
    check_integer,
    checked_inputs,
    to_array,
)

_erf = np.frompyfunc(math.erf, 1, 1)
# Standard deviations below this act as 0 (a deterministic encoder has log-variance -inf).
_SMALLEST_STD = 1e-12


def posterior_information_table(
    mean, log_variance, factors, *, samples=1000, seed=0, factor_bins=None
):
    """Monte Carlo estimate of I(z_i; v_j) from the posteriors (Chen et al. 2018, appendix).

        I(z_i; v_j) = E[ log q(z_i | v_j) - log q(z_i) ]        [nats], negative values become 0

    with q(z_i) the mean of q(z_i|x) over all rows, q(z_i|v_j) over the rows that share v_j, and
    the expectation over rows drawn at random and z_i ~ q(z_i|x). This is another estimator than
    the histogram of the means, not another bin count: do not expect equal numbers. It takes
    O(samples n d k) time; the densities of 10^6 pairs of rows are held at a time.

    Args:
        mean: (n, d) posterior means.
        log_variance: (n, d) posterior log-variances, finite.
        factors: (n, k) integer classes.
        samples: Number of draws from the aggregate posterior.
        seed: Seed of the draws.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.

    Returns:
        An `InformationTable` without bins, for `mig(table=...)` and `modularity(table=...)`.

    Raises:
        ValueError: As for `mig`, and for a log_variance of another shape or not finite.

    Example:

    ```python
    mig(table=posterior_information_table(mean, log_variance, factors))
    ```
    """
    check_integer("samples", samples, 1)
    inputs = checked_inputs(mean, factors, factor_bins=factor_bins)
    log_variance = _checked_log_variance(log_variance, inputs.codes)
    if not np.isfinite(log_variance).all():
        raise ValueError(
            "A density needs finite log-variances; a deterministic encoder has none. Use the "
            "histogram, mutual_information_table(mean, factors). Received: an infinite log_variance"
        )
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(inputs.codes), size=samples)
    noise = rng.standard_normal((samples, inputs.codes.shape[1]))
    draws = inputs.codes[rows] + np.exp(0.5 * log_variance[rows]) * noise
    chunk = max(1, 10**6 // len(inputs.codes))
    log_ratio = np.zeros((inputs.codes.shape[1], len(inputs.kept)))
    for start in range(0, samples, chunk):
        part = slice(start, start + chunk)
        log_ratio += _summed_log_ratio(draws[part], rows[part], inputs, log_variance)
    n_factors = inputs.values.shape[1]
    return InformationTable(
        mutual_information=spread(np.maximum(log_ratio / samples, 0.0), inputs.kept, n_factors),
        joint_entropy=None,
        code_entropy=None,
        factor_entropy=spread(
            np.asarray(entropy(inputs.classes[:, inputs.kept])), inputs.kept, n_factors
        ),
        bins=None,
        rows=len(inputs.codes),
        settings={
            "estimate": "posterior",
            "samples": samples,
            "seed": seed,
            "rows": len(inputs.codes),
        },
    )


def soft_information_table(
    mean, log_variance, factors, *, bins=100, limits=(-4.0, 4.0), factor_bins=None
):
    """Information table where each row spreads its posterior N(mean, exp(log_variance)) over bins.

        p(q_i = b, v_j) = mean over rows of 1[v_j] x (mass of q(z_i|x) in bin b)

    The soft assignment of Do & Tran (2020): equal-width bins over fixed limits, the two end bins
    open towards infinity. A posterior without width falls into its bin whole.

    Args:
        mean: (n, d) posterior means.
        log_variance: (n, d) posterior log-variances; -inf is a width of 0.
        factors: (n, k) integer classes.
        bins: Number of bins B per code.
        limits: (low, high) of the bins.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.

    Returns:
        An `InformationTable`, for `jemmig(table=...)`, `mig` and `modularity`.

    Raises:
        ValueError: As for `mig`, and for a log_variance of another shape.

    Example:

    ```python
    jemmig(table=soft_information_table(mean, log_variance, factors))
    ```
    """
    check_integer("bins", bins, 1)
    low, high = limits
    if not low < high:
        raise ValueError(f"limits must be (low, high) with low < high. Received: limits={limits}")
    inputs = checked_inputs(mean, factors, factor_bins=factor_bins)
    std = np.exp(0.5 * _checked_log_variance(log_variance, inputs.codes))
    std = np.maximum(std, _SMALLEST_STD)
    sizes = inputs.sizes[inputs.kept]
    starts = np.cumsum(sizes) - sizes
    one_hot = np.zeros((len(inputs.codes), int(sizes.sum())))
    np.put_along_axis(one_hot, inputs.classes[:, inputs.kept] + starts, 1.0, axis=1)
    inner_edges = np.linspace(low, high, bins + 1)[1:-1]
    counts = np.stack(
        [
            _bin_masses(inputs.codes[:, i], std[:, i], inner_edges).T @ one_hot
            for i in range(inputs.codes.shape[1])
        ]
    )
    settings = {"estimate": "soft", "limits": (float(low), float(high))}
    return table_from_counts(counts, starts, inputs.kept, inputs.values.shape[1], settings)


def _checked_log_variance(log_variance, mean):
    log_variance = np.asarray(to_array(log_variance, "log_variance"), dtype=np.float64)
    if log_variance.shape != mean.shape or np.isnan(log_variance).any():
        raise ValueError(
            "log_variance must have the shape of mean and hold no nan. Received: "
            f"log_variance.shape={log_variance.shape}, mean.shape={mean.shape}"
        )
    return log_variance


def _summed_log_ratio(draws, rows, inputs: Inputs, log_variance):
    """Sum over draws of log q(z_i | v_j) - log q(z_i), shape (d, kept)."""
    n = len(inputs.codes)
    sums = np.empty((draws.shape[1], len(inputs.kept)))
    same_class = [
        inputs.classes[rows, j][:, None] == inputs.classes[None, :, j] for j in inputs.kept
    ]
    for i in range(draws.shape[1]):
        deviation = draws[:, i, None] - inputs.codes[None, :, i]
        log_density = -0.5 * (deviation**2 * np.exp(-log_variance[:, i]) + log_variance[:, i])
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        log_all = np.log(density.sum(axis=1) / n)
        for position, same in enumerate(same_class):
            log_own = np.log((density * same).sum(axis=1) / same.sum(axis=1))
            sums[i, position] = (log_own - log_all).sum()
    return sums


def _bin_masses(mean, std, inner_edges):
    """(n, B) mass of each row's normal distribution in each bin."""
    standard = (inner_edges - mean[:, None]) / (std[:, None] * math.sqrt(2.0))
    below = 0.5 * (1.0 + _erf(standard).astype(np.float64))
    # A posterior without width on an edge belongs to the bin above, as in the histogram.
    below[(standard == 0) & (std[:, None] <= _SMALLEST_STD)] = 0.0
    ends = np.zeros((len(mean), 1))
    return np.diff(np.concatenate([ends, below, ends + 1.0], axis=1), axis=1)
