"""Monte-Carlo over q(z|x): the expected reconstruction and the importance-weighted likelihood."""

import math
from typing import NamedTuple

import keras
import numpy as np
from keras import ops

from keras_vaezoo.models.batching import run_in_batches


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
        parts.append(_weighed(model, images, mean, log_variance, noise, at_a_time))
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


def _weighed(model, images, mean, log_variance, noise, at_a_time):
    z = (mean + np.exp(0.5 * log_variance) * noise).astype("float32")
    chunks = [
        _negative_log_likelihood(model, images, z[:, first : first + at_a_time])
        for first in range(0, z.shape[1], at_a_time)
    ]
    nll = np.concatenate(chunks, axis=1)
    if not model.stochastic:
        return LikelihoodDraws(nll.mean(axis=1), None)
    # log p(z) - log q(z|x), in which 2 pi cancels.
    prior_over_posterior = np.square(noise, dtype="float64") + log_variance
    prior_over_posterior -= np.square(z, dtype="float64")
    log_weights = 0.5 * prior_over_posterior.sum(axis=-1) - nll
    return LikelihoodDraws(nll.mean(axis=1), log_mean_exp(log_weights))


def _negative_log_likelihood(model, images, codes):
    """`-log p(x|z)` of c codes for each image, float64: `(M, *shape)`, `(M, c, d)` -> `(M, c)`."""
    rows, count, latent_dim = codes.shape
    parameters = run_in_batches(model.decoder, codes.reshape(-1, latent_dim), rows * count)
    nll = model.likelihood.nll(np.repeat(images, count, axis=0), parameters)
    return ops.convert_to_numpy(nll).reshape(rows, count).astype("float64")


def log_mean_exp(log_weights):
    """`log 1/K SUM_k exp(log_weights[:, k])` of each row, without overflow."""
    largest = log_weights.max(axis=1, keepdims=True)
    # A row of weights that are all 0 (-inf) stays -inf, not nan.
    shifted = np.exp(log_weights - np.where(np.isfinite(largest), largest, 0.0))
    with np.errstate(divide="ignore"):
        return np.log(shifted.mean(axis=1)) + largest[:, 0]
