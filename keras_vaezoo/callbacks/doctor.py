"""TrainingDoctor: says in words what is wrong with a run, and what to change."""

import math
from typing import NamedTuple

import keras
import numpy as np

from keras_vaezoo import checks
from keras_vaezoo.callbacks import _diagnoses as diagnoses
from keras_vaezoo.callbacks._fixed_images import check_images, chosen_at_random
from keras_vaezoo.evaluation._scoring import gaussian_kl_of_dimensions
from keras_vaezoo.models.trackers import weight_name

_MOST = 512


class Finding(NamedTuple):
    """One thing that is wrong.

    Attributes:
        kind: "range", "scale", "not_finite", "kl_weight", "log_variance" or "collapse".
        epoch: The epoch, from 1, at whose end it was found; 0 before the first step.
        message: What is wrong and what to change.
    """

    kind: str
    epoch: int
    message: str


class TrainingDoctor(keras.callbacks.Callback):
    """Looks for common faults of a run and says in words what is wrong and what to change.

    A healthy run gets no word; a fault is told once in a training. The kinds of findings and
    their thresholds:

    - "range", before the first step: the images leave the likelihood's range, or fill less than
      a tenth of it (divided by 255 twice).
    - "scale", before the first step, where sigma or b is fixed: the images' values have a
      standard deviation of more than 10 of it, so that the reconstruction drowns the KL
      divergence; or `w sigma^2` is not below the largest eigenvalue of the images' covariance,
      w the KL weight: there the best linear VAE ignores its codes (Tipping and Bishop 1999,
      "Probabilistic Principal Component Analysis", with `w sigma^2` for their `sigma^2`).
    - "not_finite": which part of the loss was the first to be NaN or infinite, in which step.
    - "kl_weight": the coefficient of "kl" over that of "reconstruction" is more than 1% from 1
      in a model that was built with 1, the ELBO's weight; or lies outside [1 / far, far] in a
      model of these two terms that was built with another. What a controller or a
      CoefficientSchedule sets is meant to change and is not looked at.
    - "log_variance": that of a latent dimension is above `log_variance[1]` for some image (it
      explodes: at 10, a posterior is 148 times as wide as the prior), or below
      `log_variance[0]`.
    - "collapse": the mean KL divergence of a latent dimension was below `collapsed` nats at the
      end of `patience` epochs in a row.

    The posteriors are those of at most 512 of the images, chosen once. The model's run is the
    same bit for bit with and without this callback, which never stops it (Keras's TerminateOnNaN
    does). Of the steps it reads the logs alone, on another thread where Keras allows that: the
    running mean of a term turns NaN in the very step in which the term does, and stays so for
    the epoch. With `steps_per_execution=k` logs come every k steps, and the k steps are named.

    Args:
        images: Images like those that the model is trained on: an array `(n, *input_shape)`,
            a tuple (images, labels), or a `datasets.Dataset`.
        collapsed: KL divergence in nats below which a dimension carries nothing. Default 0.01.
        patience: Epochs in a row in which it does. Default 3.
        log_variance: Lowest and highest log-variance of a sound posterior. Default (-20, 10).
        far: Factor by which the KL weight may differ from 1. Default 100.
        verbose: 1 (default) prints each finding, 0 does not.

    Attributes:
        findings: List of `Finding` (kind, epoch, message) of this training.

    Raises:
        ValueError: For bad thresholds; when training begins, for another kind of model, images
            of another shape, or images that are not finite.

    Example:

    ```python
    doctor = keras_vaezoo.callbacks.TrainingDoctor(images)
    model.fit(images, epochs=20, callbacks=[doctor])
    [finding.message for finding in doctor.findings]
    ```
    """

    # Keras then calls the batch hook on another thread, and training does not wait for it.
    async_safe = True

    def __init__(
        self,
        images,
        collapsed=0.01,
        patience=3,
        log_variance=(-20.0, 10.0),
        far=100.0,
        verbose=1,
    ):
        super().__init__()
        checks.check_number("collapsed", collapsed, above=0.0)
        checks.check_positive_integer("patience", patience)
        checks.check_number("far", far, minimum=1.0)
        if np.shape(log_variance) != (2,) or not log_variance[0] < log_variance[1]:
            raise ValueError(
                "log_variance must be two numbers, the lower one first. "
                f"Received: log_variance={log_variance!r}"
            )
        self.collapsed, self.patience, self.far = collapsed, patience, far
        self.log_variance, self.verbose = log_variance, verbose
        self._images = chosen_at_random(images, _MOST, seed=0).images
        self.findings = []

    def on_train_begin(self, logs=None):
        check_images(self, self._images)
        terms = self.model.terms
        self._parts = {*terms, *map(weight_name, terms), "regularization", "loss"}
        self._not_finite, self._told, self.findings = [], set(), []
        self._epochs_below = np.zeros(self.model.latent_dim, int)
        likelihood, weight = self.model.likelihood, self._kl_weight()
        self._tell("range", 0, diagnoses.images_outside_range(self._images, likelihood))
        self._tell("scale", 0, diagnoses.scale_too_narrow(self._images, likelihood))
        self._tell("scale", 0, diagnoses.scale_too_wide(self._images, likelihood, weight))

    def on_train_batch_end(self, batch, logs=None):
        # No use of self.model, which on JAX copies the state in every step. Steps may come in
        # any order, from several threads.
        bad = {name: logs[name] for name in self._parts.intersection(logs or {})}
        bad = {name: value for name, value in bad.items() if not math.isfinite(value)}
        if bad:
            self._not_finite.append((batch, bad))

    def on_epoch_end(self, epoch, logs=None):
        epoch += 1
        self._look_at_steps(epoch)
        self._look_at_kl_weight(epoch)
        posterior = self.model.encode(self._images)
        if not np.isfinite(posterior.mean).all():
            self._tell("not_finite", epoch, diagnoses.codes_not_finite())
        elif self.model.stochastic:
            self._look_at_log_variance(epoch, posterior.log_variance)
            self._look_at_information(epoch, posterior)

    def _look_at_steps(self, epoch):
        if self._not_finite:
            batch, parts = min(self._not_finite, key=lambda entry: entry[0])
            at_a_time = self.model.steps_per_execution
            message = diagnoses.loss_not_finite(parts, batch, epoch, at_a_time)
            self._tell("not_finite", epoch, message)
            self._not_finite.clear()

    def _look_at_kl_weight(self, epoch):
        weight = self._kl_weight()
        if weight is not None:
            initial = self.model.loss_coefficients.initial
            initial = initial["kl"] / initial["reconstruction"]
            message = diagnoses.kl_weight_off(weight, initial, self.model.terms, self.far)
            self._tell("kl_weight", epoch, message)

    def _look_at_log_variance(self, epoch, log_variance):
        lowest, highest = self.log_variance
        most, least = log_variance.max(axis=0), log_variance.min(axis=0)
        for found, worst, limit, words in (
            (most > highest, most.max(), highest, diagnoses.log_variance_explodes),
            (least < lowest, least.min(), lowest, diagnoses.log_variance_vanishes),
        ):
            new = self._not_told_yet(words, found)
            if new:
                self._tell("log_variance", epoch, words(new, worst, limit), once=False)

    def _look_at_information(self, epoch, posterior):
        with np.errstate(over="ignore"):
            kl = gaussian_kl_of_dimensions(posterior).mean(axis=0)
        self._epochs_below = np.where(kl < self.collapsed, self._epochs_below + 1, 0)
        found = self._epochs_below >= self.patience
        new = self._not_told_yet("collapse", found)
        if new:
            message = diagnoses.dimensions_collapsed(
                new, int(found.sum()), len(kl), self.collapsed, self._kl_weight()
            )
            self._tell("collapse", epoch, message, once=False)

    def _tell(self, kind, epoch, message, once=True):
        """Adds and prints a finding, with `once` the first of its kind alone."""
        if message is None or (once and kind in self._told):
            return
        self._told.add(kind)
        self.findings.append(Finding(kind, epoch, message))
        if self.verbose:
            when = f"after epoch {epoch}" if epoch else "before training"
            print(f"\nTrainingDoctor, {when}: {message}")

    def _not_told_yet(self, fault, found):
        """The latent dimensions of a mask that this fault has not been told of."""
        new = [k for k in np.flatnonzero(found).tolist() if (fault, k) not in self._told]
        self._told.update((fault, k) for k in new)
        return new

    def _kl_weight(self):
        """Weight of "kl" over that of "reconstruction"; `None` where there is none to judge."""
        slots = self.model.loss_coefficients
        if not {"kl", "reconstruction"} <= set(slots.names) & set(self.model.terms):
            return None
        enabled, _, kinds = slots.held()
        for name in ("kl", "reconstruction"):
            column = slots.index(name)
            if enabled[column] or kinds[column] != 0.0 or name in slots.holders:
                return None
        reconstruction = slots.get("reconstruction")
        return slots.get("kl") / reconstruction if reconstruction else math.inf
