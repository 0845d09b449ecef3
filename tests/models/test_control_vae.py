"""ControlVAE: its rule, its limits, its acceptance on real digits."""

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.control import Schedule
from tests.controller_twin import Settings, Twin
from tests.models.digit_runs import networks, run
from tests.models.methods import build, images
from tests.own_rule import StepwiseController


@pytest.mark.parametrize("set_point", [5.0, 8.0])
def test_holds_its_set_point_on_real_digits(set_point):
    model = vz.ControlVAE(*networks(), set_point=set_point, seed=0)
    history = run(model, epochs=4)
    # The mean over steps 1,500 to 2,000.
    assert history["kl"][-1] == pytest.approx(set_point, rel=0.03)
    assert 0.0 < history["kl_value"][-1] < 100.0
    assert history["reconstruction"][-1] < history["reconstruction"][0]


def test_defaults_are_the_papers():
    slot = build("ControlVAE", set_point=18.0).loss_coefficients.slot("kl")
    expected = {"kp": 0.01, "ki": 0.001, "kd": 0.0, "minimum": 0.0, "maximum": 100.0}
    expected |= {"start": 18.0, "enabled": 1.0, "rule": 0.0, "action": 1.0, "average": 0.0}
    assert {name: slot[name] for name in expected} == pytest.approx(expected)


def test_weight_of_each_step_is_the_twins():
    settings = Settings(0.05, kp=0.3, ki=0.05, kd=0.1, minimum=1.0, maximum=1.5)
    model = build("ControlVAE", **{k: v for k, v in settings.arguments().items() if k in GIVEN})
    model.compile(keras.optimizers.SGD(0.01), jit_compile=False)
    twin = Twin(settings, np.float64)
    for _ in range(5):
        logs = model.train_on_batch(images(11), return_dict=True)
        expected = twin.update(np.float32(logs["kl"]))
        assert float(logs["kl_weight"]) == pytest.approx(expected, rel=1e-5)
        total = float(logs["reconstruction"]) + expected * float(logs["kl"])
        assert float(logs["loss"]) == pytest.approx(total, rel=1e-5)
        model.reset_metrics()


GIVEN = ("set_point", "kp", "ki", "kd", "minimum", "maximum")


def test_limits_of_the_paper_hold_and_what_they_forbid_is_reported():
    model = build("ControlVAE", set_point=50.0, minimum=1.0)
    model.compile(keras.optimizers.SGD(0.01), jit_compile=False)
    with pytest.warns(UserWarning, match=r"set point 50 of term 'kl' is not met.*at its limit 1"):
        history = model.fit(images(), batch_size=11, verbose=0).history
    assert history["kl_value"] == [1.0] and history["kl_error"][0] > 40.0


def test_climbing_set_point_survives_its_file(tmp_path):
    stairs = Schedule("staircase", start=0.5, end=18.0, increment=0.15, length=3)
    model = build("ControlVAE", set_point=stairs)
    model.compile(keras.optimizers.SGD(0.01), jit_compile=False)
    first = model.fit(images(), batch_size=11, epochs=2, verbose=0).history
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.set_point == stairs
    second = loaded.fit(images(), batch_size=11, verbose=0).history
    points = first["kl_set_point"] + second["kl_set_point"]
    np.testing.assert_allclose(points, [0.5, 0.65, 0.8], rtol=1e-6)


def test_own_rule_takes_the_place_of_the_papers(tmp_path):
    model = build("ControlVAE", controllers={"kl": StepwiseController(0.01)})
    again = type(model).from_config(model.get_config())
    assert isinstance(again.loss_coefficients.own_rules["kl"], StepwiseController)
    plain = build("ControlVAE").get_config()
    assert plain["controllers"] == {} and plain["set_point"] == 2.0


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("KL divergence is positive", {"set_point": -1.0}),
        ("KL divergence is positive", {"set_point": 0.0}),
        ("ki must be a finite number that is not negative", {"ki": -0.001}),
        ("minimum must be a finite number of at least 0", {"minimum": -1.0}),
        ("minimum must be below maximum", {"minimum": 2.0, "maximum": 1.0}),
        ("set_point must be a finite number", {"set_point": None}),
    ],
)
def test_what_cannot_be_is_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        build("ControlVAE", **arguments)
