"""Metrics with intervals, what is missing, the table, the dict, and bad input."""

import json

import keras
import numpy as np
import pytest

import keras_vaezoo
from keras_vaezoo import metrics
from tests.evaluation.models_with_known_evidence import linear_gaussian, small_vae


def codes_are_data(dimensions=3):
    """A model whose posterior means are its data; the last dimension's code is constant."""
    encode = np.eye(dimensions)
    encode[-1] = 0
    return linear_gaussian(
        np.eye(dimensions), np.zeros(dimensions), 1.0, encode, np.zeros(dimensions), -np.ones(3)
    )


def noisy_factors(rows):
    random = np.random.default_rng(0)
    factors = random.integers(0, (4, 5), size=(rows, 2))
    noise = 0.3 * random.standard_normal((rows, 3))
    return (noise + np.pad(factors, ((0, 0), (0, 1)))).astype("float32"), factors


@pytest.fixture(scope="module")
def scored():
    x, factors = noisy_factors(4100)
    chosen = {"mig": {"bins": 10}, "factor_vae_score": {"train_votes": 200, "eval_votes": 100}}
    result = keras_vaezoo.score(codes_are_data(), (x, factors), chosen, samples=2, verbose=0)
    codes = np.array(x)
    codes[:, -1] = 0
    return result, codes, factors


def test_a_metric_is_that_of_the_posterior_means(scored):
    result, codes, factors = scored
    value = metrics.mig(codes, factors, bins=10)
    assert float(result.metrics["mig"].value) == pytest.approx(float(value), abs=1e-9)
    assert result.metrics["mig"].value.settings["bins"] == 10
    assert 0.3 < value < 1


def test_intervals_come_from_disjoint_samples(scored):
    result, codes, factors = scored
    interval = result.metrics["mig"].interval
    order = np.random.default_rng(0).permutation(4100)
    parts = [order[:2000], order[2000:4000]]
    by_hand = [float(metrics.mig(codes[rows], factors[rows], bins=10)) for rows in parts]
    assert interval.scores == pytest.approx(by_hand, abs=1e-9)
    assert interval.standard_deviation == pytest.approx(np.std(by_hand, ddof=1), abs=1e-9)
    assert result.settings["repeats"] == 2


def test_the_seed_reaches_the_metrics(scored):
    result, codes, factors = scored
    settings = {"train_votes": 200, "eval_votes": 100}
    expected = metrics.factor_vae_score(codes, factors, seed=0, **settings)
    assert result.metrics["factor_vae_score"].value == expected


def test_a_dimension_whose_code_is_constant_is_not_active(scored):
    result, codes, _ = scored
    assert result.active_units == 2
    assert result.code_variance == pytest.approx(codes.var(axis=0), rel=1e-5)


def test_the_table_and_the_dict_hold_the_numbers(scored, tmp_path):
    result, _, _ = scored
    table = str(result)
    assert f"{result.elbo:.3f}" in table and "2 of 3" in table
    assert f"{result.metrics['mig'].interval.mean:.4f}" in table
    result.to_json(tmp_path / "scores.json")
    read = json.loads((tmp_path / "scores.json").read_text())
    assert read == result.to_dict()
    assert read["elbo"] == result.elbo
    assert read["metrics"]["mig"]["scores"] == list(result.metrics["mig"].interval.scores)
    assert read["settings"]["likelihood"] == {"class": "Gaussian", "sigma": 1.0}
    assert read["settings"]["versions"][keras.backend.backend()]
    assert {"seed", "samples", "examples", "batch_size"} <= set(read["settings"])


def test_few_rows_have_no_interval_and_say_so():
    x, factors = noisy_factors(300)
    result = keras_vaezoo.score(codes_are_data(), (x, factors), "mig", samples=1, verbose=0)
    assert result.metrics["mig"].interval is None
    assert "2,000 rows" in result.missing["intervals"]


def test_dci_gives_three_scores():
    pytest.importorskip("sklearn")
    x, factors = noisy_factors(300)
    chosen = {"dci": {"n_estimators": 3}}
    result = keras_vaezoo.score(codes_are_data(), (x, factors), chosen, samples=1, verbose=0)
    expected = metrics.dci(x * [1, 1, 0], factors, n_estimators=3, seed=0)
    for name, value in expected._asdict().items():
        assert result.metrics[f"dci_{name}"].value == pytest.approx(value, abs=1e-6)


def test_a_density_can_take_negative_bits():
    matrix = np.eye(3)
    narrow = linear_gaussian(matrix, np.zeros(3), 0.01, matrix, np.zeros(3), -12 * np.ones(3))
    x = (0.1 * np.random.default_rng(0).standard_normal((20, 3))).astype("float32")
    result = keras_vaezoo.score(narrow, x, samples=2, verbose=0)
    assert result.bits_per_dimension["reconstruction"] < -4
    bits = result.reconstruction / (3 * np.log(2))
    assert result.bits_per_dimension["reconstruction"] == pytest.approx(bits)


def test_a_deterministic_encoder_has_no_elbo():
    model = small_vae("gaussian", latent_dim=2, model=keras_vaezoo.WAE)
    x = np.random.default_rng(0).random((30, 5)).astype("float32")
    result = keras_vaezoo.score(model, x, verbose=0)
    reconstructed = model.reconstruct(x)
    at_the_code = 0.5 * ((x - reconstructed) ** 2).sum(axis=1) + 2.5 * np.log(2 * np.pi)
    assert result.reconstruction == pytest.approx(at_the_code.mean(), rel=1e-5)
    assert (result.kl, result.elbo, result.log_likelihood) == (None, None, None)
    assert "deterministic" in result.missing["elbo"]
    assert "deterministic" in str(result)
    assert result.to_dict()["elbo"] is None
    assert np.isfinite(result.aggregate_kl) and result.settings["samples"] == 1


def bad(**changes):
    x, factors = noisy_factors(50)
    arguments = {"model": codes_are_data(), "data": (x, factors), **changes}
    return arguments.pop("model"), arguments.pop("data"), arguments


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": keras.Sequential()}, "Received: Sequential"),
        ({"data": "sprites"}, "Received: str"),
        ({"data": noisy_factors(5)[0].tolist()}, "Received: a list of"),
        ({"data": np.zeros((4, 2), "float32")}, "shape"),
        ({"data": np.zeros((4, 3), "uint8")}, "uint8"),
        ({"data": np.full((4, 3), np.nan, "float32")}, "NaN"),
        ({"data": (np.zeros((4, 3), "float32"), np.zeros((5, 1)))}, "5, 1"),
        ({"data": np.zeros((4, 3), "float32"), "metrics": ["mig"]}, "need true factors"),
        ({"metrics": ["migg"]}, "'migg'"),
        ({"metrics": {"mig": {"bin": 3}}}, "no setting 'bin'"),
        ({"metrics": {"mig": None}}, "settings of mig must be a dict"),
        ({"metrics": {"mig": {"codes": 1}}}, "no setting 'codes'. Its settings: bins"),
        ({"metrics": ["mig"], "repeats": 2}, "4000 rows"),
        ({"metrics": ["mig"], "repeats": 1}, "repeats=1"),
        ({"samples": 0}, "samples=0"),
        ({"seed": -1}, "seed=-1"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"active_threshold": -1.0}, "active_threshold=-1.0"),
    ],
)
def test_bad_input_is_named(changes, words):
    model, data, arguments = bad(**changes)
    with pytest.raises(ValueError, match=words):
        keras_vaezoo.score(model, data, verbose=0, **arguments)


REAL = np.random.default_rng(1).normal(size=(4000, 2))
ONE_FACTOR = np.tile([[0], [1]], (2000, 1))


@pytest.mark.parametrize(
    ("chosen", "factors", "words"),
    [
        (["mig"], REAL, "factor_bins"),
        (["mig", "modularity"], ONE_FACTOR, "at least 2 factor"),
        (["mig"], ONE_FACTOR.astype(str), "integers"),
        ({"sap": {"split": (range(9), range(9, 99))}}, ONE_FACTOR, "pass repeats=0"),
    ],
)
def test_metrics_that_cannot_be_are_refused_before_the_work(chosen, factors, words, monkeypatch):
    model = codes_are_data()
    monkeypatch.setattr(type(model), "encode", lambda *_: pytest.fail("encoded"))
    images = np.zeros((4000, 3), "float32")
    with pytest.raises(ValueError, match=words):
        keras_vaezoo.score(model, (images, factors), chosen, verbose=0)


def test_real_factors_and_splits_by_rows_go_where_they_can():
    x, factors = noisy_factors(60)
    chosen = {
        "sap": {"split": (range(30), range(30, 60)), "balanced": True},
        "mig": {"factor_bins": 3, "bins": 2},
    }
    result = keras_vaezoo.score(
        codes_are_data(), (x, factors + 0.5), {"mig": chosen["mig"]}, samples=1, verbose=0
    )
    assert 0 < result.metrics["mig"].value < 1
    result = keras_vaezoo.score(codes_are_data(), (x, factors), chosen, samples=1, verbose=0)
    assert result.metrics["sap"].value.settings["split"] == "(train_rows, test_rows)"
    twin = keras_vaezoo.score(codes_are_data(), (x, factors), chosen, samples=1, verbose=0)
    assert (result == result) is True and (result == twin) is False  # no comparison of arrays


def test_a_diverged_model_is_named():
    model = codes_are_data()
    weights = model.encoder.get_weights()
    weights[0] = np.full_like(weights[0], np.nan)
    model.encoder.set_weights(weights)
    with pytest.raises(ValueError, match="diverged"):
        keras_vaezoo.score(model, noisy_factors(10)[0], verbose=0)
