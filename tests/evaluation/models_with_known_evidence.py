"""Small models whose evidence is known in closed form or by quadrature."""

import keras
import numpy as np

import keras_vaezoo


def linear_gaussian(matrix, offset, sigma, mean_matrix, mean_offset, log_variance):
    """A VAE with p(x|z) = N(matrix z + offset, sigma^2 I) and a linear encoder.

    q(z|x) = N(mean_matrix x + mean_offset, diag exp(log_variance)).
    """
    values, latent_dim = matrix.shape
    inputs = keras.Input((values,))
    mean, log_variances = keras.layers.Dense(latent_dim), keras.layers.Dense(latent_dim)
    encoder = keras.Model(inputs, [mean(inputs), log_variances(inputs)])
    mean.set_weights([mean_matrix.T, mean_offset])
    log_variances.set_weights([np.zeros((values, latent_dim)), log_variance])
    codes = keras.Input((latent_dim,))
    output = keras.layers.Dense(values)
    decoder = keras.Model(codes, output(codes))
    output.set_weights([matrix.T, offset])
    likelihood = keras_vaezoo.likelihoods.Gaussian(sigma=sigma)
    return keras_vaezoo.VAE(encoder, decoder, likelihood, seed=0)


def small_vae(likelihood="bernoulli", values=5, latent_dim=1, parameters=1, scale=0.7, model=None):
    """An MLP model with posteriors that differ between data, the same on every backend."""
    networks = keras_vaezoo.networks
    encoder = networks.mlp_encoder((values,), latent_dim, (6,))
    decoder = networks.mlp_decoder((values,), latent_dim, (6,), parameters_per_value=parameters)
    random = np.random.default_rng(1)
    for network in (encoder, decoder):
        for weight in network.weights:
            # Posteriors wide enough for importance weights without a heavy tail.
            size = 0.1 if "log_variance" in weight.path else scale
            weight.assign(size * random.standard_normal(weight.shape))
    return (model or keras_vaezoo.VAE)(encoder, decoder, likelihood=likelihood, seed=0)
