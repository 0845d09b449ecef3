"""The squared maximum mean discrepancy in float64, pair by pair, as an oracle."""

import numpy as np


def gaussian(squared, dimensions):
    """Zhao et al.: one kernel of width d."""
    return np.exp(-squared / dimensions**2)


def inverse_multiquadratic(squared, dimensions):
    """Tolstikhin et al.: seven kernels."""
    scales = 2 * dimensions * np.array([0.1, 0.2, 0.5, 1, 2, 5, 10])
    return sum(scale / (scale + squared) for scale in scales)


def mmd(x, y, kernel, unbiased):
    """MMD^2 of two samples of equal size by double loops."""
    count, dimensions = x.shape

    def mean(a, b, leave_out_diagonal):
        values = [
            kernel(np.sum((a[i] - b[j]) ** 2), dimensions)
            for i in range(count)
            for j in range(count)
            if i != j or not leave_out_diagonal
        ]
        return np.mean(values)

    return mean(x, x, unbiased) + mean(y, y, unbiased) - 2 * mean(x, y, False)
