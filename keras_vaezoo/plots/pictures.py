"""What models make: reconstructions, samples, and both in one overview."""

import numpy as np

from keras_vaezoo.plots._arrays import check_count, first, to_numpy
from keras_vaezoo.plots._grid import Grid, rows_of

_GAP = 0.2  # between blocks of rows, in heights of a cell


def _rebuild(model, originals):
    """Return the model's reconstructions, in the shape of the originals."""
    rebuilt = to_numpy(model.reconstruct(originals))
    if rebuilt.shape != originals.shape:
        raise ValueError(
            "A reconstruction must have the shape of its original. Received: originals of shape "
            f"{originals.shape} and reconstructions of shape {rebuilt.shape}"
        )
    return rebuilt


def _add_pairs(grid, originals, rebuilt):
    """Put originals above their reconstructions, blocks of two rows; return the next free row."""
    block = 2 + _GAP
    above = rows_of(len(originals), grid.look.columns, step=block)
    below = above + [1.0, 0.0]
    grid.add(originals, above)
    grid.add(rebuilt, below)
    grid.add(originals, below, faint=True)
    for row in np.unique(above[:, 0]):
        grid.row_labels[row] = "original"
        grid.row_labels[row + 1] = "reconstruction"
    return above[-1, 0] + block


def reconstructions(model, images, n=10, *, shape=None, value_range=None):
    """Draw originals and, below each, its reconstruction from the posterior mean.

    Signals and tables show the original once more behind the reconstruction, so that a shift or
    a lost amplitude is seen.

    Args:
        model: Anything with ``reconstruct(x)``.
        images: Examples, (examples, ...); the first `n` are drawn.
        n: Number of examples; all of them if there are fewer. Ten images or five
            signals stand in a row.
        shape: Shape to draw an example in, such as ``(28, 28, 1)`` for flattened images.
        value_range: (low, high) of the shades or heights; by default that of the data.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If there are no images, or if a reconstruction has another shape.

    Example:

        figure = keras_vaezoo.plots.reconstructions(model, images, n=10)
        figure.savefig("reconstructions.png")
    """
    originals = first(images, n)
    rebuilt = _rebuild(model, originals)
    grid = Grid([originals, rebuilt], shape, value_range)
    _add_pairs(grid, originals, rebuilt)
    return grid.figure("Reconstructions", grid.look.reference)


def samples(model, n=50, seed=0, *, shape=None, value_range=None):
    """Draw decoded draws from the prior N(0, I).

    Args:
        model: Anything with ``sample(n, seed)``.
        n: Number of samples.
        seed: Whole number that fixes the draws.
        shape: Shape to draw an example in, such as ``(28, 28, 1)`` for flattened images.
        value_range: (low, high) of the shades or heights; by default that of the samples.

    Returns:
        A ``matplotlib.figure.Figure``.

    Example:

        keras_vaezoo.plots.samples(model, n=50, seed=1).savefig("samples.png")
    """
    check_count("n", n)
    drawn = to_numpy(model.sample(n, seed))
    grid = Grid([drawn], shape, value_range)
    grid.add(drawn, rows_of(len(drawn), grid.look.columns))
    return grid.figure("Samples from the prior")


def overview(model, images, n=10, seed=0, *, shape=None, value_range=None):
    """Draw originals, their reconstructions and as many samples from the prior.

    Args:
        model: Anything with ``reconstruct(x)`` and ``sample(n, seed)``.
        images: Examples, (examples, ...); the first `n` are drawn.
        n: Number of examples and of samples; fewer examples if there are fewer.
        seed: Whole number that fixes the samples.
        shape: Shape to draw an example in, such as ``(28, 28, 1)`` for flattened images.
        value_range: (low, high) of the shades or heights; by default that of the data.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If there are no images, or if a reconstruction has another shape.

    Example:

        keras_vaezoo.plots.overview(model, images).savefig("overview.png")
    """
    originals = first(images, n)
    rebuilt = _rebuild(model, originals)
    drawn = to_numpy(model.sample(n, seed))
    grid = Grid([originals, rebuilt, drawn], shape, value_range)
    next_row = _add_pairs(grid, originals, rebuilt)
    places = rows_of(n, grid.look.columns, first_row=next_row)
    grid.add(drawn, places)
    for row in np.unique(places[:, 0]):
        grid.row_labels[row] = "sample"
    return grid.figure("Reconstructions and samples", grid.look.reference)


def overview_comparison(models, images, n=10, seed=0, *, shape=None, value_range=None):
    """Draw what several models make of the same examples and of the same draws from the prior.

    A row of originals, a row of reconstructions for each model, a row of samples for each model;
    all have the same range of values.

    Args:
        models: {name: model}, anything with ``reconstruct(x)`` and ``sample(n, seed)``.
        images: Examples, (examples, ...); the first `n` are drawn.
        n: Number of examples and of samples, all in one row.
        seed: Whole number that fixes the samples.
        shape: Shape to draw an example in, such as ``(28, 28, 1)`` for flattened images.
        value_range: (low, high) of the shades or heights; by default that of the data.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If there are no models or images, or if a reconstruction has another shape.

    Reference:
        Ezukwoke et al., GCVAE: Generalized-Controllable Variational AutoEncoder, Figs. 2 and 3.

    Example:

        models = {"VAE": vae, "beta-VAE": beta_vae}
        keras_vaezoo.plots.overview_comparison(models, images).savefig("comparison.png")
    """
    if not models or not hasattr(models, "items"):
        raise ValueError(f"Give at least one model by name, {{name: model}}. Received: {models!r}")
    originals = first(images, n)
    rebuilt = {name: _rebuild(model, originals) for name, model in models.items()}
    drawn = {f"{name}, samples": to_numpy(m.sample(n, seed)) for name, m in models.items()}
    grid = Grid([originals, *rebuilt.values(), *drawn.values()], shape, value_range)
    row = 0.0
    for block in ({"original": originals}, rebuilt, drawn):
        for name, examples in block.items():
            places = [(row, column) for column in range(len(examples))]
            grid.add(examples, places)
            if block is rebuilt:
                grid.add(originals, places, faint=True)
            grid.row_labels[row] = name
            row += 1.0
        row += _GAP
    return grid.figure("Reconstructions and samples", grid.look.reference)
