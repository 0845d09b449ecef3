"""Curves over a training: every logged quantity, and the controllers."""

from textwrap import fill

import numpy as np

from keras_vaezoo.plots._figure import BLUE, GREEN, GREY, VERMILION, number, panels
from keras_vaezoo.plots._log import (
    controlled_coefficients,
    controller_parts,
    read_controller,
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
        terms: Names of the panels, such as ``["loss", "kl"]``. None: all that change; constant
            ones stand below in words, and :func:`controllers` draws the controllers.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If the history is empty, or if it lacks a term.

    Example:

        fitted = model.fit(images, validation_split=0.1, epochs=10)
        keras_vaezoo.plots.history(fitted).savefig("history.png")
    """
    curves = read_log(history)
    names = dict.fromkeys(name.removeprefix("val_") for name in curves)
    logged = sorted(names, key=lambda name: name != "loss")
    constant = []
    if terms is None:
        terms, constant = _moving(curves, logged)
    missing = [name for name in terms if name not in logged]
    if missing or not terms:
        raise ValueError(
            f"`terms` must name series of the history. Received: terms={terms!r}; "
            f"the history has {logged}"
        )
    figure, all_axes = panels(len(terms), 3, 3.6, 2.6, sharex=True)
    styles = {
        "": dict(label="training", color=BLUE),
        "val_": dict(label="validation", color=VERMILION, ls="--"),
    }
    for axes, name in zip(all_axes, terms, strict=True):
        drawn = {prefix: curves[prefix + name] for prefix in styles if prefix + name in curves}
        for prefix, curve in drawn.items():
            _draw_curve(axes, curve, **styles[prefix])
        axes.set_title(_title(name, drawn.values()))
        axes.set_ylabel("nats" if name in IN_NATS else "")
    _finish(all_axes, 3, [curve.epochs for curve in curves.values()])
    if any(name.startswith("val_") for name in curves):
        _legend(figure, all_axes)
    if constant:
        text = ", ".join(f"{name} {number(curves[name].values[0])}" for name in constant)
        figure.supxlabel(fill(f"Constant: {text}", 50 * min(len(terms), 3)), fontsize="small")
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
    curves = read_log(history)
    controlled = controlled_coefficients(curves)
    if not controlled:
        raise ValueError(
            "No controller left its set point in this history: train with one (ControlVAE, GCVAE "
            f"or callbacks.PIDController). Received: a history of {list(curves)}"
        )
    rows = [read_controller(curves, name) for name in controlled]
    figure, all_axes = panels(2 * len(controlled), 2, 4.6, 2.4, sharex=True)
    pairs = zip(all_axes[::2], all_axes[1::2], strict=True)
    for name, row, (left, right) in zip(controlled, rows, pairs, strict=True):
        set_point, measured, value = row
        _draw_curve(left, measured, label="measured", color=BLUE)
        _draw_curve(left, set_point, label="set point", color=VERMILION, ls="--")
        _draw_curve(right, value, color=GREEN)
        last = number(measured.values[-1]), number(set_point.values[-1])
        left.set_title(_title(f"{name}: {last[0]}, set point {last[1]}", [measured]))
        left.set_ylabel("measured term")
        right.set_title(_title(f"coefficient {name}: {number(value.values[-1])}", [value]))
        right.set_ylabel("coefficient")
    _finish(all_axes, 2, [curve.epochs for row in rows for curve in row])
    _legend(figure, all_axes)
    return figure


def _moving(curves, logged):
    """Return (names of what changes or is not finite, names of the constant rest).

    What controllers log is in neither. Without a second epoch only weights count as constant.
    """
    controlled = {
        name
        for coefficient in controlled_coefficients(curves)
        for name in controller_parts(coefficient).values()
    }
    moving, constant = [], []
    for name in logged:
        if name in controlled:
            continue
        series = [curves[key].values for key in (name, f"val_{name}") if key in curves]
        values = np.concatenate(series)
        can_tell = max(map(len, series)) > 1 or name.endswith("_weight")
        still = can_tell and name in curves and (values == values[0]).all()
        (constant if still else moving).append(name)
    return (moving, constant) if moving else (constant, [])


def _title(text, curves):
    """Return a panel's title; it says where a curve is first not finite."""
    broken = [epoch for curve in curves for epoch in curve.epochs[~np.isfinite(curve.values)]]
    return f"{text}: not finite at epoch {min(broken):.0f}" if broken else text


def _draw_curve(axes, curve, **style):
    """Draw the finite part of one curve, with points if it is short."""
    marker = "o" if len(curve.values) <= 20 else None
    values = np.where(np.isfinite(curve.values), curve.values, np.nan)
    axes.plot(curve.epochs, values, marker=marker, ms=3, **style)


def _legend(figure, all_axes):
    """Name the lines above all panels, once each."""
    named = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(named.values(), named.keys(), loc="outside upper center", ncols=2, frameon=False)


def _finish(all_axes, columns, epochs):
    """Label the epochs under the last panel of every column and clear the frames."""
    from matplotlib.ticker import MaxNLocator

    epochs = np.concatenate(epochs)
    edge = max(0.5, 0.02 * np.ptp(epochs))
    for index, axes in enumerate(all_axes):
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
        axes.set_xlim(epochs.min() - edge, epochs.max() + edge)
        axes.grid(axis="y", color=GREY, alpha=0.2)
        last = index + columns >= len(all_axes)
        axes.tick_params(labelbottom=last)
        axes.set_xlabel("epoch" if last else "")
