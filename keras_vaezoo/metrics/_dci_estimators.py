"""The estimators of DCI: one fit a factor, its importances and its scores."""

import copy
from typing import NamedTuple

import numpy as np

from keras_vaezoo.metrics._classifiers import FittedClassifier, accuracy, scikit_learn, standardize
from keras_vaezoo.metrics._inputs import check_choice
from keras_vaezoo.metrics._row_splits import split_rows

TREES = {"gradient_boosting": "GradientBoosting", "random_forest": "RandomForest"}
_NAMES = (*TREES, "lasso")
# The original's penalty, for codes and factors of unit variance.
_LASSO_ALPHA = 0.02


class FactorFit(NamedTuple):
    """Importance of each code for one factor, and the score on training and test rows."""

    importance: np.ndarray
    train: float
    test: float


def check_estimator(estimator, informativeness):
    """Checks the two together; returns whether the factors are predicted by regression."""
    check_choice("informativeness", informativeness, ("accuracy", *_REGRESSION_SCORES))
    if isinstance(estimator, str):
        check_choice("estimator", estimator, _NAMES)
        if estimator == "lasso" and informativeness == "accuracy":
            raise ValueError(
                "estimator='lasso' is a regression; give informativeness='nrmse' or "
                "'bounded_mse' with it. Received: informativeness='accuracy'"
            )
    return informativeness != "accuracy"


def fitted_factor(
    estimator, informativeness, codes, target, n_estimators, split, train_share, seed
):
    """Fits a copy of the estimator for one factor; returns a `FactorFit`."""
    train, test = split_rows(target, split, train_share, seed)
    x_train, x_test = standardize(codes[train], codes[test])
    kind = "Classifier" if informativeness == "accuracy" else "Regressor"
    if isinstance(estimator, str):
        estimator = _build(estimator, kind, n_estimators, seed)
    if kind == "Classifier":
        fitted = FittedClassifier(estimator, x_train, target[train])
        return FactorFit(
            _importance(fitted.estimator, codes.shape[1]),
            accuracy(fitted.predict(x_train), target[train]),
            accuracy(fitted.predict(x_test), target[test]),
        )
    y_train, y_test = standardize(target[train], target[test])
    fitted = copy.deepcopy(estimator).fit(x_train, y_train)
    score = _REGRESSION_SCORES[informativeness]
    width = np.ptp(np.concatenate([y_train, y_test]))
    return FactorFit(
        _importance(fitted, codes.shape[1]),
        score(fitted.predict(x_train), y_train, width),
        score(fitted.predict(x_test), y_test, width),
    )


def _build(name, kind, n_estimators, seed):
    if name == "lasso":
        # Unused, but without it NumPy's global generator would move on.
        return scikit_learn("linear_model", "dci").Lasso(alpha=_LASSO_ALPHA, random_state=seed)
    trees = getattr(scikit_learn("ensemble", "dci"), TREES[name] + kind)
    return trees(n_estimators=n_estimators, random_state=seed)


def _importance(estimator, n_codes):
    if estimator is None:  # a single class in the training rows: nothing was fitted
        return np.zeros(n_codes)
    estimator = getattr(estimator, "best_estimator_", estimator)  # of a search over settings
    if hasattr(estimator, "feature_importances_"):
        # Boosted trees give tiny negative importances by rounding.
        return np.maximum(np.asarray(estimator.feature_importances_, dtype=np.float64), 0.0)
    if hasattr(estimator, "coef_"):
        return np.abs(np.atleast_2d(estimator.coef_)).mean(axis=0)
    raise ValueError(
        "DCI reads feature_importances_ or coef_ of the fitted estimator. Received: "
        f"{type(estimator).__name__}, which has neither"
    )


def _bounded_mse(predicted, actual, width):
    return max(0.0, 1.0 - 12.0 * float(np.mean((predicted - actual) ** 2)) / width**2)


def _nrmse(predicted, actual, width):
    return float(np.sqrt(np.mean((predicted - actual) ** 2)) / np.std(actual))


_REGRESSION_SCORES = {"bounded_mse": _bounded_mse, "nrmse": _nrmse}
