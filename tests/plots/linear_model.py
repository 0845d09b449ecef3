"""A model of NumPy with the methods that pictures need: linear maps, known by heart."""

import collections

import numpy as np

Posterior = collections.namedtuple("Posterior", ["mean", "log_variance"])


class LinearModel:
    """Encodes by a fixed matrix and decodes by another; keeps the codes it was asked to decode."""

    def __init__(self, example_shape, latent_dim, seed=0):
        rng = np.random.default_rng(seed)
        size = int(np.prod(example_shape))
        self.example_shape, self.latent_dim = tuple(example_shape), latent_dim
        self.encoder = rng.normal(size=(size, latent_dim)) / np.sqrt(size)
        self.decoder = rng.normal(size=(latent_dim, size))
        self.log_variance = np.linspace(-3.0, -1.0, latent_dim)
        self.decoded = []

    def encode(self, x):
        mean = np.reshape(x, (len(x), -1)) @ self.encoder
        return Posterior(mean, np.tile(self.log_variance, (len(x), 1)))

    def decode(self, z):
        self.decoded.append(np.asarray(z))
        return (z @ self.decoder).reshape(len(z), *self.example_shape)

    def reconstruct(self, x):
        return self.decode(self.encode(x).mean)

    def sample(self, n, seed=None):
        return self.decode(np.random.default_rng(seed).normal(size=(n, self.latent_dim)))
