"""Closed-loop control of the coefficients of a loss: rules, schedules and their state.

One pure update rule, written over rows, serves both the standalone `Controller` and the bank of
slots that every model owns (`coefficients.Coefficients`). All state lives in float32 variables.
"""

import dataclasses
import math

import keras
import numpy as np
from keras import ops

from keras_vaezoo.likelihoods import PACKAGE

SCHEDULES = ("constant", "linear", "cosine", "cyclic", "staircase")
RULES = ("positional", "incremental")

SETTINGS = (
    "enabled",
    "measured",
    "rule",
    "action",
    "kp",
    "ki",
    "kd",
    "minimum",
    "maximum",
    "average",
    "kind",
    "start",
    "end",
    "first_step",
    "length",
    "increment",
)
STATE = ("integral", "previous_error", "updates", "moving_average", "set_point", "error")


@keras.saving.register_keras_serializable(PACKAGE)
@dataclasses.dataclass(frozen=True)
class Schedule:
    """A value that changes with the training step.

    With `t = (step - first_step) / length`, held in [0, 1] but for `"cyclic"`:
    linear `start + (end - start) t`; cosine `start + (end - start) (1 - cos(pi t)) / 2`;
    cyclic: rises linearly for the first half of each period of `length` steps and stays at
    `end` for the second half (Fu et al. 2019); staircase: `start + increment` for every whole
    `length` steps, up to `end` (ControlVAE's set point: 0.5, +0.15 every 5,000 steps).

    Args:
        kind: One of "constant", "linear", "cosine", "cyclic", "staircase".
        start: Value at the start, in the unit of what is scheduled.
        end: Value at the end. Default: `start`.
        length: Duration, period or stair in training steps. Default 1.
        increment: Height of one stair; only for "staircase".
        first_step: Step at which the schedule sets in. Default 0.

    Raises:
        ValueError: For an unknown kind, a length below 1, or values that are not finite.

    Example:

    >>> Schedule("staircase", start=0.5, end=18.0, increment=0.15, length=5000)
    >>> Schedule("linear", start=0.0, end=1.0, length=2000)(1000)
    0.5
    """

    kind: str
    start: float
    end: float | None = None
    length: float = 1
    increment: float = 0.0
    first_step: int = 0

    def __post_init__(self):
        if self.kind not in SCHEDULES:
            raise ValueError(f"kind must be one of {list(SCHEDULES)}. Received: kind={self.kind!r}")
        if self.end is None:
            object.__setattr__(self, "end", self.start)
        for name in ("start", "end", "length", "increment", "first_step"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
                raise ValueError(f"{name} must be a number. Received: {name}={value!r}")
            if not math.isfinite(value):
                raise ValueError(f"{name} must be finite. Received: {name}={value!r}")
        if self.length < 1:
            raise ValueError(f"length must be at least 1 step. Received: length={self.length!r}")
        if self.kind == "staircase" and self.increment * (self.end - self.start) < 0:
            raise ValueError(
                "increment must lead from start to end. Received: "
                f"start={self.start}, end={self.end}, increment={self.increment}"
            )

    def __call__(self, step):
        """The value at `step`, in NumPy."""
        row = np.array([[self.row()[name] for name in SETTINGS[-6:]]], "float32")
        return float(ops.convert_to_numpy(scheduled(row, float(step)))[0])

    def row(self):
        """The six numbers that a slot stores for this schedule."""
        return {
            "kind": SCHEDULES.index(self.kind),
            "start": self.start,
            "end": self.end,
            "first_step": self.first_step,
            "length": self.length,
            "increment": self.increment,
        }

    def lowest_and_highest(self):
        """The range of values that the schedule can take."""
        return min(self.start, self.end), max(self.start, self.end)

    def get_config(self):
        return dataclasses.asdict(self)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def as_schedule(value, name="set_point"):
    """A `Schedule` as it is; a number as a constant one."""
    if isinstance(value, Schedule):
        return value
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return Schedule("constant", float(value))
    raise ValueError(
        f"{name} must be a number or a keras_vaezoo.control.Schedule. Received: {name}={value!r}"
    )


def scheduled(rows, step):
    """Values of the schedules in `rows` (n, 6: the last six settings) at `step`: `(n,)`."""
    rows = ops.convert_to_tensor(rows)
    kind, start, end, first, length, increment = (rows[:, i] for i in range(6))
    elapsed = ops.maximum(ops.cast(step, "float32") - first, 0.0)
    t = ops.minimum(elapsed / length, 1.0)
    linear = start + (end - start) * t
    cosine = start + (end - start) * (0.5 - 0.5 * ops.cos(math.pi * t))
    phase = elapsed / length - ops.floor(elapsed / length)
    cyclic = start + (end - start) * ops.minimum(2.0 * phase, 1.0)
    climbed = increment * ops.floor(elapsed / length)
    staircase = ops.where(
        ops.abs(climbed) < ops.abs(end - start), start + climbed, end
    )
    value = start
    for index, candidate in enumerate((linear, cosine, cyclic, staircase), start=1):
        value = ops.where(ops.equal(kind, float(index)), candidate, value)
    return value


def controlled(settings, state, value, measured, step):
    """One update of every row's controller, both rules computed and one picked.

    With `e = action (set point - m)`, `m` the measured value or its moving average:

    - positional (ControlVAE, Shao et al. 2020): `J = I - Ki e`,
      `W' = W_min + Kp / (1 + exp(e)) + J - Kd (e - e_prev)`, the D term 0 at the first update.
      `I` becomes `J` unless `W'` lies outside the limits and `J` would push it further out.
    - incremental (DynamicVAE, Shao et al. 2021):
      `W' = W + Kp (s(-e) - s(-e_prev)) - Ki e`.

    The output is `W'` clipped to [minimum, maximum]. A row whose measurement is not finite
    keeps its state and value.

    Args:
        settings: `(n, len(SETTINGS))` float32.
        state: `(n, len(STATE))` float32.
        value: `(n,)` current values of the coefficients.
        measured: `(n,)` what each controller measures, gradient stopped.
        step: Number of training steps done before this one.

    Returns:
        The new state and values, for enabled and disabled rows alike (the caller picks).
    """
    s = dict(zip(SETTINGS, ops.unstack(settings, axis=1), strict=True))
    old = dict(zip(STATE, ops.unstack(state, axis=1), strict=True))
    finite = ops.isfinite(measured)
    measured = ops.where(finite, measured, old["set_point"])
    first = ops.equal(old["updates"], 0.0)
    smooth = s["average"] * old["moving_average"] + (1.0 - s["average"]) * measured
    smooth = ops.where(first, measured, smooth)
    set_point = scheduled(settings[:, -6:], step)
    error = s["action"] * (set_point - smooth)
    previous = ops.where(first, error, old["previous_error"])

    integral = old["integral"] - s["ki"] * error
    positional = (
        s["minimum"]
        + s["kp"] * ops.sigmoid(-error)
        + integral
        - s["kd"] * (error - previous)
    )
    kept = ops.logical_or(
        ops.logical_and(positional >= s["minimum"], positional <= s["maximum"]),
        ops.logical_or(
            ops.logical_and(positional > s["maximum"], error > 0.0),
            ops.logical_and(positional < s["minimum"], error < 0.0),
        ),
    )
    incremental = (
        value + s["kp"] * (ops.sigmoid(-error) - ops.sigmoid(-previous)) - s["ki"] * error
    )
    output = ops.where(ops.equal(s["rule"], 0.0), positional, incremental)
    output = ops.minimum(ops.maximum(output, s["minimum"]), s["maximum"])

    new = {
        "integral": ops.where(kept, integral, old["integral"]),
        "previous_error": error,
        "updates": old["updates"] + 1.0,
        "moving_average": smooth,
        "set_point": set_point,
        "error": set_point - smooth,
    }
    new_state = ops.stack([ops.where(finite, new[name], old[name]) for name in STATE], axis=1)
    return new_state, ops.where(finite, output, value)


@keras.saving.register_keras_serializable(PACKAGE)
class Controller(keras.layers.Layer):
    """A PI(D) controller of one coefficient: its settings, its state and its rule.

    `W(t) = W_min + Kp / (1 + exp(e(t))) - Ki SUM_{j <= t} e(j) - Kd (e(t) - e(t-1))` with
    `e = action (set point - measured)`, clipped to [minimum, maximum] and with conditional
    integration against wind-up (ControlVAE, Shao et al. 2020, Eq. 8 and Algorithm 1, whose own
    code stops integrating while the last output is outside the limits and can stick there).

    Give one to a model that takes controllers, or call `update` yourself. For a rule of your
    own, subclass and override `update(measured) -> value`; keep its state in variables made
    with `add_weight(..., trainable=False, autocast=False)`.

    Args:
        set_point: Wanted value of the measured term, in its unit (nats for a KL divergence): a
            number or a `Schedule`.
        kp: Proportional gain, not negative. Default 0.01.
        ki: Integral gain, not negative. Default 0.001.
        kd: Derivative gain, not negative; only for the positional rule. Default 0.0.
        minimum: Lower limit of the coefficient. Default 0.0.
        maximum: Upper limit of the coefficient. Default 100.0.
        measured: Name of the term that is measured. Default "kl".
        action: +1 where a larger coefficient lowers the measured term, -1 for the reverse.
        rule: "positional" (ControlVAE) or "incremental" (DynamicVAE). Default "positional".
        average: Weight in [0, 1) of the past in the moving average of the measured term; 0
            (default) measures each batch alone.
        initial: Value before the first update (the incremental rule starts from it). Default:
            `minimum`.

    Raises:
        ValueError: For limits out of order, negative gains, an unknown rule or action, or a
            derivative gain with the incremental rule.

    Example:

    >>> controller = Controller(set_point=5.0, maximum=1.0)
    >>> controller.update(7.0)      # KL above its set point: the weight rises
    """

    def __init__(
        self,
        set_point,
        kp=0.01,
        ki=0.001,
        kd=0.0,
        minimum=0.0,
        maximum=100.0,
        measured="kl",
        action=1,
        rule="positional",
        average=0.0,
        initial=None,
        **kwargs,
    ):
        super().__init__(dtype="float32", trainable=False, **kwargs)
        self.set_point = as_schedule(set_point)
        check_gains(kp=kp, ki=ki, kd=kd, rule=rule, average=average)
        check_limits(minimum, maximum)
        if action not in (1, -1):
            raise ValueError(f"action must be 1 or -1. Received: action={action!r}")
        self.kp, self.ki, self.kd = kp, ki, kd
        self.minimum, self.maximum = minimum, maximum
        self.measured, self.action, self.rule, self.average = measured, action, rule, average
        self.initial = initial
        start = minimum if initial is None else initial
        if not minimum <= start <= maximum:
            raise ValueError(
                f"initial must lie in [{minimum}, {maximum}]. Received: initial={initial!r}"
            )
        settings = np.array([[self.row(measured=0)[name] for name in SETTINGS]], "float32")
        self.settings = _state(self, "settings", settings)
        self.state = _state(self, "state", np.zeros((1, len(STATE)), "float32"))
        self.value = _state(self, "value", np.array([start], "float32"))
        self.built = True

    def row(self, measured):
        """The settings of this controller as a slot stores them; `measured` is a term's index."""
        return {
            "enabled": 1.0,
            "measured": measured,
            "rule": RULES.index(self.rule),
            "action": self.action,
            **{name: getattr(self, name) for name in ("kp", "ki", "kd", "minimum", "maximum")},
            "average": self.average,
            **self.set_point.row(),
        }

    def update(self, measured):
        """Takes one measurement and returns the new value of the coefficient (a scalar).

        Args:
            measured: The measured term of this batch, a scalar.
        """
        measured = ops.reshape(ops.cast(measured, "float32"), (1,))
        state = ops.convert_to_tensor(self.state)
        state, value = controlled(
            ops.convert_to_tensor(self.settings),
            state,
            ops.convert_to_tensor(self.value),
            measured,
            step=state[:, STATE.index("updates")],
        )
        self.state.assign(state)
        self.value.assign(value)
        return value[0]

    def follows_built_in_rule(self):
        """Whether `update` is this class's own, so that a slot can run it."""
        return type(self).update is Controller.update

    def get_config(self):
        config = super().get_config()
        for name in ("dtype", "trainable"):
            config.pop(name, None)
        names = ("kp", "ki", "kd", "minimum", "maximum", "measured", "action", "rule")
        config.update({name: getattr(self, name) for name in (*names, "average", "initial")})
        config["set_point"] = keras.saving.serialize_keras_object(self.set_point)
        return config

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        config["set_point"] = keras.saving.deserialize_keras_object(config["set_point"])
        return cls(**config)


def _state(layer, name, value):
    return layer.add_weight(
        shape=value.shape,
        initializer=lambda shape, dtype=None: ops.convert_to_tensor(value, dtype),
        dtype="float32",
        trainable=False,
        autocast=False,
        aggregation="mean",
        name=name,
    )


def check_gains(kp, ki, kd, rule, average):
    """Raises a ValueError for gains, a rule or an average that no controller can have."""
    for name, gain in (("kp", kp), ("ki", ki), ("kd", kd)):
        if not (isinstance(gain, (int, float)) and 0.0 <= gain < math.inf):
            raise ValueError(
                f"{name} must be a finite number that is not negative; the sign is fixed by "
                f"`action`. Received: {name}={gain!r}"
            )
    if rule not in RULES:
        raise ValueError(f"rule must be one of {list(RULES)}. Received: rule={rule!r}")
    if rule == "incremental" and kd:
        raise ValueError(f"The incremental rule has no derivative term. Received: kd={kd}")
    if not 0.0 <= average < 1.0:
        raise ValueError(f"average must lie in [0, 1). Received: average={average!r}")


def check_limits(minimum, maximum):
    """Raises a ValueError unless minimum and maximum are finite and in order."""
    if not (math.isfinite(minimum) and math.isfinite(maximum) and minimum < maximum):
        raise ValueError(
            "minimum must be below maximum and both finite. Received: "
            f"minimum={minimum}, maximum={maximum}"
        )
