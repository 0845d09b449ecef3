"""A callback that lets a PI(D) controller hold a coefficient."""

from keras_vaezoo.callbacks._holder import CoefficientHolder
from keras_vaezoo.control import Controller


class PIDController(CoefficientHolder):
    """Holds a term of the loss at a set point by changing a coefficient in every step.

    `W(t) = W_min + Kp / (1 + exp(e(t))) - Ki SUM_{j <= t} e(j) - Kd (e(t) - e(t-1))` with
    `e = action (set point - measured)`, clipped to [minimum, maximum]: `control.Controller` has
    the rules, their papers and the anti-windup.

    The callback only writes the settings of the coefficient's slot when training begins. The
    rule runs inside the compiled step, on the measured mean of that batch, and its state is part
    of the model: it is saved, and a later fit goes on with it. The controller stays until
    `model.release(coefficient)`, without this callback too. Training logs
    `<coefficient>_value`, `<coefficient>_set_point` and `<coefficient>_error` (set point minus
    measured), each as of the last step.

    Args:
        coefficient: Name of the coefficient, one of `model.coefficients`.
        measured: Name of the term or measure that is held. Default "kl".
        set_point: Its wanted value, in its unit (nats for a KL divergence): a number or a
            `control.Schedule` of training steps.
        kp: Proportional gain, not negative. Default 0.01.
        ki: Integral gain, not negative. Default 0.001.
        kd: Derivative gain, not negative; only for the positional rule. Default 0.0.
        minimum: Lower limit of the coefficient. Default 0.0.
        maximum: Upper limit of the coefficient. Default 100.0.
        rule: "positional" (default) or "incremental".
        action: 1 (default) where a larger coefficient lowers the measured term, -1 for the
            reverse.
        average: Weight in [0, 1) of the past in the moving average of the measured term.
            Default 0.0.

    Raises:
        ValueError: For settings that no controller can have; when training begins, for an
            unknown coefficient or term, or a second callback on one coefficient.

    Example:

    ```python
    stairs = keras_vaezoo.control.Schedule(
        "staircase", start=0.5, end=18.0, increment=0.15, length=5000
    )
    controller = keras_vaezoo.callbacks.PIDController("kl", set_point=stairs, minimum=1.0)
    model.fit(images, epochs=100, callbacks=[controller])
    ```
    """

    def __init__(
        self,
        coefficient,
        measured="kl",
        *,
        set_point,
        kp=0.01,
        ki=0.001,
        kd=0.0,
        minimum=0.0,
        maximum=100.0,
        rule="positional",
        action=1,
        average=0.0,
    ):
        super().__init__(coefficient)
        self.controller = Controller(
            set_point,
            kp=kp,
            ki=ki,
            kd=kd,
            minimum=minimum,
            maximum=maximum,
            measured=measured,
            action=action,
            rule=rule,
            average=average,
        )

    def hold(self):
        self.model.control(self.coefficient, self.controller, keep_state=True)

    def __repr__(self):
        held = self.controller
        return (
            f"PIDController({self.coefficient!r}, measured={held.measured!r}, "
            f"set_point={held.set_point!r})"
        )
