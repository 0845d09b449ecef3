"""The probe that is trained beside a model."""

import keras
import numpy as np
import pytest
from sklearn.datasets import load_digits

import keras_vaezoo
from keras_vaezoo.callbacks import LatentProbe
from keras_vaezoo.probe import Probe


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    return (data.images[:400, ..., None] / 16).astype("float32"), data.target[:400]


def trained(images, callbacks, epochs=3):
    """A model trained with shuffling, dropout and validation, and its History."""
    keras.utils.set_random_seed(3)
    inputs = keras.Input((8, 8, 1))
    features = keras.layers.Dense(32, activation="relu")(keras.layers.Flatten()(inputs))
    features = keras.layers.BatchNormalization()(keras.layers.Dropout(0.1)(features))
    encoder = keras.Model(inputs, [keras.layers.Dense(6)(features) for _ in range(2)])
    decoder = keras_vaezoo.networks.mlp_decoder((8, 8, 1), 6, (32,))
    model = keras_vaezoo.VAE(encoder, decoder, seed=0)
    model.compile(keras.optimizers.Adam(1e-2), jit_compile=keras.backend.backend() == "jax")
    history = model.fit(
        images[:320],
        epochs=epochs,
        batch_size=64,
        validation_data=images[320:],
        verbose=0,
        callbacks=callbacks,
    )
    return model, history.history


def everything(model):
    """All numbers of a model: weights, seed states, optimizer slots."""
    variables = [*model.variables, *model.optimizer.variables]
    seeds = [
        layer.seed_generator.state
        for layer in (model.sampling, *model.encoder.layers)
        if hasattr(layer, "seed_generator")
    ]
    return [keras.ops.convert_to_numpy(v).copy() for v in (*variables, *seeds)]


@pytest.fixture(scope="module")
def with_probe(digits):
    callback = LatentProbe(digits, probe=Probe(learning_rate=1e-2), epochs=5)
    return (*trained(digits[0], [callback]), callback)


def test_the_model_is_the_same_bit_for_bit_with_and_without(digits, with_probe):
    model, history, _ = with_probe
    alone, history_alone = trained(digits[0], [])
    for a, b in zip(everything(model), everything(alone), strict=True):
        assert np.array_equal(a, b)
    assert {k: v for k, v in history.items() if k != "probe_accuracy"} == history_alone


def test_history_holds_the_held_out_accuracy(digits, with_probe):
    model, history, callback = with_probe
    images, labels = digits
    assert len(history["probe_accuracy"]) == 3
    held_out = np.sort(np.random.default_rng(0).permutation(400)[:80])
    accuracy = callback.probe.accuracy(model.encode(images[held_out]).mean, labels[held_out])
    assert history["probe_accuracy"][-1] == accuracy
    assert accuracy > 0.3


def logged(callback, model, epoch):
    logs = {}
    callback.set_model(model)
    callback.on_epoch_end(epoch, logs)
    return logs["probe_accuracy"]


def test_it_can_rest_for_epochs_and_takes_held_out_data(digits, with_probe):
    model, (images, labels) = with_probe[0], digits
    rest = keras_vaezoo.datasets.Dataset(images[300:], "digits", labels=labels[300:])
    callback = LatentProbe((images[:300], labels[:300]), rest, Probe(seed=4), every=2)
    assert np.isnan(logged(callback, model, 0))
    accuracy = logged(callback, model, 1)
    assert accuracy == callback.probe.accuracy(model.encode(images[300:]).mean, labels[300:])
    assert np.isnan(logged(callback, model, 2))


def test_it_takes_lazy_images_and_a_factor():
    sprites = keras_vaezoo.datasets.load("sprites").sample(30, seed=0)
    encoder, decoder = keras_vaezoo.networks.autoencoder((64, 64, 1), 2, "mlp", hidden=(4,))
    model = keras_vaezoo.VAE(encoder, decoder, seed=0)
    callback = LatentProbe((sprites.images, sprites.factors[:, 0]))
    assert 0 <= logged(callback, model, 0) <= 1


def test_a_diverged_model_is_not_looked_at(digits):
    encoder, decoder = keras_vaezoo.networks.autoencoder((8, 8, 1), 2, "mlp", hidden=(4,))
    model = keras_vaezoo.VAE(encoder, decoder, seed=0)
    encoder.set_weights([np.full_like(w, np.nan) for w in encoder.get_weights()])
    assert np.isnan(logged(LatentProbe(digits), model, 0))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"data": np.zeros((4, 2), "float32")}, "one label for each image"),
        ({"data": (np.zeros((4, 2), "float32"), np.zeros((4, 2), int))}, "2 columns"),
        ({"held_out": 1.0}, "held_out=1.0"),
        ({"held_out": 0.01}, "held_out=0.01"),
        ({"held_out": "test"}, "Received: str"),
        ({"every": 0}, "every=0"),
        ({"epochs": 0}, "epochs=0"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    data = (np.zeros((4, 2), "float32"), np.arange(4))
    with pytest.raises(ValueError, match=words):
        LatentProbe(**{"data": data, **arguments})


def test_images_of_another_shape_are_named(digits):
    callback = LatentProbe((np.zeros((10, 3, 3, 1), "float32"), np.arange(10)))
    with pytest.raises(ValueError, match="3, 3, 1"):
        trained(digits[0], [callback])
