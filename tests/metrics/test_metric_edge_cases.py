"""Constant codes and factors, single columns, few rows and missing classes."""

import warnings

import numpy as np
import pytest

from keras_vaezoo import metrics
from tests.metrics.quick_metrics import (
    ALL,
    BINNED,
    NEED_TWO_FACTORS,
    numbers,
    quick_dci,
    quick_factor_vae,
    sap_r2,
)


def append_constant(codes, value=0.3):
    return np.column_stack([codes, np.full(len(codes), value)])


class TestConstantCode:
    def test_information_is_exactly_zero(self, perfect):
        codes = append_constant(perfect.codes)
        table = metrics.mutual_information_table(codes, perfect.factors)
        assert not table.mutual_information[-1].any() and table.code_entropy[-1] == 0
        assert metrics.mig(table=table) == pytest.approx(1.0)
        assert metrics.jemmig(table=table) == pytest.approx(1.0)

    def test_modularity_counts_it_as_zero_or_leaves_it_out(self, perfect):
        codes = append_constant(perfect.codes)
        score = metrics.modularity(codes, perfect.factors)
        assert score == pytest.approx(0.75)
        np.testing.assert_allclose(score.per_code, [1, 1, 1, 0])
        active = metrics.modularity(codes, perfect.factors, active_only=True)
        assert active == pytest.approx(1.0)

    @pytest.mark.parametrize("scaling", ["standard", "unit_range"])
    def test_explicitness_survives_the_zero_deviation(self, perfect, scaling):
        codes = append_constant(perfect.codes, 0.1)
        score = metrics.explicitness(codes, perfect.factors, scaling=scaling)
        plain = metrics.explicitness(perfect.codes, perfect.factors, scaling=scaling)
        assert score == pytest.approx(plain, abs=1e-3) and not score.matrix[-1].any()

    @pytest.mark.parametrize("min_std", [0.0, 0.05])
    def test_never_active_in_factor_vae(self, perfect, min_std):
        codes = append_constant(perfect.codes, 0.1)
        score = quick_factor_vae(codes, perfect.factors, min_std=min_std)
        assert score == 1.0 and not score.matrix[-1].any() and score.per_code[-1] == 0

    def test_min_std_marks_a_collapsed_code_dead(self, cases):
        codes, factors, _ = cases["constant_dim"]
        plain = metrics.modularity(codes, factors)
        marked = metrics.modularity(codes, factors, min_std=0.05)
        assert plain.per_code[-1] > 0.5 and marked.per_code[-1] == 0
        assert metrics.mig(codes, factors, min_std=0.05) == pytest.approx(1.0)
        assert metrics.jemmig(codes, factors, min_std=0.05) == pytest.approx(1.0)

    def test_first_or_last_does_not_matter_to_dci(self, perfect):
        last = quick_dci(append_constant(perfect.codes), perfect.factors)
        first = quick_dci(append_constant(perfect.codes)[:, ::-1], perfect.factors)
        assert last.disentanglement > 0.95
        assert first.disentanglement == pytest.approx(last.disentanglement, abs=0.02)


class TestAllCodesConstant:
    codes = np.full((1200, 3), [0.1, -2.0, 7.3])

    @pytest.mark.parametrize("metric", [metrics.mig, metrics.modularity, metrics.sap, sap_r2])
    def test_zero(self, perfect, metric):
        assert metric(self.codes, perfect.factors) == 0.0

    def test_modularity_of_no_active_code_is_zero(self, perfect):
        assert metrics.modularity(self.codes, perfect.factors, active_only=True) == 0.0

    @pytest.mark.parametrize("estimator", ["gradient_boosting", "random_forest"])
    def test_dci_zero(self, perfect, estimator):
        scores = quick_dci(self.codes, perfect.factors, estimator=estimator)
        assert scores.disentanglement == scores.completeness == 0.0
        assert scores.informativeness == pytest.approx(np.mean([1 / 4, 1 / 5, 1 / 6]), abs=0.02)

    @pytest.mark.parametrize("strategy", ["multinomial", "ovr", "ovr_normalized"])
    def test_explicitness_is_chance(self, perfect, strategy):
        score = metrics.explicitness(self.codes, perfect.factors, strategy=strategy)
        assert score == pytest.approx(0.5) and score.train == pytest.approx(0.5)
        rescaled = metrics.explicitness(
            self.codes, perfect.factors, strategy=strategy, rescale=True
        )
        assert rescaled == pytest.approx(0.0, abs=1e-12)

    def test_factor_vae_is_zero_with_a_warning(self, perfect):
        with pytest.warns(UserWarning, match="No code is active"):
            score = quick_factor_vae(self.codes, perfect.factors)
        assert score == 0.0 and score.matrix.shape == (3, 3)

    def test_jemmig_rewards_it_with_a_warning(self, perfect):
        with pytest.warns(UserWarning, match="All codes are constant"):
            score = metrics.jemmig(self.codes, perfect.factors)
        sizes = np.array([4, 5, 6])
        assert score == pytest.approx(np.mean(np.log(20) / np.log(20 * sizes)), abs=1e-12)
        assert score == pytest.approx(0.653, abs=5e-4)


class TestConstantFactor:
    @pytest.mark.parametrize("metric", ALL)
    def test_dropped_with_a_warning_in_every_metric(self, perfect, metric):
        factors = np.insert(perfect.factors, 1, 9, axis=1)
        with pytest.warns(UserWarning, match=r"Factor columns \[1\]"):
            with_constant = numbers(metric(perfect.codes, factors))
        without = numbers(metric(perfect.codes, perfect.factors))
        for score, plain in zip(with_constant, without, strict=True):
            assert score == plain
            assert score.per_factor.shape == (4,) and np.isnan(score.per_factor[1])
            assert score.matrix.shape == (3, 4) and np.isnan(score.matrix[:, 1]).all()
            np.testing.assert_array_equal(np.delete(score.per_factor, 1), plain.per_factor)

    def test_the_warning_names_the_line_of_the_caller(self, perfect):
        factors = np.insert(perfect.factors, 1, 9, axis=1)
        for metric in (metrics.mig, metrics.sap, metrics.factor_vae_score):
            with pytest.warns(UserWarning) as caught:
                metric(perfect.codes, factors)
            assert [w.filename for w in caught] == [__file__]

    @pytest.mark.parametrize("metric", ALL)
    def test_error_if_none_is_left(self, perfect, metric):
        with pytest.raises(ValueError, match="more than one value"):
            metric(perfect.codes, np.ones((1200, 2), int))

    @pytest.mark.parametrize("metric", NEED_TWO_FACTORS)
    def test_does_not_count_as_the_second_factor(self, perfect, metric):
        factors = np.column_stack([perfect.factors[:, 0], np.ones(1200, int)])
        with (
            warnings.catch_warnings(),
            pytest.raises(ValueError, match="at least 2 factor"),
        ):
            warnings.simplefilter("ignore")
            metric(perfect.codes, factors)


class TestSingleColumns:
    def test_one_code_has_a_second_best_of_zero(self, perfect):
        codes = perfect.codes[:, :1]  # the code of the factor with six values
        assert metrics.mig(codes, perfect.factors) == pytest.approx(1 / 3)
        assert metrics.jemmig(codes, perfect.factors) == pytest.approx(0.512, abs=5e-4)
        for metric in (metrics.mig, metrics.jemmig, sap_r2):
            appended = metric(append_constant(codes), perfect.factors)
            assert metric(codes, perfect.factors) == pytest.approx(appended)
        score = metrics.sap(codes, perfect.factors)
        np.testing.assert_array_equal(score.per_factor, score.matrix[0])

    def test_one_code_has_no_completeness(self, perfect):
        with pytest.warns(UserWarning, match="completeness is not defined"):
            scores = quick_dci(perfect.codes[:, :1], perfect.factors)
        assert np.isnan(scores.completeness) and np.isfinite(scores.disentanglement)

    def test_one_factor_has_no_disentanglement(self, perfect):
        with pytest.warns(UserWarning, match="disentanglement is not defined"):
            scores = quick_dci(perfect.codes, perfect.factors[:, :1])
        assert np.isnan(scores.disentanglement) and scores.completeness > 0.95

    @pytest.mark.parametrize("metric", NEED_TWO_FACTORS)
    def test_one_factor_is_refused_where_it_means_nothing(self, perfect, metric):
        with pytest.raises(ValueError, match="Received: 1"):
            metric(perfect.codes, perfect.factors[:, :1])

    @pytest.mark.parametrize("metric", [metrics.mig, metrics.jemmig, metrics.explicitness, sap_r2])
    def test_one_factor_is_fine_elsewhere(self, perfect, metric):
        assert metric(perfect.codes, perfect.factors[:, :1]) > 0.9


class TestFewRows:
    @pytest.mark.parametrize("metric", BINNED)
    def test_warns_that_the_estimate_is_biased(self, metric):
        rng = np.random.default_rng(0)
        codes, factors = rng.normal(size=(79, 2)), rng.integers(0, 4, size=(79, 2))
        with pytest.warns(UserWarning, match="79 rows are fewer than"):
            metric(codes, factors)
        codes, factors = np.concatenate([codes, codes[:1]]), np.concatenate([factors, factors[:1]])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            metric(codes, factors)

    @pytest.mark.filterwarnings("ignore:.*rows are fewer")
    def test_two_rows_compute(self):
        codes, factors = np.array([[0.0], [1.0]]), np.array([[0], [1]])
        assert metrics.mig(codes, factors) == pytest.approx(1.0)

    def test_a_class_missing_in_the_test_rows_is_left_out_of_the_mean(self, perfect):
        rare = perfect.factors[:, 0] == 3
        factors = perfect.factors.copy()
        train = np.flatnonzero(rare | (np.arange(1200) % 2 == 0))
        test = np.setdiff1d(np.arange(1200), train)
        score = metrics.explicitness(perfect.codes, factors, split=(train, test))
        assert np.isfinite(score) and score > 0.99

    @pytest.mark.parametrize("strategy", ["multinomial", "ovr"])
    def test_a_class_missing_in_the_training_rows_is_ranked_by_chance(self, strategy):
        v = np.repeat([0, 1, 2], 100)[:, None]
        train = np.arange(200)
        test = np.arange(0, 300, 2)
        score = metrics.explicitness(v + 0.0, v, split=(train, test), strategy=strategy)
        ranked = metrics.explicitness(v[:200] + 0.0, v[:200], split="all", strategy=strategy)
        assert 0.5 < score < ranked

    def test_test_rows_of_one_class_are_refused(self):
        v = np.sort(np.random.default_rng(0).integers(0, 2, size=(100, 1)), axis=0)
        with pytest.raises(ValueError, match=r"one class of factors\[:, 0\]"):
            metrics.explicitness(v + 0.0, v, split="ordered")
