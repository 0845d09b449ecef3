"""The bank of coefficients: live values, controller slots, schedules, own rules, files."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaezoo.coefficients import Coefficients
from keras_vaezoo.control import Controller, Schedule
from tests.controller_twin import Settings, Twin
from tests.models.methods import build, images
from tests.own_rule import StepwiseController


def bank(**controllers):
    return Coefficients({"reconstruction": 1.0, "kl": 0.5}, ("reconstruction", "kl"), controllers)


def updated(coefficients, reconstruction, kl, limit=lambda values: values):
    """One step of the bank on two measured terms."""
    current = coefficients.current(scheduled_for_training=True)
    means = ops.convert_to_tensor([reconstruction, kl], "float32")
    values = coefficients.update(current, means, limit)
    return {name: float(ops.convert_to_numpy(value)) for name, value in values.items()}


def fit(model, epochs=1, **arguments):
    return model.fit(images(), batch_size=11, epochs=epochs, verbose=0, **arguments).history


def compiled(model, jit_compile=False):
    model.compile(keras.optimizers.SGD(0.01), jit_compile=jit_compile)
    return model


def test_slots_follow_the_twin_side_by_side():
    first = Settings(20.0, kp=0.1, ki=0.01, minimum=0.5, maximum=2.0)
    second = Settings(5.0, ki=0.002, average=0.5, maximum=1.0, rule="incremental")
    coefficients = bank(
        reconstruction=Controller(measured="reconstruction", **first.arguments()),
        kl=Controller(measured="kl", **second.arguments()),
    )
    twins = {"reconstruction": Twin(first, np.float64), "kl": Twin(second, np.float64, start=0.5)}
    random = np.random.default_rng(0)
    for _ in range(30):
        measured = {"reconstruction": random.normal(20, 5), "kl": random.normal(5, 2)}
        values = updated(coefficients, **measured)
        for name, twin in twins.items():
            expected = twin.update(np.float32(measured[name]))
            assert values[name] == pytest.approx(expected, rel=1e-5), name
            assert coefficients.get(name) == values[name]


def test_free_coefficients_and_their_slots_do_not_move():
    coefficients = bank(kl=Controller(5.0))
    before = coefficients.slot("reconstruction")
    assert updated(coefficients, 30.0, 7.0)["reconstruction"] == 1.0
    assert coefficients.slot("reconstruction") == before
    assert coefficients.slot("kl")["error"] == -2.0
    assert int(ops.convert_to_numpy(coefficients.step)) == 1


def test_limit_applies_after_the_controllers():
    coefficients = bank(kl=Controller(5.0, kp=0.0, ki=0.1))
    values = updated(coefficients, 1.0, 9.0, lambda v: {**v, "kl": ops.minimum(v["kl"], 0.25)})
    assert values["kl"] == coefficients.get("kl") == 0.25
    assert coefficients.slot("kl")["integral"] == pytest.approx(0.4)


def test_schedule_by_step_in_training_alone():
    coefficients = bank()
    coefficients.schedule("kl", Schedule("linear", 0.0, 1.0, length=4))
    assert [updated(coefficients, 1.0, 1.0)["kl"] for _ in range(5)] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert coefficients.get("kl") == 1.0
    coefficients.release("kl")
    coefficients.assign("kl", 0.3)
    assert updated(coefficients, 1.0, 1.0)["kl"] == pytest.approx(0.3)


def test_constant_schedule_writes_the_value_once():
    coefficients = bank()
    coefficients.schedule("kl", Schedule("constant", 0.7))
    assert coefficients.get("kl") == pytest.approx(0.7)
    coefficients.assign("kl", 0.2)
    assert updated(coefficients, 1.0, 1.0)["kl"] == pytest.approx(0.2)


def test_what_cannot_be_is_refused():
    coefficients = bank(kl=Controller(5.0))
    with pytest.raises(ValueError, match=r"no coefficient 'beta'.*\['reconstruction', 'kl'\]"):
        coefficients.control("beta", Controller(5.0))
    with pytest.raises(ValueError, match=r"no term 'mmd'.*\['reconstruction', 'kl'\]"):
        coefficients.control("kl", Controller(5.0, measured="mmd"))
    with pytest.raises(ValueError, match=r"assign coefficient 'kl'.*'kl' at 5.*release\('kl'\)"):
        coefficients.assign("kl", 1.0)
    with pytest.raises(ValueError, match="schedule coefficient 'kl'"):
        coefficients.schedule("kl", Schedule("linear", 0.0, 1.0))
    with pytest.raises(ValueError, match="must be a finite number"):
        coefficients.assign("reconstruction", float("nan"))
    coefficients.schedule("reconstruction", Schedule("linear", 0.0, 1.0))
    with pytest.raises(ValueError, match="follows a schedule"):
        coefficients.assign("reconstruction", 1.0)


def test_keep_state_keeps_the_integral_and_a_new_start_does_not():
    coefficients = bank(kl=Controller(5.0, ki=0.1))
    updated(coefficients, 1.0, 9.0)
    integral, value = (coefficients.slot("kl")[field] for field in ("integral", "value"))
    coefficients.control("kl", Controller(8.0, ki=0.1), keep_state=True)
    slot = coefficients.slot("kl")
    assert (slot["integral"], slot["value"], slot["start"]) == (integral, value, 8.0)
    coefficients.control("kl", Controller(8.0, ki=0.1))
    assert coefficients.slot("kl")["integral"] == 0.0


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_a_model_drives_its_slot_by_the_measured_term_of_each_batch(policy):
    settings = Settings(0.05, kp=0.1, ki=0.03, kd=0.02, maximum=3.0)
    keras.config.set_dtype_policy(policy)
    try:
        model = compiled(build("VAE"), jit_compile="auto")
        model.control("kl", Controller(**settings.arguments()))
        twin = Twin(settings, np.float64)
        for _ in range(12):
            logs = model.train_on_batch(images(11), return_dict=True)
            expected = twin.update(np.float32(logs["kl"]))
            found = {name: float(value) for name, value in logs.items()}
            model.reset_metrics()
            assert found["kl_value"] == pytest.approx(expected, rel=1e-4, abs=1e-6)
            assert found["kl_weight"] == pytest.approx(found["kl_value"], rel=1e-6)
            assert found["kl_error"] == pytest.approx(0.05 - found["kl"], rel=1e-4, abs=1e-6)
    finally:
        keras.config.set_dtype_policy("float32")
    assert expected > 0.0


def test_a_controller_given_after_a_first_fit_acts_and_shows():
    model = compiled(build("VAE"), jit_compile="auto")
    assert "kl_value" not in fit(model)
    model.control("kl", Controller(0.1, ki=0.1))
    history = fit(model, epochs=2)
    assert history["kl_value"][-1] == pytest.approx(model.coefficients["kl"]) != 1.0
    model.release("kl")
    kept = model.coefficients["kl"]
    assert "kl_value" not in fit(model)
    assert model.coefficients["kl"] == kept


@pytest.mark.parametrize("road", ["load_weights", "set_weights"])
def test_weights_loaded_between_fits_bring_their_controller_with_them(road, tmp_path):
    held = compiled(build("VAE", controllers={"kl": Controller(0.1, ki=0.1)}))
    fit(held)
    held.save_weights(tmp_path / "held.weights.h5")
    model = compiled(build("VAE"), jit_compile="auto")
    fit(model)
    if road == "load_weights":
        model.load_weights(tmp_path / "held.weights.h5")
    else:
        model.set_weights(held.get_weights())
    assert "kl_value" in fit(model)
    assert model.loss_coefficients.slot("kl")["updates"] == 6.0


def test_evaluation_moves_no_controller():
    model = compiled(build("VAE", controllers={"kl": Controller(0.1, ki=0.1)}))
    fit(model)
    before = model.loss_coefficients.slot("kl")
    logs = model.evaluate(images(), verbose=0, return_dict=True)
    assert model.loss_coefficients.slot("kl") == before
    assert logs["kl_weight"] == pytest.approx(before["value"])


@pytest.mark.parametrize("method", ["VAE", "InfoVAE", "GCVAE"])
def test_own_rule_acts_on_any_model_and_survives_its_file(method, tmp_path):
    name = "beta" if method == "GCVAE" else "kl"
    arguments = {"maximum": 0.9} if method == "GCVAE" else {}
    model = compiled(build(method, controllers={name: StepwiseController(0.01, **arguments)}))
    history = fit(model, epochs=2)
    # 33 images in batches of 11: three steps an epoch, all with a KL above the set point.
    np.testing.assert_allclose(history[f"{name}_value"], [0.3, 0.6], rtol=1e-5)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert fit(loaded)[f"{name}_value"][0] == pytest.approx(0.9, rel=1e-5)


def test_own_rule_is_put_back_where_the_measurement_is_not_finite():
    coefficients = bank(kl=StepwiseController(5.0))
    assert updated(coefficients, 1.0, 7.0)["kl"] == pytest.approx(0.1)
    assert updated(coefficients, 1.0, np.nan)["kl"] == pytest.approx(0.1)
    assert updated(coefficients, 1.0, 7.0)["kl"] == pytest.approx(0.2)


def test_own_rule_is_only_taken_by_the_constructor_and_not_pushed_aside():
    coefficients = bank(kl=StepwiseController(5.0))
    with pytest.raises(ValueError, match=r"StepwiseController.*constructor"):
        coefficients.control("reconstruction", StepwiseController(5.0, measured="reconstruction"))
    with pytest.raises(ValueError, match=r"release\('kl'\)"):
        coefficients.control("kl", Controller(5.0))
    coefficients.release("kl")
    assert updated(coefficients, 1.0, 7.0)["kl"] == coefficients.get("kl") == 0.5
    coefficients.control("kl", Controller(5.0, kp=0.0, ki=0.1))
    assert updated(coefficients, 1.0, 7.0)["kl"] == pytest.approx(0.2)


def test_no_variable_is_added_by_a_controller():
    free, held = build("VAE"), build("VAE", controllers={"kl": Controller(5.0)})
    assert [v.shape for v in held.variables] == [v.shape for v in free.variables]
    before = [id(v) for v in free.variables]
    free.control("kl", Controller(5.0))
    assert [id(v) for v in free.variables] == before


def test_unmet_set_point_is_reported():
    model = compiled(build("VAE", controllers={"kl": Controller(50.0, maximum=1.0)}))
    with pytest.warns(UserWarning, match=r"set point 50 of term 'kl' is not met.*limits 0 and 1"):
        history = fit(model)
    assert history["kl_error"][0] > 40.0 and history["kl_value"] == [0.0]


def test_summary_shows_what_is_controlled(capsys):
    model = build("VAE", controllers={"kl": Controller(5.0)})
    model.summary()
    assert "coefficient kl = 1, controlled: kl at 5" in capsys.readouterr().out
