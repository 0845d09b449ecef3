"""Ranking, splits and predictors against scikit-learn used directly."""

import numpy as np
import pytest

from keras_vaezoo import metrics
from keras_vaezoo.metrics._explicitness import roc_auc
from keras_vaezoo.metrics._row_splits import check_split, draw_rows, split_rows

linear_model = pytest.importorskip("sklearn.linear_model")
skmetrics = pytest.importorskip("sklearn.metrics")
svm = pytest.importorskip("sklearn.svm")
tree = pytest.importorskip("sklearn.tree")


@pytest.mark.parametrize("decimals", [1, 8])
def test_auc_equals_scikit_learn_with_and_without_ties(decimals):
    rng = np.random.default_rng(decimals)
    for _ in range(20):
        positive = rng.random(60) < 0.3
        scores = np.round(rng.normal(size=60) + positive, decimals)
        assert roc_auc(positive, scores) == pytest.approx(
            skmetrics.roc_auc_score(positive, scores), abs=1e-12
        )


def test_explicitness_equals_scikit_learn_step_by_step(entangled):
    codes, factors = entangled
    half = 750
    mean, std = codes[:half].mean(0), codes[:half].std(0)
    aucs = []
    for v in factors.T:
        model = linear_model.LogisticRegression(max_iter=1000)
        model.fit((codes[:half] - mean) / std, v[:half])
        p = model.predict_proba((codes[half:] - mean) / std)
        aucs.append(skmetrics.roc_auc_score(v[half:], p, multi_class="ovr", average="macro"))
    score = metrics.explicitness(codes, factors, split="ordered")
    np.testing.assert_allclose(score.per_factor, aucs, atol=1e-9)
    assert score == pytest.approx(np.mean(aucs))
    rescaled = metrics.explicitness(codes, factors, split="ordered", rescale=True)
    assert rescaled == pytest.approx(2 * np.mean(aucs) - 1)
    assert rescaled.train == pytest.approx(2 * score.train - 1)


def test_options_of_the_classifier_reach_it(entangled):
    codes, factors = entangled
    rows = np.r_[np.arange(750), 751 + np.flatnonzero(factors[751:, 0] == 0)]
    unbalanced = codes[rows], factors[rows]
    low, high = unbalanced[0].min(0), unbalanced[0].max(0)
    model = linear_model.LogisticRegression(C=0.01, class_weight="balanced", max_iter=1000)
    x = (unbalanced[0] - low) / (high - low)
    p = model.fit(x, unbalanced[1][:, 0]).predict_proba(x)
    expected = skmetrics.roc_auc_score(unbalanced[1][:, 0], p, multi_class="ovr")
    score = metrics.explicitness(
        *unbalanced, C=0.01, class_weight="balanced", scaling="unit_range", split="all"
    )
    assert score.per_factor[0] == pytest.approx(expected, abs=1e-9)


def test_one_vs_rest_cannot_find_a_class_in_the_middle(perfect):
    codes, factors, _ = perfect
    by_strategy = {
        s: metrics.explicitness(codes, factors, strategy=s)
        for s in ("ovr", "ovr_normalized", "multinomial")
    }
    assert by_strategy["ovr"] == pytest.approx(0.81, abs=0.01)
    assert by_strategy["ovr"] < by_strategy["ovr_normalized"] <= by_strategy["multinomial"]


def test_weights_show_which_codes_carry_a_factor(perfect):
    matrix = metrics.explicitness(perfect.codes, perfect.factors).matrix
    np.testing.assert_array_equal(matrix.argmax(axis=0), [1, 2, 0])


def test_sap_by_support_vectors_equals_scikit_learn(entangled):
    codes, factors = entangled
    score = metrics.sap(codes, factors, split="ordered", C=0.1)
    for i, j in [(0, 0), (1, 2), (3, 1)]:
        model = svm.LinearSVC(C=0.1, class_weight="balanced", dual=False)
        model.fit(codes[:750, [i]], factors[:750, j])
        assert score.matrix[i, j] == model.score(codes[750:, [i]], factors[750:, j])
    ranked = np.sort(score.matrix, axis=0)
    np.testing.assert_allclose(score.per_factor, ranked[-1] - ranked[-2])


def test_sap_by_correlation_equals_numpy(entangled):
    codes, factors = entangled
    expected = np.corrcoef(codes.T, factors.T)[:4, 4:] ** 2
    np.testing.assert_allclose(metrics.sap(codes, factors, estimator="r2").matrix, expected)
    tiny = codes * [1e-7, 1, 1, 1]  # variance below 1e-12
    assert not metrics.sap(tiny, factors, estimator="r2").matrix[0].any()


def test_sap_with_a_classifier_of_ones_own_finds_the_middle_classes(perfect):
    score = metrics.sap(perfect.codes, perfect.factors, estimator=tree.DecisionTreeClassifier())
    np.testing.assert_allclose(score.matrix.max(axis=0), 1.0)
    assert score.settings["estimator"] == "DecisionTreeClassifier"


def test_balanced_accuracy_equals_scikit_learn(entangled):
    codes, factors = entangled
    v = np.where(factors[:, :1] == 2, 1, 0)
    score = metrics.sap(codes, v, split="ordered", balanced=True)
    model = svm.LinearSVC(C=0.01, class_weight="balanced", dual=False)
    predicted = model.fit(codes[:750, :1], v[:750, 0]).predict(codes[750:, :1])
    expected = skmetrics.balanced_accuracy_score(v[750:, 0], predicted)
    assert score.matrix[0, 0] == pytest.approx(expected)


class TestSplits:
    labels = np.sort(np.random.default_rng(0).integers(0, 7, size=101))

    @pytest.mark.parametrize("split", ["stratified", "shuffled", "ordered"])
    @pytest.mark.parametrize("share", [0.5, 2 / 3, 0.1])
    def test_every_row_is_in_one_part(self, split, share):
        train, test = split_rows(self.labels, split, share, seed=3)
        assert len(train) == np.ceil(101 * share)
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(101))

    def test_stratified_shares_out_each_class(self):
        train, _ = split_rows(self.labels, "stratified", 0.5, seed=0)
        difference = np.bincount(self.labels[train]) - np.bincount(self.labels) / 2
        assert np.abs(difference).max() <= 0.5

    def test_seeds_differ_and_repeat(self):
        one, again, other = (
            split_rows(self.labels, "stratified", 0.5, seed)[0] for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(one, again)
        assert set(one) != set(other)

    def test_ordered_and_all(self):
        train, test = split_rows(self.labels, "ordered", 0.5, seed=0)
        assert train.tolist() == list(range(51)) and test.tolist() == list(range(51, 101))
        train, test = split_rows(self.labels, "all", 0.5, seed=0)
        assert len(train) == len(test) == 101

    def test_rows_of_ones_own(self):
        mask = np.arange(101) % 3 == 0
        train, test = split_rows(self.labels, (slice(0, 10), mask), 0.5, seed=0)
        assert train.tolist() == list(range(10)) and test.tolist() == list(range(0, 101, 3))
        with pytest.raises(ValueError, match="0 test rows"):
            split_rows(self.labels, ([1, 2], []), 0.5, seed=0)
        for wrong in ([101], np.ones(7, bool)):
            with pytest.raises(ValueError, match=r"rows out of 0 to 100, or masks of 101 rows"):
                split_rows(self.labels, ([1], wrong), 0.5, seed=0)

    @pytest.mark.parametrize(
        ("split", "received"),
        [
            (([1], [2], [3]), "a tuple of 3"),
            (np.array([[1], [2]]), "a ndarray"),
            ("(train_rows, test_rows)", "'\\(train_rows, test_rows\\)'"),
        ],
    )
    def test_what_is_no_split_is_refused(self, split, received):
        with pytest.raises(ValueError, match=f"a pair .*Received: split={received}"):
            check_split(split, 0.5)

    def test_too_few_rows_for_two_parts(self):
        with pytest.raises(ValueError, match="1 training and 0 test"):
            split_rows(np.zeros(1), "ordered", 0.5, seed=0)

    def test_subset_of_rows(self):
        rows = draw_rows(50, 20, seed=0)
        assert len(set(rows)) == 20 and (np.diff(rows) > 0).all()
        assert len(draw_rows(50, None, 0)) == len(draw_rows(50, 60, 0)) == 50
