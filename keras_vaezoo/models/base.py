"""The base of all models: the only train_step, test_step and compute_loss of the package."""

import contextvars
import dataclasses
from typing import Any, NamedTuple

import keras
from keras import ops

from keras_vaezoo import checks, likelihoods, sampling
from keras_vaezoo.coefficients import Coefficients
from keras_vaezoo.divergences import gaussian_kl
from keras_vaezoo.models.arguments import no_such_argument
from keras_vaezoo.models.compilation import CompilationMixin
from keras_vaezoo.models.contract import network_shapes, posterior_parameters
from keras_vaezoo.models.inference import InferenceMixin
from keras_vaezoo.models.recovery import RecoveryMixin
from keras_vaezoo.models.terms import check_declared, per_example
from keras_vaezoo.models.trackers import PerExampleMean, Trackers, weight_name
from keras_vaezoo.presets_io import PresetMixin
from keras_vaezoo.replicas import sum_over_replicas

_inside_step = contextvars.ContextVar("keras_vaezoo_inside_step", default=False)


class Forward(NamedTuple):
    """What a step's forward pass gives; evaluation draws `z` later, in `compute_loss`."""

    mean: Any
    log_variance: Any
    z: Any = None
    parameters: Any = None
    reconstruction: Any = None


@dataclasses.dataclass(frozen=True)
class Batch:
    """What a method's terms are made of, all float32.

    Attributes:
        mean, log_variance: Parameters of q(z|x), `(M, d)`.
        z: Draws from q(z|x), `(M, d)`; `(L M, d)` with L Monte-Carlo samples.
        reconstruction: `-log p(x|z)` of each example in nats, `(M,)`.
        kl: `KL(q(z|x) || N(0, I))` of each example in nats, `(M,)`.
        coefficients: `{name: scalar}` as schedules give them, before the controllers act.
        prior: A function that gives draws from N(0, I) of the shape of `z`.
        training: Whether this is a training step.
    """

    mean: Any
    log_variance: Any
    z: Any
    reconstruction: Any
    kl: Any
    coefficients: dict
    prior: Any
    training: bool


class BaseVAE(InferenceMixin, CompilationMixin, RecoveryMixin, PresetMixin, keras.Model):
    """Base of the models: a functional `keras.Model` whose loss is a weighted sum of named terms.

    `loss = SUM_k weight[k] mean(term[k]) + regularization`. Each term, each weight and the
    layers' own regularisation are tracked by name. `call` and `predict` give the mean of
    p(x|z) at the posterior mean.

    Subclassing: set `terms` (names of the terms in the loss) and, if there are more numbers to
    track, `measures`; pass a table `coefficients={term: value}` to `super().__init__`; fill in
    `compute_terms(batch)`, which returns `{name: (M,) or scalar}` for every term and measure.
    You may override `term_weights` (weights that are no plain coefficients),
    `limit_coefficients` (limits that hold between coefficients) and `transform_posterior`
    (e.g. clipping). Mirror your constructor's arguments in `get_config`.

    On JAX, evaluation leaves a decoder's activity regularizers out of `regularization`.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training (L). Default 1.
        coefficients: `{name: value}` of the settable coefficients.
        terms, measures: Names, where they depend on arguments. Default: the class's.
        controllers: `{name: control.Controller}` of coefficients controlled from the start.
        name: Name of the model.

    Raises:
        ValueError: For networks that do not fit, an unknown likelihood, or samples < 1.
    """

    terms = ()
    measures = ()
    stochastic = True

    def __init__(
        self,
        encoder,
        decoder,
        likelihood="bernoulli",
        seed=None,
        samples=1,
        *,
        coefficients,
        terms=None,
        measures=None,
        controllers=None,
        name=None,
        **unknown,
    ):
        if unknown:
            raise TypeError(no_such_argument(type(self), next(iter(unknown))))
        checks.check_positive_integer("samples", samples)
        seed = checks.checked_seed(seed)
        likelihood = likelihoods.get(likelihood)
        shape, latent_dim = network_shapes(encoder, decoder, likelihood, not self.stochastic)
        inputs = keras.Input(shape)
        mean, _ = posterior_parameters(encoder(inputs))
        super().__init__(inputs=inputs, outputs=likelihood(decoder(mean)), name=name)
        self.encoder, self.decoder, self.likelihood = encoder, decoder, likelihood
        self.latent_dim, self.samples, self.seed = latent_dim, samples, seed
        self.sampling = sampling.Sampling(seed, name="sampling")
        self.terms, self.measures = tuple(terms or self.terms), tuple(measures or self.measures)
        if self.stochastic and "kl" not in self.terms:
            self.measures = (*self.measures, "kl")
        by_name = type(self).term_weights is BaseVAE.term_weights
        check_declared(type(self).__name__, self.terms, coefficients if by_name else None)
        tracked = (*self.terms, *self.measures)
        self.loss_coefficients = Coefficients(coefficients, tracked, controllers)
        self._mean = PerExampleMean()
        # A coefficient named after a term or measure shows as that term's weight.
        self._settable = tuple(n for n in coefficients if n not in tracked)
        elbo = ("elbo",) if self.stochastic else ()
        held = self.loss_coefficients
        self._trackers = Trackers((*tracked, *elbo), self.terms, self._settable, held)

    # What a method fills in -----------------------------------------------------------------

    def compute_terms(self, batch):
        """`{name: (M,) or scalar}` of every term and measure for a `Batch`."""
        raise NotImplementedError

    def term_weights(self, coefficients, batch):
        """`{term: weight}` from `{coefficient: value}`. Default: the coefficient of its name."""
        return {term: coefficients[term] for term in self.terms}

    def limit_coefficients(self, coefficients):
        """Limits between coefficients, applied after the controllers. Default: none."""
        return coefficients

    def transform_posterior(self, mean, log_variance):
        """Changes the encoder's output before sampling and encoding. Default: none."""
        return mean, log_variance

    # One step -------------------------------------------------------------------------------

    def call(self, inputs, training=None, mask=None):
        if not _inside_step.get():
            return self._reconstruction(inputs, training)
        mean, log_variance = self._posterior(self.encoder(inputs, training=training))
        z = mean
        if training and self.stochastic:
            z = self.sampling.posterior(self._repeated(mean), self._repeated(log_variance))
        if not training and self._compile_metrics is None:
            return Forward(mean, log_variance)
        parameters = self.decoder(z, training=training)
        # JAX maps no weights into compute_metrics: what it needs is made here.
        reconstruction = None if self._compile_metrics is None else self.likelihood(parameters)
        return Forward(mean, log_variance, z, parameters, reconstruction)

    def train_step(self, *args):
        return _inside(super().train_step, self.prepared, *args)

    def test_step(self, *args):
        return _inside(super().test_step, self.prepared, *args)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        size = ops.shape(x)[0]
        first_row = ops.convert_to_tensor(self._trackers.row_counter.count)
        coefficients = self.loss_coefficients.current(scheduled_for_training=training)
        batch = self._batch(y, y_pred, first_row, coefficients, training)
        values = {"kl": batch.kl, **self.compute_terms(batch)}
        values = per_example(values, (*self.terms, *self.measures), size)
        means = {name: self._mean.mean(v, sample_weight) for name, v in values.items()}
        if training:
            coefficients = self._controlled(coefficients, means)
        weights = self.term_weights(coefficients, batch)
        regularization = sum((ops.sum(ops.cast(t, "float32")) for t in self.losses), ops.zeros(()))
        regularization = ops.broadcast_to(regularization, (size,))
        loss = sum(weights[term] * means[term] for term in self.terms)
        self._track(batch, values, weights, coefficients, regularization, sample_weight)
        return loss + self._mean.mean(regularization)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        if isinstance(y_pred, Forward):
            y_pred = y_pred.reconstruction
        if y is None or self.target == "input":
            y = x
        return super().compute_metrics(x, y, y_pred, sample_weight)

    @property
    def metrics(self):
        if not hasattr(self, "_trackers"):
            return super().metrics
        return super().metrics + self._trackers.visible()

    # Parts of the step ----------------------------------------------------------------------

    def _batch(self, target, forward, first_row, coefficients, training):
        mean, log_variance, z, parameters, _ = forward
        rows = ops.shape(mean)[0]

        def evaluation_draws(offset):
            noise = sampling.evaluation_rows(first_row, rows, 2 * self.latent_dim)
            return noise[:, offset : offset + self.latent_dim]

        if training:
            target = self._repeated(target)
        else:
            z = mean
            if self.stochastic:
                z = mean + ops.exp(0.5 * log_variance) * evaluation_draws(0)
            parameters = self.decoder(z, training=False)
        nll = self.likelihood.nll(target, parameters)
        if training and self.samples > 1:
            nll = ops.mean(ops.reshape(nll, (self.samples, -1)), axis=0)
        kl = gaussian_kl(mean, log_variance) if self.stochastic else None

        def prior():
            if training:
                return self.sampling.prior(ops.shape(z))
            return evaluation_draws(self.latent_dim)

        return Batch(mean, log_variance, z, nll, kl, coefficients, prior, training)

    def _controlled(self, coefficients, means):
        measured = ops.stop_gradient(ops.stack([means[n] for n in (*self.terms, *self.measures)]))
        measured = sum_over_replicas(measured)
        return self.loss_coefficients.update(coefficients, measured, self.limit_coefficients)

    def _track(self, batch, values, weights, coefficients, regularization, sample_weight):
        means = self._trackers.means
        for name, value in values.items():
            means[name].update_state(value, sample_weight)
        if self.stochastic:
            means["elbo"].update_state(-batch.reconstruction - batch.kl, sample_weight)
        means["regularization"].update_state(regularization)
        scalars = {weight_name(term): weights[term] for term in self.terms}
        scalars |= {name: coefficients[name] for name in self._settable}
        for name, value in scalars.items():
            means[name].update_state(ops.broadcast_to(value, ops.shape(regularization)))
        if self.loss_coefficients.controlled():
            self._trackers.controllers.update_state(self.loss_coefficients.last(coefficients))

    def _posterior(self, outputs):
        mean, log_variance = posterior_parameters(outputs)
        mean = ops.cast(mean, "float32")
        log_variance = None if log_variance is None else ops.cast(log_variance, "float32")
        return self.transform_posterior(mean, log_variance)

    def _repeated(self, tensor):
        if self.samples == 1 or tensor is None:
            return tensor
        return ops.tile(tensor, (self.samples, *[1] * (len(tensor.shape) - 1)))

    def _reconstruction(self, inputs, training):
        mean, _ = self._posterior(self.encoder(inputs, training=training))
        return self.likelihood(self.decoder(mean, training=training))

    # Files ----------------------------------------------------------------------------------

    def get_config(self):
        serialize = keras.saving.serialize_keras_object
        return {
            "name": self.name,
            "encoder": serialize(self.encoder),
            "decoder": serialize(self.decoder),
            "likelihood": serialize(self.likelihood),
            "seed": self.seed,
            "samples": self.samples,
            "controllers": dict(self.loss_coefficients.controller_configs),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for key, value in config.items():
            if isinstance(value, dict):
                config[key] = keras.saving.deserialize_keras_object(value, custom_objects)
        return cls(**config)


def _inside(step, prepared, *args):
    """Runs Keras's step on prepared data; `call` then gives what the loss needs."""
    *state, data = args
    token = _inside_step.set(True)
    try:
        return step(*state, prepared(data))
    finally:
        _inside_step.reset(token)
