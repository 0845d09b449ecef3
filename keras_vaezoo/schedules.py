"""Values that change with the training step: linear, cosine, cyclic and in stairs."""

import dataclasses
import math

import keras
import numpy as np
from keras import ops

from keras_vaezoo.checks import is_number

SCHEDULES = ("constant", "linear", "cosine", "cyclic", "staircase")
SCHEDULE_FIELDS = ("kind", "start", "end", "first_step", "length", "increment")


@keras.saving.register_keras_serializable("keras_vaezoo")
@dataclasses.dataclass(frozen=True)
class Schedule:
    """A value that changes with the training step.

    With `u = max(step - first_step, 0) / length` and `t = min(u, 1)`:

    - linear: `start + (end - start) t`;
    - cosine: `start + (end - start) (1 - cos(pi t)) / 2`;
    - cyclic: in each period of `length` steps a linear rise over the first half, `end` over the
      second (Fu et al. 2019);
    - staircase: `start + increment floor(u)`, never past `end` (ControlVAE's set point: 0.5,
      then 0.15 more every 5,000 steps).

    Args:
        kind: One of "constant", "linear", "cosine", "cyclic", "staircase".
        start: Value at the start, in the unit of what is scheduled.
        end: Value at the end. Default: `start`.
        length: Duration, period or stair in training steps, at least 1. Default 1.
        increment: Height of one stair; only for "staircase".
        first_step: Step at which the schedule sets in. Default 0.

    Raises:
        ValueError: For an unknown kind, a length below 1, values that are not finite, or stairs
            that do not lead from start to end.

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
    first_step: float = 0

    def __post_init__(self):
        if self.kind not in SCHEDULES:
            raise ValueError(f"kind must be one of {list(SCHEDULES)}. Received: kind={self.kind!r}")
        if self.end is None:
            object.__setattr__(self, "end", self.start)
        for name in SCHEDULE_FIELDS[1:]:
            value = getattr(self, name)
            if not is_number(value):
                raise ValueError(f"{name} must be a finite number. Received: {name}={value!r}")
        if self.length < 1:
            raise ValueError(f"length must be at least 1 step. Received: length={self.length!r}")
        if self.kind == "constant" and self.end != self.start:
            raise ValueError(
                "A constant schedule has no end of its own; choose 'linear' or 'cosine'. "
                f"Received: start={self.start}, end={self.end}"
            )
        if self.kind == "staircase" and self.increment * (self.end - self.start) <= 0:
            raise ValueError(
                "increment must lead from start to end. Received: "
                f"start={self.start}, end={self.end}, increment={self.increment}"
            )

    def __call__(self, step):
        """The value at `step`, a float."""
        fields = {k: ops.convert_to_tensor([v], "float32") for k, v in self.fields().items()}
        value = scheduled(np.array([SCHEDULES.index(self.kind)]), fields, float(step))
        return float(ops.convert_to_numpy(value)[0])

    def fields(self):
        """The six numbers that a slot stores for this schedule."""
        fields = {name: float(getattr(self, name)) for name in SCHEDULE_FIELDS[1:]}
        return {"kind": float(SCHEDULES.index(self.kind)), **fields}

    def lowest(self):
        """The lowest value that the schedule takes."""
        return min(self.start, self.end)

    def highest(self):
        """The highest value that the schedule takes."""
        return max(self.start, self.end)

    def get_config(self):
        return dataclasses.asdict(self)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def as_schedule(value, name="set_point"):
    """A `Schedule` as it is; a number as a constant one."""
    if isinstance(value, Schedule):
        return value
    if is_number(value):
        return Schedule("constant", float(value))
    raise ValueError(
        f"{name} must be a finite number or a keras_vaezoo.control.Schedule. "
        f"Received: {name}={value!r}"
    )


def scheduled(kinds, fields, step):
    """Values of n schedules at `step`; only the kinds that occur are computed.

    Args:
        kinds: NumPy array `(n,)`, indices in `SCHEDULES`.
        fields: `{name: (n,)}` of the `SCHEDULE_FIELDS`.
        step: Number of training steps done, a float scalar.

    Returns:
        Tensor `(n,)`.
    """
    value = fields["start"]
    if not np.any(kinds):
        return value
    rise = fields["end"] - fields["start"]
    periods = ops.maximum(step - fields["first_step"], 0.0) / fields["length"]
    for kind, change in enumerate(_CHANGES, start=1):
        if np.any(kinds == kind):
            changed = fields["start"] + change(rise, periods, fields["increment"])
            value = ops.where(kinds == kind, changed, value)
    return value


def _linear(rise, periods, increment):
    return rise * ops.minimum(periods, 1.0)


def _cosine(rise, periods, increment):
    return rise * (0.5 - 0.5 * ops.cos(math.pi * ops.minimum(periods, 1.0)))


def _cyclic(rise, periods, increment):
    return rise * ops.minimum(2.0 * (periods - ops.floor(periods)), 1.0)


def _staircase(rise, periods, increment):
    climbed = increment * ops.floor(periods)
    return ops.where(ops.abs(climbed) < ops.abs(rise), climbed, rise)


_CHANGES = (_linear, _cosine, _cyclic, _staircase)
