"""Disentanglement, completeness and informativeness (Eastwood & Williams 2018)."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from keras_vaezoo.metrics._dci_estimators import TREES, check_estimator, fitted_factor
from keras_vaezoo.metrics._information import spread
from keras_vaezoo.metrics._inputs import (
    check_integer,
    checked_inputs,
    to_array,
    to_finite_float64,
    warn_caller,
)
from keras_vaezoo.metrics._row_splits import check_split, draw_rows, split_settings
from keras_vaezoo.metrics._score import Score


class DCI(NamedTuple):
    """The three scores of `dci`."""

    disentanglement: Score
    completeness: Score
    informativeness: Score


def dci(
    codes,
    factors,
    *,
    estimator="gradient_boosting",
    informativeness="accuracy",
    n_estimators=100,
    max_rows=None,
    split="stratified",
    train_share=0.5,
    seed=0,
    n_jobs=1,
    weighted_completeness=True,
    factor_bins=None,
):
    """DCI: does a code serve one factor, is a factor in one code, and can it be read at all.

    With R (d, k) the importance of code i in predicting factor j:

        D = sum_i w_i (1 - H_k(R_i. / sum R_i.)),    w_i = sum_j R_ij / sum R
        C = sum_j u_j (1 - H_d(R_.j / sum R_.j)),    u_j = sum_i R_ij / sum R
        I = mean over j of the held-out score of the estimator

    with entropies to base k and d. All in [0, 1], higher is better; by chance D and C are about 0
    and I is the chance accuracy. Eastwood & Williams, "A Framework for the Quantitative Evaluation
    of Disentangled Representations" (2018), section 2.

    Numbers of different estimators cannot be compared: name the estimator. Gradient-boosted trees
    are the field's standard and slow: about 50 ms x `n_estimators` x the number of classes of all
    factors at 10,000 rows and 10 codes. `n_estimators`, `max_rows` and `n_jobs` cut that. A
    constant code changes C (its entropy has base d), not D.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes; any numbers for an informativeness by regression.
        estimator: `"gradient_boosting"`, `"random_forest"`, `"lasso"` (regression only), or an
            object with `fit`, `predict` and `feature_importances_` or `coef_` (from xgboost or
            lightgbm, for example), copied for each factor. Codes come standardised.
        informativeness: `"accuracy"`: a classifier. `"bounded_mse"`: a regressor,
            max(0, 1 - 12 MSE) with the factor's range scaled to 1. `"nrmse"`: a regressor, root
            mean square error / standard deviation: LOWER is better, 1 is chance (the original).
        n_estimators: Number of trees (boosting rounds).
        max_rows: Largest number of rows to use, drawn at random; `None` uses all.
        split: `"stratified"` by each factor after a shuffle, `"shuffled"`, `"ordered"` (the first
            rows train), `"all"` (train and test on all rows), or (train_rows, test_rows).
        train_share: Share of the rows that train, rounded up.
        seed: Seed of the shuffle, the subset and the trees.
        n_jobs: Number of threads, over factors; -1 uses every core.
        weighted_completeness: `False` makes C a plain mean over the factors.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.

    Returns:
        `DCI(disentanglement, completeness, informativeness)`, each a `Score` with the importance
        matrix. per_code of D: D_i; per_factor of D: mean of D_i weighted by the importances for
        that factor; per_factor of C: C_j; per_factor of I: the score of each factor; train of I:
        on the training rows. D is nan with one factor, C with one code, each with a warning.

    Raises:
        ValueError: Shapes that differ, fewer than 2 rows, nan or inf (names the column),
            continuous factors without `factor_bins`, no factor that varies.
        ImportError: Without scikit-learn.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(400, 2))
    dci(factors.astype("float32"), factors, n_estimators=10).disentanglement  # close to 1
    ```
    """
    check_integer("n_estimators", n_estimators, 1)
    check_integer("seed", seed, 0)
    if n_jobs != -1:
        check_integer("n_jobs", n_jobs, 1)
    check_split(split, train_share)
    if max_rows is not None and isinstance(split, tuple):
        raise ValueError(
            "max_rows draws rows, so that the row numbers of split would name others: give one of "
            f"the two. Received: max_rows={max_rows} and split=(train_rows, test_rows)"
        )
    regression = check_estimator(estimator, informativeness)
    inputs = checked_inputs(codes, factors, factor_bins=factor_bins, continuous=regression)
    targets = inputs.values if regression else inputs.classes
    rows = draw_rows(len(inputs.codes), max_rows, seed)
    tasks = [
        (estimator, informativeness, inputs.codes[rows], targets[rows, j], n_estimators)
        + (split, train_share, seed)
        for j in inputs.kept
    ]
    fits = _run(tasks, n_jobs)
    n_factors = inputs.values.shape[1]
    importance = np.stack([fit.importance for fit in fits], axis=1)
    name = estimator if isinstance(estimator, str) else type(estimator).__name__
    settings = {"estimator": name, "informativeness": informativeness, "rows": len(rows)}
    settings |= split_settings(split, train_share)
    if name in TREES:
        settings["n_estimators"] = n_estimators
    disentanglement, completeness = dci_from_importance(
        importance, weighted_completeness=weighted_completeness
    )
    return DCI(
        _among_all_factors(disentanglement, inputs.kept, n_factors, settings),
        _among_all_factors(
            completeness,
            inputs.kept,
            n_factors,
            settings | {"weighted_completeness": bool(weighted_completeness)},
        ),
        Score(
            np.mean([fit.test for fit in fits]),
            spread(np.array([fit.test for fit in fits]), inputs.kept, n_factors),
            spread(importance, inputs.kept, n_factors),
            train=np.mean([fit.train for fit in fits]),
            settings=settings,
        ),
    )


def dci_from_importance(importance, *, weighted_completeness=True):
    """Disentanglement and completeness of an importance matrix; formulas in `dci`.

    Args:
        importance: (d, k) importances R, finite and not negative. A code or factor without any
            importance counts with weight 0; a matrix of zeros scores 0.
        weighted_completeness: `False` makes C a plain mean over the factors.

    Returns:
        Two `Score`s, disentanglement and completeness. D is nan with one factor, C with one code,
        each with a warning: the entropy has base 1 there.

    Raises:
        ValueError: Not a matrix, negative, nan or inf.

    Example:

    ```python
    dci_from_importance(np.eye(3))  # 1.0 and 1.0
    ```
    """
    importance = to_array(importance, "importance")
    if importance.ndim != 2 or 0 in importance.shape or (importance < 0).any():
        raise ValueError(
            "importance must be a (d, k) matrix without negative entries. Received: "
            f"importance.shape={importance.shape}, minimum="
            f"{importance.min() if importance.size else None}"
        )
    importance = to_finite_float64(importance, "importance")
    per_code = _concentration(importance.T, "disentanglement", "factor")
    per_factor = _concentration(importance, "completeness", "code")
    total = importance.sum()
    code_weights = importance.sum(axis=1) / (total or 1.0)
    factor_totals = importance.sum(axis=0)
    factor_weights = factor_totals / (total or 1.0)
    if not weighted_completeness:
        factor_weights = np.full(len(factor_totals), 1.0 / len(factor_totals))
    own_codes = importance.T @ per_code / np.where(factor_totals > 0, factor_totals, 1.0)
    return (
        Score(code_weights @ per_code, own_codes, importance, per_code=per_code),
        Score(factor_weights @ per_factor, per_factor, importance),
    )


def _concentration(importance, score, axis):
    """1 - entropy of each column's shares, base the number of rows; 0 for a column of zeros."""
    rows, columns = importance.shape
    if rows == 1:
        warn_caller(f"DCI {score} is not defined with a single {axis} and is nan.")
        return np.full(columns, np.nan)
    totals = importance.sum(axis=0)
    shares = importance / np.where(totals > 0, totals, 1.0)
    entropies = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=0) / np.log(rows)
    return np.where(totals > 0, 1.0 - entropies, 0.0)


def _among_all_factors(score, kept, n_factors, settings):
    return Score(
        score,
        spread(score.per_factor, kept, n_factors),
        spread(score.matrix, kept, n_factors),
        per_code=score.per_code,
        settings=settings,
    )


def _run(tasks, n_jobs):
    # Threads: the trees of scikit-learn let go of the interpreter while they grow, and a new
    # process would first import a whole deep-learning framework.
    workers = os.cpu_count() if n_jobs == -1 else n_jobs
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda task: fitted_factor(*task), tasks))
