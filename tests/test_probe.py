"""The classifier on frozen codes."""

import random

import keras
import numpy as np
import pytest

import keras_vaezoo
from keras_vaezoo.probe import Probe


def blobs(rows=600, seed=0):
    """Codes in four corners; classes 3 and 7 sit in opposite corners, as in exclusive or."""
    generator = np.random.default_rng(seed)
    corners = generator.integers(0, 2, size=(rows, 2))
    codes = 2.0 * corners - 1.0 + 0.3 * generator.standard_normal((rows, 2))
    return codes, np.where(corners[:, 0] == corners[:, 1], 3, 7)


@pytest.fixture(scope="module")
def fitted():
    return Probe(epochs=15).fit(*blobs())


def test_it_reads_what_no_linear_classifier_can(fitted):
    assert fitted.accuracy(*blobs(seed=1)) > 0.98
    assert set(fitted.predict(blobs(seed=1)[0])) == {3, 7}
    shuffled = np.random.default_rng(2).permutation(blobs(seed=1)[1])
    assert 0.42 < fitted.accuracy(blobs(seed=1)[0], shuffled) < 0.58


def test_it_has_three_layers_with_relu(fitted):
    codes, _ = blobs(seed=1)
    weights = [keras.ops.convert_to_numpy(w) for w in fitted._network.weights]
    assert [w.shape for w in weights[::2]] == [(2, 128), (128, 128), (128, 2)]
    hidden = codes
    for kernel, bias in (weights[:2], weights[2:4]):
        hidden = np.maximum(hidden @ kernel + bias, 0.0)
    by_hand = np.array([3, 7])[(hidden @ weights[4] + weights[5]).argmax(axis=1)]
    assert np.mean(fitted.predict(codes) == by_hand) > 0.998


def kernel_after(seed, *calls):
    probe = Probe(seed=seed)
    for epochs in calls:
        probe.fit(*blobs(300), epochs=epochs)
    return keras.ops.convert_to_numpy(probe._network.weights[0])


def test_the_seed_decides_and_fit_goes_on():
    two_epochs = kernel_after(0, 2)
    assert np.array_equal(two_epochs, kernel_after(0, 1, 1))
    assert not np.array_equal(two_epochs, kernel_after(1, 2))


def global_random_numbers(between):
    """Numbers of every global generator, drawn after `between()`."""
    keras.utils.set_random_seed(5)
    keras.random.normal((1,))
    between()
    drawn = [random.random(), np.random.random(), float(keras.random.normal((1,))[0])]
    if keras.backend.backend() == "torch":
        import torch

        drawn.append(float(torch.rand(1)))
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        drawn.append(float(tf.random.uniform(())))
    return drawn


def test_global_random_states_stay_as_they_are():
    def train():
        Probe(epochs=1).fit(*blobs(300)).accuracy(*blobs(seed=1))

    assert global_random_numbers(train) == global_random_numbers(lambda: None)


@pytest.mark.parametrize(
    ("codes", "labels", "words"),
    [
        (np.zeros(4), np.arange(4), r"codes.shape=\(4,\)"),
        (np.zeros((4, 2)), np.arange(3), r"labels.shape=\(3,\)"),
        (np.zeros((4, 2)), np.array([0.5, 1, 2, 3]), "float64"),
        (np.full((4, 2), np.nan), np.arange(4), "NaN"),
        (np.zeros((4, 2)), np.ones(4, int), "at least two classes"),
    ],
)
def test_bad_input_is_named(codes, labels, words):
    with pytest.raises(ValueError, match=words):
        Probe().fit(codes, labels)


def test_bad_arguments_are_named():
    for name, value in (("epochs", 0), ("batch_size", -1), ("learning_rate", 0)):
        with pytest.raises(ValueError, match=f"{name}={value}"):
            Probe(**{name: value})
    with pytest.raises(ValueError, match="hidden"):
        Probe(hidden=(0,))


def test_misuse_is_named(fitted):
    codes, _ = blobs(50)
    with pytest.raises(ValueError, match="Call fit"):
        keras_vaezoo.probe.Probe().predict(codes)
    with pytest.raises(ValueError, match=r"\[3, 7\]. Received: \[4\]"):
        fitted.fit(codes, np.full(50, 4))
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        fitted.predict(codes[:, :1])
