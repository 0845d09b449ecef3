"""Plug-in entropy and mutual information of binned codes and discrete factors."""

from dataclasses import dataclass

import numpy as np

from keras_vaezoo.metrics._inputs import (
    check_integer,
    check_number,
    checked_inputs,
    class_indices,
    column_stds,
    equal_width_bins,
    to_array,
    to_finite_float64,
    warn_caller,
)

# Nats up to which mutual information is the rounding of fractional counts.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class InformationTable:
    """What MIG, modularity and JEMMIG read: compute it once, hand it to all three.

    `np.asarray(table)` is `mutual_information`. Entropies are in nats; columns of factors that
    were left out because they are constant are nan.

    Attributes:
        mutual_information: (d, k) I(q_i; v_j).
        joint_entropy: (d, k) H(q_i, v_j), or `None` for an estimate without bins.
        code_entropy: (d,) H(q_i), or `None` for an estimate without bins.
        factor_entropy: (k,) H(v_j).
        bins: Number of bins per code, or `None` for an estimate without bins.
        rows: Number of rows.
        settings: How the table was estimated; every score from it says so.
    """

    mutual_information: np.ndarray
    joint_entropy: np.ndarray | None
    code_entropy: np.ndarray | None
    factor_entropy: np.ndarray
    bins: int | None
    rows: int
    settings: dict

    @property
    def kept(self):
        """Column numbers of the factors that vary."""
        return np.flatnonzero(~np.isnan(self.factor_entropy))

    def __array__(self, dtype=None, copy=None):
        return np.array(self.mutual_information, dtype=dtype)


def discretize(codes, bins=20, min_std=0.0):
    """Bins each code on its own into `bins` bins of equal width between its minimum and maximum.

    The partition is that of `np.digitize(x, np.histogram(x, bins)[1][:-1])`: left-closed bins, the
    maximum in the last bin, a constant code in a single bin.

    Args:
        codes: (n, d) array.
        bins: Number of bins B.
        min_std: A code whose standard deviation (ddof 1) is below this counts as dead and goes
            into a single bin. The histogram is scale-invariant: without this, noise around a
            collapsed code is binned like any other code.

    Returns:
        (n, d) integers in 0 ... B - 1.

    Example:

    ```python
    discretize(np.array([[0.0], [0.4], [1.0]]), bins=2)  # [[0], [0], [1]]
    ```
    """
    check_integer("bins", bins, 1)
    check_number("min_std", min_std)
    codes = to_array(codes, "codes")
    if codes.ndim != 2 or len(codes) < 1:
        raise ValueError(f"codes must have shape (n, d). Received: codes.shape={codes.shape}")
    return _binned(to_finite_float64(codes, "codes"), bins, min_std).T


def entropy(labels):
    """Plug-in entropy in nats: H = -sum_c p_c log p_c with the frequencies p_c of the values.

    Args:
        labels: (n,) or (n, k) array of discrete values.

    Returns:
        A float for (n,), a (k,) array for (n, k).

    Example:

    ```python
    entropy(np.array([0, 1, 0, 1]))  # log 2 = 0.693...
    ```
    """
    labels = to_array(labels, "labels")
    to_finite_float64(labels, "labels")
    if labels.ndim not in (1, 2) or len(labels) < 1:
        raise ValueError(
            f"labels must have shape (n,) or (n, k). Received: labels.shape={labels.shape}"
        )
    columns = labels[:, None] if labels.ndim == 1 else labels
    values = [
        _entropy_of_counts(np.bincount(class_indices(column)[0])[:, None]) for column in columns.T
    ]
    return float(values[0][0]) if labels.ndim == 1 else np.concatenate(values)


def mutual_information_table(codes, factors, bins=20, *, min_std=0.0, factor_bins=None):
    """Mutual information I(q_i; v_j) of every binned code with every factor, with the entropies.

        I(q; v) = sum over cells of p(q, v) log( p(q, v) / (p(q) p(v)) )          [nats]

    with the frequencies of the data as probabilities (the plug-in estimate, biased upward: an
    independent code and a factor of 40 values, 20 bins, gives I / H(v) = 0.17 at 500 rows, 0.009
    at 10,000). I <= log B, so a factor with more values than bins cannot reach I = H(v).

    Args:
        codes: (n, d) array, the posterior means.
        factors: (n, k) integer classes; any labels.
        bins: Number of bins B per code.
        min_std: A code whose standard deviation is below this counts as dead. Off by default.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued;
            without it such a column is an error.

    Returns:
        An `InformationTable`.

    Raises:
        ValueError: Shapes that differ, fewer than 2 rows, nan or inf (names the column),
            continuous factors without `factor_bins`, no factor that varies.

    Example:

    ```python
    table = mutual_information_table(codes, factors, bins=20)
    mig(table=table), modularity(table=table), jemmig(table=table)
    ```
    """
    check_integer("bins", bins, 1)
    check_number("min_std", min_std)
    inputs = checked_inputs(codes, factors, factor_bins=factor_bins)
    _warn_few_rows(len(inputs.codes), bins, inputs.sizes)
    sizes = inputs.sizes[inputs.kept]
    starts = np.cumsum(sizes) - sizes
    total = int(sizes.sum())
    # One column number per class of any factor, so that one bincount per code fills all tables.
    columns = np.ascontiguousarray((inputs.classes[:, inputs.kept] + starts).T)
    counts = np.stack(
        [
            np.bincount((code * total + columns).ravel(), minlength=bins * total)
            for code in _binned(inputs.codes, bins, min_std)
        ]
    )
    counts = counts.reshape(-1, bins, total).astype(np.float64)
    settings = {"estimate": "histogram", "min_std": min_std}
    return table_from_counts(counts, starts, inputs.kept, inputs.values.shape[1], settings)


def table_from_counts(counts, starts, kept, n_factors, settings):
    """Builds the table from joint counts.

    Args:
        counts: (d, B, T) joint counts of code bins and classes, the T columns being the classes
            of all kept factors side by side; fractional counts are fine.
        starts: First column of each kept factor.
        kept: Column numbers of the kept factors among all `n_factors`.
        n_factors: Number of factors, kept or not.
        settings: How the counts were made; `bins` and `rows` are added.
    """
    code_counts = counts[:, :, : starts[1] if len(starts) > 1 else None].sum(axis=2)
    class_counts = counts[0].sum(axis=0)
    rows = code_counts[0].sum()
    expected = code_counts[:, :, None] * class_counts
    # A ratio of exactly 1 in every cell gives exactly 0 for a constant or independent code, which
    # H(q) + H(v) - H(q, v) does not.
    ratio = np.divide(counts * rows, expected, out=np.ones_like(counts), where=counts > 0)
    cells = (counts * np.log(ratio)).sum(axis=1)
    information = np.add.reduceat(cells, starts, axis=1) / rows
    information[information < _ROUNDING] = 0.0
    joint = -np.add.reduceat(_p_log_p(counts / rows).sum(axis=1), starts, axis=1)
    factor_entropy = -np.add.reduceat(_p_log_p(class_counts / rows), starts)
    return InformationTable(
        mutual_information=spread(information, kept, n_factors),
        joint_entropy=spread(np.maximum(joint, 0.0), kept, n_factors),
        code_entropy=_entropy_of_counts(code_counts.T),
        factor_entropy=spread(factor_entropy, kept, n_factors),
        bins=counts.shape[1],
        rows=round(rows),
        settings={"bins": counts.shape[1], "rows": round(rows), **settings},
    )


def spread(values, kept, n_factors):
    """Puts values of the kept factors (last axis) back among all factors, nan elsewhere."""
    full = np.full((*values.shape[:-1], n_factors), np.nan)
    full[..., kept] = values
    return full


def resolve_table(codes, factors, table, bins, min_std, factor_bins):
    """Returns the given table, or computes it from codes and factors."""
    if table is None:
        if codes is None or factors is None:
            raise ValueError(
                "Give codes and factors, or table=mutual_information_table(codes, factors). "
                "Received: neither"
            )
        return mutual_information_table(
            codes, factors, bins, min_std=min_std, factor_bins=factor_bins
        )
    if codes is not None or factors is not None:
        raise ValueError("Give codes and factors, or table=..., not both. Received: both")
    if not isinstance(table, InformationTable):
        raise ValueError(
            "table must come from mutual_information_table(codes, factors). "
            f"Received: table of type {type(table).__name__}"
        )
    return table


def top_two(matrix):
    """Largest and second largest entry per column; with a single row the second is 0."""
    ranked = np.sort(matrix, axis=0)
    second = ranked[-2] if len(ranked) > 1 else np.where(np.isnan(ranked[-1]), np.nan, 0.0)
    return ranked[-1], second


def _binned(codes, bins, min_std):
    columns = np.ascontiguousarray(codes.T)
    dead = column_stds(codes, ddof=1) < min_std if min_std > 0 else np.zeros(len(columns), bool)
    binned = np.empty(columns.shape, dtype=np.intp)
    for i, column in enumerate(columns):
        binned[i] = 0 if dead[i] else equal_width_bins(column, bins)
    return binned


def _entropy_of_counts(counts):
    return np.maximum(-_p_log_p(counts / counts.sum(axis=0)).sum(axis=0), 0.0)


def _p_log_p(p):
    return p * np.log(np.where(p > 0, p, 1.0))


def _warn_few_rows(rows, bins, sizes):
    needed = bins * int(sizes.max())
    if rows < needed:
        warn_caller(
            f"{rows} rows are fewer than bins x largest factor = {needed}: mutual information is "
            "biased upward; use more rows or fewer bins."
        )
