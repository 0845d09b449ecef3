"""What all figures share: construction, colours, numbers as text."""

import numpy as np

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
GREY, LIGHT_GREY = "#666666", "#BFBFBF"

# Paul Tol's "muted" scheme and a grey: distinct with any of the common colour-vision deficiencies.
CATEGORIES = (
    *("#332288", "#CC6677", "#117733", "#88CCEE", "#AA4499"),
    *("#DDCC77", "#44AA99", "#882255", "#999933", "#777777"),
)
MARKERS = "osD^vPX<>*"


def new_figure(width, height):
    """Return an empty Figure of that many inches that no pyplot state knows of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def panels(count, columns, width, height, beside=0.0, **options):
    """Return (figure, list of `count` axes): `columns` panels a row, each of that many inches.

    `beside` are inches more for what stands beside the panels.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = new_figure(columns * width + beside, rows * height)
    axes = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for spare in axes[count:]:
        spare.remove()
    return figure, list(axes[:count])


def number(value):
    """Return a number as short text with a true minus sign."""
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def nats(value):
    """Return an information as text: 2.10 nats."""
    return f"{value:.2f} nats" if np.isfinite(value) else "infinite"
