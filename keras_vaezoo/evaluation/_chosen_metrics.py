"""Disentanglement metrics by name, each with its interval over disjoint samples."""

import functools
import inspect
import warnings
from typing import NamedTuple

import keras
import numpy as np

from keras_vaezoo import metrics as metric_functions
from keras_vaezoo.metrics._inputs import checked_inputs

_METRICS = {
    function.__name__: function
    for function in (
        metric_functions.beta_vae_score,
        metric_functions.dci,
        metric_functions.explicitness,
        metric_functions.factor_vae_score,
        metric_functions.jemmig,
        metric_functions.mig,
        metric_functions.modularity,
        metric_functions.sap,
    )
}
# What score() itself hands to a metric.
_NO_SETTINGS = ("codes", "factors", "table", "sample_fn", "factor_sizes")
INTERVAL_ROWS = 2000


class MetricScore(NamedTuple):
    """A metric on all rows, and its spread over disjoint samples of fewer rows.

    Attributes:
        value: `metrics.Score` on all n rows, with the detail behind it.
        interval: `metrics.Interval` over the samples: mean, standard deviation, scores. Its mean
            is that of the metric at the samples' size, not at n. `None` without samples.
    """

    value: metric_functions.Score
    interval: metric_functions.Interval | None


def checked_choice(metrics, factors):
    """`{name: settings}` of the metrics asked for; a ValueError for what cannot be computed."""
    chosen = {metrics: {}} if isinstance(metrics, str) else metrics
    chosen = dict(chosen) if isinstance(chosen, dict) else {name: {} for name in chosen}
    for name, settings in chosen.items():
        if name not in _METRICS:
            raise ValueError(
                f"metrics must be names out of {sorted(_METRICS)}, or a dict from such names to "
                f"their settings. Received: {name!r}"
            )
        known = [n for n in inspect.signature(_METRICS[name]).parameters if n not in _NO_SETTINGS]
        if not isinstance(settings, dict):
            raise ValueError(
                f"The settings of {name} must be a dict, {{}} for the defaults. "
                f"Received: {settings!r}"
            )
        unknown = set(settings) - set(known)
        if unknown:
            raise ValueError(
                f"{name} has no setting {sorted(unknown)[0]!r}. Its settings: {', '.join(known)}"
            )
    if chosen and factors is None:
        raise ValueError(
            "metrics need true factors: give a Dataset with factors or labels, or a tuple "
            f"(images, factors). Received: metrics={sorted(chosen)} and images alone"
        )
    for name, settings in chosen.items():
        _check_factors(name, settings, factors)
    return chosen


def _check_factors(name, settings, factors):
    """Finds factors that a metric does not take before the images are encoded."""
    by_regression = settings.get("informativeness", "accuracy") != "accuracy"
    several = name in ("modularity", "beta_vae_score", "factor_vae_score")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the metric itself warns
        checked_inputs(
            np.zeros((len(factors), 1)),
            factors,
            factor_bins=settings.get("factor_bins"),
            continuous=by_regression or settings.get("estimator") == "r2",
            min_factors=2 if several else 1,
        )


def refuse_rows_of_a_split(chosen, repeats):
    """The samples of an interval are shuffled: row numbers in `split` would name others."""
    for name, settings in chosen.items():
        if repeats and isinstance(settings.get("split"), tuple):
            raise ValueError(
                f"{name} has a split by row numbers, which the disjoint samples of the interval "
                f"cannot keep: pass repeats=0. Received: repeats={repeats}"
            )


def metric_scores(chosen, codes, factors, seed, repeats, verbose):
    """`{name: MetricScore}`; dci gives three."""
    scores = {}
    progress = keras.utils.Progbar(len(chosen), verbose=verbose, unit_name="metric")
    for position, (name, settings) in enumerate(chosen.items(), start=1):
        function = _METRICS[name]
        if "seed" in inspect.signature(function).parameters:
            settings = {"seed": seed, **settings}
        value = function(codes, factors, **settings)
        interval = None
        if repeats:
            interval = metric_functions.repeated(
                functools.partial(function, **settings),
                codes,
                factors,
                repeats=repeats,
                rows=INTERVAL_ROWS,
                seed=seed,
            )
        if isinstance(value, metric_functions.DCI):
            parts = value._fields
            intervals = interval or [None] * len(parts)
            for part, one, spread in zip(parts, value, intervals, strict=True):
                scores[f"{name}_{part}"] = MetricScore(one, spread)
        else:
            scores[name] = MetricScore(value, interval)
        progress.update(position)
    return scores


def possible_repeats(rows, repeats):
    """Number of disjoint samples: what was asked for, or as many as there are rows for."""
    possible = rows // INTERVAL_ROWS
    if repeats is None:
        return possible if possible >= 2 else 0
    is_count = isinstance(repeats, (int, np.integer)) and not isinstance(repeats, bool)
    if not is_count or repeats < 0 or repeats == 1:
        raise ValueError(
            "repeats must be None (as many as there are rows for), 0 (no intervals) or at least "
            f"2. Received: repeats={repeats!r}"
        )
    if repeats > possible:
        raise ValueError(
            f"{repeats} disjoint samples need {repeats * INTERVAL_ROWS} rows, "
            f"{INTERVAL_ROWS} each. Received: {rows} rows"
        )
    return int(repeats)
