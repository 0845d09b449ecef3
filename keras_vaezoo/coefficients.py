"""The coefficients of a model's loss: their values, controller slots and schedules.

Every coefficient owns one slot from construction. Callbacks only write a slot's settings, so
nothing is added later: no retrace, no lost state, one file format.
"""

from collections.abc import MutableMapping

import keras
import numpy as np
from keras import ops

from keras_vaezoo.control import SETTINGS, STATE, controlled, scheduled

_ENABLED = SETTINGS.index("enabled")
_KIND = SETTINGS.index("kind")


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
        names = tuple(self.initial)
        self.values = self._variable("values", list(self.initial.values()))
        self.settings = self._variable("settings", np.zeros((len(names), len(SETTINGS))))
        self.state = self._variable("state", np.zeros((len(names), len(STATE))))
        self.step = self.add_weight(
            shape=(),
            dtype="int32",
            initializer="zeros",
            trainable=False,
            aggregation="only_first_replica",
            name="step",
        )
        self.custom = {}
        self._enabled = np.zeros(len(names), bool)
        self.built = True
        for name, controller in (controllers or {}).items():
            self.control(name, controller)
            if not controller.follows_built_in_rule():
                self.custom[name] = controller

    @property
    def names(self):
        return tuple(self.initial)

    def _variable(self, name, value):
        value = np.asarray(value, "float32")
        return self.add_weight(
            shape=value.shape,
            initializer=lambda shape, dtype=None: ops.convert_to_tensor(value, dtype),
            dtype="float32",
            trainable=False,
            autocast=False,
            aggregation="mean",
            name=name,
        )

    def index(self, name):
        """Row of a coefficient; a ValueError lists the names there are."""
        if name not in self.initial:
            raise ValueError(
                f"There is no coefficient {name!r}; this model has {list(self.names)}. "
                f"Received: {name!r}"
            )
        return self.names.index(name)

    def enabled(self, name):
        """Whether a controller sets this coefficient."""
        return bool(self._enabled[self.index(name)])

    def current(self, scheduled_for_training=False):
        """`{name: scalar tensor}` of the values; in training as the schedules give them."""
        values = ops.convert_to_tensor(self.values)
        if scheduled_for_training:
            settings = ops.convert_to_tensor(self.settings)
            follows = ops.logical_and(
                ops.equal(settings[:, _ENABLED], 0.0), ops.not_equal(settings[:, _KIND], 0.0)
            )
            by_step = scheduled(settings[:, -6:], ops.convert_to_tensor(self.step))
            values = ops.where(follows, by_step, values)
        return dict(zip(self.names, ops.unstack(values), strict=True))

    def get(self, name):
        """The value as a Python float."""
        return float(ops.convert_to_numpy(self.values)[self.index(name)])

    def assign(self, name, value):
        """Writes one value. A ValueError where a controller owns the coefficient."""
        self._refuse_controlled(name, "assign")
        row = self.index(name)
        values = ops.convert_to_numpy(self.values).copy()
        values[row] = _finite(name, value)
        self.values.assign(values)

    def control(self, name, controller, keep_state=False):
        """Enables a controller on a coefficient.

        Args:
            name: The coefficient.
            controller: A `control.Controller`: its settings are copied into the slot.
            keep_state: Whether an enabled slot keeps its integral, value and other state, as a
                resumed run must. Default `False`.
        """
        row = self.index(name)
        if controller.measured not in self.measurable:
            raise ValueError(
                f"There is no term {controller.measured!r} to measure; this model has "
                f"{list(self.measurable)}. Received: measured={controller.measured!r}"
            )
        resumed = keep_state and self._enabled[row]
        measured = self.measurable.index(controller.measured)
        self._write(row, controller.row(measured))
        if not resumed:
            state = ops.convert_to_numpy(self.state).copy()
            state[row] = 0.0
            state[row, STATE.index("set_point")] = controller.set_point(0)
            self.state.assign(state)
            start = self.get(name) if controller.initial is None else controller.initial
            values = ops.convert_to_numpy(self.values).copy()
            values[row] = np.clip(start, controller.minimum, controller.maximum)
            self.values.assign(values)

    def schedule(self, name, schedule):
        """Lets a coefficient follow a `control.Schedule` by the training step."""
        self._refuse_controlled(name, "schedule")
        settings = dict.fromkeys(SETTINGS, 0.0) | schedule.row()
        # Kind 0 in a slot without a controller means "leave the value": write it once instead.
        if schedule.kind == "constant":
            self.assign(name, schedule.start)
        self._write(self.index(name), settings)

    def release(self, name):
        """Disables the controller or schedule of a coefficient; its value stays."""
        self._write(self.index(name), dict.fromkeys(SETTINGS, 0.0))

    def set_point(self, name):
        """The current set point of a controlled coefficient, a float."""
        return self._state_of(name, "set_point")

    def integral(self, name):
        """The integral of a controlled coefficient, a float."""
        return self._state_of(name, "integral")

    def state_tensor(self, name, field):
        """A field of the slot's state as a scalar tensor, for use inside a step."""
        return ops.convert_to_tensor(self.state)[self.index(name), STATE.index(field)]

    def slot(self, name):
        """Settings and state of a coefficient's slot as `{field: float}`."""
        row = self.index(name)
        settings = ops.convert_to_numpy(self.settings)[row]
        state = ops.convert_to_numpy(self.state)[row]
        fields = dict(zip(SETTINGS, settings.tolist(), strict=True))
        return fields | dict(zip(STATE, state.tolist(), strict=True)) | {"value": self.get(name)}

    def update(self, current, means, limit):
        """One training step: the controllers, the limits and the step count.

        Args:
            current: `{name: scalar}` as `current(scheduled_for_training=True)` gave them.
            means: `(len(measurable),)` batch means of the terms, gradient stopped.
            limit: A function from and to `{name: value}`, applied to the new values.

        Returns:
            `{name: scalar tensor}`, the values that this step's loss uses.
        """
        settings, state = ops.convert_to_tensor(self.settings), ops.convert_to_tensor(self.state)
        step = ops.convert_to_tensor(self.step)
        values = ops.stack([current[name] for name in self.names])
        measured = ops.take(means, ops.cast(settings[:, SETTINGS.index("measured")], "int32"))
        enabled = ops.not_equal(settings[:, _ENABLED], 0.0)
        new_state, new_values = controlled(settings, state, values, measured, step)
        named = dict(
            zip(self.names, ops.unstack(ops.where(enabled, new_values, values)), strict=True)
        )
        for name, controller in self.custom.items():
            row = self.index(name)
            named[name] = ops.where(enabled[row], controller.update(measured[row]), named[name])
        named = limit(named)
        self.values.assign(ops.stack([named[name] for name in self.names]))
        self.state.assign(ops.where(enabled[:, None], new_state, state))
        self.step.assign(step + 1)
        return named

    def load_own_variables(self, store):
        super().load_own_variables(store)
        self._enabled = ops.convert_to_numpy(self.settings)[:, _ENABLED] != 0.0

    def _write(self, row, fields):
        settings = ops.convert_to_numpy(self.settings).copy()
        settings[row] = [fields[name] for name in SETTINGS]
        self.settings.assign(settings)
        self._enabled[row] = bool(fields["enabled"])

    def _state_of(self, name, field):
        return float(ops.convert_to_numpy(self.state)[self.index(name), STATE.index(field)])

    def _refuse_controlled(self, name, verb):
        if self.enabled(name):
            slot = self.slot(name)
            term = self.measurable[int(slot["measured"])]
            raise ValueError(
                f"Cannot {verb} coefficient {name!r}: a controller holds it to keep term {term!r} "
                f"at {slot['set_point']:g}. Call model.release({name!r}) first."
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


def _finite(name, value):
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (is_number and np.isfinite(value)):
        raise ValueError(f"Coefficient {name!r} must be a finite number. Received: {value!r}")
    return float(value)
