"""Logarithms of the overlaps between every pair of posteriors of a batch, in bounded memory."""

import math

from keras import ops

ROWS_IN_BLOCK = 64
LARGEST_DIRECT_SIZE = 2**22


def log_overlap_sums(mean, log_variance):
    """Return log SUM_j exp(l_ij) for each i, without the constant -d/2 log 2 pi in l_ij.

    Args:
        mean: float32 tensor of shape `(M, d)`.
        log_variance: float32 tensor of shape `(M, d)`.

    Returns:
        Tensor of shape `(M,)`.
    """
    largest_count = math.isqrt(LARGEST_DIRECT_SIZE // mean.shape[1])
    if isinstance(mean.shape[0], int):
        form = direct_sums if mean.shape[0] <= largest_count else blocked_sums
        return form(mean, log_variance)
    return ops.cond(
        ops.shape(mean)[0] <= largest_count,
        lambda: direct_sums(mean, log_variance),
        lambda: blocked_sums(mean, log_variance),
    )


def direct_sums(mean, log_variance):
    """Compute the sums from one tensor of shape (M, M, d)."""
    variance = ops.exp(log_variance)
    difference, total = _pairs(mean, variance, mean, variance)
    return ops.logsumexp(_log_overlaps(difference, total), axis=1)


@ops.custom_gradient
def blocked_sums(mean, log_variance):
    """Compute the sums from tensors of shape (64, M, d), anew for the gradient.

    Automatic differentiation would keep every block. By the symmetry of l the gradient needs no
    more than the sums: with t = v_i + v_j, D = mean_i - mean_j and
    A_ij = w_i exp(l_ij - s_i) + w_j exp(l_ij - s_j), w the upstream gradient and s the sums,

        d/d mean_i         = - SUM_j A_ij D / t
        d/d log_variance_i = - v_i / 2 SUM_j A_ij (1 - D^2 / t) / t
    """
    variance = ops.exp(log_variance)
    count = ops.shape(mean)[0]

    def sums_of_block(rows):
        difference, total = _pairs(
            ops.take(mean, rows, axis=0), ops.take(variance, rows, axis=0), mean, variance
        )
        return ops.logsumexp(_log_overlaps(difference, total), axis=1)

    sums = _over_row_blocks(sums_of_block, count, ())

    def gradient(*inputs, upstream=None):
        upstream = inputs[-1] if upstream is None else upstream

        def gradients_of_block(rows):
            block_variance = ops.take(variance, rows, axis=0)
            difference, total = _pairs(ops.take(mean, rows, axis=0), block_variance, mean, variance)
            overlaps = _log_overlaps(difference, total)
            row_sums = ops.take(sums, rows, axis=0)[:, None]
            weights = ops.take(upstream, rows, axis=0)[:, None] * ops.exp(
                overlaps - row_sums
            ) + upstream * ops.exp(overlaps - sums)
            scaled = difference / total
            to_mean = -ops.einsum("ij,ijk->ik", weights, scaled)
            to_variance = -0.5 * ops.einsum(
                "ij,ijk->ik", weights, (1.0 - difference * scaled) / total
            )
            return ops.stack([to_mean, block_variance * to_variance], axis=1)

        gradients = _over_row_blocks(gradients_of_block, count, (2, mean.shape[1]))
        return gradients[:, 0], gradients[:, 1]

    return sums, gradient


def _pairs(row_mean, row_variance, mean, variance):
    """Differences of means and sums of variances between rows and all, shape (rows, M, d)."""
    return row_mean[:, None] - mean, row_variance[:, None] + variance


def _log_overlaps(difference, total):
    return -0.5 * ops.sum(ops.log(total) + ops.square(difference) / total, axis=-1)


def _over_row_blocks(function, count, row_shape):
    """Apply a function of 64 row numbers block by block and join its rows of `row_shape`."""
    blocks = (count + ROWS_IN_BLOCK - 1) // ROWS_IN_BLOCK
    origin = (0,) * len(row_shape)

    def add_block(block, joined):
        # Nothing exceeds infinity: this zero makes each block wait for the one before it, where
        # TensorFlow would run ten at a time and hold the memory of ten.
        zero = ops.cast(joined[0, *origin] > math.inf, "int32")
        start = block * ROWS_IN_BLOCK + zero
        # The last block repeats the last row, so that every block has one static shape.
        rows = ops.minimum(start + ops.arange(ROWS_IN_BLOCK), count - 1)
        return ops.slice_update(joined, (block * ROWS_IN_BLOCK, *origin), function(rows))

    joined = ops.zeros((blocks * ROWS_IN_BLOCK, *row_shape), dtype="float32")
    return ops.fori_loop(0, blocks, add_block, joined)[:count]
