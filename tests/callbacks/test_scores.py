"""ScoreLogger: the numbers of `score` in the logs, on time and in every column."""

import csv
import math

import keras
import numpy as np
import pytest

import keras_vaezoo
from keras_vaezoo.callbacks import ScoreLogger
from tests.callbacks.small_runs import IMAGES, Steps, alone, everything, trained, with_lost_weights
from tests.models.methods import build

FACTORS = np.stack([np.arange(64) % 4, np.arange(64) // 16], axis=1)
# sap and dci fit scikit-learn's estimators, which can draw from NumPy's global generator.
METRICS = {"sap": {}, "mig": {"bins": 5}, "dci": {"estimator": "lasso", "informativeness": "nrmse"}}
NUMBERS = ("elbo", "kl", "reconstruction", "log_likelihood", "mse", "aggregate_kl", "active_units")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    scores = ScoreLogger((IMAGES, FACTORS), METRICS, every=2, samples=3, seed=5)
    callbacks = [
        keras.callbacks.CSVLogger(folder / "before.csv"),
        scores,
        keras.callbacks.CSVLogger(folder / "after.csv"),
        keras.callbacks.TensorBoard(folder / "tensorboard", write_graph=False),
    ]
    model, history = trained(callbacks)
    return model, history, scores, folder


def score_columns(history):
    return {name: values for name, values in history.items() if name.startswith("score_")}


def test_the_last_score_is_that_of_the_trained_model(run):
    model, history, scores, _ = run
    result = keras_vaezoo.score(
        model, (IMAGES, FACTORS), METRICS, samples=3, seed=5, repeats=0, verbose=0
    )
    for name in NUMBERS:
        assert history[f"score_{name}"][-1] == getattr(result, name)
    for name in ("sap", "mig", "dci_disentanglement", "dci_completeness", "dci_informativeness"):
        assert history[f"score_{name}"][-1] == float(result.metrics[name].value)
    assert len(score_columns(history)) == len(NUMBERS) + 5
    assert scores.results[3].to_dict() == result.to_dict()


def test_every_column_stands_in_every_epoch(run):
    _, history, scores, _ = run
    for values in score_columns(history).values():
        assert [math.isnan(value) for value in values] == [True, False, True, False]
    assert list(scores.results) == [1, 3]
    assert scores.before.elbo < scores.results[1].elbo < scores.results[3].elbo


def test_csv_logger_and_tensorboard_after_it_see_the_columns(run):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    _, history, _, folder = run
    rows = list(csv.DictReader((folder / "after.csv").open()))
    assert [float(row["score_elbo"]) for row in rows] == pytest.approx(
        history["score_elbo"], nan_ok=True
    )
    assert "score_elbo" not in next(csv.DictReader((folder / "before.csv").open()))
    events = EventAccumulator(str(folder / "tensorboard" / "train")).Reload()
    assert any("score_elbo" in name for name in events.Tags()["tensors"])


def test_the_run_is_the_same_bit_for_bit_with_and_without(run):
    model, history, _, _ = run
    numbers, history_alone = alone()
    assert everything(model) == numbers
    assert history_alone == {k: v for k, v in history.items() if not k.startswith("score_")}


def test_a_share_of_the_examples_is_drawn_once():
    callback = ScoreLogger(
        (IMAGES, FACTORS), {"mig": {"bins": 4}}, most=40, samples=1, prefix="few_"
    )
    logs = {}
    callback.set_model(build("VAE"))
    callback.on_train_begin()
    callback.on_epoch_end(0, logs)
    assert callback.before.settings["examples"] == 40
    # Nothing was trained: the same examples and draws give the same numbers.
    assert callback.results[0].to_dict() == callback.before.to_dict()
    assert logs["few_mig"] == float(callback.before.metrics["mig"].value)
    few, _, _ = callback._examples
    positions = [int(np.flatnonzero((image == IMAGES).all(axis=(1, 2, 3)))[0]) for image in few]
    assert positions == sorted(set(positions)) != list(range(40))


def test_a_deterministic_encoder_has_no_column_of_likelihoods():
    callback = ScoreLogger(IMAGES, samples=1)
    callback.set_model(build("WAE", stochastic=False))
    callback.on_train_begin()
    logs = {}
    callback.on_epoch_end(0, logs)
    expected = ("reconstruction", "mse", "aggregate_kl", "active_units")
    assert set(logs) == {f"score_{name}" for name in expected}


def test_a_model_that_diverged_gives_nan():
    logs = with_lost_weights(ScoreLogger(IMAGES, samples=1), build("VAE"))
    assert set(logs) == {f"score_{name}" for name in NUMBERS}
    assert all(math.isnan(value) for value in logs.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"metrics": ["gini"]}, "gini"),
        ({"metrics": {"mig": {"boxes": 3}}}, "boxes"),
        ({"data": IMAGES, "metrics": ["mig"]}, "images alone"),
        ({"data": "digits"}, "Received: str"),
        ({"every": 0}, "every=0"),
        ({"most": 0}, "most=0"),
        ({"prefix": None}, "prefix=None"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        ScoreLogger(**{"data": (IMAGES, FACTORS), **arguments})


@pytest.mark.parametrize(
    ("data", "settings", "words"),
    [
        (np.zeros((9, 4, 4, 1), "float32"), {}, "4, 4, 1"),
        (2.0 * IMAGES, {}, r"\[0, 1\]"),
        (IMAGES, {"samples": 0}, "samples=0"),
        (IMAGES, {"batch_size": 0}, "batch_size=0"),
    ],
)
def test_what_the_model_cannot_take_is_named_before_the_first_step(data, settings, words):
    steps = Steps()
    with pytest.raises(ValueError, match=words):
        trained([steps, ScoreLogger(data, **settings)], epochs=1)
    assert steps.done == 0


def test_another_kind_of_model_is_named():
    callback = ScoreLogger(IMAGES)
    callback.set_model(keras.Sequential([keras.Input((6, 5, 1)), keras.layers.Flatten()]))
    with pytest.raises(ValueError, match="Received: model=Sequential"):
        callback.on_train_begin()
