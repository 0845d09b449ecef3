"""The controllers' rules once more, in NumPy scalars of any precision: an oracle for the tests."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Settings:
    """Plain numbers of one controller, named as in `keras_vaezoo.control.Controller`."""

    set_point: float
    kp: float = 0.01
    ki: float = 0.001
    kd: float = 0.0
    minimum: float = 0.0
    maximum: float = 100.0
    action: int = 1
    rule: str = "positional"
    average: float = 0.0

    def arguments(self):
        return dataclasses.asdict(self)


class Twin:
    """One controller in the arithmetic of `dtype`."""

    def __init__(self, settings, dtype, start=None):
        numbers = dataclasses.asdict(settings)
        self.rule = numbers.pop("rule")
        self.f = dtype
        self.s = {name: dtype(value) for name, value in numbers.items()}
        self.integral, self.previous, self.average = dtype(0), None, None
        self.value = self.s["minimum"] if start is None else dtype(start)

    def update(self, measured):
        if not np.isfinite(measured):
            return self.value
        f, s = self.f, self.s
        measured = f(measured)
        if self.average is None:
            self.average = measured
        self.average = s["average"] * self.average + (f(1) - s["average"]) * measured
        error = s["action"] * (s["set_point"] - self.average)
        previous = error if self.previous is None else self.previous
        self.previous = error
        if self.rule == "incremental":
            change = s["kp"] * (_sigmoid(f, -error) - _sigmoid(f, -previous))
            wanted = self.value + change - s["ki"] * error
        else:
            wanted = self._positional(error, previous)
        self.value = min(max(wanted, s["minimum"]), s["maximum"])
        return self.value

    def _positional(self, error, previous):
        s = self.s
        candidate = self.integral - s["ki"] * error
        wanted = s["minimum"] + s["kp"] * _sigmoid(self.f, -error) + candidate
        wanted = wanted - s["kd"] * (error - previous)
        inside = s["minimum"] <= wanted <= s["maximum"]
        if inside or (wanted > s["maximum"] and error > 0) or (wanted < s["minimum"] and error < 0):
            self.integral = candidate
        return wanted


def _sigmoid(f, x):
    with np.errstate(over="ignore"):
        return f(1) / (f(1) + np.exp(-x))
