"""What a metric must not notice, and what it is known to notice."""

import numpy as np
import pytest

from keras_vaezoo import metrics


def explicitness(codes, factors):
    return metrics.explicitness(codes, factors, split="ordered")


def sap_svm(codes, factors):
    return metrics.sap(codes, factors, split="ordered")


def sap_r2(codes, factors):
    return metrics.sap(codes, factors, estimator="r2")


def dci(codes, factors):
    return metrics.dci(codes, factors, n_estimators=4, split="ordered")


def factor_vae(codes, factors):
    return metrics.factor_vae_score(codes, factors, batch_size=8, train_votes=3000)


def beta_vae(codes, factors):
    return metrics.beta_vae_score(codes, factors, batch_size=4, train_points=3000, eval_points=3000)


EXACT, SOLVER, TREES, DRAWS = 1e-9, 2e-3, 0.02, 0.04
INFORMATION = {m: EXACT for m in (metrics.mig, metrics.modularity, metrics.jemmig)}


def check_same(metric, tolerance, before, after):
    """Compares the scores of two (codes, factors); for DCI all three."""
    old, new = metric(*before), metric(*after)
    olds, news = (old, new) if isinstance(old, tuple) else ([old], [new])
    for a, b in zip(olds, news, strict=True):
        assert 0.02 < a < 0.98  # at its ends a metric would notice nothing
        assert b == pytest.approx(a, abs=tolerance)


def by_metric(tolerances):
    return pytest.mark.parametrize(
        ("metric", "tolerance"), [pytest.param(m, t, id=m.__name__) for m, t in tolerances.items()]
    )


@by_metric(
    INFORMATION
    | {explicitness: SOLVER, sap_svm: SOLVER, sap_r2: EXACT}
    | {dci: TREES, factor_vae: DRAWS, beta_vae: DRAWS}
)
def test_order_of_codes_and_factors(entangled, metric, tolerance):
    codes, factors = entangled
    check_same(metric, tolerance, entangled, (codes[:, [2, 0, 3, 1]], factors[:, [2, 0, 1]]))


@by_metric(INFORMATION | {explicitness: SOLVER, sap_r2: EXACT} | {dci: TREES, factor_vae: DRAWS})
def test_affine_maps_of_a_code(entangled, metric, tolerance):
    codes, factors = entangled
    moved = codes * [2.5, -0.7, 30.0, -1.1] + [1.0, -20.0, 0.3, 0.0]
    check_same(metric, tolerance, entangled, (moved, factors))


def test_shift_and_sign_of_a_code_in_beta_vae(entangled):
    codes, factors = entangled
    check_same(beta_vae, 1e-3, entangled, (codes * [1, -1, 1, -1] + [5, 0, -3, 1], factors))


@by_metric(
    INFORMATION
    | {explicitness: SOLVER, sap_svm: SOLVER}
    | {dci: TREES, factor_vae: DRAWS, beta_vae: DRAWS}
)
def test_labels_of_the_classes(entangled, metric, tolerance):
    codes, factors = entangled
    relabelled = np.array([7, -2, 40, 3, 0])[factors]
    check_same(metric, tolerance, entangled, (codes, relabelled))


def repeated_rows(entangled):
    return tuple(np.repeat(x, 2, axis=0) for x in entangled)


@by_metric(
    INFORMATION
    | {explicitness: 5e-3, sap_svm: 0.02, sap_r2: EXACT}
    | {dci: TREES, factor_vae: DRAWS, beta_vae: DRAWS}
)
def test_repeated_rows(entangled, metric, tolerance):
    check_same(metric, tolerance, entangled, repeated_rows(entangled))


@by_metric(
    {metrics.mig: EXACT, metrics.jemmig: EXACT, explicitness: SOLVER}
    | {sap_svm: SOLVER, sap_r2: EXACT, factor_vae: DRAWS, beta_vae: DRAWS}
)
def test_an_appended_constant_code(entangled, metric, tolerance):
    codes, factors = entangled
    check_same(metric, tolerance, entangled, (np.insert(codes, 1, 0.3, axis=1), factors))


def test_an_appended_constant_code_in_modularity_and_dci(entangled):
    codes, factors = entangled
    appended = np.insert(codes, 1, 0.3, axis=1), factors
    before, after = metrics.modularity(*entangled), metrics.modularity(*appended)
    assert after == pytest.approx(before * 4 / 5)
    before, after = dci(*entangled), dci(*appended)
    assert after.disentanglement == pytest.approx(before.disentanglement, abs=TREES)
    assert after.completeness > before.completeness + 0.02


def test_monotone_maps_do_not_change_trees(entangled):
    codes, factors = entangled
    check_same(dci, TREES, entangled, (np.exp(codes), factors))


@pytest.mark.parametrize(
    ("metric", "change"),
    [
        (metrics.mig, np.exp),
        (metrics.jemmig, np.exp),
        (metrics.modularity, np.exp),
        (sap_r2, np.exp),
        (sap_svm, lambda z: z * [1, 0.02, 1, 1]),
        (beta_vae, lambda z: 0.01 * z),
    ],
)
def test_documented_changes_are_noticed(entangled, metric, change):
    codes, factors = entangled
    assert abs(metric(change(codes), factors) - metric(codes, factors)) > 5e-3


def test_correlation_notices_labels(entangled):
    codes, factors = entangled
    relabelled = np.array([7, -2, 40, 3, 0])[factors]
    assert abs(sap_r2(codes, relabelled) - sap_r2(codes, factors)) > 0.02


@pytest.mark.filterwarnings("ignore:All codes are constant")
@pytest.mark.parametrize("seed", range(20))
def test_bounds_on_random_data(seed):
    rng = np.random.default_rng(seed)
    n_codes, n_factors = rng.integers(1, 6), rng.integers(2, 5)
    factors = rng.integers(0, rng.integers(2, 9, size=n_factors), size=(2000, n_factors))
    codes = factors @ rng.normal(size=(n_factors, n_codes)) + rng.normal(size=(2000, n_codes))
    codes[:, rng.random(n_codes) < 0.2] = rng.normal()
    table = metrics.mutual_information_table(codes, factors)
    upper = np.minimum.outer(table.code_entropy, table.factor_entropy)
    assert (table.mutual_information <= upper + 1e-12).all()
    for metric in (metrics.mig, metrics.modularity):
        assert 0 <= metric(table=table) <= 1
    raw = metrics.jemmig(table=table, normalize=False).per_factor
    assert (raw >= -1e-12).all()
    assert (raw <= table.factor_entropy + np.log(20) + 1e-12).all()
    assert 0 <= sap_r2(codes, factors) <= 1
