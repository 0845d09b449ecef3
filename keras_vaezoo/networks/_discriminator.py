"""FactorVAE's discriminator of codes."""

import keras
from keras import layers

from keras_vaezoo.networks._arguments import checked_count, checked_counts, kernel_initializer


def discriminator(latent_dim, hidden=(1000,) * 6, initializer="he_normal"):
    """Build FactorVAE's discriminator: two logits for a code.

    Kim and Mnih, "Disentangling by Factorising" (2018), appendix A: six Dense layers of 1,000
    units, leaky ReLU with slope 0.2, two outputs: real (codes of the aggregate posterior)
    and permuted.

    Args:
        latent_dim: number of latent dimensions, at least 1.
        hidden: units of each hidden layer, in order. May be empty.
        initializer: initializer of every kernel. None is a uniform distribution on
            +-1/sqrt(fan_in), `VarianceScaling(1/3, "fan_in", "uniform")`.

    Returns:
        A `keras.Model` from `(batch, latent_dim)` to `(batch, 2)`, float32 at both ends under
        every dtype policy. Layer names start with `discriminator_`.

    Raises:
        ValueError: for a `latent_dim` or `hidden` that is not of positive integers.

    Example:

    ```python
    discriminator = keras_vaezoo.networks.discriminator(10, hidden=(256, 256))
    model = keras_vaezoo.FactorVAE(encoder, decoder, discriminator=discriminator)
    ```
    """
    inputs = keras.Input((checked_count("latent_dim", latent_dim),), name="discriminator_input")
    x = inputs
    for i, width in enumerate(checked_counts("hidden", hidden), start=1):
        x = layers.Dense(
            width,
            kernel_initializer=kernel_initializer(initializer),
            name=f"discriminator_dense_{i}",
        )(x)
        x = layers.LeakyReLU(0.2, name=f"discriminator_activation_{i}")(x)
    logits = layers.Dense(
        2,
        kernel_initializer=kernel_initializer(initializer),
        dtype="float32",
        name="discriminator_logits",
    )(x)
    return keras.Model(inputs, logits, name="discriminator")
