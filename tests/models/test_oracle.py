"""A plain Keras VAE, written without the package's base, trains to the same numbers."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.models.methods import build, images, networks


class PlainVAE(keras.Model):
    def __init__(self, encoder, decoder, seed, beta):
        super().__init__()
        self.encoder, self.decoder, self.beta = encoder, decoder, beta
        self.seed_generator = keras.random.SeedGenerator(seed)

    def call(self, x):
        mean, log_variance = self.encoder(x)
        noise = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        logits = self.decoder(mean + ops.exp(0.5 * log_variance) * noise)
        kl = 0.5 * ops.sum(mean**2 + ops.exp(log_variance) - 1.0 - log_variance, axis=1)
        bce = ops.sum(ops.binary_crossentropy(x, logits, from_logits=True), axis=(1, 2, 3))
        return bce + self.beta * kl


@pytest.mark.parametrize("method, beta", [("VAE", 1.0), ("BetaVAE", 2.0)])
def test_twenty_losses_equal_to_a_plain_keras_vae(method, beta):
    x = images(16)
    plain = PlainVAE(*networks(), seed=3, beta=beta)
    plain.compile(keras.optimizers.Adam(0.01), loss=lambda _, value: value, jit_compile=False)
    model = build(method)
    model.compile(keras.optimizers.Adam(0.01), jit_compile=False)
    ours, theirs = [], []
    for _ in range(20):
        model.reset_metrics()
        plain.reset_metrics()
        ours.append(float(model.train_on_batch(x, return_dict=True)["loss"]))
        theirs.append(float(plain.train_on_batch(x, np.zeros(16), return_dict=True)["loss"]))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert ours[-1] < ours[0]
