"""Groups of codes that share the value of one factor, from a table or from a simulator."""

import numpy as np

from keras_vaezoo.metrics._inputs import (
    check_choice,
    check_factor_count,
    check_integer,
    checked_inputs,
    to_array,
    to_finite_float64,
    warn_constant_factors,
)

_ROWS_PER_DRAW = 8192


def draw_source(codes, factors, sample_fn, factor_sizes, value_draw, factor_bins):
    """Returns the source of one of two forms: codes and factors, or sample_fn and factor_sizes."""
    check_choice("value_draw", value_draw, ("frequency", "uniform"))
    arguments = {
        "codes": codes,
        "factors": factors,
        "sample_fn": sample_fn,
        "factor_sizes": factor_sizes,
    }
    given = [name for name, value in arguments.items() if value is not None]
    if given == ["codes", "factors"]:
        inputs = checked_inputs(codes, factors, factor_bins=factor_bins, min_factors=2)
        return TableSource(inputs, value_draw)
    if given == ["sample_fn", "factor_sizes"]:
        return SimulatorSource(sample_fn, factor_sizes)
    raise ValueError(
        "Give either codes and factors, or sample_fn and factor_sizes. "
        f"Received: {', '.join(given) or 'none of them'}"
    )


class TableSource:
    """Draws rows of a table of codes, with replacement.

    Args:
        inputs: Checked codes and factors.
        value_draw: `"frequency"`: the shared value is that of a random row; `"uniform"`: a random
            one of the values with at least two rows.
    """

    def __init__(self, inputs, value_draw):
        self.kept = inputs.kept
        self.n_codes = inputs.codes.shape[1]
        self.n_factors = inputs.values.shape[1]
        self._codes = inputs.codes
        self._classes = inputs.classes
        self._uniform = value_draw == "uniform"
        self._members = np.argsort(inputs.classes, axis=0, kind="stable")
        self._counts = [np.bincount(column) for column in inputs.classes.T]
        if self._uniform:
            self._check_repeated_values()

    def population(self, rows, rng):
        """All rows: the codes whose spread counts."""
        return self._codes

    def groups(self, factor, count, size, rng):
        """(count, size, d) codes; the rows of a group share the value of `factor`."""
        counts = self._counts[factor]
        starts = np.cumsum(counts) - counts
        if self._uniform:
            values = rng.choice(np.flatnonzero(counts >= 2), count)
        else:
            values = self._classes[rng.integers(len(self._classes), size=count), factor]
        offsets = (rng.random((count, size)) * counts[values][:, None]).astype(np.intp)
        return self._codes[self._members[starts[values][:, None] + offsets, factor]]

    def _check_repeated_values(self):
        for j in self.kept:
            if self._counts[j].max() < 2:
                raise ValueError(
                    "value_draw='uniform' needs a value with at least 2 rows in every factor. "
                    f"Received: factors[:, {j}] with {len(self._classes)} different values"
                )


class SimulatorSource:
    """Draws factors independently and uniformly, and codes from a simulator and encoder.

    Args:
        sample_fn: Function of (n, k) integer factors that returns (n, d) codes.
        factor_sizes: (k,) number of values of each factor.
    """

    def __init__(self, sample_fn, factor_sizes):
        self._sample_fn = sample_fn
        self._sizes = np.asarray(factor_sizes)
        if self._sizes.ndim != 1:
            raise ValueError(
                "factor_sizes must be a sequence of integers. "
                f"Received: factor_sizes={factor_sizes!r}"
            )
        for size in self._sizes:
            check_integer("every factor size", size, 1)
        self.n_factors = len(self._sizes)
        self.kept = np.flatnonzero(self._sizes > 1)
        check_factor_count(len(self.kept), 2)
        if len(self.kept) < self.n_factors:
            warn_constant_factors(np.flatnonzero(self._sizes == 1).tolist())
        self.n_codes = self._encode(np.zeros((2, self.n_factors), dtype=np.int64)).shape[1]

    def population(self, rows, rng):
        """(rows, d) codes of fresh factors."""
        return np.concatenate(
            [self._encode(self._factors((count,), rng)) for count in chunk_sizes(rows, 1)]
        )

    def groups(self, factor, count, size, rng):
        """(count, size, d) codes; the rows of a group share the value of `factor`."""
        factors = self._factors((count, size), rng)
        factors[:, :, factor] = factors[:, :1, factor]
        return self._encode(factors.reshape(-1, self.n_factors)).reshape(count, size, -1)

    def _factors(self, shape, rng):
        return rng.integers(self._sizes, size=(*shape, self.n_factors))

    def _encode(self, factors):
        codes = to_array(self._sample_fn(factors), "sample_fn(factors)")
        if codes.ndim != 2 or len(codes) != len(factors) or codes.shape[1] < 1:
            raise ValueError(
                "sample_fn must return codes of shape (n, d) for factors of shape (n, k). "
                f"Received: shape {codes.shape} for factors.shape={factors.shape}"
            )
        return to_finite_float64(codes, "sample_fn(factors)")


def chunk_sizes(count, rows_per_group):
    """Splits a number of groups so that one draw asks for a bounded number of rows."""
    largest = max(1, _ROWS_PER_DRAW // rows_per_group)
    return [min(largest, count - start) for start in range(0, count, largest)]


def labels_per_factor(kept, count, rng):
    """How many of `count` uniform draws of a factor fall on each kept factor."""
    return np.bincount(rng.integers(len(kept), size=count), minlength=len(kept))


def rescaled_from_chance(value, n_factors):
    """Maps chance, 1 / k, to 0 and keeps 1."""
    return (value - 1.0 / n_factors) / (1.0 - 1.0 / n_factors)
