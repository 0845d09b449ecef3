"""A model that can be used after `fit`, `evaluate` or `predict` failed."""

import contextlib

_GROUPS = (
    "trainable_variables",
    "non_trainable_variables",
    "optimizer_variables",
    "metrics_variables",
)


class RecoveryMixin:
    """Leaves the model usable when a step raises: a batch of a wrong shape, an interrupt.

    Under JAX, Keras takes the values out of the variables before the first step of an epoch and
    puts back what the step returned; a step that raises returns nothing, and the weights would be
    lost. Under TensorFlow, a step whose tracing failed cannot be traced again.
    """

    def fit(self, *args, **kwargs):
        with self._recovery():
            return super().fit(*args, **kwargs)

    def evaluate(self, *args, **kwargs):
        with self._recovery():
            return super().evaluate(*args, **kwargs)

    def predict(self, *args, **kwargs):
        with self._recovery():
            return super().predict(*args, **kwargs)

    def _get_jax_state(self, *args, **groups):
        state = super()._get_jax_state(*args, **groups)
        if groups.get("purge_model_variables"):
            taken = [group for group in _GROUPS if groups.get(group)]
            self._jax_state = dict(zip(taken, state, strict=True))
        return state

    @contextlib.contextmanager
    def _recovery(self):
        try:
            yield
        except BaseException:
            if hasattr(self, "jax_state_sync"):
                self.jax_state_sync()
            self.train_function = self.test_function = self.predict_function = None
            raise
