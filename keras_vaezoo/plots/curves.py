"""Curves over a training: every logged quantity, and the controllers."""

import numpy as np

from keras_vaezoo.plots._figure import BLUE, GREEN, GREY, VERMILION, number, panels
from keras_vaezoo.plots._log import (
    CONTROLLER_SUFFIXES,
    controlled_coefficients,
    controller_key,
    read_log,
)

IN_NATS = {
    *("loss", "elbo", "reconstruction", "kl", "aggregate_kl", "total_correlation"),
    "regularization",
}


def history(history, terms=None):
    """Draw the training curves, one panel a term, training and validation together.

    Args:
        history: What ``model.fit`` returns, its dict ``.history``, or the path of a file of
            ``keras.callbacks.CSVLogger``.
        terms: Names of the panels, such as ``["loss", "kl"]``. None: all but the controllers',
            which :func:`controllers` draws.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If the history is empty, or if it lacks a term.

    Example:

        fitted = model.fit(images, validation_split=0.1, epochs=10)
        keras_vaezoo.plots.history(fitted).savefig("history.png")
    """
    epochs, series = read_log(history)
    logged = list(dict.fromkeys(name.removeprefix("val_") for name in series))
    if terms is None:
        controlled = controlled_coefficients(series)
        parts = {controller_key(c, part) for c in controlled for part in CONTROLLER_SUFFIXES}
        terms = [name for name in logged if name not in parts]
    missing = [name for name in terms if name not in logged]
    if missing or not terms:
        raise ValueError(
            f"`terms` must name series of the history. Received: terms={terms!r}; "
            f"the history has {logged}"
        )
    figure, all_axes = panels(len(terms), 3, 3.6, 2.6, sharex=True)
    validated = [f"val_{name}" in series for name in terms]
    for axes, name in zip(all_axes, terms, strict=True):
        for key, label, style in (
            (name, "training", dict(color=BLUE)),
            (f"val_{name}", "validation", dict(color=VERMILION, ls="--")),
        ):
            if key in series:
                _draw_curve(axes, epochs, series[key], label=label, **style)
        axes.set_title(name)
        axes.set_ylabel("nats" if name in IN_NATS else "")
    _finish(figure, all_axes, 3)
    if any(validated):
        handles, labels = all_axes[validated.index(True)].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def controllers(history):
    """Draw every controller of a training: its target, what it measured, what it did.

    One row a controller. Left: the measured term and its set point; right: the coefficient that
    the controller moved.

    Args:
        history: What ``model.fit`` returns, its dict ``.history``, or the path of a file of
            ``keras.callbacks.CSVLogger``.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If the history is empty, or if no controller left its values in it.

    Example:

        model = keras_vaezoo.ControlVAE(encoder, decoder, set_point=18.0)
        model.compile("adam")
        keras_vaezoo.plots.controllers(model.fit(images, epochs=10)).savefig("controllers.png")
    """
    epochs, series = read_log(history)
    controlled = controlled_coefficients(series)
    parts = ("set_point", "measured", "value")
    missing = [
        key for c in controlled for part in parts if (key := controller_key(c, part)) not in series
    ]
    if not controlled or missing:
        raise ValueError(
            "A controller on a coefficient c leaves c_set_point, c_measured and c_value in the "
            "history; train with a controller (ControlVAE, GCVAE, callbacks.PIDController). "
            f"Received: a history of {list(series)}" + (f" without {missing}" if missing else "")
        )
    figure, all_axes = panels(2 * len(controlled), 2, 4.6, 2.4, sharex=True)
    for row, name in enumerate(controlled):
        left, right = all_axes[2 * row : 2 * row + 2]
        set_point, measured, value = (series[controller_key(name, part)] for part in parts)
        _draw_curve(left, epochs, measured, label="measured", color=BLUE)
        _draw_curve(left, epochs, set_point, label="set point", color=VERMILION, ls="--")
        _draw_curve(right, epochs, value, label="coefficient", color=GREEN)
        left.set_title(f"{name}: {number(measured[-1])}, set point {number(set_point[-1])}")
        left.set_ylabel("measured term")
        right.set_title(f"coefficient {name}: {number(value[-1])}")
        right.set_ylabel("coefficient")
    _finish(figure, all_axes, 2)
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _draw_curve(axes, epochs, values, **style):
    """Draw one curve, points if it is short, and say where it stops being finite."""
    finite = np.isfinite(values)
    marker = "o" if len(epochs) <= 20 else None
    axes.plot(epochs, np.where(finite, values, np.nan), marker=marker, ms=3, **style)
    if not finite.all():
        axes.text(
            0.03,
            0.06,
            f"not finite at epoch {epochs[~finite][0]:.0f}",
            transform=axes.transAxes,
            color=VERMILION,
            fontsize="small",
        )


def _finish(figure, all_axes, columns):
    """Label the epochs under the last panel of every column and clear the frames."""
    from matplotlib.ticker import MaxNLocator

    for index, axes in enumerate(all_axes):
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", color=GREY, alpha=0.2)
        last = index + columns >= len(all_axes)
        axes.tick_params(labelbottom=last)
        axes.set_xlabel("epoch" if last else "")
