"""Closed-loop control of the coefficients of a loss: the rule, and the controller that has one.

One pure update rule, written over n controllers at once, serves both the standalone `Controller`
and the slots that every model owns (`coefficients.Coefficients`). State lives in float32
variables, one row a field and one column a controller.
"""

import keras
import numpy as np
from keras import ops

from keras_vaezoo.schedules import SCHEDULE_FIELDS, Schedule, as_schedule, is_number, scheduled

__all__ = ["Controller", "Schedule"]

RULES = ("positional", "incremental")
# The rule of a subclass with its own `update`, as a slot stores it.
OWN_RULE = len(RULES)

_GAINS = ("kp", "ki", "kd")
SETTINGS = (
    "enabled",
    "measured",
    "rule",
    "action",
    *_GAINS,
    "minimum",
    "maximum",
    "average",
    *SCHEDULE_FIELDS,
)
STATE = ("integral", "previous_error", "updates", "moving_average", "set_point", "error")


def controlled(rules, kinds, settings, state, value, measured, step):
    """One update of n controllers; only the rules and kinds that occur are computed.

    With `e = action (set point - m)`, m the measured value or its moving average:

    - positional (ControlVAE): `J = I - Ki e` and
      `W' = W_min + Kp / (1 + exp(e)) + J - Kd (e - e_prev)`, without the D term at the first
      update. I becomes J unless W' is outside the limits and e drives it further out.
    - incremental (DynamicVAE): `W' = W + Kp (s(-e) - s(-e_prev)) - Ki e`, s the sigmoid.

    The output is W' clipped to [minimum, maximum]. Where m is not finite, all stays as it was.

    Args:
        rules: NumPy array `(n,)`, indices in `RULES` or `OWN_RULE`.
        kinds: NumPy array `(n,)`, indices in `SCHEDULES` of the set points.
        settings: `(len(SETTINGS), n)` float32.
        state: `(len(STATE), n)` float32.
        value: `(n,)` present values W of the coefficients.
        measured: `(n,)` what each controller measures, gradient stopped.
        step: Number of training steps done before this one, float32.

    Returns:
        The new state and values.
    """
    s = _by_name(SETTINGS, settings)
    old = _by_name(STATE, state)
    finite = ops.isfinite(measured)
    measured = ops.where(finite, measured, 0.0)
    first = old["updates"] < 0.5
    past = ops.where(first, measured, old["moving_average"])
    smooth = s["average"] * past + (1.0 - s["average"]) * measured
    set_point = scheduled(kinds, s, step)
    difference = set_point - smooth
    error = s["action"] * difference
    previous = ops.where(first, error, old["previous_error"])

    share, drive = ops.sigmoid(-error), s["ki"] * error
    integral = old["integral"] - drive
    positional = s["minimum"] + s["kp"] * share + integral - s["kd"] * (error - previous)
    output = _clip(positional, s)
    # W' - clip(W') is 0 inside the limits; outside, its sign tells which limit was passed.
    inwards = (positional - output) * error >= 0.0
    incremental_rows = rules == RULES.index("incremental")
    if incremental_rows.any():
        incremental = value + s["kp"] * (share - ops.sigmoid(-previous)) - drive
        output = ops.where(incremental_rows, _clip(incremental, s), output)

    new = {
        "integral": ops.where(inwards, integral, old["integral"]),
        "previous_error": error,
        "updates": old["updates"] + 1.0,
        "moving_average": smooth,
        "set_point": set_point,
        "error": difference,
    }
    new_state = ops.stack([new[name] for name in STATE])
    return ops.where(finite, new_state, state), ops.where(finite, output, value)


def _clip(value, settings):
    return ops.minimum(ops.maximum(value, settings["minimum"]), settings["maximum"])


def _by_name(names, rows):
    return dict(zip(names, ops.unstack(rows, len(names)), strict=True))


@keras.saving.register_keras_serializable("keras_vaezoo")
class Controller(keras.layers.Layer):
    """A PI(D) controller of one coefficient: settings, state and the rule.

    `W(t) = W_min + Kp / (1 + exp(e(t))) - Ki SUM_{j <= t} e(j) - Kd (e(t) - e(t-1))` with
    `e = action (set point - measured)`, clipped to [minimum, maximum] (Shao et al. 2020,
    "ControlVAE", Algorithm 1). Against wind-up, the sum leaves out errors that would drive a W
    outside the limits further out. The authors' code instead stops summing while the last output
    was outside, and can so stick at a limit for ever.

    `rule="incremental"` is `W(t) = W(t-1) + Kp (s(-e(t)) - s(-e(t-1))) - Ki e(t)` (Shao et al.
    2021, "DynamicVAE"), s the sigmoid, usually with a moving `average`.

    A model copies the settings of the controllers that it is given into its own slots, and keeps
    the state there; `model.coefficients` reads the values. A controller on its own is driven by
    `update`.

    Subclassing: for a rule of your own, override `update(measured) -> value`, register the
    class with Keras, and pass an instance as `controllers={name: MyController(...)}` of any
    model. Write it in `keras.ops`: it runs inside the compiled step, once a step, on the mean of
    the measured term (gradient stopped, averaged over replicas). Keep its state in variables
    made with `add_weight(..., trainable=False, autocast=False, aggregation="mean")`: they are
    saved with the model, and put back where the measurement was not finite. `set_point`,
    `measured` and the limits are those of the constructor; the model does not clip what `update`
    returns. Give each coefficient an instance of its own, made inside the scope of a
    `tf.distribute` strategy where there is one.

    Args:
        set_point: Wanted value of the measured term, in its unit (nats for a KL divergence): a
            number or a `Schedule` of training steps.
        kp: Proportional gain, not negative. Default 0.01.
        ki: Integral gain, not negative. Default 0.001.
        kd: Derivative gain, not negative; only for the positional rule. Default 0.0.
        minimum: Lower limit of the coefficient. Default 0.0.
        maximum: Upper limit of the coefficient. Default 100.0.
        measured: Name of the term that is measured. Default "kl".
        action: 1 (default) where a larger coefficient lowers the measured term, -1 for the
            reverse.
        rule: "positional" (ControlVAE, default) or "incremental" (DynamicVAE).
        average: Weight in [0, 1) of the past in the moving average of the measured term; 0
            (default) measures each batch alone.
        initial: Value before the first update, from which the incremental rule starts. Default:
            the coefficient's own value in a model, `minimum` elsewhere.
        name: Name of the layer.

    Raises:
        ValueError: For limits out of order, negative gains, an unknown rule or action, a
            derivative gain with the incremental rule, or a negative set point of "kl".

    Example:

    ```python
    controller = keras_vaezoo.control.Controller(set_point=5.0, maximum=1.0)
    weight = controller.update(7.0)      # KL above its set point: the weight rises
    ```
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
        name=None,
    ):
        super().__init__(dtype="float32", trainable=False, name=name)
        self.set_point = set_point
        self.kp, self.ki, self.kd = kp, ki, kd
        self.minimum, self.maximum, self.initial = minimum, maximum, initial
        self.measured, self.action, self.rule, self.average = measured, action, rule, average
        _check(self)
        settings = self.settings_of_slot(measured=0)
        self.settings = state_variable(self, "settings", [[settings[field]] for field in SETTINGS])
        self.state = state_variable(self, "state", np.zeros((len(STATE), 1)))
        self.value = state_variable(self, "value", [minimum if initial is None else initial])
        self.built = True

    @property
    def schedule(self):
        """The set point as a `Schedule`."""
        return as_schedule(self.set_point)

    def settings_of_slot(self, measured):
        """`{field: float}` as a slot stores them; `measured` is the index of the term."""
        numbers = {name: getattr(self, name) for name in (*_GAINS, "minimum", "maximum")}
        return {
            "enabled": 1.0,
            "measured": measured,
            "rule": OWN_RULE if self.has_own_rule() else RULES.index(self.rule),
            "action": self.action,
            "average": self.average,
            **numbers,
            **self.schedule.fields(),
        }

    def update(self, measured):
        """Takes one measurement and returns the new value of the coefficient.

        Args:
            measured: The measured term, a scalar.

        Returns:
            Scalar tensor.
        """
        measured = ops.reshape(ops.cast(measured, "float32"), (1,))
        settings, state, value = (
            ops.convert_to_tensor(variable) for variable in (self.settings, self.state, self.value)
        )
        fields = self.settings_of_slot(measured=0)
        rules, kinds = np.array([fields["rule"]]), np.array([fields["kind"]])
        step = state[STATE.index("updates")]
        state, value = controlled(rules, kinds, settings, state, value, measured, step)
        self.state.assign(state)
        self.value.assign(value)
        return value[0]

    def has_own_rule(self):
        """Whether a subclass overrides `update`."""
        return type(self).update is not Controller.update

    def get_config(self):
        names = (*_GAINS, "minimum", "maximum", "measured", "action", "rule", "average", "initial")
        set_point = keras.saving.serialize_keras_object(self.set_point)
        config = {name: getattr(self, name) for name in names}
        return {"set_point": set_point, **config, "name": self.name}

    @classmethod
    def from_config(cls, config):
        set_point = keras.saving.deserialize_keras_object(config["set_point"])
        return cls(**{**config, "set_point": set_point})


def state_variable(layer, name, value):
    """A float32 variable of a layer that training changes and gradients do not."""
    value = np.asarray(value, "float32")
    return layer.add_weight(
        shape=value.shape,
        initializer=lambda shape, dtype=None: ops.convert_to_tensor(value, dtype),
        dtype="float32",
        trainable=False,
        # Under mixed_float16 a cast would read 1e-9 as 0.
        autocast=False,
        aggregation="mean",
        name=name,
    )


def _check(controller):
    schedule = controller.schedule
    if controller.measured == "kl" and (schedule.lowest() < 0.0 or schedule.highest() == 0.0):
        raise ValueError(
            "A KL divergence is positive, so this set point cannot be met. "
            f"Received: set_point={controller.set_point!r}"
        )
    for name in _GAINS:
        gain = getattr(controller, name)
        if not (is_number(gain) and gain >= 0.0):
            raise ValueError(
                f"{name} must be a finite number that is not negative; `action` sets the "
                f"direction. Received: {name}={gain!r}"
            )
    minimum, maximum, initial = controller.minimum, controller.maximum, controller.initial
    if not (is_number(minimum) and is_number(maximum) and minimum < maximum):
        raise ValueError(
            "minimum must be below maximum and both finite. Received: "
            f"minimum={minimum!r}, maximum={maximum!r}"
        )
    if initial is not None and not (is_number(initial) and minimum <= initial <= maximum):
        raise ValueError(
            f"initial must lie in [{minimum}, {maximum}]. Received: initial={initial!r}"
        )
    if controller.action not in (1, -1):
        raise ValueError(f"action must be 1 or -1. Received: action={controller.action!r}")
    if controller.rule not in RULES:
        raise ValueError(f"rule must be one of {list(RULES)}. Received: rule={controller.rule!r}")
    if controller.rule == "incremental" and controller.kd:
        raise ValueError(
            f"The incremental rule has no derivative term. Received: kd={controller.kd}"
        )
    average = controller.average
    if not (is_number(average) and 0.0 <= average < 1.0):
        raise ValueError(f"average must lie in [0, 1). Received: average={average!r}")
