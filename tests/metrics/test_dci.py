"""DCI: entropies by scipy, estimators by scikit-learn used directly."""

import numpy as np
import pytest

from keras_vaezoo import metrics

stats = pytest.importorskip("scipy.stats")
ensemble = pytest.importorskip("sklearn.ensemble")
linear_model = pytest.importorskip("sklearn.linear_model")


@pytest.mark.parametrize("seed", range(10))
def test_entropies_equal_scipy(seed):
    rng = np.random.default_rng(seed)
    importance = rng.random((rng.integers(2, 7), rng.integers(2, 6))) ** 3
    per_code = 1 - stats.entropy(importance, base=importance.shape[1], axis=1)
    per_factor = 1 - stats.entropy(importance, base=importance.shape[0], axis=0)
    disentanglement, completeness = metrics.dci_from_importance(importance)
    np.testing.assert_allclose(disentanglement.per_code, per_code)
    np.testing.assert_allclose(completeness.per_factor, per_factor)
    total = importance.sum()
    assert disentanglement == pytest.approx((importance.sum(1) / total) @ per_code)
    assert completeness == pytest.approx((importance.sum(0) / total) @ per_factor)
    plain = metrics.dci_from_importance(importance, weighted_completeness=False)[1]
    assert plain == pytest.approx(per_factor.mean())
    by_factor = (importance.sum(0) / total) @ disentanglement.per_factor
    assert by_factor == pytest.approx(disentanglement)


def test_an_unused_code_in_any_place_leaves_disentanglement_alone():
    identity = np.eye(3)
    for place in range(4):
        disentanglement, _ = metrics.dci_from_importance(np.insert(identity, place, 0, axis=0))
        assert disentanglement == pytest.approx(1.0)


@pytest.mark.parametrize(
    "importance", [[1.0, 2.0], np.zeros((0, 2)), [[-1.0, 1.0]], [[np.nan, 1.0], [1.0, 1.0]]]
)
def test_importances_that_are_refused(importance):
    with pytest.raises(ValueError, match="importance"):
        metrics.dci_from_importance(importance)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gradient_boosting", ensemble.GradientBoostingClassifier),
        ("random_forest", ensemble.RandomForestClassifier),
    ],
)
def test_importances_and_accuracy_equal_scikit_learn(entangled, name, model):
    codes, factors = entangled
    mean, std = codes[:750].mean(0), codes[:750].std(0)
    train, test = (codes[:750] - mean) / std, (codes[750:] - mean) / std
    fitted = model(n_estimators=4, random_state=5).fit(train, factors[:750, 1])
    scores = metrics.dci(codes, factors, estimator=name, n_estimators=4, seed=5, split="ordered")
    np.testing.assert_allclose(
        scores.informativeness.matrix[:, 1], fitted.feature_importances_, atol=1e-9
    )
    assert scores.informativeness.per_factor[1] == fitted.score(test, factors[750:, 1])
    expected = metrics.dci_from_importance(scores.informativeness.matrix)
    assert (scores.disentanglement, scores.completeness) == expected
    assert scores.disentanglement.settings["estimator"] == name


def test_lasso_regression_of_the_original(entangled):
    codes, factors = entangled
    scores = metrics.dci(
        codes, factors, estimator="lasso", informativeness="nrmse", split="ordered"
    )
    x, y = codes, factors[:, 0]
    x_mean, x_std, y_mean, y_std = (f(a[:750], axis=0) for a in (x, y) for f in (np.mean, np.std))
    model = linear_model.Lasso(alpha=0.02).fit(
        (x[:750] - x_mean) / x_std, (y[:750] - y_mean) / y_std
    )
    np.testing.assert_allclose(scores.completeness.matrix[:, 0], np.abs(model.coef_), atol=1e-6)
    predicted = model.predict((x[750:] - x_mean) / x_std) * y_std + y_mean
    expected = np.sqrt(np.mean((predicted - y[750:]) ** 2)) / np.std(y[750:])
    assert scores.informativeness.per_factor[0] == pytest.approx(expected)
    bounded = metrics.dci(
        codes, factors, estimator="lasso", informativeness="bounded_mse", split="ordered"
    ).informativeness
    mse = np.mean((predicted - y[750:]) ** 2) / np.ptp(y) ** 2
    assert bounded.per_factor[0] == pytest.approx(max(0, 1 - 12 * mse))


def test_regression_takes_continuous_factors():
    v = np.random.default_rng(0).uniform(size=(400, 2))
    scores = metrics.dci(
        v @ np.diag([3.0, -2.0]),
        v,
        estimator="random_forest",
        n_estimators=5,
        informativeness="bounded_mse",
    )
    assert min(scores) > 0.9


def test_an_estimator_of_ones_own_is_copied(entangled):
    own = ensemble.RandomForestClassifier(n_estimators=3, random_state=0)
    scores = metrics.dci(*entangled, estimator=own, max_rows=400)
    assert not hasattr(own, "estimators_")
    assert scores.completeness.settings["estimator"] == "RandomForestClassifier"
    linear = linear_model.LogisticRegression(max_iter=500)
    matrix = metrics.dci(*entangled, estimator=linear).completeness.matrix
    assert matrix.shape == (4, 3) and (matrix > 0).all()


def test_processes_and_seeds_give_the_same_numbers(entangled):
    settings = {"n_estimators": 2, "max_rows": 200}
    one = metrics.dci(*entangled, **settings)
    assert metrics.dci(*entangled, **settings) == one
    assert metrics.dci(*entangled, n_jobs=2, **settings) == one
    assert metrics.dci(*entangled, seed=1, **settings) != one


def test_max_rows_bounds_the_rows(entangled):
    scores = metrics.dci(*entangled, n_estimators=1, max_rows=300)
    assert scores.informativeness.settings["rows"] == 300


def test_row_numbers_and_a_drawn_subset_exclude_each_other(entangled):
    rows = (range(700), range(700, 1400))
    with pytest.raises(ValueError, match="give one of the two"):
        metrics.dci(*entangled, split=rows, max_rows=600)
    scores = metrics.dci(*entangled, split=rows, n_estimators=2)
    assert scores.informativeness.settings["split"] == "(train_rows, test_rows)"


def test_settings_name_what_changes_the_number(entangled):
    forest = pytest.importorskip("sklearn.ensemble").RandomForestClassifier(3, random_state=0)
    own = metrics.dci(*entangled, estimator=forest, max_rows=200).completeness.settings
    assert own["estimator"] == "RandomForestClassifier" and "n_estimators" not in own
    assert own["informativeness"] == "accuracy" and own["weighted_completeness"] is True
    assert (own["split"], own["train_share"]) == ("stratified", 0.5)


def test_a_search_over_settings_gives_its_best_estimator(entangled):
    search = pytest.importorskip("sklearn.model_selection").GridSearchCV
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    scores = metrics.dci(*entangled, estimator=search(tree(random_state=0), {"max_depth": [3]}))
    alone = metrics.dci(*entangled, estimator=tree(max_depth=3, random_state=0))
    assert scores.disentanglement == alone.disentanglement
    neighbours = pytest.importorskip("sklearn.neighbors").KNeighborsClassifier()
    with pytest.raises(ValueError, match="Received: KNeighborsClassifier, which has neither"):
        metrics.dci(*entangled, estimator=neighbours, max_rows=200)
