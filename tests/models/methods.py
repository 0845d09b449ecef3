"""The table of methods that the shared checklist runs over, and small data and networks."""

import keras
import numpy as np

import keras_vaezoo as vz

INPUT_SHAPE = (6, 5, 1)
LATENT_DIM = 3

# Arguments that a method needs beyond its networks; every exported model is in the checklist.
ARGUMENTS = {
    "ControlVAE": {"set_point": 2.0},
    "BetaVAE": {"beta": 2.0},
}
# Networks that a method takes besides encoder and decoder, built anew for every model.
NETWORKS = {
    "FactorVAE": {"discriminator": lambda: vz.networks.discriminator(LATENT_DIM, hidden=(20, 20))},
}


def images(count=33, seed=0):
    """Soft blobs in [0, 1], shape (count, 6, 5, 1), which a small VAE can learn."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:6, 0:5]
    centre = random.uniform(1, 4, size=(count, 2))
    square = (rows - centre[:, :1, None]) ** 2 + (columns - centre[:, 1:, None]) ** 2
    return np.exp(-square / 3.0)[..., None].astype("float32")


def networks(regularizer=None, seed=7):
    """A small pair of networks with known initial weights, the same on every call."""
    keras.utils.set_random_seed(seed)
    inputs = keras.Input(INPUT_SHAPE)
    flat = keras.layers.Flatten(name="encoder_flatten")(inputs)
    hidden = keras.layers.Dense(
        12, activation="tanh", kernel_regularizer=regularizer, name="encoder_hidden"
    )(flat)
    heads = [
        keras.layers.Dense(LATENT_DIM, dtype="float32", name=f"encoder_{name}")(hidden)
        for name in ("mean", "log_variance")
    ]
    encoder = keras.Model(inputs, heads, name="encoder")
    codes = keras.Input((LATENT_DIM,))
    hidden = keras.layers.Dense(12, activation="tanh", name="decoder_hidden")(codes)
    flat = keras.layers.Dense(30, dtype="float32", name="decoder_output")(hidden)
    outputs = keras.layers.Reshape(INPUT_SHAPE, dtype="float32", name="decoder_reshape")(flat)
    return encoder, keras.Model(codes, outputs, name="decoder")


def build(method, regularizer=None, **arguments):
    """A small model of a method by its exported name."""
    pair = networks(regularizer)
    others = {name: network() for name, network in NETWORKS.get(method, {}).items()}
    arguments = {**ARGUMENTS.get(method, {}), **others, "seed": 3, **arguments}
    return getattr(vz, method)(*pair, **arguments)
