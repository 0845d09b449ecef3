"""A callback that lets a coefficient follow a schedule."""

from keras_vaezoo.callbacks._holder import CoefficientHolder
from keras_vaezoo.control import Schedule

_UNITS = ("step", "epoch")


class CoefficientSchedule(CoefficientHolder):
    """Changes a coefficient with the training step or the epoch.

    For instance KL warm-up, cyclical annealing (Fu et al. 2019), or the rising capacity of
    Burgess et al. (2018). By step, the schedule runs inside the compiled step and counts the
    model's own steps over all fits: a resumed run goes on where it was. The coefficient follows
    it until `model.release(coefficient)`, without this callback too. By epoch, the value is
    written when an epoch begins.

    Args:
        coefficient: Name of the coefficient, one of `model.coefficients`.
        schedule: A `control.Schedule`, or a function from the number of the epoch (from 0) to
            the value.
        by: "step" or "epoch": the unit of the schedule. Default: "step" for a `Schedule`,
            "epoch" for any other function, which can be nothing else.

    Raises:
        ValueError: For a schedule or unit that is none; when training begins, for an unknown
            coefficient, one that a controller holds, or a second callback on one coefficient.

    Example:

    ```python
    warm_up = keras_vaezoo.control.Schedule("linear", start=0.0, end=1.0, length=2000)
    schedule = keras_vaezoo.callbacks.CoefficientSchedule("kl", warm_up)
    model.fit(images, epochs=10, callbacks=[schedule])
    ```
    """

    def __init__(self, coefficient, schedule, by=None):
        super().__init__(coefficient)
        if not callable(schedule):
            raise ValueError(
                "schedule must be a keras_vaezoo.control.Schedule, or a function of the epoch. "
                f"Received: schedule={schedule!r}"
            )
        by_step = isinstance(schedule, Schedule)
        by = by or ("step" if by_step else "epoch")
        if by not in _UNITS:
            raise ValueError(f"by must be one of {list(_UNITS)}. Received: by={by!r}")
        if by == "step" and not by_step:
            raise ValueError(
                "A function of your own can only be followed by='epoch'; within an epoch only a "
                f"keras_vaezoo.control.Schedule can. Received: schedule={schedule!r}, by='step'"
            )
        self.schedule, self.by = schedule, by

    def hold(self):
        if self.by == "step":
            self.model.schedule(self.coefficient, self.schedule)
        else:
            self.model.coefficients[self.coefficient] = float(self.schedule(0))

    def on_epoch_begin(self, epoch, logs=None):
        if self.by == "epoch":
            self.model.coefficients[self.coefficient] = float(self.schedule(epoch))

    def __repr__(self):
        return f"CoefficientSchedule({self.coefficient!r}, {self.schedule!r}, by={self.by!r})"
