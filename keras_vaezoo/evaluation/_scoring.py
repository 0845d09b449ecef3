"""score: model and data in, one result out."""

import math
import platform
import sys

import keras
import numpy as np
from keras import ops

from keras_vaezoo import checks, divergences
from keras_vaezoo.evaluation._chosen_metrics import (
    INTERVAL_ROWS,
    checked_choice,
    metric_scores,
    possible_repeats,
    refuse_rows_of_a_split,
)
from keras_vaezoo.evaluation._examples import examples_of
from keras_vaezoo.evaluation._likelihood_draws import draw_likelihoods
from keras_vaezoo.evaluation._result import NATS_OF_EXAMPLES, Evaluation
from keras_vaezoo.models.base import BaseVAE
from keras_vaezoo.models.inference import Posterior

_BLOCK = 2048
_NO_DENSITY = "does not exist: a deterministic encoder's posterior has no density"


def score(
    model,
    data,
    metrics=(),
    *,
    seed=0,
    samples=100,
    batch_size=512,
    active_threshold=0.01,
    repeats=None,
    verbose=1,
):
    """Measures a trained model on data: likelihoods, codes and disentanglement.

    All in nats, means over the n examples, with K draws `z_k = mean + exp(log_variance / 2) eps_k`
    for each:

        reconstruction = 1/K SUM_k -log p(x|z_k)
        kl             = KL(q(z|x) || N(0, I)), in closed form, also for each dimension
        elbo           = -(reconstruction + kl), whatever the model's own loss weighs
        log_likelihood = log 1/K SUM_k p(x|z_k) p(z_k) / q(z_k|x)
        aggregate_kl   = `divergences.aggregate_kl_moments` over all n posteriors
        active_units   = number of dimensions with Var_x(posterior mean) > active_threshold

    The log-likelihood is the bound of Burda, Grosse and Salakhutdinov, "Importance Weighted
    Autoencoders" (2016), Eq. 8: never below the ELBO in expectation, rising to log p(x) with K;
    the literature's numbers for MNIST use K = 200. Active units are those of their section 2.4.
    Bits per dimension are -nats / (D log 2) with D values in an example; for the density of
    continuous data they depend on the data's unit and can be negative.

    The result depends on `seed` and K, not on `batch_size` nor, but for rounding, on the backend.
    It costs n K passes through the decoder; nothing of the model is changed.

    Args:
        model: A model of this package.
        data: `datasets.Dataset` (its factors, or else labels, serve the metrics), an array of
            images `(n, *input_shape)`, or a tuple (images, factors) with factors `(n, k)` or
            labels `(n,)`. Images are floating point, in the likelihood's range.
        metrics: Names of `keras_vaezoo.metrics` to compute on the posterior means: "mig",
            "modularity", "jemmig", "explicitness", "sap", "dci", "factor_vae_score",
            "beta_vae_score"; or a dict from names to settings, `{"mig": {"bins": 10}}`.
            Default: none.
        seed: Integer seed of the draws, of the metrics and of the cut into samples. Default 0.
        samples: K, draws of z for each example. Default 100.
        batch_size: Images that are encoded, or codes that are decoded, at a time. Default 512.
        active_threshold: Variance of the posterior mean from which a dimension is active.
            Default 0.01.
        repeats: Number of disjoint samples of 2,000 rows on which each metric is computed again
            for its interval. Default `None`: as many as there are rows for. 0: no intervals.
        verbose: 1 (default) shows progress bars, 2 a line at their end, 0 nothing.

    Returns:
        `Evaluation`: prints as a table; `to_dict()`, `to_json(path)`. A deterministic encoder has
        no KL, ELBO and log-likelihood: they are `None`, `.missing` says why.

    Raises:
        ValueError: For another kind of model or data, images of another shape, dtype or range,
            an unknown metric or setting, metrics without factors, or too few rows for `repeats`.

    Example:

    ```python
    sprites = keras_vaezoo.datasets.load("sprites").sample(10_000, seed=0)
    result = keras_vaezoo.score(model, sprites, metrics=["mig", "sap"])
    print(result)
    result.to_json("scores.json")
    ```
    """
    examples = examples_of(data)
    _check_arguments(model, examples, seed, samples, batch_size, active_threshold)
    chosen = checked_choice(metrics, examples.factors)
    repeats = possible_repeats(len(examples.images), repeats) if chosen else 0
    refuse_rows_of_a_split(chosen, repeats)
    samples = samples if model.stochastic else 1

    posterior, mse = _encoded(model, examples, batch_size)
    scores = metric_scores(chosen, posterior.mean, examples.factors, seed, repeats, verbose)
    draws = draw_likelihoods(model, examples, posterior, samples, seed, batch_size, verbose)
    kl = gaussian_kl_of_dimensions(posterior) if model.stochastic else None
    nats = _nats_of_examples(draws, kl)
    means = {name: float(values.mean()) for name, values in nats.items()}
    code_variance = posterior.mean.var(axis=0, dtype="float64")
    dimensions = math.prod(model.input_shape[1:])
    return Evaluation(
        **{name: means.get(name) for name in NATS_OF_EXAMPLES},
        mse=mse,
        kl_per_dimension=None if kl is None else kl.mean(axis=0),
        aggregate_kl=float(ops.convert_to_numpy(divergences.aggregate_kl_moments(*posterior))),
        active_units=int((code_variance > active_threshold).sum()),
        code_variance=code_variance,
        bits_per_dimension=_bits_per_dimension(means, dimensions),
        standard_errors={name: _standard_error(values) for name, values in nats.items()},
        metrics=scores,
        missing=_missing(model, scores),
        settings={
            "data": examples.name,
            "examples": len(examples.images),
            "dimensions": dimensions,
            "seed": int(seed),
            "samples": int(samples),
            "batch_size": int(batch_size),
            "active_threshold": active_threshold,
            "repeats": repeats,
            "interval_rows": INTERVAL_ROWS,
            **_model_settings(model),
            **_environment(),
        },
    )


def gaussian_kl_of_dimensions(posterior):
    """`KL(q(z_k|x) || N(0, 1))` of every example and dimension, float64 `(n, d)`."""
    mean, log_variance = (np.asarray(part, "float64") for part in posterior)
    return 0.5 * (mean**2 + np.exp(log_variance) - 1.0 - log_variance)


def _check_arguments(model, examples, seed, samples, batch_size, active_threshold):
    if not isinstance(model, BaseVAE):
        raise ValueError(f"score() takes a model of keras_vaezoo. Received: {type(model).__name__}")
    checks.check_positive_integer("samples", samples)
    checks.check_positive_integer("batch_size", batch_size)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be an integer of at least 0. Received: seed={seed!r}")
    if not (np.isscalar(active_threshold) and active_threshold >= 0):
        raise ValueError(
            "active_threshold must be a number of at least 0. Received: "
            f"active_threshold={active_threshold!r}"
        )
    checks.check_batch(examples.images, model.input_shape[1:], "images")
    if isinstance(examples.images, np.ndarray):
        checks.check_values(examples.images, model.likelihood.value_range, "images")


def _encoded(model, examples, batch_size):
    """The posterior of every example, and the mean squared error of the reconstructions."""
    posteriors, squared_error, values = [], 0.0, 0
    for start in range(0, len(examples.images), _BLOCK):
        images = examples.block(start, _BLOCK)
        checks.check_values(images, model.likelihood.value_range, "images")
        posterior = model.encode(images, batch_size)
        bad = int((~np.isfinite(posterior.mean).all(axis=1)).sum())
        if bad:
            raise ValueError(
                "The encoder's means must be finite: the model has diverged, or an image is far "
                f"outside what it was trained on. Received: nan or inf for {bad} of images "
                f"{start} to {start + len(images) - 1}"
            )
        difference = model.decode(posterior.mean, batch_size) - images
        squared_error += np.square(difference, dtype="float64").sum()
        values += images.size
        posteriors.append(posterior)
    parts = zip(*posteriors, strict=True)
    return Posterior(*(np.concatenate(part) for part in parts)), float(squared_error / values)


def _nats_of_examples(draws, kl):
    if kl is None:
        return {"reconstruction": draws.reconstruction}
    kl = kl.sum(axis=1)
    return {
        "reconstruction": draws.reconstruction,
        "kl": kl,
        "elbo": -draws.reconstruction - kl,
        "log_likelihood": draws.log_likelihood,
    }


def _bits_per_dimension(means, dimensions):
    """Bits that a code for one value takes: minus log p in base 2, over D."""
    losses = {
        name: means[name] if name == "reconstruction" else -means[name]
        for name in ("reconstruction", "elbo", "log_likelihood")
        if name in means
    }
    return {name: loss / (dimensions * math.log(2.0)) for name, loss in losses.items()}


def _standard_error(values):
    if len(values) < 2:
        return None
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _missing(model, scores):
    missing = {}
    if not model.stochastic:
        missing |= dict.fromkeys(("kl", "kl_per_dimension", "elbo", "log_likelihood"), _NO_DENSITY)
    if any(scored.interval is None for scored in scores.values()):
        missing["intervals"] = (
            f"not computed: two disjoint samples of {INTERVAL_ROWS:,} rows, and repeats != 0, "
            "are needed"
        )
    return missing


def _model_settings(model):
    config = model.likelihood.get_config()
    likelihood = {k: v for k, v in config.items() if k not in ("name", "trainable", "dtype")}
    return {
        "model": type(model).__name__,
        "latent_dim": model.latent_dim,
        "coefficients": dict(model.coefficients),
        "likelihood": {"class": type(model.likelihood).__name__, **likelihood},
    }


def _environment():
    import keras_vaezoo

    backend = keras.backend.backend()
    modules = {"keras_vaezoo": keras_vaezoo, "keras": keras, "numpy": np}
    modules[backend] = sys.modules.get(backend, np)
    versions = {name: module.__version__ for name, module in modules.items()}
    return {"backend": backend, "versions": {"python": platform.python_version(), **versions}}
