"""Runs of 500 steps an epoch on scikit-learn's digits, for the controllers' acceptance."""

import keras
import numpy as np
from sklearn.datasets import load_digits

from keras_vaezoo.networks import mlp_decoder, mlp_encoder

STEPS, BATCH = 500, 64
LATENT_DIM = 10
SHAPE = (8, 8, 1)


def digits():
    """500 batches of 64 real digits, reshuffled for each pass over them, in [0, 1]."""
    images = (load_digits().images / 16.0).astype("float32")[..., None]
    random = np.random.default_rng(0)
    passes = [images[random.permutation(len(images))] for _ in range(18)]
    return np.concatenate(passes)[: STEPS * BATCH]


def networks(hidden=128):
    keras.utils.set_random_seed(1)
    return mlp_encoder(SHAPE, LATENT_DIM, (hidden,)), mlp_decoder(SHAPE, LATENT_DIM, (hidden,))


def run(model, epochs):
    """Trains with Adam at 1e-3 and returns the history, one entry for 500 steps."""
    on_torch = keras.backend.backend() == "torch"
    model.compile(keras.optimizers.Adam(1e-3), **({} if on_torch else {"steps_per_execution": 10}))
    return model.fit(digits(), batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0).history
