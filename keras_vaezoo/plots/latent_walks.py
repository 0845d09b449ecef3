"""Decoded walks through the latent space: one dimension at a time, or a plane."""

from statistics import NormalDist

import numpy as np

from keras_vaezoo.plots._arrays import (
    check_count,
    check_dimensions,
    choose_pair,
    encode,
    first,
    kl_by_dimension,
    to_numpy,
)
from keras_vaezoo.plots._figure import nats, number
from keras_vaezoo.plots._grid import Grid, rows_of


def _aggregate(codes):
    """Return mean and standard deviation, (d,) each, of the aggregate posterior."""
    if len(codes.mean) == 1:
        return np.zeros(codes.mean.shape[1]), np.ones(codes.mean.shape[1])
    variance = codes.mean.var(axis=0) + np.exp(codes.log_variance).mean(axis=0)
    return codes.mean.mean(axis=0), np.sqrt(variance)


def traversals(
    model,
    images,
    dimensions=None,
    steps=9,
    limit=2.0,
    *,
    base=0,
    n=10,
    shape=None,
    value_range=None,
):
    """Draw what changes when one latent dimension moves and the others stay.

    Row k decodes the code of one image with z[k] replaced by m_k + t s_k for t from -limit to
    limit, where m_k and s_k^2 = var_i(mu_ik) + mean_i(v_ik) are the moments of the aggregate
    posterior of `images`: the walk stays where the decoder has been trained. Rows are ordered by
    information, the mean of KL(q(z_k|x) || N(0, 1)) over `images`, most informative first.

    Args:
        model: Anything with ``encode(x)`` and ``decode(z)``.
        images: Examples, (examples, ...). All of them give range and order, so pass some hundreds.
            With a single one the range is the prior's, -limit to limit.
        dimensions: Latent dimensions to show, in this order. None: the `n` most informative.
        steps: Number of columns.
        limit: Half width of the range in standard deviations of the aggregate posterior.
        base: Index of the image whose code is changed.
        n: Most rows drawn when `dimensions` is None.
        shape: Shape to draw an example in, such as ``(28, 28, 1)`` for flattened images.
        value_range: (low, high) of the shades or heights; by default that of the data.

    Returns:
        A ``matplotlib.figure.Figure``. The framed cell of a row lies nearest to the image's code.

    Raises:
        ValueError: If there are no images, if `base` is none of them, if `limit` is not positive,
            or if `dimensions` names a dimension that the model lacks.

    Example:

        keras_vaezoo.plots.traversals(model, images[:500]).savefig("traversals.png")
    """
    check_count("steps", steps, minimum=2)
    check_count("n", n)
    if not (np.isfinite(limit) and limit > 0):
        raise ValueError(f"`limit` must be above 0 standard deviations. Received: limit={limit!r}")
    if not 0 <= base < len(images):
        raise ValueError(
            "`base` must be the index of one of the images. Received: "
            f"base={base!r} and {len(images)} images"
        )
    images = first(images, None)
    codes = encode(model, images)
    latent_dim = codes.mean.shape[1]
    information = kl_by_dimension(codes)
    if dimensions is None:
        # Deterministic codes have infinite information each: their spread then decides.
        order = np.lexsort((-codes.mean.var(axis=0), -information))
        chosen = [int(k) for k in order[:n]]
        title = "Traversals by information"
    else:
        chosen = check_dimensions(latent_dim, dimensions)
        title = "Traversals"

    centre, spread = _aggregate(codes)
    offsets = np.linspace(-limit, limit, steps)
    z = np.tile(codes.mean[base], (len(chosen), steps, 1))
    for row, k in enumerate(chosen):
        z[row, :, k] = centre[k] + spread[k] * offsets
    decoded = to_numpy(model.decode(z.reshape(-1, latent_dim).astype(np.float32)))

    grid = Grid([images, decoded], shape, value_range)
    grid.add(decoded, rows_of(len(decoded), steps))
    for row, k in enumerate(chosen):
        grid.row_labels[row] = f"z[{k}]  {nats(information[k])}"
        grid.mark([(row, np.abs(z[row, :, k] - codes.mean[base, k]).argmin())])
    labelled = range(steps) if steps <= 12 else sorted({0, steps // 2, steps - 1})
    grid.column_labels = {column: f"{number(offsets[column])} sd" for column in labelled}
    if len(chosen) < latent_dim:
        title += f" ({len(chosen)} of {latent_dim} dimensions)"
    return grid.figure(title, "Frame: nearest to the example's code; nats: mean KL")


def manifold(model, n=20, *, dimensions=None, shape=None, value_range=None):
    """Draw the decoded plane of two latent dimensions on a grid of prior quantiles.

    Cell (i, j) decodes z = (Phi^-1((j + 1/2) / n), Phi^-1((i + 1/2) / n)), Phi the standard normal
    distribution function: each cell stands for the same share of the prior N(0, I).

    Args:
        model: Anything with ``decode(z)`` and ``latent_dim``.
        n: Cells on each side.
        dimensions: The two latent dimensions (across, upwards) of a model with more than 2; the
            others are 0, the prior's mean.
        shape: Shape to draw an example in, such as ``(28, 28, 1)`` for flattened images.
        value_range: (low, high) of the shades or heights; by default that of the pictures.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If the model has not 2 latent dimensions and `dimensions` does not pick 2.

    Example:

        keras_vaezoo.plots.manifold(model, n=20).savefig("manifold.png")
    """
    check_count("n", n)
    across, upwards = choose_pair(model.latent_dim, dimensions)
    quantiles = np.array([NormalDist().inv_cdf((i + 0.5) / n) for i in range(n)])
    z = np.zeros((n, n, model.latent_dim), np.float32)
    z[..., across] = quantiles
    z[..., upwards] = quantiles[::-1, None]
    decoded = to_numpy(model.decode(z.reshape(n * n, -1)))
    grid = Grid([decoded], shape, value_range)
    grid.add(decoded, rows_of(n * n, n))
    middle = {n // 2} if n % 2 else set()  # of an even number none is at 0
    for k in sorted({0, n // 4, n - 1 - n // 4, n - 1} | middle):
        grid.column_labels[k] = number(round(quantiles[k], 2))
        grid.row_labels[n - 1 - k] = number(round(quantiles[k], 2))
    return grid.figure(
        "Decoded plane of prior quantiles", x_label=f"z[{across}]", y_label=f"z[{upwards}]"
    )
