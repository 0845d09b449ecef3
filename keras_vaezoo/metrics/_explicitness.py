"""Explicitness (Ridgeway & Mozer 2018)."""

import numpy as np

from keras_vaezoo.metrics._classifiers import (
    FittedClassifier,
    scale_to_unit_range,
    scikit_learn,
    standardize,
)
from keras_vaezoo.metrics._inputs import check_choice, check_integer, check_number, checked_inputs
from keras_vaezoo.metrics._row_splits import check_split, split_rows, split_settings
from keras_vaezoo.metrics._score import Score

_SCALINGS = {"standard": standardize, "unit_range": scale_to_unit_range}


def explicitness(
    codes,
    factors,
    *,
    strategy="multinomial",
    rescale=False,
    C=1.0,
    class_weight=None,
    scaling="standard",
    max_iter=1000,
    split="stratified",
    train_share=0.5,
    seed=0,
    factor_bins=None,
):
    """Explicitness: how well a linear classifier on all codes ranks the classes of each factor.

        E_j = mean over classes c of AUC(v_j = c, s_c(z)),    explicitness = mean over j of E_j

    s_c is the score of class c on held-out rows, AUC the area under the ROC curve: 0.5 is chance,
    1 is best. Ridgeway & Mozer, "Learning Deep Disentangled Embeddings with the F-Statistic Loss"
    (2018). The mean runs over the classes that occur in the test rows.

    What the classifier is changes the number, so name the strategy with it: a class in the middle
    of an ordinal code cannot be found by a one-vs-rest linear score, and a perfect code scores
    1.00 with `"multinomial"` but 0.81 with `"ovr"`. The defaults (multinomial, C = 1, standardised
    codes, test rows, raw AUC) are what disentanglement_lib computes with a scikit-learn of today.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes.
        strategy: `"multinomial"` softmax regression; `"ovr"` one logistic regression a class;
            `"ovr_normalized"` the same, probabilities divided by their sum over the classes.
        rescale: Whether to return 2 AUC - 1, which is 0 by chance.
        C: Inverse strength of the L2 penalty.
        class_weight: `None`, or `"balanced"` to weigh classes by inverse frequency.
        scaling: `"standard"`: by the training mean and standard deviation; `"unit_range"`: the
            training range to [0, 1]. A code constant in the training rows is only shifted.
        max_iter: Largest number of solver iterations.
        split: `"stratified"` by each factor after a shuffle, `"shuffled"`, `"ordered"` (the first
            rows train), `"all"` (train and test on all rows), or (train_rows, test_rows).
        train_share: Share of the rows that train, rounded up.
        seed: Seed of the shuffle.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.

    Returns:
        `Score`; per_factor: E_j; matrix: root mean square over classes of the weight of code i in
        factor j's classifier; train: the score on the training rows.

    Raises:
        ValueError: Shapes that differ, fewer than 2 rows, nan or inf (names the column),
            continuous factors without `factor_bins`, no factor that varies, test rows of a single
            class.
        ImportError: Without scikit-learn.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
    explicitness(factors.astype("float32"), factors)  # close to 1
    ```
    """
    check_choice("strategy", strategy, tuple(_STRATEGIES))
    check_choice("class_weight", class_weight, (None, "balanced"))
    check_choice("scaling", scaling, tuple(_SCALINGS))
    check_number("C", C, above=True)
    check_integer("max_iter", max_iter, 1)
    check_split(split, train_share)
    inputs = checked_inputs(codes, factors, factor_bins=factor_bins)
    classifier = scikit_learn("linear_model", "explicitness").LogisticRegression(
        C=C, class_weight=class_weight, max_iter=max_iter
    )
    per_factor = np.full(len(inputs.sizes), np.nan)
    per_factor_train = per_factor.copy()
    matrix = np.full((inputs.codes.shape[1], len(inputs.sizes)), np.nan)
    for j in inputs.kept:
        classes = inputs.classes[:, j]
        train, test = split_rows(classes, split, train_share, seed)
        x_train, x_test = _SCALINGS[scaling](inputs.codes[train], inputs.codes[test])
        scores, weights = _STRATEGIES[strategy](
            classifier, x_train, classes[train], inputs.sizes[j]
        )
        per_factor[j] = _mean_auc(classes[test], scores(x_test), j)
        per_factor_train[j] = _mean_auc_or_chance(classes[train], scores(x_train))
        matrix[:, j] = np.sqrt(np.mean(weights**2, axis=1))
    if rescale:
        per_factor, per_factor_train = 2 * per_factor - 1, 2 * per_factor_train - 1
    settings = {"strategy": strategy, "rescale": bool(rescale), "C": C, "scaling": scaling}
    settings |= {"class_weight": class_weight, "rows": len(inputs.codes)}
    settings |= split_settings(split, train_share)
    return Score(
        np.nanmean(per_factor),
        per_factor,
        matrix,
        train=np.nanmean(per_factor_train),
        settings=settings,
    )


def _multinomial(classifier, codes, classes, n_classes):
    fitted = FittedClassifier(classifier, codes, classes)
    return (
        lambda x: fitted.probabilities(x, n_classes),
        fitted.weights(codes.shape[1], n_classes),
    )


def _one_vs_rest(classifier, codes, classes, n_classes):
    fits = [FittedClassifier(classifier, codes, classes == c) for c in range(n_classes)]
    weights = np.stack([fit.weights(codes.shape[1], 2)[:, 1] for fit in fits], axis=1)
    return lambda x: np.stack([fit.probabilities(x, 2)[:, 1] for fit in fits], axis=1), weights


def _one_vs_rest_normalized(classifier, codes, classes, n_classes):
    scores, weights = _one_vs_rest(classifier, codes, classes, n_classes)

    def normalized(x):
        raw = scores(x)
        total = raw.sum(axis=1, keepdims=True)
        return raw / np.where(total > 0, total, 1.0)

    return normalized, weights


_STRATEGIES = {
    "multinomial": _multinomial,
    "ovr": _one_vs_rest,
    "ovr_normalized": _one_vs_rest_normalized,
}


def roc_auc(positive, scores):
    """Area under the ROC curve: the chance that a positive row outranks a negative one.

    Args:
        positive: (n,) booleans, both values present.
        scores: (n,) numbers; ties count one half.
    """
    negatives = np.sort(scores[~positive])
    below = np.searchsorted(negatives, scores[positive], side="left")
    not_above = np.searchsorted(negatives, scores[positive], side="right")
    return float(np.mean(below + not_above) / (2 * len(negatives)))


def _mean_auc(classes, scores, j):
    present = np.unique(classes)
    if len(present) < 2:
        raise ValueError(
            "The test rows must hold at least two classes of every factor; use "
            "split='stratified', more rows, or split='all'. "
            f"Received: one class of factors[:, {j}] in {len(classes)} test rows"
        )
    return np.mean([roc_auc(classes == c, scores[:, c]) for c in present])


def _mean_auc_or_chance(classes, scores):
    return 0.5 if len(np.unique(classes)) < 2 else _mean_auc(classes, scores, None)
