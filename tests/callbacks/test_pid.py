"""The PIDController callback, in the situations in which simpler designs were seen to fail."""

import csv

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.callbacks import CoefficientSchedule, PIDController
from keras_vaezoo.control import Schedule
from tests.models.methods import build, images

BACKEND = keras.backend.backend()
COLUMNS = ("kl_value", "kl_set_point", "kl_error")


def compiled(model, jit_compile=False, **arguments):
    model.compile(keras.optimizers.SGD(0.01), jit_compile=jit_compile, **arguments)
    return model


def controller(set_point=0.01, **settings):
    return PIDController("kl", set_point=set_point, ki=0.1, **settings)


def fit(model, *callbacks, epochs=1, **arguments):
    history = model.fit(
        images(),
        batch_size=11,
        epochs=epochs,
        shuffle=False,
        verbose=0,
        callbacks=list(callbacks),
        **arguments,
    )
    return history.history


@pytest.fixture(scope="module")
def unbroken():
    """Slot and weights after four epochs in one go."""
    model = compiled(build("VAE"))
    history = fit(model, controller(), epochs=4)
    return model.loss_coefficients.slot("kl"), model.get_weights(), history


def same_as_unbroken(model, unbroken):
    slot, weights, _ = unbroken
    assert model.loss_coefficients.slot("kl") == slot
    for old, new in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_acts_in_a_fresh_model_and_logs_last_values(unbroken):
    slot, _, history = unbroken
    assert slot["updates"] == 12.0 and slot["integral"] != 0.0
    assert [history[name][-1] for name in COLUMNS] == [
        pytest.approx(slot[field]) for field in ("value", "set_point", "error")
    ]
    assert history["kl_value"] != history["kl_weight"]


def test_attached_after_a_first_fit_it_is_not_ignored():
    model = compiled(build("VAE"), jit_compile="auto")
    first = fit(model)
    assert "kl_value" not in first and model.coefficients["kl"] == 1.0
    second = fit(model, controller(), epochs=2)
    assert len(second["kl_value"]) == 2
    assert model.loss_coefficients.slot("kl")["updates"] == 6.0


@pytest.mark.parametrize("form", ["keras", "preset"])
def test_goes_on_after_loading_with_and_without_the_callback(form, unbroken, tmp_path):
    model = compiled(build("VAE"))
    fit(model, controller(), epochs=2)
    if form == "keras":
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        fit(loaded, controller(), epochs=1)
        assert "kl_value" in fit(loaded, epochs=1)
        same_as_unbroken(loaded, unbroken)
    else:
        model.save_to_preset(tmp_path / "preset")
        loaded = compiled(vz.VAE.from_preset(tmp_path / "preset"))
        before = loaded.loss_coefficients.slot("kl")
        assert before == model.loss_coefficients.slot("kl")
        assert "kl_value" in fit(loaded, controller())
        assert loaded.loss_coefficients.slot("kl")["updates"] == before["updates"] + 3.0


@pytest.mark.parametrize("backup_first", [True, False])
def test_resumes_with_backup_and_restore_in_either_place(backup_first, unbroken, tmp_path):
    class Interruption(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    def callbacks():
        backup = keras.callbacks.BackupAndRestore(str(tmp_path))
        return [backup, controller()] if backup_first else [controller(), backup]

    with pytest.raises(KeyboardInterrupt):
        fit(compiled(build("VAE")), *callbacks(), Interruption(), epochs=4)
    model = compiled(build("VAE"))
    history = fit(model, *callbacks(), epochs=4)
    same_as_unbroken(model, unbroken)
    assert history["kl_value"] == unbroken[2]["kl_value"][2:]


@pytest.mark.parametrize("controller_first", [True, False])
def test_every_logger_sees_it_in_any_order(controller_first, tmp_path):
    seen = []
    loggers = [
        keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
        keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(dict(logs))),
        keras.callbacks.TensorBoard(str(tmp_path / "board"), write_graph=False),
    ]
    held = controller()
    callbacks = [held, *loggers] if controller_first else [*loggers, held]
    history = fit(compiled(build("VAE")), *callbacks, epochs=2)
    with open(tmp_path / "log.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    board = scalars_of(tmp_path / "board" / "train")
    for name in COLUMNS:
        assert [logs[name] for logs in seen] == history[name]
        np.testing.assert_allclose([float(row[name]) for row in rows], history[name], rtol=1e-6)
        np.testing.assert_allclose(board[f"epoch_{name}"], history[name], rtol=1e-6)


def scalars_of(directory):
    import tensorflow as tf

    found = {}
    for path in sorted(directory.glob("events*")):
        for record in tf.compat.v1.train.summary_iterator(str(path)):
            for value in record.summary.value:
                found.setdefault(value.tag, []).append(float(tf.make_ndarray(value.tensor)))
    return found


def test_two_on_one_coefficient_are_an_error_that_names_both():
    model = compiled(build("VAE"))
    with pytest.raises(ValueError, match=r"'kl' in one fit.*set_point=3\.0.*set_point=4\.0"):
        fit(model, controller(3.0), controller(4.0))
    assert not model.loss_coefficients.enabled("kl")
    model.coefficients["kl"] = 1.0
    with pytest.raises(ValueError, match=r"PIDController\('kl'.*CoefficientSchedule\('kl'"):
        fit(model, controller(), CoefficientSchedule("kl", lambda epoch: 1.0))
    # An error leaves nothing behind that a later fit stumbles over.
    assert "kl_value" in fit(model, controller())
    fit(model, controller(), PIDController("reconstruction", "reconstruction", set_point=1.0))


def test_a_batch_hook_assigns_reads_and_controls():
    seen, first = [], controller(5.0)

    def on_batch(batch, logs=None):
        if batch == 0:
            model.coefficients["kl"] = 0.5
        seen.append(model.coefficients["kl"])

    def take_over(batch, logs=None):
        if batch == 1:
            model.control("kl", first.controller)
        if batch == 2:
            assert "kl" in model.coefficients  # under JAX, reading them brings them up to date
            seen.append(model.loss_coefficients.slot("kl")["updates"])
            model.release("kl")

    model = compiled(build("VAE"))
    history = fit(model, keras.callbacks.LambdaCallback(on_train_batch_begin=on_batch))
    assert seen == [0.5] * 3 and history["kl_weight"] == [0.5]
    seen.clear()
    fit(model, keras.callbacks.LambdaCallback(on_train_batch_begin=take_over))
    assert seen == [1.0]


def test_one_instance_serves_several_fits_and_models():
    held = controller()
    model, other = compiled(build("VAE")), compiled(build("BetaVAE"))
    for _ in range(2):
        fit(model, held)
    fit(other, held)
    assert model.loss_coefficients.slot("kl")["updates"] == 6.0
    assert other.loss_coefficients.slot("kl")["updates"] == 3.0


def test_new_settings_keep_the_integral():
    model = compiled(build("VAE"))
    fit(model, controller())
    before = model.loss_coefficients.slot("kl")
    model.control("kl", controller(0.5).controller, keep_state=True)
    after = model.loss_coefficients.slot("kl")
    assert after["start"] == 0.5 and before["start"] == pytest.approx(0.01)
    assert after["integral"] == before["integral"] != 0.0


@pytest.mark.parametrize(
    ("method", "coefficient", "measured"),
    [("BetaVAE", "capacity", "kl"), ("InfoVAE", "mmd", "mmd"), ("GCVAE", "gamma", "kl")],
)
def test_any_coefficient_on_any_term(method, coefficient, measured):
    arguments = {"capacity": 2.0} if method == "BetaVAE" else {}
    model = compiled(build(method, **arguments))
    held = PIDController(coefficient, measured, set_point=1e-4, ki=0.5, maximum=3.0, action=-1)
    history = fit(model, held)
    assert history[f"{coefficient}_error"][0] < 0.0
    assert model.loss_coefficients.measured(coefficient) == measured


def test_set_point_follows_a_staircase_of_steps():
    stairs = Schedule("staircase", start=0.5, end=18.0, increment=0.15, length=3)
    history = fit(compiled(build("VAE")), controller(stairs), epochs=3)
    np.testing.assert_allclose(history["kl_set_point"], [0.5, 0.65, 0.8], rtol=1e-6)


def test_it_has_no_batch_hook():
    hooks = [name for name in vars(keras.callbacks.Callback) if "batch" in name]
    assert len(hooks) >= 6
    for name in hooks:
        assert getattr(PIDController, name) is getattr(keras.callbacks.Callback, name)


@pytest.mark.skipif(BACKEND == "torch", reason="TensorFlow and JAX only")
def test_steps_per_execution_give_the_same_controller(unbroken):
    model = compiled(build("VAE"), steps_per_execution=10)
    history = fit(model, controller(), epochs=4)
    for field, value in unbroken[0].items():
        assert model.loss_coefficients.slot("kl")[field] == pytest.approx(value, rel=1e-4), field
    np.testing.assert_allclose(history["kl_value"], unbroken[2]["kl_value"], rtol=1e-4)


@pytest.mark.skipif(BACKEND == "torch", reason="TensorFlow and JAX only")
def test_jit_acts_in_every_step():
    model = compiled(build("VAE"), jit_compile=True)
    history = fit(model, controller(), epochs=2)
    slot = model.loss_coefficients.slot("kl")
    expected = slot["kp"] / (1.0 + np.exp(slot["previous_error"])) + slot["integral"]
    assert slot["updates"] == 6.0 and slot["integral"] > 0.0
    assert history["kl_value"][-1] == pytest.approx(expected, rel=1e-5)


def test_mixed_float16_keeps_small_gains():
    keras.config.set_dtype_policy("mixed_float16")
    try:
        model = compiled(build("VAE"))
        held = PIDController("kl", set_point=1e-3, kp=0.0, ki=1e-7, maximum=1.0)
        fit(model, held)
    finally:
        keras.config.set_dtype_policy("float32")
    slot = model.loss_coefficients.slot("kl")
    assert 0.0 < slot["value"] < 1e-4 and slot["value"] == slot["integral"]


REFUSED = {
    r"no coefficient 'beta'; this model has \['reconstruction', 'kl'\]": ("beta", "kl"),
    r"no term 'mmd' to measure; this model has \['reconstruction', 'kl'\]": ("kl", "mmd"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_unknown_names_are_listed_before_training(message):
    coefficient, measured = REFUSED[message]
    model = compiled(build("VAE"))
    with pytest.raises(ValueError, match=message):
        fit(model, PIDController(coefficient, measured, set_point=1.0))
    assert int(keras.ops.convert_to_numpy(model.loss_coefficients.step)) == 0


def test_impossible_settings_are_refused_when_made():
    with pytest.raises(ValueError, match="ki must be a finite number that is not negative"):
        PIDController("kl", set_point=5.0, ki=-1.0)
    with pytest.raises(ValueError, match="minimum must be below maximum"):
        PIDController("kl", set_point=5.0, minimum=2.0, maximum=1.0)
    with pytest.raises(ValueError, match="must be the name of one"):
        PIDController(3, set_point=5.0)
    plain = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    plain.compile("sgd", loss="mse")
    with pytest.raises(ValueError, match=r"keras_vaezoo model.*Sequential"):
        plain.fit(np.ones((2, 2)), np.ones((2, 1)), callbacks=[controller()], verbose=0)
