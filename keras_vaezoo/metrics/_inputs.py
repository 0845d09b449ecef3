"""Every check of what the metrics receive, made once, before any work starts."""

import sys
import warnings
from typing import NamedTuple

import numpy as np


class Inputs(NamedTuple):
    """Checked codes and factors.

    Attributes:
        codes: (n, d) float64.
        values: (n, k) float64, the factors as they were given.
        classes: (n, k) integers 0 ... L_j - 1, the class of each row; zeros where a factor was
            left out, `None` where the metric takes continuous factors.
        sizes: (k,) number of classes L_j that occur.
        kept: Column numbers of the factors that vary.
    """

    codes: np.ndarray
    values: np.ndarray
    classes: np.ndarray | None
    sizes: np.ndarray
    kept: np.ndarray


def checked_inputs(codes, factors, *, factor_bins=None, continuous=False, min_factors=1):
    """Checks and converts codes and factors; `ValueError` names what is wrong with them."""
    codes = to_array(codes, "codes")
    factors = to_array(factors, "factors")
    if codes.ndim != 2 or factors.ndim != 2 or len(codes) != len(factors):
        raise ValueError(
            "codes must have shape (n, d) and factors (n, k) with the same n; give a single "
            f"column as x[:, None]. Received: codes.shape={codes.shape}, "
            f"factors.shape={factors.shape}"
        )
    if len(codes) < 2 or codes.shape[1] < 1 or factors.shape[1] < 1:
        raise ValueError(
            "A metric needs at least 2 rows, 1 code and 1 factor. "
            f"Received: codes.shape={codes.shape}, factors.shape={factors.shape}"
        )
    codes = to_finite_float64(codes, "codes")
    values = to_finite_float64(factors, "factors")
    kept = _varying_factors(values, min_factors)
    if continuous:
        return Inputs(codes, values, None, np.zeros(values.shape[1], dtype=np.intp), kept)
    classes, sizes = _factor_classes(factors, values, kept, factor_bins)
    return Inputs(codes, values, classes, sizes, kept)


def to_array(x, name):
    """Returns x as a NumPy array, whatever framework it comes from."""
    if isinstance(x, (list, tuple)):
        x = np.asarray(x)
    elif not isinstance(x, np.ndarray):
        # Keras imports a whole framework: only a tensor pays for that.
        import keras

        if "torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor):
            x = x.detach().cpu()
            x = x.float() if str(x.dtype) == "torch.bfloat16" else x
        x = keras.ops.convert_to_numpy(x)
    if x.dtype.kind in "OSUcMm":
        raise ValueError(
            f"{name} must hold real numbers; turn class names into integers with "
            f"np.unique(names, return_inverse=True)[1]. Received: {name}.dtype={x.dtype}"
        )
    return x


def to_finite_float64(x, name):
    """Returns x as float64; `ValueError` names the columns that hold nan or inf."""
    x = np.asarray(x, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(x).all(axis=0))
    if bad.size:
        raise ValueError(
            f"{name} must be finite; remove or repair the rows with nan or inf. "
            f"Received: nan or inf in {name}[:, j] for j={bad.tolist()}"
        )
    return x


def constant_columns(x):
    """Marks the columns that hold one value; exact, where a standard deviation is not."""
    return x.min(axis=0) == x.max(axis=0)


def column_stds(x, ddof=0):
    """Standard deviation per column, exactly 0 for a constant one."""
    return np.where(constant_columns(x), 0.0, x.std(axis=0, ddof=ddof))


def class_indices(column):
    """Numbers the values of an integer column 0 ... L - 1; returns the numbers and L."""
    low, high = int(column.min()), int(column.max())
    if column.dtype.kind not in "iu" or high - low > 4 * len(column) + 1024:
        values, classes = np.unique(column, return_inverse=True)
        return classes.reshape(-1), len(values)
    # Counting is ten times faster than the sort inside np.unique.
    shifted = column.astype(np.intp) - low
    present = np.bincount(shifted) > 0
    return (np.cumsum(present) - 1)[shifted], int(present.sum())


def equal_width_bins(x, bins):
    """Bin numbers of one column: equal width from min to max, left-closed, max in the last bin.

    The same partition as `np.digitize(x, np.histogram(x, bins)[1][:-1])`, about five times faster.
    """
    low, high = x.min(), x.max()
    if low == high:
        return np.zeros(len(x), dtype=np.intp)
    edges = np.linspace(low, high, bins + 1)
    if np.diff(edges).min() <= 0:  # a range of a few float64 steps: some edges are equal
        return np.searchsorted(edges[:-1], x, side="right") - 1
    # Multiplying can miss by one beside an edge, so compare with the edges themselves.
    index = ((x - low) * (bins / (high - low))).astype(np.intp)
    np.minimum(index, bins - 1, out=index)
    index -= x < edges[index]
    index += (x >= edges[index + 1]) & (index < bins - 1)
    return index


def check_choice(name, value, choices):
    """`ValueError` that lists the choices unless value is one of them."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}. Received: {name}={value!r}")


def check_integer(name, value, minimum):
    """`ValueError` unless value is an integer of at least `minimum`."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < minimum:
        raise ValueError(f"{name} must be an integer >= {minimum}. Received: {name}={value!r}")


def check_number(name, value, minimum=0.0, above=False):
    """`ValueError` unless value is a finite number of at least (or above) `minimum`."""
    is_number = isinstance(value, (int, float, np.number)) and np.isfinite(value)
    if not is_number or value < minimum or (above and value == minimum):
        sign = ">" if above else ">="
        raise ValueError(f"{name} must be a number {sign} {minimum}. Received: {name}={value!r}")


def warn_caller(message):
    """Warns at the line outside this package that called it, whatever the depth in between."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("keras_vaezoo."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def warn_constant_factors(dropped):
    """Warns that factor columns are left out; every metric drops them the same way."""
    warn_caller(
        f"Factor columns {list(dropped)} hold a single value and were left out; their per_factor "
        "entries are nan."
    )


def check_factor_count(count, min_factors):
    """`ValueError` unless at least `min_factors` factors vary."""
    if count < min_factors:
        raise ValueError(
            f"This metric needs at least {min_factors} factor(s) with more than one value. "
            f"Received: {count}"
        )


def _varying_factors(values, min_factors):
    constant = constant_columns(values)
    kept = np.flatnonzero(~constant)
    check_factor_count(len(kept), min_factors)
    if constant.any():
        warn_constant_factors(np.flatnonzero(constant).tolist())
    return kept


def _factor_classes(factors, values, kept, factor_bins):
    if factor_bins is not None:
        check_integer("factor_bins", factor_bins, 2)
    classes = np.zeros(factors.shape, dtype=np.intp)
    sizes = np.ones(factors.shape[1], dtype=np.intp)
    for j in kept:
        column = factors[:, j]
        if column.dtype.kind not in "iub" and not _is_integer_valued(values[:, j]):
            column = _bin_factor(values[:, j], j, factor_bins)
        elif column.dtype.kind not in "iu":
            column = values[:, j].astype(np.int64)
        classes[:, j], sizes[j] = class_indices(column)
    return classes, sizes


def _is_integer_valued(column):
    return bool(np.all(column == np.rint(column)) and np.abs(column).max() < 2.0**62)


def _bin_factor(column, j, factor_bins):
    if factor_bins is None:
        raise ValueError(
            "factors must be integer classes; for a continuous factor pass factor_bins=20 (equal "
            "width), or use sap(..., estimator='r2'), which takes it as it is. "
            f"Received: factors[:, {j}] with the value {column[column != np.rint(column)][0]}"
        )
    return equal_width_bins(column, factor_bins)
