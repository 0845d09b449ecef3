"""Full grids of factors: every combination once, the last factor fastest."""

import numpy as np

from keras_vaezoo.datasets.lazy_images import choose_rows


def factor_grid(sizes):
    """Every combination of factors, `(prod(sizes), k)` int32, the last factor fastest."""
    count = int(np.prod(sizes))
    grid = np.empty((count, len(sizes)), np.int32)
    for column, values in enumerate(np.unravel_index(np.arange(count), sizes)):
        grid[:, column] = values
    return grid


def grid_rows(factors, sizes):
    """Row numbers in the full grid of combinations of factors `(n, k)`.

    Raises:
        ValueError: If a factor is out of its range, or there are not k of them.
    """
    factors = np.asarray(factors)
    if factors.ndim != 2 or factors.shape[1] != len(sizes) or factors.dtype.kind not in "iu":
        raise ValueError(
            f"The factors must be whole numbers of shape (n, {len(sizes)}). "
            f"Received: dtype {factors.dtype}, shape {factors.shape}"
        )
    if (factors < 0).any() or (factors >= np.asarray(sizes)).any():
        raise ValueError(
            f"The factors must lie between 0 and {[size - 1 for size in sizes]}. "
            f"Received: {factors.min(axis=0).tolist()} to {factors.max(axis=0).tolist()}"
        )
    return np.ravel_multi_index(tuple(factors.T), sizes)


def in_grid_order(images, factors, sizes):
    """Sorts examples into the order of the grid.

    Args:
        images: Array or lazy images.
        factors: Whole numbers `(n, k)`.
        sizes: Number of values of each factor.

    Returns:
        `(images, factors, is_grid)`; `is_grid` says whether every combination is there.

    Raises:
        ValueError: If a factor lies outside its size.
    """
    factors = np.asarray(factors, np.int32)
    places = grid_rows(factors, sizes)
    if (np.diff(places) < 0).any():
        order = np.argsort(places, kind="stable")
        images, factors, places = choose_rows(images, order), factors[order], places[order]
    total = int(np.prod(sizes))
    return images, factors, len(places) == total and bool((places == np.arange(total)).all())
