"""The log of a training, from a Keras History, a dict or a file of CSVLogger."""

import csv
import os

import numpy as np

CONTROLLER_SUFFIXES = {
    "set_point": "_set_point",
    "measured": "_measured",
    "value": "_value",
    "error": "_error",
}


def read_log(history):
    """Return (epochs counted from 1, {name: float64 values}) of a training.

    Raises:
        ValueError: If nothing was logged, or if the series differ in length.
    """
    if isinstance(history, (str, os.PathLike)):
        logs, epochs = _read_csv(history), None
    else:
        logs, epochs = getattr(history, "history", history), getattr(history, "epoch", None)
    if not isinstance(logs, dict):
        raise ValueError(
            "`history` must be what `model.fit` returns, its dict `.history`, or the path of a "
            f"CSVLogger file. Received: {type(history).__name__}"
        )
    series = {name: np.asarray(values, np.float64) for name, values in logs.items()}
    lengths = {name: values.size for name, values in series.items()}
    if not any(lengths.values()):
        raise ValueError(
            "The history is empty: was `fit` run for at least one epoch? "
            f"Received: {len(series)} series without values in {history!r}"
        )
    if len(set(lengths.values())) > 1:
        raise ValueError(f"All series must have one length. Received: lengths {lengths}")
    logged = series.pop("epoch", epochs)
    length = next(iter(lengths.values()))
    if logged is None or len(logged) != length:
        logged = np.arange(length)
    return np.asarray(logged, np.float64) + 1, series


def _read_csv(path):
    """Return {column: values} of a CSVLogger file; what is not a number is NaN."""
    with open(path, newline="") as file:
        header = file.readline()
        file.seek(0)
        separator = max(",;\t", key=header.count)
        rows = list(csv.DictReader(file, delimiter=separator))
    columns = {name: [_as_float(row[name]) for row in rows] for name in (rows[0] if rows else {})}
    return {name: v for name, v in columns.items() if not np.isnan(v).all()}


def _as_float(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return float("nan")


def controlled_coefficients(series):
    """Return the coefficients whose controller left its set point in the log."""
    suffix = CONTROLLER_SUFFIXES["set_point"]
    return [
        name.removesuffix(suffix)
        for name in series
        if name.endswith(suffix) and not name.startswith("val_")
    ]


def controller_key(coefficient, part):
    """Return the log's name of one part of a coefficient's controller."""
    return coefficient + CONTROLLER_SUFFIXES[part]
