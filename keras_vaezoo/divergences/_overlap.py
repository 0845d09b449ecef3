"""Logarithms of the overlaps between every pair of posteriors of a batch, in bounded memory."""

import math

from keras import ops

ROWS_IN_BLOCK = 64
LARGEST_DIRECT_SIZE = 2**22


@ops.custom_gradient
def log_overlap_sums(mean, log_variance):
    """Return s_i = log SUM_j exp(l_ij) for each i, without the constant -d/2 log 2 pi in l_ij.

    Up to M^2 d = `LARGEST_DIRECT_SIZE` all rows are computed at once, above in blocks of
    `ROWS_IN_BLOCK`, and anew for the gradient: automatic differentiation would keep every block.
    By the symmetry of l the gradient needs no more than the sums. With t = v_i + v_j,
    D = mean_i - mean_j and A_ij = w_i exp(l_ij - s_i) + w_j exp(l_ij - s_j), w the upstream
    gradient,

        d/d mean_i         = - SUM_j A_ij D / t
        d/d log_variance_i = - v_i / 2 SUM_j A_ij (1 - D^2 / t) / t

    Args:
        mean: float32 tensor of shape `(M, d)`.
        log_variance: float32 tensor of shape `(M, d)`.

    Returns:
        Tensor of shape `(M,)`.
    """
    variance = ops.exp(log_variance)

    def pairs(rows):
        """Differences of means and sums of variances, of shape (rows, M, d), and overlaps."""
        difference = ops.take(mean, rows, axis=0)[:, None] - mean
        total = ops.take(variance, rows, axis=0)[:, None] + variance
        overlaps = -0.5 * ops.sum(ops.log(total) + ops.square(difference) / total, axis=-1)
        return difference, total, overlaps

    def sums_of(rows):
        return ops.logsumexp(pairs(rows)[2], axis=1)

    sums = _by_rows(sums_of, mean, ())

    def gradient(*inputs, upstream=None):
        upstream = inputs[-1] if upstream is None else upstream

        def gradients_of(rows):
            difference, total, overlaps = pairs(rows)
            row_upstream = ops.take(upstream, rows, axis=0)[:, None]
            row_sums = ops.take(sums, rows, axis=0)[:, None]
            weights = row_upstream * ops.exp(overlaps - row_sums)
            weights += upstream * ops.exp(overlaps - sums)
            scaled = difference / total
            to_mean = -ops.einsum("ij,ijk->ik", weights, scaled)
            to_variance = -0.5 * ops.einsum(
                "ij,ijk->ik", weights, (1.0 - difference * scaled) / total
            )
            return ops.stack([to_mean, ops.take(variance, rows, axis=0) * to_variance], axis=1)

        gradients = _by_rows(gradients_of, mean, (2, mean.shape[1]))
        return gradients[:, 0], gradients[:, 1]

    return sums, gradient


def _by_rows(function, mean, row_shape):
    """Apply a function of row numbers to all rows, at once or in blocks by the size of `mean`."""
    largest_count = math.isqrt(LARGEST_DIRECT_SIZE // mean.shape[1])
    count = ops.shape(mean)[0]

    def at_once():
        return function(ops.arange(count))

    def in_blocks():
        return _in_blocks(function, count, row_shape)

    if isinstance(count, int):
        return at_once() if count <= largest_count else in_blocks()
    return ops.cond(count <= largest_count, at_once, in_blocks)


def _in_blocks(function, count, row_shape):
    """Apply a function of 64 row numbers block by block and join its rows of `row_shape`."""
    blocks = (count + ROWS_IN_BLOCK - 1) // ROWS_IN_BLOCK
    origin = (0,) * len(row_shape)

    def add_block(block, joined):
        # Nothing exceeds infinity: this zero makes each block wait for the one before it, where
        # TensorFlow would run ten at a time and hold the memory of ten.
        zero = ops.cast(joined[0, *origin] > math.inf, "int32")
        # The last block repeats the last row, so that every block has one static shape.
        rows = ops.minimum(block * ROWS_IN_BLOCK + zero + ops.arange(ROWS_IN_BLOCK), count - 1)
        return ops.slice_update(joined, (block * ROWS_IN_BLOCK, *origin), function(rows))

    joined = ops.zeros((blocks * ROWS_IN_BLOCK, *row_shape), dtype="float32")
    return ops.fori_loop(0, blocks, add_block, joined)[:count]
