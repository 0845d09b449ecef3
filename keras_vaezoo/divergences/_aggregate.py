"""Estimates of the KL divergence of a batch's aggregate posterior from the prior."""

from keras import ops

from keras_vaezoo.divergences._covariance import covariance_root, variance_of_rows
from keras_vaezoo.divergences._overlap import log_overlap_sums
from keras_vaezoo.divergences._rows import posterior_rows, row_count


def aggregate_kl_bound(mean, log_variance):
    """Compute WiSE-ALE's upper bound on the aggregate posterior's KL divergence from N(0, I).

    With q = 1/M SUM_i q_i and q_i = N(mean_i, diag v_i),

        l_ij = log INTEGRAL q_i q_j
             = -1/2 SUM_k [log 2 pi + log(v_ik + v_jk) + (mean_ik - mean_jk)^2 / (v_ik + v_jk)]
        UB   = 1/M SUM_i [logsumexp_j l_ij - log M] + 1/(2M) SUM_ik [v_ik + mean_ik^2 + log 2 pi]

    and UB >= KL(q || N(0, I)): Lin et al., "WiSE-ALE: Wide Sample Estimator for Approximate Latent
    Embedding" (2019), Eq. 23 with the factor 1/2 of the Gaussian product integral.

    The bound is not the KL. It is d/2 (1 - log 2) where every posterior equals the prior, and
    falls to 0 only for many narrow posteriors that make up the prior together. For posteriors that
    do not overlap it is the mean of `gaussian_kl` + d/2 (1 - log 2) - log M.

    A statistic of the batch: the value depends on M. Time grows as M^2 d. Up to M^2 d = 2^22 it is
    computed at once; above, in blocks of 64 rows that are computed anew for the gradient, so that
    memory grows as M d.

    Args:
        mean: tensor of shape `(M, d)`.
        log_variance: tensor of shape `(M, d)`, log v.

    Returns:
        Scalar in nats, float32.

    Raises:
        ValueError: unless both arguments are matrices of one shape.

    Example:

    ```python
    # Two posteriors of variance 1 at +-0.5.
    keras_vaezoo.divergences.aggregate_kl_bound([[-0.5], [0.5]], [[0.0], [0.0]])  # 0.1612
    ```
    """
    mean, log_variance = posterior_rows(mean, log_variance)
    overlaps = log_overlap_sums(mean, log_variance)
    return ops.mean(overlaps) - ops.log(row_count(mean)) + _half_second_moment(mean, log_variance)


def aggregate_kl_loose_bound(mean, log_variance):
    """Compute a looser upper bound, with the logarithm outside the mean over the batch.

    UB2 = log [1/M^2 SUM_ij exp l_ij] + 1/(2M) SUM_ik [v_ik + mean_ik^2 + log 2 pi], with l_ij of
    `aggregate_kl_bound`. UB2 >= `aggregate_kl_bound` >= KL.

    Args:
        mean: tensor of shape `(M, d)`.
        log_variance: tensor of shape `(M, d)`, log v.

    Returns:
        Scalar in nats, float32.

    Raises:
        ValueError: unless both arguments are matrices of one shape.

    Example:

    ```python
    keras_vaezoo.divergences.aggregate_kl_loose_bound([[-0.5], [0.5]], [[0.0], [0.0]])  # 0.1612
    ```
    """
    mean, log_variance = posterior_rows(mean, log_variance)
    overlaps = log_overlap_sums(mean, log_variance)
    return (
        ops.logsumexp(overlaps)
        - 2.0 * ops.log(row_count(mean))
        + _half_second_moment(mean, log_variance)
    )


def aggregate_kl_moments(mean, log_variance, diagonal=False):
    """Compute the KL divergence from N(0, I) of the Gaussian with the aggregate's two moments.

    MM = KL(N(m, C) || N(0, I)) = 1/2 [tr C + m^T m - d - log det C], m the mean of the posterior
    means and C = diag(mean v) + cov(mean), the covariance with divisor M. A Gaussian has the
    largest entropy for its moments, so MM never exceeds the aggregate posterior's true KL:
    diagonal MM <= full MM <= KL <= `aggregate_kl_bound` <= `aggregate_kl_loose_bound`.

    Args:
        mean: tensor of shape `(M, d)`.
        log_variance: tensor of shape `(M, d)`, log v.
        diagonal: whether to leave out the covariances between latent dimensions.

    Returns:
        Scalar in nats, float32.

    Raises:
        ValueError: unless both arguments are matrices of one shape.

    Example:

    ```python
    keras_vaezoo.divergences.aggregate_kl_moments([[-1.0], [1.0]], [[0.0], [0.0]])  # 0.1534
    ```
    """
    mean, log_variance = posterior_rows(mean, log_variance)
    mean_variance = ops.mean(ops.exp(log_variance), axis=0)
    variance = mean_variance + variance_of_rows(mean)
    if diagonal:
        log_determinant = ops.sum(ops.log(variance))
    else:
        root = covariance_root(mean, mean_variance)
        log_determinant = 2.0 * ops.sum(ops.log(ops.diagonal(root)))
    squared_norm = ops.sum(ops.square(ops.mean(mean, axis=0)))
    return 0.5 * (ops.sum(variance - 1.0) + squared_norm - log_determinant)


def _half_second_moment(mean, log_variance):
    """Minus the mean of log N(z; 0, I) under the aggregate, without its constant.

    The constant d/2 log 2 pi cancels against the one that `log_overlap_sums` leaves out.
    """
    return 0.5 * ops.mean(ops.sum(ops.square(mean) + ops.exp(log_variance), axis=-1))
