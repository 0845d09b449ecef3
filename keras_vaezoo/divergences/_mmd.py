"""Squared maximum mean discrepancy between two samples."""

from collections.abc import Callable
from typing import NamedTuple

from keras import ops

from keras_vaezoo.divergences._rows import float_rows, require_equal_width, row_count


class _Kernel(NamedTuple):
    value: Callable
    bandwidth: Callable
    scales: tuple


_KERNELS = {
    "gaussian": _Kernel(
        value=lambda squared, bandwidth: ops.exp(-squared / bandwidth),
        bandwidth=lambda dimensions: float(dimensions**2),
        scales=(1.0,),
    ),
    "imq": _Kernel(
        value=lambda squared, bandwidth: bandwidth / (bandwidth + squared),
        bandwidth=lambda dimensions: 2.0 * dimensions,
        scales=(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
    ),
}
_ESTIMATORS = ("v", "u")


def mmd(x, y, kernel="gaussian", estimator="v", bandwidth=None, scales=None):
    """Compute the squared maximum mean discrepancy between two samples.

    MMD^2 = mean k(x, x') + mean k(y, y') - 2 mean k(x, y), with k summed over scales s:

    - `"gaussian"`: k = exp(-||x - y||^2 / (s b)), b = d^2 and s = 1 by default. Zhao et al.,
      "InfoVAE" (2017).
    - `"imq"`: k = s b / (s b + ||x - y||^2), b = 2 d and s in {0.1, 0.2, 0.5, 1, 2, 5, 10} by
      default. Tolstikhin et al., "Wasserstein Auto-Encoders" (2018).

    The V-statistic means over all pairs, is at least 0 and biased upwards. The U-statistic leaves
    out the pairs of a row with itself, is unbiased and may be negative; with one row in x or y it
    does not exist, and the V-statistic is returned.

    A statistic of the batch.

    Args:
        x: first sample, tensor of shape `(M, d)`.
        y: second sample, tensor of shape `(N, d)`.
        kernel: `"gaussian"` or `"imq"`.
        estimator: `"v"` or `"u"`.
        bandwidth: b in squared units of x, positive. None is the kernel's default.
        scales: factors of the bandwidth whose kernels are summed. None is the kernel's default.

    Returns:
        Scalar, float32.

    Raises:
        ValueError: for an unknown kernel or estimator, a bandwidth or scale that is not positive,
            or unless x and y are matrices of equal width.

    Example:

    ```python
    codes = keras.random.normal((64, 8))
    prior_samples = keras.random.normal((64, 8))
    keras_vaezoo.divergences.mmd(codes, prior_samples, kernel="imq", estimator="u")
    ```
    """
    if kernel not in _KERNELS:
        raise ValueError(f"kernel must be one of {sorted(_KERNELS)}. Received: kernel={kernel!r}")
    if estimator not in _ESTIMATORS:
        raise ValueError(
            f"estimator must be one of {list(_ESTIMATORS)}. Received: estimator={estimator!r}"
        )
    x, y = float_rows("x", x), float_rows("y", y)
    require_equal_width("x", x, "y", y)
    chosen = _KERNELS[kernel]
    bandwidth = chosen.bandwidth(x.shape[1]) if bandwidth is None else bandwidth
    scales = chosen.scales if scales is None else tuple(scales)
    if not scales or min(bandwidth, *scales) <= 0:
        raise ValueError(
            "bandwidth and scales must be positive. "
            f"Received: bandwidth={bandwidth!r}, scales={scales!r}"
        )

    def kernel_matrix(a, b):
        squared = _squared_distances(a, b)
        return sum(chosen.value(squared, bandwidth * scale) for scale in scales)

    # Distances from matrix products lose digits far from the origin.
    centre = ops.stop_gradient(0.5 * (ops.mean(x, axis=0) + ops.mean(y, axis=0)))
    x, y = x - centre, y - centre
    across = 2.0 * ops.mean(kernel_matrix(x, y))
    within_x, within_y = kernel_matrix(x, x), kernel_matrix(y, y)
    v_statistic = ops.mean(within_x) + ops.mean(within_y) - across
    if estimator == "v":
        return v_statistic
    u_statistic = _mean_off_diagonal(within_x) + _mean_off_diagonal(within_y) - across
    smaller = ops.minimum(row_count(x), row_count(y))
    return ops.where(smaller > 1.0, u_statistic, v_statistic)


def _squared_distances(a, b):
    """Return ||a_i - b_j||^2 of shape (M, N) without a tensor of shape (M, N, d)."""
    squares = ops.sum(ops.square(a), axis=1)[:, None] + ops.sum(ops.square(b), axis=1)
    return ops.maximum(squares - 2.0 * ops.matmul(a, ops.transpose(b)), 0.0)


def _mean_off_diagonal(matrix):
    count = row_count(matrix)
    total = ops.sum(matrix) - ops.sum(ops.diagonal(matrix))
    return total / ops.maximum(count * (count - 1.0), 1.0)
