"""Single steps of small models, and batches made by hand for their terms."""

import keras
import numpy as np
from keras import ops

from keras_vaezoo.divergences import gaussian_kl
from keras_vaezoo.models.base import Batch

# Single steps need no tracing; but on JAX, compiling op by op takes longer than one step.
EAGER = keras.backend.backend() != "jax"


def evaluated(model, x):
    """`{name: float}` of one evaluation batch."""
    if not model.compiled:
        model.compile(run_eagerly=EAGER)
    return floats(model.test_on_batch(x, return_dict=True))


def trained(model, x):
    """`{name: float}` of one training batch of a compiled model."""
    return floats(model.train_on_batch(x, return_dict=True))


def floats(logs):
    return {name: float(value) for name, value in logs.items()}


def weights(network):
    """Copies of the trainable weights."""
    return [ops.convert_to_numpy(v).copy() for v in network.trainable_variables]


def largest_change(before, network):
    """Largest absolute difference between `before` and the weights now."""
    pairs = zip(before, weights(network), strict=True)
    return max(float(np.abs(new - old).max()) for old, new in pairs)


def made_by_hand(mean, log_variance, z=None):
    """A `Batch` of given posteriors with a reconstruction term of 0."""
    mean, log_variance = (ops.convert_to_tensor(a, "float32") for a in (mean, log_variance))
    z = mean if z is None else ops.convert_to_tensor(z, "float32")
    return Batch(
        mean=mean,
        log_variance=log_variance,
        z=z,
        reconstruction=ops.zeros_like(mean[:, 0]),
        kl=gaussian_kl(mean, log_variance),
        coefficients={},
        prior=lambda: ops.zeros_like(z),
        training=True,
    )


def loss_of(model, batch):
    """The weighted sum of a model's terms on a `Batch`, a scalar tensor."""
    terms = model.compute_terms(batch)
    weights = model.term_weights(model.loss_coefficients.current(), batch)
    return sum(weights[term] * ops.mean(terms[term]) for term in model.terms)


def given_posteriors(latent_dim):
    """Networks whose input is the posterior: `(mean, log_variance)` side by side in one row.

    The decoder's output is 0 with the shape of the input.
    """
    inputs = keras.Input((2 * latent_dim,))
    heads = []
    for name, offset in (("mean", 0), ("log_variance", -latent_dim)):
        kernel = np.eye(2 * latent_dim, latent_dim, k=offset, dtype="float32")
        heads.append(
            keras.layers.Dense(
                latent_dim, kernel_initializer=_constant(kernel), name=f"encoder_{name}"
            )(inputs)
        )
    codes = keras.Input((latent_dim,))
    outputs = keras.layers.Dense(2 * latent_dim, kernel_initializer="zeros", name="decoder_output")(
        codes
    )
    return keras.Model(inputs, heads, name="encoder"), keras.Model(codes, outputs, name="decoder")


def _constant(value):
    return lambda shape, dtype=None: ops.convert_to_tensor(value, dtype)
