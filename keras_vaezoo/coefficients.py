"""The coefficients of a model's loss: their values, controller slots and schedules.

Every coefficient owns one slot from construction. Callbacks only write a slot's settings, so
no variable is added later: no lost state, one file format.
"""

import warnings
from collections.abc import MutableMapping

import keras
import numpy as np
from keras import ops

from keras_vaezoo.control import OWN_RULE, SETTINGS, STATE, controlled, state_variable
from keras_vaezoo.schedules import is_number, scheduled

_ENABLED, _MEASURED = SETTINGS.index("enabled"), SETTINGS.index("measured")
# A slot that nothing holds; a length of 0 would divide by zero.
_FREE = dict.fromkeys(SETTINGS, 0.0) | {"length": 1.0}
# A controller that ends at a limit, further than this share from its set point, is reported.
_UNMET = 0.05


@keras.saving.register_keras_serializable("keras_vaezoo")
class Coefficients(keras.layers.Layer):
    """Values, controller settings, controller state and the step count of a model's loss.

    Args:
        initial: `{name: value}`, in the order of the file format.
        measurable: Names of the terms that a controller can measure, in the order in which
            `update` receives them.
        controllers: `{name: Controller}` enabled from the start.
    """

    def __init__(self, initial, measurable, controllers=None, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.initial = {name: _finite(name, value) for name, value in initial.items()}
        self.measurable = tuple(measurable)
        controllers = dict(controllers or {})
        count = len(self.initial)
        free = np.repeat([[_FREE[field]] for field in SETTINGS], count, axis=1)
        self.values = state_variable(self, "values", list(self.initial.values()))
        self.settings = state_variable(self, "settings", free)
        self.state = state_variable(self, "state", np.zeros((len(STATE), count)))
        self.step = self.add_weight(
            shape=(),
            dtype="int32",
            initializer="zeros",
            trainable=False,
            aggregation="only_first_replica",
            name="step",
        )
        # The controllers themselves would bring variables that nothing uses into the file.
        self.controller_configs = {
            name: keras.saving.serialize_keras_object(c) for name, c in controllers.items()
        }
        # Callbacks that set a coefficient in the present fit, by its name.
        self.holders = {}
        self.own_rules = {n: c for n, c in controllers.items() if c.has_own_rule()}
        self.built = True
        self.refresh()
        for name, controller in controllers.items():
            self.control(name, controller)

    @property
    def names(self):
        return tuple(self.initial)

    def index(self, name):
        """Column of a coefficient; a ValueError lists the names there are."""
        if name not in self.initial:
            raise ValueError(
                f"There is no coefficient {name!r}; this model has {list(self.names)} (most are "
                f"named after the term that they weigh: BetaVAE's beta is 'kl'). Received: {name!r}"
            )
        return self.names.index(name)

    def get(self, name):
        """The value as a Python float."""
        return float(ops.convert_to_numpy(self.values)[self.index(name)])

    def slot(self, name):
        """Settings, state and value of a coefficient's slot as `{field: float}`."""
        column = self.index(name)
        settings = ops.convert_to_numpy(self.settings)[:, column].tolist()
        state = ops.convert_to_numpy(self.state)[:, column].tolist()
        names = (*SETTINGS, *STATE, "value")
        return dict(zip(names, (*settings, *state, self.get(name)), strict=True))

    def enabled(self, name):
        """Whether a controller sets this coefficient."""
        return bool(self._enabled[self.index(name)])

    def controlled(self):
        """`{name: column}` of the coefficients that a controller sets."""
        return {name: n for n, name in enumerate(self.names) if self._enabled[n]}

    def measured(self, name):
        """Name of the term that the controller of this coefficient measures."""
        return self.measurable[int(self.slot(name)["measured"])]

    def held(self):
        """What a compiled step depends on: the slots in use, their rules and kinds."""
        return tuple(self._enabled), tuple(self._rules), tuple(self._kinds)

    def refresh(self):
        """Reads from the variables which slots are in use; needed after they were loaded."""
        s = dict(zip(SETTINGS, ops.convert_to_numpy(self.settings), strict=True))
        self._enabled, self._rules, self._kinds = s["enabled"] != 0.0, s["rule"], s["kind"]
        self._own = self._enabled & (self._rules == OWN_RULE)
        self._scheduled = ~self._enabled & (self._kinds != 0.0)

    def assign(self, name, value):
        """Writes one value. A ValueError where a controller or schedule sets the coefficient."""
        self._refuse_controlled(name, "assign")
        if self._scheduled[self.index(name)]:
            raise ValueError(
                f"Cannot assign coefficient {name!r}: it follows a schedule of training steps. "
                f"Call model.release({name!r}) first."
            )
        self._write(self.values, self.index(name), _finite(name, value))

    def control(self, name, controller, keep_state=False):
        """Enables a controller: copies its settings into the slot; see `model.control`."""
        column = self.index(name)
        if controller.measured not in self.measurable:
            raise ValueError(
                f"There is no term {controller.measured!r} to measure; this model has "
                f"{list(self.measurable)}. Received: measured={controller.measured!r}"
            )
        own = self.own_rules.get(name)
        if controller.has_own_rule() and own is not controller:
            raise ValueError(
                f"Give {type(controller).__name__} to the model's constructor, as "
                f"controllers={{{name!r}: ...}}: its state is part of the model's file."
            )
        if self._own[column] and controller is not own:
            self._refuse_controlled(name, "control")
        resumed = keep_state and self._enabled[column]
        measured = self.measurable.index(controller.measured)
        settings = controller.settings_of_slot(measured)
        self._write(self.settings, column, [settings[field] for field in SETTINGS])
        if not resumed:
            start = self.get(name) if controller.initial is None else controller.initial
            start = np.clip(start, controller.minimum, controller.maximum)
            self._write(self.values, column, start)
            state = dict.fromkeys(STATE, 0.0) | {"set_point": controller.schedule(0)}
            self._write(self.state, column, [state[field] for field in STATE])

    def schedule(self, name, schedule):
        """Lets a coefficient follow a `control.Schedule` by the training step."""
        self._refuse_controlled(name, "schedule")
        # Kind 0, a constant, in a slot without a controller means "leave the value".
        self._write(self.values, self.index(name), schedule(ops.convert_to_numpy(self.step)))
        settings = _FREE | schedule.fields()
        self._write(self.settings, self.index(name), [settings[field] for field in SETTINGS])

    def release(self, name):
        """Disables the controller or schedule of a coefficient; its value stays."""
        self._write(self.settings, self.index(name), [_FREE[field] for field in SETTINGS])

    def _write(self, variable, column, value):
        array = ops.convert_to_numpy(variable).copy()
        array[..., column] = value
        variable.assign(array)
        self.refresh()

    def _refuse_controlled(self, name, verb):
        if self.enabled(name):
            raise ValueError(
                f"Cannot {verb} coefficient {name!r}: a controller holds it to keep term "
                f"{self.measured(name)!r} at {self.slot(name)['set_point']:g}. "
                f"Call model.release({name!r}) first."
            )

    def load_own_variables(self, store):
        super().load_own_variables(store)
        self.refresh()

    def current(self, scheduled_for_training=False):
        """`{name: scalar tensor}` of the values; in training as the schedules give them."""
        values = ops.convert_to_tensor(self.values)
        if scheduled_for_training and self._scheduled.any():
            settings = ops.unstack(ops.convert_to_tensor(self.settings), len(SETTINGS))
            fields = dict(zip(SETTINGS, settings, strict=True))
            by_step = scheduled(self._kinds, fields, self._steps_done())
            values = ops.where(self._scheduled, by_step, values)
        return dict(zip(self.names, ops.unstack(values, len(self.names)), strict=True))

    def last(self, current):
        """Values, set points and errors as the rows of a tensor, `(3, n)`."""
        values = ops.stack([current[name] for name in self.names])
        state = ops.convert_to_tensor(self.state)
        return ops.stack([values, *(state[STATE.index(f)] for f in ("set_point", "error"))])

    def update(self, current, means, limit):
        """One training step: the controllers, the limits and the step count.

        Args:
            current: `{name: scalar}` as `current(scheduled_for_training=True)` gave them.
            means: `(len(measurable),)` batch means of the terms, gradient stopped.
            limit: A function from and to `{name: value}`, applied to the new values.

        Returns:
            `{name: scalar tensor}`, the values that this step's loss uses.
        """
        if self._enabled.any():
            current = self._controlled(current, means)
        current = limit(current)
        if self._enabled.any() or self._scheduled.any():
            self.values.assign(ops.stack([current[name] for name in self.names]))
        self.step.assign_add(1)
        return current

    def _controlled(self, current, means):
        settings, state = ops.convert_to_tensor(self.settings), ops.convert_to_tensor(self.state)
        values = ops.stack([current[name] for name in self.names])
        measured = ops.take(means, ops.cast(settings[_MEASURED], "int32"))
        new_state, new = controlled(
            self._rules, self._kinds, settings, state, values, measured, self._steps_done()
        )
        enabled = settings[_ENABLED] > 0.5
        self.state.assign(ops.where(enabled, new_state, state))
        new = ops.unstack(ops.where(enabled, new, values), len(self.names))
        new = dict(zip(self.names, new, strict=True))
        for name, controller in self.own_rules.items():
            column = self.index(name)
            if self._own[column]:
                new[name] = _own_update(controller, measured[column], current[name])
        return new

    def _steps_done(self):
        return ops.cast(ops.convert_to_tensor(self.step), "float32")

    def warn_of_unmet_set_points(self):
        """Warns of each controller that ended at a limit, short of its set point."""
        for name in self.controlled():
            slot = self.slot(name)
            at_limit = slot["value"] in (slot["minimum"], slot["maximum"])
            if at_limit and abs(slot["error"]) > _UNMET * abs(slot["set_point"]):
                warnings.warn(
                    f"The set point {slot['set_point']:g} of term {self.measured(name)!r} is not "
                    f"met: {slot['set_point'] - slot['error']:.4g} with coefficient {name!r} at "
                    f"its limit {slot['value']:g} (limits {slot['minimum']:g} and "
                    f"{slot['maximum']:g}). Train for longer, or widen the limits.",
                    stacklevel=3,
                )


class CoefficientView(MutableMapping):
    """Live mapping of a model's coefficients: reading gives floats, assignment writes them.

    Example:

    >>> model.coefficients["kl"] = 0.5
    >>> dict(model.coefficients)
    {'reconstruction': 1.0, 'kl': 0.5}
    """

    def __init__(self, coefficients):
        self._coefficients = coefficients

    def __getitem__(self, name):
        if name not in self._coefficients.initial:
            raise KeyError(f"{name!r}; this model has {list(self._coefficients.names)}")
        return self._coefficients.get(name)

    def __setitem__(self, name, value):
        self._coefficients.assign(name, value)

    def __delitem__(self, name):
        raise TypeError(f"Coefficients cannot be deleted: {name!r}. Set its value to 0 instead.")

    def __iter__(self):
        return iter(self._coefficients.names)

    def __len__(self):
        return len(self._coefficients.names)

    def __repr__(self):
        return repr(dict(self))


def _own_update(controller, measured, value):
    """A user's `update`, undone where the measurement is not finite."""
    finite = ops.isfinite(measured)
    # On TensorFlow a converted variable still follows what is assigned to it.
    before = [ops.copy(variable) for variable in controller.variables]
    new = ops.cast(controller.update(measured), "float32")
    for variable, old in zip(controller.variables, before, strict=True):
        variable.assign(ops.where(finite, ops.convert_to_tensor(variable), old))
    return ops.where(finite, ops.reshape(new, ()), value)


def _finite(name, value):
    if not is_number(value):
        raise ValueError(f"Coefficient {name!r} must be a finite number. Received: {value!r}")
    return float(value)
