"""Triangular roots of covariance matrices, exact also for rank-deficient codes."""

from keras import ops

from keras_vaezoo.divergences._rows import row_count


def variance_of_rows(rows):
    """Return the variance of each column with divisor M."""
    return ops.mean(ops.square(rows - ops.mean(rows, axis=0)), axis=0)


def covariance_root(rows, added_variance):
    """Return the upper triangular R with a positive diagonal and R^T R = cov(rows) + diag(added).

    R comes from the QR decomposition of the centred rows above diag(sqrt(added)). The covariance
    matrix itself, whose condition number is the square of R's, is never formed: codes that fill
    fewer than d dimensions stay finite and accurate in float32.

    Args:
        rows: float32 tensor of shape `(M, d)`; the covariance has divisor M.
        added_variance: float32 tensor of shape `(d,)`, positive.

    Returns:
        Tensor of shape `(d, d)`.
    """
    centred = (rows - ops.mean(rows, axis=0)) / ops.sqrt(row_count(rows))
    return _triangular_root(ops.concatenate([centred, ops.diag(ops.sqrt(added_variance))]))


@ops.custom_gradient
def _triangular_root(stacked):
    """Return R of stacked = Q R.

    TensorFlow has no gradient of QR for a batch of unknown size. That of R alone is
    Q S R^-T, S the lower triangle of (R upstream^T) made symmetric.
    """
    width = stacked.shape[1]
    q, r = ops.qr(stacked, mode="reduced")
    r = ops.reshape(r, (width, width))  # TensorFlow loses the shape for an unknown batch.
    signs = ops.where(ops.diagonal(r) < 0.0, -1.0, 1.0)
    q, r = q * signs, r * signs[:, None]

    def gradient(*inputs, upstream=None):
        upstream = inputs[-1] if upstream is None else upstream
        product = ops.matmul(r, ops.transpose(upstream))
        symmetric = ops.tril(product) + ops.transpose(ops.tril(product, k=-1))
        return ops.transpose(ops.solve_triangular(r, ops.transpose(ops.matmul(q, symmetric))))

    return r, gradient
