"""Separated attribute predictability (Kumar et al. 2018)."""

import numpy as np

from keras_vaezoo.metrics._classifiers import (
    FittedClassifier,
    accuracy,
    balanced_accuracy,
    scikit_learn,
)
from keras_vaezoo.metrics._information import top_two
from keras_vaezoo.metrics._inputs import check_choice, check_number, checked_inputs
from keras_vaezoo.metrics._row_splits import check_split, split_rows, split_settings
from keras_vaezoo.metrics._score import Score

_SMALLEST_VARIANCE = 1e-12


def sap(
    codes,
    factors,
    *,
    estimator="svm",
    balanced=False,
    C=0.01,
    split="stratified",
    train_share=0.5,
    seed=0,
    factor_bins=None,
):
    """SAP: how far the code that predicts a factor best is ahead of the second best.

        SAP = mean over j of ( largest S_ij - second largest S_ij over the codes i )

    S_ij is the score of predicting factor j from code i alone. With a single code the second is 0.
    In [0, 1], higher is better, 0 by chance. Kumar et al., "Variational Inference of Disentangled
    Latent Concepts from Unlabeled Observations" (2018), section 3.

    - `estimator="svm"`: held-out accuracy of a linear support vector machine with balanced class
      weights, the field's standard for discrete factors. Its penalised bias makes it depend on the
      scale of the code, and one-vs-rest on one number cannot find classes in the middle: perfect
      codes of 4 to 6 values score about 0.21, which is where the small numbers in print come from.
    - `estimator="r2"`: squared Pearson correlation over all rows, 0 for a code of variance at most
      1e-12; for ordinal and continuous factors, which it takes as they are.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes; any numbers for `"r2"`.
        estimator: `"svm"`, `"r2"`, or any classifier object with `fit` and `predict`, copied for
            each pair: `GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 4, 8]}, cv=10)`
            with `split="all"` is the decision-tree form of the review of Carbonneau et al.
        balanced: Whether S_ij is the balanced accuracy (mean over classes).
        C: Inverse strength of the penalty of the support vector machine.
        split: `"stratified"` by each factor after a shuffle, `"shuffled"`, `"ordered"` (the first
            rows train), `"all"` (train and test on all rows), or (train_rows, test_rows). Not used
            by `"r2"`.
        train_share: Share of the rows that train, rounded up.
        seed: Seed of the shuffle.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.

    Returns:
        `Score`; per_factor: the gap of each factor; matrix: S.

    Raises:
        ValueError: Shapes that differ, fewer than 2 rows, nan or inf (names the column),
            continuous factors without `factor_bins`, no factor that varies.
        ImportError: Without scikit-learn (`"r2"` does not need it).

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
    sap(factors.astype("float32"), factors, estimator="r2")  # close to 1
    ```
    """
    check_number("C", C, above=True)
    check_split(split, train_share)
    if isinstance(estimator, str):
        check_choice("estimator", estimator, ("svm", "r2"))
    continuous = isinstance(estimator, str) and estimator == "r2"
    if continuous:
        inputs = checked_inputs(codes, factors, continuous=True)
        matrix = _squared_correlations(inputs)
    else:
        inputs = checked_inputs(codes, factors, factor_bins=factor_bins)
        classifier = _support_vector_machine(C) if isinstance(estimator, str) else estimator
        rate = balanced_accuracy if balanced else accuracy
        matrix = _prediction_rates(inputs, classifier, rate, split, train_share, seed)
    largest, second = top_two(matrix)
    name = estimator if isinstance(estimator, str) else type(estimator).__name__
    settings = {"estimator": name, "rows": len(inputs.codes)}
    if not continuous:
        settings |= {"balanced": bool(balanced), **split_settings(split, train_share)}
    if name == "svm":
        settings["C"] = C
    gaps = largest - second
    return Score(np.nanmean(gaps), gaps, matrix, settings=settings)


def _squared_correlations(inputs):
    codes = inputs.codes - inputs.codes.mean(axis=0)
    values = inputs.values - inputs.values.mean(axis=0)
    code_variance = np.mean(codes**2, axis=0)
    value_variance = np.mean(values**2, axis=0)
    covariance = codes.T @ values / len(codes)
    alive = code_variance > _SMALLEST_VARIANCE
    matrix = np.full(covariance.shape, np.nan)
    for j in inputs.kept:
        matrix[:, j] = np.where(
            alive, covariance[:, j] ** 2 / np.where(alive, code_variance, 1.0), 0.0
        )
        matrix[:, j] /= value_variance[j]
    return matrix


def _support_vector_machine(C):
    # The primal form has one solution and no random start; without a random_state, scikit-learn
    # would still draw from NumPy's global generator, which shuffles a running fit.
    return scikit_learn("svm", "sap with estimator='svm'").LinearSVC(
        C=C, class_weight="balanced", dual=False, random_state=0
    )


def _prediction_rates(inputs, classifier, rate, split, train_share, seed):
    n_codes = inputs.codes.shape[1]
    matrix = np.full((n_codes, len(inputs.sizes)), np.nan)
    for j in inputs.kept:
        classes = inputs.classes[:, j]
        train, test = split_rows(classes, split, train_share, seed)
        for i in range(n_codes):
            code = inputs.codes[:, [i]]
            fitted = FittedClassifier(classifier, code[train], classes[train])
            matrix[i, j] = rate(fitted.predict(code[test]), classes[test])
    return matrix
