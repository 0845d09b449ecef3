"""GCVAE's stopping criterion: training ends when alpha and beta have settled."""

import keras

from keras_vaezoo.checks import check_positive_integer, is_number

_WATCHED = ("alpha", "beta")


class StoppingCriterion(keras.callbacks.Callback):
    """Stops at the first epoch in which alpha and beta no longer change.

    `|alpha_t - alpha_{t-1}| < alpha_tolerance` and `|beta_t - beta_{t-1}| < beta_tolerance`,
    of the values that the coefficients have when epoch t ends (Ezukwoke et al. 2022, "GCVAE";
    the paper prints 10e-5 and 10e-4, its code has 1e-5 and 1e-4).

    A controller that rests at a limit does not change either, as all do at the start of
    training. So epochs count from the one at whose end one of the watched controllers is first
    seen strictly inside its limits.

    At a dozen steps an epoch, beta moves by some 3e-3 from epoch to epoch for as long as it is
    controlled: then the criterion is met by chance. `patience=5, smoothing=0.9` is not met by
    chance, nor at all in 300 such epochs: widen the tolerances with it. After a resumed run the
    criterion starts anew.

    Args:
        alpha_tolerance: Bound on the change of alpha; `None` watches beta alone. Default 1e-5.
        beta_tolerance: Bound on the change of beta; `None` watches alpha alone. Default 1e-4.
        patience: Number of epochs in a row that must meet the criterion. Default 1.
        smoothing: Weight in [0, 1) of the past in a moving average of the values over epochs,
            whose changes are then compared. Default 0.0.
        restore_best_weights: Whether a stopped model goes back to the weights (coefficients and
            controllers among them) of the epoch with the best `monitor`. Default `False`.
        monitor: Column of the logs that says which epoch is best. Default "elbo".
        mode: "max" (default) or "min" of `monitor`.
        verbose: 1 (default) prints a message when training is stopped, 0 does not.

    Attributes:
        stopped_epoch: The epoch (from 0) in which training was stopped, or `None`.
        message: What is printed: the epoch and the changes of both.

    Raises:
        ValueError: For tolerances that are not positive, both `None`, or a bad patience,
            smoothing or mode; before the first step, for a model without these coefficients, or
            without a controller on any of them.

    Example:

    ```python
    stop = keras_vaezoo.callbacks.StoppingCriterion(patience=5, smoothing=0.9)
    model.fit(images, epochs=2000, callbacks=[stop])
    ```
    """

    def __init__(
        self,
        alpha_tolerance=1e-5,
        beta_tolerance=1e-4,
        patience=1,
        smoothing=0.0,
        restore_best_weights=False,
        monitor="elbo",
        mode="max",
        verbose=1,
    ):
        super().__init__()
        given = dict(zip(_WATCHED, (alpha_tolerance, beta_tolerance), strict=True))
        self.tolerances = {name: value for name, value in given.items() if value is not None}
        if not self.tolerances:
            raise ValueError("alpha_tolerance and beta_tolerance cannot both be None.")
        for name, value in self.tolerances.items():
            if not (is_number(value) and value > 0.0):
                raise ValueError(
                    f"{name}_tolerance must be positive, or None. "
                    f"Received: {name}_tolerance={value!r}"
                )
        check_positive_integer("patience", patience)
        if not (is_number(smoothing) and 0.0 <= smoothing < 1.0):
            raise ValueError(f"smoothing must lie in [0, 1). Received: smoothing={smoothing!r}")
        if mode not in ("max", "min"):
            raise ValueError(f"mode must be 'max' or 'min'. Received: mode={mode!r}")
        self.patience, self.smoothing = patience, smoothing
        self.restore_best_weights, self.monitor, self.mode = restore_best_weights, monitor, mode
        self.verbose = verbose

    def on_train_begin(self, logs=None):
        missing = [name for name in self.tolerances if name not in self.model.coefficients]
        if missing:
            raise ValueError(
                f"StoppingCriterion watches {list(self.tolerances)}; this model has the "
                f"coefficients {list(self.model.coefficients)}."
            )
        self.stopped_epoch, self.message = None, None
        self._smooth, self._settled, self._has_moved = None, 0, False
        self._best, self._best_weights = None, None

    def on_epoch_begin(self, epoch, logs=None):
        if not self._controlled():
            raise ValueError(
                f"No controller holds any of {list(self.tolerances)}, so there is nothing to "
                "settle. Use keras.callbacks.EarlyStopping, or let a controller hold one."
            )

    def on_epoch_end(self, epoch, logs=None):
        self._keep_best(logs or {})
        values = {name: self.model.coefficients[name] for name in self.tolerances}
        before = self._smooth or values
        changes = {}
        for name, value in values.items():
            values[name] = self.smoothing * before[name] + (1.0 - self.smoothing) * value
            changes[name] = abs(values[name] - before[name])
        is_first, self._smooth = self._smooth is None, values
        counts = self._has_moved and not is_first
        self._has_moved = self._has_moved or any(map(self._inside, self._controlled()))
        small = all(changes[name] < bound for name, bound in self.tolerances.items())
        self._settled = self._settled + 1 if counts and small else 0
        if self._settled >= self.patience:
            self._stop(epoch, changes)

    def _stop(self, epoch, changes):
        self.stopped_epoch, self.model.stop_training = epoch, True
        listed = " and ".join(
            f"{name} changed by {change:.2e} < {self.tolerances[name]:g}"
            for name, change in changes.items()
        )
        self.message = f"Epoch {epoch + 1}: training stopped, {listed}."
        if self._best_weights is not None:
            self.model.set_weights(self._best_weights)
            self.message += f" Restored the weights of the best {self.monitor}, {self._best:.6g}."
        if self.verbose:
            print(f"\n{self.message}")

    def _keep_best(self, logs):
        if not self.restore_best_weights:
            return
        if self.monitor not in logs:
            raise ValueError(
                f"There is no {self.monitor!r} to restore by; the logs have {sorted(logs)}. "
                f"Received: monitor={self.monitor!r}"
            )
        score = logs[self.monitor]
        better = self._best is None or (
            score > self._best if self.mode == "max" else score < self._best
        )
        if better:
            self._best, self._best_weights = score, self.model.get_weights()

    def _controlled(self):
        return [name for name in self.tolerances if self.model.loss_coefficients.enabled(name)]

    def _inside(self, name):
        slot = self.model.loss_coefficients.slot(name)
        return slot["minimum"] < slot["value"] < slot["maximum"]
