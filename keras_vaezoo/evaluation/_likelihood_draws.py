"""Monte-Carlo over q(z|x): the expected reconstruction and the importance-weighted likelihood."""

import math
from typing import NamedTuple

import keras
import numpy as np
from keras import ops


class LikelihoodDraws(NamedTuple):
    """What the draws of z give for each example, float64 `(n,)`, in nats.

    Attributes:
        reconstruction: `E_q[-log p(x|z)]`; at the code itself for a deterministic encoder.
        log_likelihood: `log 1/K SUM_k w_k`, the importance-weighted lower bound of log p(x);
            `None` for a deterministic encoder.
    """

    reconstruction: np.ndarray
    log_likelihood: np.ndarray | None


def draw_likelihoods(model, examples, posterior, samples, seed, batch_size, verbose):
    """Draws `samples` codes for each example and weighs them.

    Row i's noise comes from its own generator, seeded with (seed, i): the numbers depend neither
    on the batch size nor on the backend's random numbers, and K draws are the first K of more.

    Args:
        model: A `BaseVAE`.
        examples: The `Examples`.
        posterior: `(mean, log_variance)` of all rows, `(n, d)` each.
        samples: K; 1 for a deterministic encoder, whose single draw is its code.
        seed: Integer seed.
        batch_size: Codes that are decoded at a time.
        verbose: 1 shows a progress bar.
    """
    decoding = _DecodedLikelihood(model.decoder, model.likelihood)
    at_a_time = math.ceil(samples / math.ceil(samples / batch_size))
    rows_at_a_time = max(1, batch_size // at_a_time)
    count = len(posterior.mean)
    progress = keras.utils.Progbar(count, verbose=verbose, unit_name="example")
    parts = []
    for start in range(0, count, rows_at_a_time):
        rows = slice(start, min(start + rows_at_a_time, count))
        images = examples.block(start, rows_at_a_time)
        noise = _row_noise(range(count)[rows], samples, model, seed)
        mean, log_variance = posterior.mean[rows, None], posterior.log_variance[rows, None]
        parts.append(_weighed(decoding, images, mean, log_variance, noise, at_a_time))
        progress.update(rows.stop)
    reconstruction = np.concatenate([part.reconstruction for part in parts])
    if not model.stochastic:
        return LikelihoodDraws(reconstruction, None)
    return LikelihoodDraws(reconstruction, np.concatenate([part.log_likelihood for part in parts]))


def _row_noise(rows, samples, model, seed):
    """`(rows, samples, d)` standard normal noise; zeros for a deterministic encoder."""
    shape = (samples, model.latent_dim)
    if not model.stochastic:
        return np.zeros((len(rows), *shape), "float32")
    generators = (np.random.default_rng([seed, row]) for row in rows)
    return np.stack([generator.standard_normal(shape, "float32") for generator in generators])


def _weighed(decoding, images, mean, log_variance, noise, at_a_time):
    z = mean + np.exp(0.5 * log_variance) * noise
    nll = np.concatenate(
        [
            ops.convert_to_numpy(
                decoding.predict_on_batch(
                    {"x": images, "codes": z[:, first : first + at_a_time].astype("float32")}
                )
            )
            for first in range(0, noise.shape[1], at_a_time)
        ],
        axis=1,
    ).astype("float64")
    if not np.isfinite(log_variance).all():
        return LikelihoodDraws(nll.mean(axis=1), None)
    # log p(z) - log q(z|x), in which 2 pi cancels.
    prior_over_posterior = np.square(noise, dtype="float64") + log_variance
    prior_over_posterior -= np.square(z, dtype="float64")
    log_weights = 0.5 * prior_over_posterior.sum(axis=-1) - nll
    return LikelihoodDraws(nll.mean(axis=1), log_mean_exp(log_weights))


def log_mean_exp(log_weights):
    """`log 1/K SUM_k exp(log_weights[:, k])` of each row, without overflow."""
    largest = log_weights.max(axis=1, keepdims=True)
    # A row of weights that are all 0 (-inf) stays -inf, not nan.
    shifted = np.exp(log_weights - np.where(np.isfinite(largest), largest, 0.0))
    with np.errstate(divide="ignore"):
        return np.log(shifted.mean(axis=1)) + largest[:, 0]


class _DecodedLikelihood(keras.Model):
    """-log p(x|z) of c codes for each example: `x (M, *shape)`, `codes (M, c, d)` -> `(M, c)`."""

    def __init__(self, decoder, likelihood):
        super().__init__(name="decoded_likelihood", dtype="float32")
        self.decoder, self.likelihood = decoder, likelihood
        # XLA compiles for seconds and makes convolutions on a CPU slower; JAX is slow without it.
        self.jit_compile = keras.backend.backend() == "jax"

    def call(self, inputs):
        x, codes = inputs["x"], inputs["codes"]
        size, count, latent_dim = ops.shape(codes)
        parameters = self.decoder(ops.reshape(codes, (size * count, latent_dim)), training=False)
        shape = ops.shape(x)[1:]
        repeated = ops.broadcast_to(x[:, None], (size, count, *shape))
        nll = self.likelihood.nll(ops.reshape(repeated, (size * count, *shape)), parameters)
        return ops.reshape(nll, (size, count))
