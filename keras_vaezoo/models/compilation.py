"""Compiling, the checks before training, and what a file keeps of them."""

import warnings

import keras
import numpy as np
from keras.utils import unpack_x_y_sample_weight

from keras_vaezoo import checks
from keras_vaezoo.models.streams import streaming_arguments

TARGETS = ("input", "y")
_TORCH_OPTIMIZERS = "keras.src.backend.torch.optimizers"


class CompilationMixin:
    """Keras's training interface with checks of the input and a choice of target."""

    target = "input"
    _warned_of_target = False

    def compile(self, optimizer="adam", target="input", jit_compile="auto", **kwargs):
        """Keras's `compile`, without a loss: the objective is the model's own.

        Args:
            optimizer: Name or `keras.optimizers.Optimizer`. Default "adam" (rate 1e-3).
            target: What is reconstructed: "input" (labels are ignored) or "y" (denoising:
                `fit(noisy, clean)`). Default "input".
            jit_compile: As in Keras. Default "auto".
            **kwargs: Keras's others: metrics, weighted_metrics, run_eagerly,
                steps_per_execution, auto_scale_loss.

        Raises:
            ValueError: For a loss, an unknown target, or metrics with more than one
                Monte-Carlo sample.
        """
        if kwargs.pop("loss", None) is not None or kwargs.pop("loss_weights", None) is not None:
            raise ValueError(
                "The objective is the model's own; set its weights through model.coefficients. "
                "Received: a loss or loss_weights in compile()"
            )
        if target not in TARGETS:
            raise ValueError(f"target must be one of {list(TARGETS)}. Received: target={target!r}")
        metrics = kwargs.get("metrics") or kwargs.get("weighted_metrics")
        if metrics and self.samples > 1:
            raise ValueError(
                "compile(metrics=...) takes one Monte-Carlo sample. Received: metrics with "
                f"samples={self.samples}"
            )
        super().compile(optimizer=optimizer, jit_compile=jit_compile, **kwargs)
        self.target = target
        self._compiled_for = {}
        # Keras stores the resolved value: a file from JAX would start torch.compile for minutes.
        self._compile_config.config["jit_compile"] = jit_compile

    def get_compile_config(self):
        if not self.compiled:
            return {}
        config = _portable(super().get_compile_config())
        for key in ("loss", "loss_weights"):
            config.pop(key, None)
        return {**config, "target": self.target}

    def compile_from_config(self, config):
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None and self.built:
            self.optimizer.build(self.trainable_variables)

    def fit(self, x=None, y=None, *args, sample_weight=None, validation_data=None, **kwargs):
        """Keras's `fit`; the data are checked before any work starts.

        Args:
            x: Array `(n, *input_shape)`, tf.data.Dataset, PyDataset, DataLoader of tuples, or
                generator, floating point. What is reconstructed lies in the likelihood's range.
            y: Ignored with `target="input"` (labels); reconstructed with `target="y"`.
            *args: Keras's batch_size, epochs, verbose, callbacks and validation_split, in its
                order; all others by name.
            sample_weight: `(n,)` weights of the examples, at least 0. Each term is then their
                weighted mean; the logged `loss` is the mean over batches of such means (Keras's
                tracker). A term of the batch ignores them, as its method says.
            validation_data: As in Keras; `(x,)` or `x` alone do too.
            **kwargs: Keras's others.

        Returns:
            Keras's History: loss, terms, elbo, weights.

        Raises:
            ValueError: For integer, empty, NaN, infinite or out-of-range data, or another shape.
        """
        self._refuse_class_weight(kwargs)
        y, sample_weight = self._checked(x, y, sample_weight)
        kwargs = streaming_arguments(x, args, kwargs)
        if isinstance(validation_data, (tuple, list)):
            x_val, y_val, weight = unpack_x_y_sample_weight(tuple(validation_data))
            y_val, weight = self._checked(x_val, y_val, weight)
            y_val = x_val if y_val is None else y_val
            validation_data = (x_val, y_val) if weight is None else (x_val, y_val, weight)
        elif hasattr(validation_data, "dtype"):
            self._checked(validation_data, None, None)
            validation_data = (validation_data, validation_data)
        elif validation_data is not None:
            checks.check_data(validation_data, None, *self._expected(), self.target)
        self.loss_coefficients.holders = {}  # a fit that failed may have left some
        history = super().fit(
            x, y, sample_weight=sample_weight, validation_data=validation_data, **kwargs
        )
        self.loss_coefficients.warn_of_unmet_set_points()
        return history

    def evaluate(self, x=None, y=None, *args, sample_weight=None, **kwargs):
        """Keras's `evaluate`: the loss and every term on fixed noise, with no state changed."""
        self.loss_coefficients.holders = {}  # callbacks of a fit that failed, or of an evaluation
        # fit() passes no data of its own here when it evaluates a cached dataset.
        if x is not None and not kwargs.get("_use_cached_eval_dataset"):
            y, sample_weight = self._checked(x, y, sample_weight)
        return super().evaluate(x, y, *args, sample_weight=sample_weight, **kwargs)

    def predict(self, x, *args, **kwargs):
        """Keras's `predict`: the mean of p(x|z) at the posterior mean."""
        self.loss_coefficients.holders = {}
        if hasattr(x, "dtype") and hasattr(x, "shape"):
            checks.check_batch(x, self.input_shape[1:])
        return super().predict(x, *args, **kwargs)

    def train_on_batch(self, x, y=None, sample_weight=None, **kwargs):
        self._refuse_class_weight(kwargs)
        y, sample_weight = self._checked(x, y, sample_weight)
        return super().train_on_batch(x, y, sample_weight=sample_weight, **kwargs)

    def test_on_batch(self, x, y=None, sample_weight=None, **kwargs):
        y, sample_weight = self._checked(x, y, sample_weight)
        return super().test_on_batch(x, y, sample_weight=sample_weight, **kwargs)

    def prepared(self, data):
        """`(x, target, sample_weight)` of one batch, checked while the step is traced."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        shape, _ = self._expected()
        checks.check_batch(x, shape)
        if self.target == "input":
            return x, x, sample_weight
        if y is None:
            raise ValueError("target='y' needs y in every batch. Received: y=None")
        checks.check_batch(y, shape, "y")
        return x, y, sample_weight

    def _refuse_class_weight(self, arguments):
        if arguments.get("class_weight") is not None and self.target == "input":
            raise ValueError(
                "Labels are ignored, so class_weight has nothing to go by: pass sample_weight, "
                "e.g. fit(x, sample_weight=weights[labels]). Received: class_weight"
            )

    def _expected(self):
        return tuple(self.input_shape[1:]), self.likelihood.value_range

    def _checked(self, x, y, sample_weight):
        """Checks what the user passed; gives `y` and the weights to hand to Keras."""
        in_memory = hasattr(x, "dtype")
        if self.target == "y" and in_memory and y is None:
            raise ValueError(
                "target='y' needs x and y: fit(x, y), validation_data=(x, y). Received: y=None"
            )
        if sample_weight is not None:
            sample_weight = _checked_weights(sample_weight, x)
        if self.target == "y":
            checks.check_data(x, y if in_memory else None, *self._expected(), "y")
            return y, sample_weight
        checks.check_data(x, None, *self._expected())
        if y is not None and tuple(getattr(y, "shape", ())) == tuple(getattr(x, "shape", (0,))):
            self._warn_of_ignored_target()
        # Keras drops sample_weight without a word when there is no y.
        return (None if sample_weight is None else x), sample_weight

    def _warn_of_ignored_target(self):
        if not self._warned_of_target:
            self._warned_of_target = True
            warnings.warn(
                "y has the shape of x but is ignored: compile(target='y') reconstructs it.",
                stacklevel=4,
            )

    def make_train_function(self, force=False):
        return super().make_train_function(force=self._holders_changed("train") or force)

    def make_test_function(self, force=False):
        return super().make_test_function(force=self._holders_changed("test") or force)

    def _holders_changed(self, step):
        """Whether other coefficients are controlled or scheduled than when `step` was compiled.

        Which metrics are shown, and what is computed, is part of a compiled step.
        """
        self.loss_coefficients.refresh()
        before, held = self._compiled_for.get(step), self.loss_coefficients.held()
        self._compiled_for[step] = held
        return before != held

    def _refresh_functions(self):
        """Compiles the training step anew where it has to be: inside `fit` nothing else does."""
        if getattr(self, "train_function", None) is not None:
            self.make_train_function()


def _checked_weights(sample_weight, x):
    """Weights of the rows of an array as an array or tensor of shape `(n,)`."""
    if not hasattr(x, "shape"):
        raise ValueError(
            "sample_weight goes with arrays; let a stream yield (x, y, sample_weight). Received: "
            f"sample_weight with {type(x).__name__}"
        )
    if not hasattr(sample_weight, "shape"):
        sample_weight = np.asarray(sample_weight, "float32")
    if tuple(sample_weight.shape) != (x.shape[0],):
        raise ValueError(
            f"sample_weight must have shape ({x.shape[0]},). Received: "
            f"shape={tuple(sample_weight.shape)}"
        )
    checks.check_weights(sample_weight)
    return sample_weight


def _portable(config):
    """A config whose optimizers load on every backend."""
    if isinstance(config, dict):
        config = {key: _portable(value) for key, value in config.items()}
        if str(config.get("module", "")).startswith(_TORCH_OPTIMIZERS):
            config["module"] = "keras.optimizers"
            config["class_name"] = config["class_name"].removeprefix("Torch")
            config["registered_name"] = None
    elif isinstance(config, list):
        config = [_portable(value) for value in config]
    return config
