"""The controllers' rule against a NumPy twin, its anti-windup, and what is refused."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaezoo.control import RULES, SETTINGS, STATE, Controller, Schedule, controlled
from tests.controller_twin import Settings, Twin

MEASUREMENTS = 10_000
CONTROLLERS = (
    Settings(10.0),
    Settings(10.0, kp=0.1, ki=1e-4, maximum=1.0),
    Settings(10.1, ki=0.001, minimum=1.0, maximum=1.5),
    Settings(11.0, kd=0.05, maximum=2.0),
    Settings(10.5, ki=0.002, minimum=-1.0, maximum=1.0, action=-1),
    Settings(10.2, average=0.9, maximum=3.0),
    Settings(10.0, kp=0.1, ki=1e-4, average=0.95, maximum=1.0, rule="incremental"),
    Settings(9.9, ki=0.002, maximum=2.0, rule="incremental"),
)


def random_measurements():
    """A slow wander with noise, now and then not finite, as float32."""
    random = np.random.default_rng(0)
    wander = 2.0 * np.sin(np.arange(MEASUREMENTS) / 700.0)[:, None]
    values = 10.0 + wander + random.gumbel(-1.1, 2.0, (MEASUREMENTS, len(CONTROLLERS)))
    values[random.random(values.shape) < 0.002] = np.nan
    values[random.random(values.shape) < 0.002] = np.inf
    return values.astype("float32")


def driven(measurements):
    """The values of all controllers after each measurement, from one compiled loop."""
    controllers = [Controller(**settings.arguments()) for settings in CONTROLLERS]
    columns = [c.settings_of_slot(measured=0) for c in controllers]
    settings = np.array([[c[field] for c in columns] for field in SETTINGS], "float32")
    rules = np.array([RULES.index(c.rule) for c in controllers])
    kinds = np.zeros(len(controllers))

    def step(carry, measured):
        state, value = carry[:-1], carry[-1]
        state, value = controlled(rules, kinds, settings, state, value, measured, 0.0)
        carry = ops.concatenate([state, value[None]])
        return carry, carry

    def run(measurements, settings):
        minimum = settings[SETTINGS.index("minimum")]
        state = ops.zeros((len(STATE), len(controllers)))
        start = ops.concatenate([state, minimum[None]])
        return ops.scan(step, start, measurements)[1][:, -1]

    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        run = tf.function(run)
    settings = ops.convert_to_tensor(settings)
    return ops.convert_to_numpy(run(ops.convert_to_tensor(measurements), settings))


@pytest.fixture(scope="module")
def trajectories():
    measurements = random_measurements()
    return measurements, driven(measurements)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-5), (np.float32, 1e-6)])
@pytest.mark.parametrize("column", range(len(CONTROLLERS)))
def test_rule_follows_its_twin_over_ten_thousand_measurements(
    trajectories, column, dtype, tolerance
):
    measurements, values = trajectories
    twin = Twin(CONTROLLERS[column], dtype)
    expected = np.array([twin.update(m) for m in measurements[:, column]], "float64")
    assert len(np.unique(expected)) > MEASUREMENTS / 20
    np.testing.assert_allclose(values[:, column], expected, rtol=tolerance, atol=tolerance)


def test_twins_reach_both_limits(trajectories):
    _, values = trajectories
    touched = [
        (np.isclose(v, s.minimum).any(), np.isclose(v, s.maximum).any())
        for v, s in zip(values.T, CONTROLLERS, strict=True)
    ]
    assert sum(low for low, _ in touched) >= 3 and sum(high for _, high in touched) >= 3


@pytest.mark.parametrize("policy", ["float32", "mixed_float16", "mixed_bfloat16"])
def test_update_follows_the_twin_under_every_policy(policy):
    settings = Settings(5.0, kp=0.02, ki=1e-7, kd=0.001, average=0.3, maximum=1.0)
    measurements = np.random.default_rng(1).normal(5.0, 2.0, 100).astype("float32")
    keras.config.set_dtype_policy(policy)
    try:
        controller = Controller(**settings.arguments())
        values = [float(controller.update(m)) for m in measurements]
    finally:
        keras.config.set_dtype_policy("float32")
    twin = Twin(settings, np.float64)
    np.testing.assert_allclose(values, [twin.update(m) for m in measurements], rtol=1e-5)
    integral = ops.convert_to_numpy(controller.state)[STATE.index("integral"), 0]
    np.testing.assert_allclose(integral, float(twin.integral), rtol=1e-4)
    assert abs(integral) < 1e-4


def test_first_update_by_hand():
    controller = Controller(5.0, kp=0.2, ki=0.01, kd=3.0, minimum=1.0, maximum=2.0)
    expected = 1.0 + 0.2 / (1.0 + np.exp(-2.0)) + 0.01 * 2.0
    assert float(controller.update(7.0)) == pytest.approx(expected, rel=1e-6)
    # The derivative term sets in with the second update: e falls from -2 to -2.1.
    expected = 1.0 + 0.2 / (1.0 + np.exp(-2.1)) + 0.01 * 4.1 + 3.0 * 0.1
    assert float(controller.update(7.1)) == pytest.approx(expected, rel=1e-5)


def test_reverse_action_lowers_the_weight_of_what_is_too_large():
    values = []
    for action in (1, -1):
        controller = Controller(5.0, minimum=-1.0, maximum=1.0, action=action, kp=0.0)
        values.append(float(controller.update(7.0)))
    assert values == pytest.approx([-1.0 + 0.002, -1.0], abs=1e-6)


def test_does_not_stick_where_it_starts_below_its_limit():
    controller = Controller(5.0, kp=0.0, ki=0.01)
    assert [float(controller.update(0.0)) for _ in range(50)] == [0.0] * 50
    assert float(controller.update(6.0)) == pytest.approx(0.01)


def test_does_not_wind_up_at_its_upper_limit():
    controller = Controller(5.0, kp=0.0, ki=0.1, maximum=1.0)
    values = [float(controller.update(8.0)) for _ in range(50)]
    assert values[-1] == 1.0
    # 50 errors of -3 would take 50 errors of +3 to unwind.
    assert float(controller.update(4.0)) < 1.0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("measured", [3e38, -3e38, 1e30, 0.0])
def test_extreme_measurements_do_not_overflow(rule, measured):
    controller = Controller(5.0, rule=rule, maximum=1.0)
    for value in (measured, 5.0, measured):
        assert 0.0 <= float(controller.update(value)) <= 1.0
    assert np.isfinite(ops.convert_to_numpy(controller.state)).all()


@pytest.mark.parametrize("measured", [np.nan, np.inf, -np.inf])
def test_a_measurement_that_is_not_finite_changes_nothing(measured):
    controller = Controller(5.0, average=0.5, kd=0.1)
    controller.update(7.0)
    before = [ops.convert_to_numpy(v).copy() for v in controller.variables]
    value = float(controller.update(measured))
    assert value == float(ops.convert_to_numpy(controller.value)[0]) > 0.0
    for old, variable in zip(before, controller.variables, strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(variable), old)


SCHEDULED = {
    "linear": (Schedule("linear", 1.0, 3.0, length=10, first_step=5), [1, 1, 1.2, 2, 3, 3]),
    "cosine": (
        Schedule("cosine", 1.0, 3.0, length=10, first_step=5),
        [1, 1, 2 - np.cos(0.1 * np.pi), 2, 3, 3],
    ),
    "cyclic": (Schedule("cyclic", 0.0, 2.0, length=20), [0, 1, 1.2, 2, 2, 0]),
    "staircase": (Schedule("staircase", 1.0, 2.0, 5, increment=0.3), [1, 1.3, 1.3, 1.6, 1.9, 2]),
    "falling": (Schedule("staircase", 2.0, 1.0, 5, increment=-0.3), [2, 1.7, 1.7, 1.4, 1.1, 1]),
    "constant": (Schedule("constant", 4.0), [4] * 6),
}


@pytest.mark.parametrize("name", SCHEDULED)
def test_schedules_at_known_steps(name):
    schedule, expected = SCHEDULED[name]
    steps = [0, 5, 6, 10, 15, 1000]
    np.testing.assert_allclose([schedule(step) for step in steps], expected, atol=1e-6)
    assert Schedule.from_config(schedule.get_config()) == schedule


def test_set_point_climbs_with_the_updates():
    stairs = Schedule("staircase", start=0.5, end=0.8, increment=0.15, length=2)
    controller = Controller(stairs)
    points = []
    for _ in range(7):
        controller.update(1.0)
        points.append(ops.convert_to_numpy(controller.state)[STATE.index("set_point"), 0])
    np.testing.assert_allclose(points, [0.5, 0.5, 0.65, 0.65, 0.8, 0.8, 0.8], rtol=1e-6)


def test_controller_survives_its_config():
    schedule = Schedule("linear", 1.0, 2.0, length=5)
    controller = Controller(schedule, kd=0.1, measured="mmd", action=-1, average=0.5, initial=2.0)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(controller))
    assert again.get_config() == controller.get_config()
    assert again.settings_of_slot(3) == controller.settings_of_slot(3)


REFUSED = {
    "minimum must be below maximum": {"minimum": 1.0, "maximum": 1.0},
    "kp must be a finite number that is not negative": {"kp": -0.01},
    "ki must be a finite number that is not negative": {"ki": -0.01},
    "kd must be a finite number that is not negative": {"kd": float("inf")},
    "action must be 1 or -1": {"action": 0},
    r"rule must be one of \['positional', 'incremental'\]": {"rule": "pid"},
    "no derivative term": {"rule": "incremental", "kd": 0.1},
    r"average must lie in \[0, 1\)": {"average": 1.0},
    r"initial must lie in \[0.0, 100.0\]": {"initial": -1.0},
    "set_point must be a finite number": {"set_point": "18"},
    "KL divergence is positive": {"set_point": -1.0},
}


@pytest.mark.parametrize("message", REFUSED)
def test_impossible_settings_are_refused(message):
    with pytest.raises(ValueError, match=message):
        Controller(**{"set_point": 5.0, **REFUSED[message]})


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("kind must be one of", {"kind": "quadratic"}),
        ("length must be at least 1 step", {"length": 0}),
        ("end must be a finite number", {"end": float("nan")}),
        ("no end of its own", {"kind": "constant"}),
        ("increment must lead from start to end", {"kind": "staircase", "increment": -1.0}),
    ],
)
def test_impossible_schedules_are_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        Schedule(**{"kind": "linear", "start": 0.0, "end": 1.0, **arguments})
