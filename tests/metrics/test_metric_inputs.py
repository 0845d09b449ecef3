"""Values, types, labels and settings: what is taken, what is refused, and how it is named."""

import sys

import keras
import numpy as np
import pytest

from keras_vaezoo import metrics
from tests.metrics.quick_metrics import (
    ALL,
    BINNED,
    DISCRETE,
    numbers,
    quick_beta_vae,
    quick_dci,
    quick_factor_vae,
    sap_r2,
)


class TestBadValues:
    @pytest.mark.parametrize("metric", ALL)
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_not_finite_codes_name_the_column(self, perfect, metric, bad):
        codes = perfect.codes.copy()
        codes[17, 2] = bad
        with pytest.raises(ValueError, match=r"codes\[:, j\] for j=\[2\]"):
            metric(codes, perfect.factors)

    @pytest.mark.parametrize("metric", ALL)
    def test_not_finite_factors_name_the_column(self, perfect, metric):
        factors = perfect.factors.astype(float)
        factors[3, 1] = np.nan
        with pytest.raises(ValueError, match=r"factors\[:, j\] for j=\[1\]"):
            metric(perfect.codes, factors)

    @pytest.mark.parametrize("metric", ALL)
    @pytest.mark.parametrize(
        ("codes", "factors"),
        [
            (np.zeros((5, 2)), np.zeros((4, 2), int)),
            (np.zeros(5), np.zeros((5, 2), int)),
            (np.zeros((5, 2)), np.zeros(5, int)),
            (np.zeros((5, 2, 1)), np.zeros((5, 2), int)),
            (np.zeros((1, 2)), np.zeros((1, 2), int)),
            (np.zeros((0, 2)), np.zeros((0, 2), int)),
            (np.zeros((5, 0)), np.zeros((5, 2), int)),
            (np.zeros((5, 2)), np.zeros((5, 0), int)),
        ],
    )
    def test_wrong_shapes_are_both_named(self, metric, codes, factors):
        with pytest.raises(ValueError) as error:
            metric(codes, factors)
        assert f"codes.shape={codes.shape}" in str(error.value)
        assert f"factors.shape={factors.shape}" in str(error.value)

    def test_class_names_and_complex_codes_are_refused(self, perfect):
        names = np.array(["a", "b"])[perfect.factors % 2]
        with pytest.raises(ValueError, match="return_inverse"):
            metrics.mig(perfect.codes, names)
        with pytest.raises(ValueError, match="complex128"):
            metrics.mig(perfect.codes * 1j, perfect.factors)


class TestContinuousFactors:
    def test_integer_valued_floats_are_classes(self, perfect):
        factors = perfect.factors.astype("float32")
        for metric in DISCRETE:
            plain = numbers(metric(perfect.codes, perfect.factors))
            assert numbers(metric(perfect.codes, factors)) == plain

    @pytest.mark.parametrize("metric", DISCRETE)
    def test_others_need_factor_bins(self, perfect, metric):
        factors = perfect.factors.astype(float)
        factors[:, 1] += 0.25
        with pytest.raises(ValueError, match=r"factor_bins=20.*factors\[:, 1\]"):
            metric(perfect.codes, factors)

    def test_factor_bins_bin_only_those_columns(self):
        rng = np.random.default_rng(0)
        smooth, classes = rng.uniform(size=5000), rng.integers(0, 4, size=5000)
        factors = np.column_stack([smooth, classes])
        codes = np.column_stack([3 * smooth - 1, 0.7 * classes])
        by_hand = np.column_stack([metrics.discretize(smooth[:, None], 20)[:, 0], classes])
        score = metrics.mig(codes, factors, factor_bins=20)
        assert score == metrics.mig(codes, by_hand) > 0.99

    def test_correlation_takes_them_as_they_are(self):
        v = np.random.default_rng(0).normal(size=(500, 2))
        expected = [1 - np.corrcoef(v.T)[0, 1] ** 2] * 2
        np.testing.assert_allclose(sap_r2(2 * v + 1, v).per_factor, expected)


class TestTypesAndLabels:
    @pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32"])
    @pytest.mark.parametrize("metric", ALL)
    def test_codes_of_any_type_compute_in_float64(self, perfect, metric, dtype):
        codes = np.round(4 * perfect.codes).astype(dtype)
        assert numbers(metric(codes, perfect.factors)) == numbers(
            metric(codes.astype("float64"), perfect.factors)
        )

    @pytest.mark.parametrize("metric", DISCRETE)
    def test_labels_may_be_negative_and_far_apart(self, perfect, metric):
        labels = np.array([-(10**9), -3, 0, 10**6, 10**12, 10**15])
        relabelled = numbers(metric(perfect.codes, labels[perfect.factors]))
        assert relabelled == numbers(metric(perfect.codes, perfect.factors))

    def test_booleans_and_unsigned_integers_are_classes(self, perfect):
        two = perfect.factors % 2
        expected = metrics.mig(perfect.codes, two)
        assert metrics.mig(perfect.codes, two.astype(bool)) == expected
        assert metrics.mig(perfect.codes, two.astype("uint8")) == expected

    def test_rows_sorted_by_factor_are_shuffled_before_the_split(self, perfect):
        order = np.lexsort(perfect.factors.T)
        codes, factors = perfect.codes[order], perfect.factors[order]
        assert metrics.explicitness(codes, factors) > 0.99
        assert metrics.sap(codes, factors) == pytest.approx(0.21, abs=0.02)
        assert quick_dci(codes, factors).informativeness > 0.95
        assert metrics.explicitness(codes, factors, split="shuffled") > 0.99

    def test_lists_and_tensors_of_the_backend(self, perfect):
        expected = metrics.mig(perfect.codes.astype("float32"), perfect.factors)
        codes = keras.ops.convert_to_tensor(perfect.codes.astype("float32"))
        factors = keras.ops.convert_to_tensor(perfect.factors.astype("int32"))
        assert metrics.mig(codes, factors) == expected
        assert metrics.mig(keras.Variable(codes), factors) == expected
        assert metrics.mig(codes, perfect.factors.tolist()) == expected
        with pytest.raises(ValueError, match=r"codes.shape=\(3,\)"):
            metrics.mig(codes[0], factors)

    def test_torch_tensors_that_carry_gradients(self, perfect):
        torch = pytest.importorskip("torch")
        codes = torch.tensor(perfect.codes, requires_grad=True)
        factors = torch.tensor(perfect.factors)
        assert metrics.mig(codes, factors) == pytest.approx(1.0)


class TestWithoutScikitLearn:
    @pytest.fixture
    def no_scikit_learn(self, monkeypatch):
        for module in ("svm", "linear_model", "ensemble"):
            monkeypatch.setitem(sys.modules, f"sklearn.{module}", None)

    @pytest.mark.parametrize(
        "metric", [metrics.explicitness, metrics.sap, quick_dci, quick_beta_vae]
    )
    def test_says_how_to_install_it(self, no_scikit_learn, perfect, metric):
        with pytest.raises(ImportError, match=r"pip install 'keras-vaezoo\[metrics\]'"):
            metric(perfect.codes, perfect.factors)

    @pytest.mark.parametrize("metric", [*BINNED, sap_r2, quick_factor_vae])
    def test_the_others_do_not_need_it(self, no_scikit_learn, perfect, metric):
        assert metric(perfect.codes, perfect.factors) > 0.99


class TestSettings:
    @pytest.mark.parametrize(
        ("metric", "settings"),
        [
            (metrics.mig, {"bins": 0}),
            (metrics.mig, {"bins": 20.0}),
            (metrics.mig, {"normalize": "both"}),
            (metrics.mig, {"factor_bins": 1}),
            (metrics.modularity, {"min_std": -1}),
            (metrics.explicitness, {"strategy": "ovo"}),
            (metrics.explicitness, {"C": 0}),
            (metrics.explicitness, {"scaling": "log"}),
            (metrics.explicitness, {"class_weight": "even"}),
            (metrics.explicitness, {"split": "first"}),
            (metrics.explicitness, {"train_share": 1.0}),
            (metrics.explicitness, {"train_share": 0}),
            (metrics.sap, {"estimator": "tree"}),
            (metrics.sap, {"C": float("nan")}),
            (metrics.dci, {"estimator": "xgb"}),
            (metrics.dci, {"estimator": "lasso"}),
            (metrics.dci, {"informativeness": "r2"}),
            (metrics.dci, {"n_estimators": 0}),
            (metrics.dci, {"max_rows": 1}),
            (metrics.dci, {"n_jobs": 0}),
            (metrics.factor_vae_score, {"batch_size": 1}),
            (metrics.factor_vae_score, {"train_votes": 0}),
            (metrics.factor_vae_score, {"min_std": -0.1}),
            (metrics.factor_vae_score, {"value_draw": "any"}),
            (metrics.factor_vae_score, {"factor_sizes": (2, 3)}),
            (metrics.beta_vae_score, {"eval_points": 0}),
            (metrics.beta_vae_score, {"C": -1}),
        ],
    )
    def test_bad_settings_are_refused_by_name(self, perfect, metric, settings):
        name = next(iter(settings))
        with pytest.raises(ValueError, match=f"Received: .*{name}|informativeness='accuracy'"):
            metric(perfect.codes, perfect.factors, **settings)
