"""The log of a training, from a Keras History, a dict or a file of CSVLogger."""

import collections
import csv
import os

import numpy as np

# What a controller on a coefficient c logs: c_set_point and so on; error = set point - measured.
CONTROLLER_PARTS = ("set_point", "measured", "error", "value")

Curve = collections.namedtuple("Curve", ["epochs", "values"])


def read_log(history):
    """Return {name: Curve} of a training, epochs counted from 1.

    A series shorter than the training (Keras's ``validation_freq=k``) belongs to every k-th epoch.

    Raises:
        ValueError: If nothing was logged.
    """
    if isinstance(history, (str, os.PathLike)):
        curves = _read_csv(history)
    else:
        curves = _read_dict(getattr(history, "history", history), getattr(history, "epoch", None))
    if not any(len(curve.values) for curve in curves.values()):
        raise ValueError(
            "The history is empty: was `fit` run for at least one epoch? "
            f"Received: {len(curves)} series without values from {history!r}"
        )
    return curves


def _read_dict(logs, epochs):
    if not isinstance(logs, dict):
        raise ValueError(
            "`history` must be what `model.fit` returns, its dict `.history`, or the path of a "
            f"CSVLogger file. Received: {type(logs).__name__}"
        )
    series = {name: np.asarray(values, np.float64) for name, values in logs.items()}
    length = max((len(values) for values in series.values()), default=0)
    epochs = series.pop("epoch", epochs)
    if epochs is None or len(epochs) != length:
        epochs = np.arange(length)
    epochs = np.asarray(epochs, np.float64) + 1
    return {name: Curve(_spread(epochs, len(v)), v) for name, v in series.items()}


def _spread(epochs, count):
    """Return the epochs of `count` values logged every k-th epoch."""
    every = len(epochs) // max(count, 1)
    return epochs[every - 1 :: every][:count] if count else epochs[:0]


def _read_csv(path):
    """Return {column: Curve} of a CSVLogger file, without what is no number ("NA")."""
    with open(path, newline="") as file:
        header = file.readline()
        file.seek(0)
        rows = list(csv.DictReader(file, delimiter=max(",;\t", key=header.count)))
    # A training that was started again has logged an epoch twice: the last counts.
    rows = list({row.get("epoch", index): row for index, row in enumerate(rows)}.values())
    curves = {}
    for name in rows[0] if rows else ():
        pairs = [
            (float(row.get("epoch", index)) + 1, float(row[name]))
            for index, row in enumerate(rows)
            if _is_number(row[name])
        ]
        if pairs and name != "epoch":
            curves[name] = Curve(*np.array(pairs).T)
    return curves


def _is_number(text):
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


def controlled_coefficients(curves):
    """Return the coefficients whose controller left its set point in the log."""
    suffix = "_set_point"
    return [name.removesuffix(suffix) for name in curves if name.endswith(suffix)]


def controller_parts(coefficient):
    """Return {part: name in the log} of the controller on a coefficient."""
    return {part: f"{coefficient}_{part}" for part in CONTROLLER_PARTS}


def read_controller(curves, coefficient):
    """Return the curves of the set point, the measured term and the coefficient's value.

    Raises:
        ValueError: If the log lacks one of them.
    """
    names = controller_parts(coefficient)
    set_point = curves[names["set_point"]]
    if names["measured"] in curves:
        measured = curves[names["measured"]]
    elif names["error"] in curves:
        measured = Curve(set_point.epochs, set_point.values - curves[names["error"]].values)
    else:
        measured = None
    if measured is None or names["value"] not in curves:
        raise ValueError(
            f"The controller on {coefficient!r} must have logged {names['value']!r} and "
            f"{names['measured']!r} or {names['error']!r}. "
            f"Received: a history of {list(curves)}"
        )
    return set_point, measured, curves[names["value"]]
