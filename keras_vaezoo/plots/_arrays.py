"""NumPy arrays from models, data sets and tensors of any backend."""

import collections

import numpy as np

Codes = collections.namedtuple("Codes", ["mean", "log_variance"])


def to_numpy(value):
    """Return an array or a tensor of any backend as a NumPy array."""
    if isinstance(value, (np.ndarray, np.generic, list, tuple, int, float)):
        return np.asarray(value)
    import keras

    if not keras.ops.is_tensor(value):
        return np.asarray(value)
    return np.asarray(keras.ops.convert_to_numpy(value))


def check_count(name, value, minimum=1):
    """Refuse a count that is not a whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise ValueError(
            f"`{name}` must be a whole number of at least {minimum}. Received: {name}={value!r}"
        )


def first(images, n):
    """Return the first `n` examples (all if there are fewer, or for None) as a NumPy array."""
    if n is not None:
        check_count("n", n)
    if len(images) == 0:
        raise ValueError("There is nothing to draw: `images` is empty. Received: len(images)=0")
    return to_numpy(images[:n])


def check_codes(mean, log_variance, name="codes"):
    """Return float64 `Codes`, both (n, d); a log-variance of -inf is a deterministic code."""
    if hasattr(mean, "encode"):
        raise ValueError(
            "This picture takes mean and log_variance, as in f(*model.encode(images)). "
            f"Received: {type(mean).__name__}"
        )
    codes = Codes(*(to_numpy(part).astype(np.float64) for part in (mean, log_variance)))
    if codes.mean.ndim != 2 or codes.mean.shape != codes.log_variance.shape or not codes.mean.size:
        raise ValueError(
            "Codes are two filled arrays of one shape (examples, latent dimensions), as "
            f"`model.encode(x)` returns them. Received: {name} with a mean of shape "
            f"{codes.mean.shape} and a log-variance of shape {codes.log_variance.shape}"
        )
    broken = ~np.isfinite(codes.mean) | np.isnan(codes.log_variance) | (codes.log_variance > 700)
    if broken.any():
        raise ValueError(
            "Codes must be finite (a log-variance of -inf, a deterministic code, is allowed): did "
            f"the training diverge? Received: {name} with {broken.any(axis=1).sum()} of "
            f"{len(broken)} rows that are not"
        )
    return codes


def encode(model, images):
    """Return the posteriors of `images` as float64 `Codes`."""
    return check_codes(*model.encode(first(images, None)), name="model.encode(images)")


def kl_by_dimension(codes):
    """Return the mean KL divergence from N(0, I) of every latent dimension, (d,), in nats."""
    squared = codes.mean**2 + np.exp(codes.log_variance)
    return 0.5 * np.mean(squared - 1.0 - codes.log_variance, axis=0)


def choose_pair(latent_dim, dimensions):
    """Return the two latent dimensions that a 2-D picture shows."""
    if dimensions is None:
        if latent_dim != 2:
            raise ValueError(
                "A 2-D picture needs a model with 2 latent dimensions, or the two to show as "
                f"`dimensions=(i, j)`. Received: latent_dim={latent_dim}, dimensions=None"
            )
        return 0, 1
    pair = check_dimensions(latent_dim, dimensions)
    if len(pair) != 2:
        raise ValueError(
            f"A 2-D picture shows two different dimensions. Received: dimensions={dimensions!r}"
        )
    return pair


def check_dimensions(latent_dim, dimensions):
    """Return `dimensions` as a list of different whole numbers in [0, latent_dim)."""
    chosen = list(dimensions)
    whole = all(isinstance(k, (int, np.integer)) and 0 <= k < latent_dim for k in chosen)
    if not chosen or not whole or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"`dimensions` must be different whole numbers from 0 to {latent_dim - 1}. "
            f"Received: dimensions={dimensions!r}"
        )
    return [int(k) for k in chosen]
