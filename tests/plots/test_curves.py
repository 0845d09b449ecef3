"""Training curves and controllers, from a dict, a History and a file."""

import types

import numpy as np
import pytest

from keras_vaezoo import plots

LOGS = {
    "kl": [1.0, 4.0, 7.0, 8.0],
    "loss": [200.0, 150.0, 120.0, 110.0],
    "kl_weight": [0.1, 0.2, 0.3, 0.4],
    "reconstruction_weight": [1.0] * 4,
    "val_loss": [210.0, 160.0, 130.0, 125.0],
    "kl_set_point": [8.0] * 4,
    "kl_error": [7.0, 4.0, 1.0, 0.0],
    "kl_value": [0.1, 0.2, 0.3, 0.4],
}


def curves(axes):
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def points(values, epochs=(1, 2, 3, 4)):
    return [[epoch, value] for epoch, value in zip(epochs, values, strict=True)]


def test_a_panel_a_term_and_constants_in_words():
    figure = plots.history(LOGS)
    assert [axes.get_title() for axes in figure.axes] == ["loss", "kl", "kl_weight"]
    assert curves(figure.axes[0]) == {
        "training": points(LOGS["loss"]),
        "validation": points(LOGS["val_loss"]),
    }
    assert [axes.get_ylabel() for axes in figure.axes] == ["nats", "nats", ""]
    assert figure._supxlabel.get_text() == "Constant: reconstruction_weight 1"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["training", "validation"]


def test_terms_choose_the_panels():
    figure = plots.history(LOGS, terms=["kl_value", "loss"])
    assert [axes.get_title() for axes in figure.axes] == ["kl_value", "loss"]


def test_history_object_knows_its_epochs():
    resumed = types.SimpleNamespace(history={"loss": [3.0, 2.0]}, epoch=[7, 8])
    assert curves(plots.history(resumed).axes[0])["training"] == points([3.0, 2.0], (8, 9))


def test_validation_every_second_epoch():
    logs = {"loss": [4.0, 3.0, 2.0, 1.0, 0.5], "val_loss": [3.5, 1.5]}
    drawn = curves(plots.history(logs).axes[0])
    assert drawn["validation"] == points([3.5, 1.5], (2, 4))


def test_one_epoch_is_a_point_on_a_whole_epoch():
    axes = plots.history({"loss": [5.0], "kl": [1.0]}).axes[0]
    assert axes.lines[0].get_marker() == "o"
    assert [tick for tick in axes.get_xticks() if 0.5 <= tick <= 1.5] == [1.0]


def test_broken_training_is_named_in_the_title():
    figure = plots.history({"loss": [3.0, 2.0, np.nan, np.inf], "kl": [1.0, 2.0, 3.0, 4.0]})
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["loss: not finite at epoch 3", "kl"]


@pytest.mark.parametrize("separator", [",", ";"])
def test_file_of_csv_logger(tmp_path, separator):
    keras_callbacks = pytest.importorskip("keras").callbacks
    logger = keras_callbacks.CSVLogger(tmp_path / "log.csv", separator=separator)
    logger.set_model(types.SimpleNamespace(stop_training=True))
    logger.on_train_begin()
    logger.on_epoch_end(0, {"loss": 3.0, "val_loss": 3.5, "kl": 1.0})
    logger.on_epoch_end(1, {"loss": 2.0, "kl": float("nan")})
    logger.on_epoch_end(2, {"loss": 1.0, "val_loss": 1.5, "kl": 2.0})
    logger.on_train_end()
    figure = plots.history(tmp_path / "log.csv", terms=["loss", "kl"])
    assert curves(figure.axes[0]) == {
        "training": points([3.0, 2.0, 1.0], (1, 2, 3)),
        "validation": points([3.5, 1.5], (1, 3)),
    }
    assert figure.axes[1].get_title() == "kl: not finite at epoch 2"


def test_the_last_row_of_a_repeated_epoch_counts(tmp_path):
    (tmp_path / "log.csv").write_text("epoch,loss\n0,9\n1,8\n0,3\n1,2\n2,1\n")
    figure = plots.history(tmp_path / "log.csv")
    assert curves(figure.axes[0]) == {"training": points([3.0, 2.0, 1.0], (1, 2, 3))}


def test_controllers_have_a_row_each():
    measured = {
        f"gamma_{part}": values
        for part, values in (
            ("set_point", [0.1] * 4),
            ("measured", [0.4, 0.3, 0.2, 0.1]),
            ("value", [1.0, 2.0, 3.0, 4.0]),
        )
    }
    left, right, lower_left, lower_right = plots.controllers(LOGS | measured).axes
    expected = {"measured": points([1.0, 4.0, 7.0, 8.0]), "set point": points([8.0] * 4)}
    assert curves(left) == expected
    assert left.get_title() == "kl: 8, set point 8"
    assert list(curves(right).values()) == [points(LOGS["kl_value"])]
    assert curves(lower_left)["measured"] == points([0.4, 0.3, 0.2, 0.1])
    assert lower_right.get_title() == "coefficient gamma: 4"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.history({}), "0 series without values"),
        (lambda: plots.history({"loss": []}), "1 series without values"),
        (lambda: plots.history(types.SimpleNamespace(history={}, epoch=[])), "is empty"),
        (lambda: plots.history([1.0, 2.0]), "Received: list"),
        (lambda: plots.history(LOGS, terms=["elbo"]), r"terms=\['elbo'\]; the history has \['loss"),
        (lambda: plots.controllers({"loss": [1.0]}), r"a history of \['loss'\]"),
        (lambda: plots.controllers({}), "is empty"),
        (
            lambda: plots.controllers({"beta_set_point": [1.0], "beta_value": [1.0]}),
            "'beta_measured' or 'beta_error'",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_empty_file(tmp_path):
    (tmp_path / "log.csv").write_text("epoch,loss\n")
    with pytest.raises(ValueError, match=r"log\.csv"):
        plots.history(tmp_path / "log.csv")
