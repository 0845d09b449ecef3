"""Random draws of the models: the reparameterised posterior, the prior, permuted codes.

Each layer here owns one `SeedGenerator` and saves its state, so a resumed run goes on with the
noise that the unbroken run would have drawn.
"""

import functools

import keras
import numpy as np
from keras import ops

from keras_vaezoo.replicas import replica_id

EVALUATION_ROWS = 4096


class ReplicaSeedGenerator(keras.random.SeedGenerator):
    """A seed generator that gives each replica of a `tf.distribute` strategy its own noise."""

    def next(self, ordered=True):
        seed = super().next(ordered=ordered)
        replica = replica_id()
        if replica is None:
            return seed
        offset = ops.stack([ops.cast(replica, seed.dtype) * 1_000_003, ops.zeros((), seed.dtype)])
        return seed + offset


class SeededLayer(keras.layers.Layer):
    """A float32 layer with one seed generator whose state is saved with the weights."""

    def __init__(self, seed=None, **kwargs):
        super().__init__(dtype="float32", **kwargs)
        self.seed_generator = ReplicaSeedGenerator(seed)
        self.built = True

    def save_own_variables(self, store):
        store["seed_state"] = _state_of(self.seed_generator)

    def load_own_variables(self, store):
        _restore(self.seed_generator, store["seed_state"])


def _state_of(seed_generator):
    return np.asarray(ops.convert_to_numpy(seed_generator.state), "int64")


def _restore(seed_generator, state):
    seed_generator.state.assign(np.asarray(state).astype(seed_generator.state.dtype))


def derived_seed(seed, stream):
    """The seed of another stream of random numbers of one model; `None` stays `None`."""
    return None if seed is None else (seed + stream * 0x5851F42D) % 2**31


class Sampling(SeededLayer):
    """Reparameterised draws `z = mean + exp(log_variance / 2) eps`, `eps ~ N(0, I)`.

    Kingma and Welling (2014), Section 2.4. Computed in float32 under every dtype policy.

    Args:
        seed: Integer seed of the noise; `None` takes a random one.
    """

    def __init__(self, seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self.prior_seed_generator = ReplicaSeedGenerator(derived_seed(seed, stream=1))

    def posterior(self, mean, log_variance):
        """One draw from each posterior `N(mean, exp(log_variance))`, shape `(M, d)`."""
        noise = keras.random.normal(ops.shape(mean), dtype="float32", seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_variance) * noise

    def prior(self, shape):
        """Draws from the prior `N(0, I)`, from a stream of their own.

        So a method with prior draws sees the same posterior noise as one without.
        """
        return keras.random.normal(shape, dtype="float32", seed=self.prior_seed_generator)

    def save_own_variables(self, store):
        super().save_own_variables(store)
        store["prior_seed_state"] = _state_of(self.prior_seed_generator)

    def load_own_variables(self, store):
        super().load_own_variables(store)
        _restore(self.prior_seed_generator, store["prior_seed_state"])


class CodePermutation(SeededLayer):
    """Permutes each latent dimension over the batch on its own (Kim and Mnih 2018, Algorithm 1).

    The result has the marginals of the codes, independent of one another.
    """

    def call(self, z):
        keys = keras.random.uniform(ops.shape(z), seed=self.seed_generator, dtype="float32")
        return ordered_by(keys, z)


def ordered_by(keys, z):
    """Sorts each column of `z` `(M, d)` by the column of `keys` `(M, d)` of its number."""
    return ops.take_along_axis(z, ops.argsort(keys, axis=0), axis=0)


def clip_by_latent_norm(mean, clip):
    """Latent clipping of mu-VAE: `mu min(1, c sqrt(d) / ||mu||_2)` for each example.

    A tool for any method: put it on the posterior means before sampling.

    Args:
        mean: Posterior means, `(M, d)`.
        clip: The bound `c` in units of `sqrt(d)`; the paper uses 3 and 6. `None` returns `mean`.

    Returns:
        Means of Euclidean norm at most `c sqrt(d)`, same shape.

    Raises:
        ValueError: If `clip` is not positive.

    Example:

    >>> clip_by_latent_norm(np.array([[30.0, 40.0]]), clip=1.0)   # norm sqrt(2)
    """
    if clip is None:
        return mean
    if not clip > 0:
        raise ValueError(f"clip must be a positive number or None. Received: clip={clip!r}")
    mean = ops.convert_to_tensor(mean)
    bound = clip * mean.shape[-1] ** 0.5
    square = ops.sum(ops.square(mean), axis=-1, keepdims=True)
    outside = square > bound**2
    # The root is taken of a safe value where nothing is clipped: its gradient at 0 is infinite.
    norm = ops.sqrt(ops.where(outside, square, bound**2))
    return mean * ops.where(outside, bound / norm, 1.0)


@functools.lru_cache(maxsize=8)
def evaluation_noise(columns):
    """The fixed table of standard normal noise that evaluation draws from, `(4096, columns)`."""
    table = np.random.default_rng(20141114).standard_normal((EVALUATION_ROWS, columns))
    return table.astype("float32")


def evaluation_rows(first, count, columns):
    """Rows `first ... first + count - 1` of the evaluation noise, counted modulo its length."""
    index = ops.arange(count, dtype="int32") + ops.cast(first, "int32")
    return ops.take(ops.convert_to_tensor(evaluation_noise(columns)), index % EVALUATION_ROWS, 0)


def prior_samples(count, latent_dim, seed=None):
    """Draws from N(0, I) in NumPy, the same on every backend: `(count, latent_dim)` float32."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ValueError(f"The number of samples must be a positive integer. Received: {count!r}")
    return np.random.default_rng(seed).standard_normal((count, latent_dim)).astype("float32")
