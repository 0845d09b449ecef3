"""Posteriors in two latent dimensions as ellipses of one and two standard deviations."""

import numpy as np

from keras_vaezoo.plots._arrays import check_codes, check_count, choose_pair, encode, to_numpy
from keras_vaezoo.plots._figure import CATEGORIES, GREY, MARKERS, panels

PRIOR_REACH = 2.1  # the prior's circle of 2 standard deviations is always in sight


def embedding(model, images, labels=None, *, dimensions=None, ellipses=64):
    """Draw the posteriors of images in two latent dimensions, coloured by label.

    An ellipse is the contour of q(z|x) = N(mu, diag v) at 1 and at 2 standard deviations: half
    axes sqrt(v) and 2 sqrt(v) around mu. See :func:`embedding_comparison` for several models.

    Args:
        model: Anything with ``encode(x)``.
        images: Examples, (examples, ...).
        labels: (examples,) labels or values of one factor, numbers or strings, or None. Up to ten
            different ones have a colour and a marker each; more have a colour bar.
        dimensions: The two latent dimensions (across, upwards) of a model with more than 2.
        ellipses: Number of examples, evenly spaced, whose ellipses are drawn; of all the mean.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If there are no images, if the labels are not one an image, or if the model has
            not 2 latent dimensions and `dimensions` does not pick 2.

    Reference:
        Lin et al., WiSE-ALE: Wide Sample Estimator for Approximate Latent Embedding, Fig. 1.

    Example:

        keras_vaezoo.plots.embedding(model, images[:64], labels[:64]).savefig("embedding.png")
    """
    return embedding_comparison(
        {"Posteriors": encode(model, images)}, labels, dimensions=dimensions, ellipses=ellipses
    )


def embedding_comparison(codes, labels=None, *, dimensions=None, ellipses=64, columns=4):
    """Draw the posteriors of the same images under several models, one panel a model.

    All panels have the same axes, so that sizes and distances compare. The dashed circles are the
    prior N(0, I) at 1 and 2 standard deviations. A deterministic code (log-variance -inf) is a
    point.

    Args:
        codes: {name: (mean, log_variance)}, each (examples, latent dimensions), as
            ``model.encode(images)`` returns them.
        labels: (examples,) labels or values of one factor, numbers or strings, or None.
        dimensions: The two latent dimensions (across, upwards) of models with more than 2.
        ellipses: Number of examples, evenly spaced, whose ellipses are drawn; of all the mean.
        columns: Most panels in a row.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If there are no models, if codes are malformed, not finite or not of the same
            number of examples, if the labels are not one an example, or if a model has not 2
            latent dimensions and `dimensions` does not pick 2.

    Reference:
        Lin et al., WiSE-ALE: Wide Sample Estimator for Approximate Latent Embedding, Fig. 1.

    Example:

        codes = {"AEVB": vae.encode(images), "WiSE-ALE": wise_ale.encode(images)}
        keras_vaezoo.plots.embedding_comparison(codes, labels).savefig("embeddings.png")
    """
    check_count("ellipses", ellipses, minimum=0)
    check_count("columns", columns)
    if not codes:
        raise ValueError(f"Give at least one model's codes by name. Received: codes={codes!r}")
    codes = {name: check_codes(*parts, name=repr(name)) for name, parts in codes.items()}
    sizes = {name: len(parts.mean) for name, parts in codes.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(
            f"All models must have encoded the same examples. Received: numbers of codes {sizes}"
        )
    pairs = {name: choose_pair(c.mean.shape[1], dimensions) for name, c in codes.items()}
    count = next(iter(sizes.values()))
    labels = _check_labels(labels, count)
    centres = {name: codes[name].mean[:, list(pairs[name])] for name in codes}
    spreads = {name: np.exp(codes[name].log_variance[:, list(pairs[name])] / 2) for name in codes}
    # Evenly spaced, as data may be sorted by label.
    drawn = np.unique(np.linspace(0, count - 1, min(ellipses, count)).astype(int))
    low, high = _limits(centres, spreads, drawn)

    colours, groups, add_key = _colouring(labels, count)
    width = 4.4 if len(codes) == 1 else 3.4
    height = width * float(np.clip((high[1] - low[1]) / (high[0] - low[0]), 0.4, 1.8))
    figure, all_axes = panels(
        len(codes), columns, width, height + 1.2, beside=1.2, sharex=True, sharey=True
    )
    for axes, name in zip(all_axes, codes, strict=True):
        _draw_ellipses(axes, centres[name][drawn], spreads[name][drawn], colours[drawn])
        _draw_means(axes, centres[name], colours, groups)
        _draw_prior(axes)
        axes.set(title=name, xlabel=f"z[{pairs[name][0]}]", ylabel=f"z[{pairs[name][1]}]")
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    for index, axes in enumerate(all_axes):
        axes.tick_params(labelbottom=index + columns >= len(all_axes))
        axes.set_xlabel(axes.get_xlabel() if index + columns >= len(all_axes) else "")
        axes.set_ylabel(axes.get_ylabel() if index % columns == 0 else "")
    add_key(figure, all_axes)
    figure.supxlabel(_caption(spreads, len(drawn)), fontsize="small", color=GREY)
    return figure


def _check_labels(labels, count):
    """Return labels as an array (count,), zeros in place of None."""
    if labels is None:
        return None
    labels = to_numpy(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (count,):
        raise ValueError(
            "`labels` must hold one label an example; of factors pass one column, `factors[:, 0]`. "
            f"Received: labels of shape {labels.shape} for {count} examples"
        )
    return labels


def _colouring(labels, count):
    """Return (a colour an example, [(members, marker)], the function that adds the key)."""
    from matplotlib.colors import to_rgb

    if labels is None:
        colours = np.tile(to_rgb(CATEGORIES[0]), (count, 1))
        return colours, [(np.arange(count), "o")], lambda figure, all_axes: None
    names, index = np.unique(labels, return_inverse=True)
    if len(names) > len(CATEGORIES):
        return _colour_bar(labels, names, index)
    palette = np.array([to_rgb(colour) for colour in CATEGORIES])
    markers = _markers(names, count)
    groups = [(np.flatnonzero(index == k), marker) for k, marker in enumerate(markers)]

    def add_key(figure, all_axes):
        from matplotlib.lines import Line2D

        handles = [
            Line2D(
                [],
                [],
                ls="",
                marker=MARKERS[0] if "$" in marker else marker,
                color=colour,
                label=str(name),
            )
            for name, marker, colour in zip(names, markers, palette, strict=False)
        ]
        figure.legend(handles=handles, loc="outside right center", frameon=False, title="label")

    return palette[index], groups, add_key


def _markers(names, count):
    """Return a marker a label: the label itself where it is short and the examples are few."""
    texts = [str(name) for name in names]
    if count <= 100 and all(len(t) <= 2 and t.isascii() and t.isalnum() for t in texts):
        return [rf"$\mathbf{{{text}}}$" for text in texts]
    return list(MARKERS[: len(texts)])


def _colour_bar(labels, names, index):
    """Return the colouring of more than ten labels: by value, with a bar as the key."""
    from matplotlib import cm, colors

    numeric = np.issubdtype(labels.dtype, np.number)
    values = labels.astype(np.float64) if numeric else index.astype(np.float64)
    scale = cm.ScalarMappable(colors.Normalize(np.nanmin(values), np.nanmax(values)), "viridis")

    def add_key(figure, all_axes):
        bar = figure.colorbar(scale, ax=all_axes, label="label", fraction=0.05)
        if not numeric:
            shown = np.unique(np.linspace(0, len(names) - 1, 12).astype(int))
            bar.set_ticks(shown, labels=[str(names[k]) for k in shown])

    return scale.to_rgba(values)[:, :3], [(np.arange(len(labels)), "o")], add_key


def _draw_prior(axes):
    from matplotlib.patches import Circle

    for radius in (1.0, 2.0):
        axes.add_patch(Circle((0, 0), radius, fill=False, ls="--", lw=0.8, ec=GREY, zorder=4))


def _draw_ellipses(axes, centres, spreads, colours):
    """Draw each posterior at 2 and at 1 standard deviations."""
    from matplotlib.collections import EllipseCollection

    wide = (spreads > 0).any(axis=1)
    for deviations, alpha in ((2.0, 0.08), (1.0, 0.2)):
        sizes = 2 * deviations * spreads[wide]
        axes.add_collection(
            EllipseCollection(
                *sizes.T,
                np.zeros(len(sizes)),
                units="xy",
                offsets=centres[wide],
                offset_transform=axes.transData,
                facecolors=[(*colour, alpha) for colour in colours[wide]],
                edgecolors=[(*colour, 0.7) for colour in colours[wide]],
                linewidths=0.5,
                zorder=2,
            ),
            autolim=False,
        )


def _draw_means(axes, centres, colours, groups):
    """Draw the means, a marker a group."""
    few = len(centres) <= 200
    for members, marker in groups:
        axes.scatter(
            *centres[members].T,
            s=24 if few else 6,
            c=0.6 * colours[members] if few else colours[members],
            marker=marker,
            lw=0,
            zorder=3,
        )


def _limits(centres, spreads, drawn):
    """Return (low, high), two numbers each, that hold every drawn ellipse and the prior."""
    low, high = np.full(2, -PRIOR_REACH), np.full(2, PRIOR_REACH)
    for name in centres:
        reach = np.zeros_like(spreads[name])
        reach[drawn] = 2.1 * spreads[name][drawn]
        low = np.minimum(low, (centres[name] - reach).min(axis=0))
        high = np.maximum(high, (centres[name] + reach).max(axis=0))
    edge = 0.03 * (high - low)
    return low - edge, high + edge


def _caption(spreads, ellipses):
    count = len(next(iter(spreads.values())))
    lines = ["Ellipses: posteriors at 1 and 2 sd; dashed: prior at 1 and 2 sd"]
    if ellipses < count:
        lines.append(f"{count} means, ellipses of {ellipses} of them")
    if any((spread == 0).all() for spread in spreads.values()):
        lines.append("Codes without ellipses are deterministic")
    return "\n".join(lines)
