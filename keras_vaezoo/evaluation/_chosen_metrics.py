"""Disentanglement metrics by name, each with its interval over disjoint samples."""

import functools
import inspect
from typing import NamedTuple

import keras
import numpy as np

from keras_vaezoo import metrics as metric_functions

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
        known = list(inspect.signature(_METRICS[name]).parameters)
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
    return chosen


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
