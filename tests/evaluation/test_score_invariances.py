"""What the result depends on, and what it leaves alone."""

import random

import keras
import numpy as np
import pytest

import keras_vaezoo
from tests.evaluation.models_with_known_evidence import small_vae


def pixels(rows=10):
    return (np.random.default_rng(0).random((rows, 5)) < 0.4).astype("float32")


def numbers(result):
    return [result.reconstruction, result.mse, result.kl, result.elbo, result.log_likelihood]


def test_batches_and_chunks_do_not_matter():
    model = small_vae(latent_dim=2)
    # All 10 rows at once; 3 rows of 5 draws at a time; one row, its draws in two chunks of 3 and 2.
    whole, rows, chunks = (
        numbers(keras_vaezoo.score(model, pixels(), samples=5, batch_size=size, verbose=0))
        for size in (512, 15, 3)
    )
    assert rows == pytest.approx(whole, rel=1e-6)
    assert chunks == pytest.approx(whole, rel=1e-6)


def test_the_seed_decides():
    model = small_vae(latent_dim=2)
    first, again, other = (
        keras_vaezoo.score(model, pixels(), samples=5, seed=seed, verbose=0) for seed in (5, 5, 6)
    )
    assert numbers(first) == numbers(again)
    assert first.elbo != other.elbo


def test_every_kind_of_data_gives_the_same():
    model = small_vae(latent_dim=2)
    x, labels = pixels(), np.arange(10) % 3
    expected = keras_vaezoo.score(model, x, samples=5, verbose=0)
    lazy = keras_vaezoo.datasets.Dataset(x, "made up", labels=labels)
    for data in ((x, labels), (x, labels[:, None]), lazy, keras.ops.convert_to_tensor(x)):
        assert numbers(keras_vaezoo.score(model, data, samples=5, verbose=0)) == numbers(expected)


@pytest.mark.filterwarnings("ignore:10 rows are fewer")
def test_lazy_images_are_read_in_blocks():
    sprites = keras_vaezoo.datasets.load("sprites").sample(10, seed=0)
    encoder, decoder = keras_vaezoo.networks.autoencoder((64, 64, 1), 2, "mlp", hidden=(4,))
    model = keras_vaezoo.VAE(encoder, decoder, seed=0)
    lazy = keras_vaezoo.score(model, sprites, ["mig"], samples=5, verbose=0)
    loaded = keras_vaezoo.score(
        model, (np.asarray(sprites.images), sprites.factors), ["mig"], samples=5, verbose=0
    )
    assert numbers(lazy) == numbers(loaded)
    assert lazy.metrics["mig"].value == loaded.metrics["mig"].value
    assert lazy.settings["data"] == "sprites"


def test_model_and_global_random_states_stay_as_they_are():
    model = small_vae(latent_dim=2)
    model.compile("adam")
    model.fit(pixels(), epochs=1, verbose=0)
    before = [keras.ops.convert_to_numpy(v).copy() for v in model.variables]
    states = random.getstate(), np.random.get_state()[1].copy()
    keras_vaezoo.score(model, pixels(), samples=5, verbose=0)
    assert random.getstate() == states[0]
    assert np.array_equal(np.random.get_state()[1], states[1])
    after = [keras.ops.convert_to_numpy(v) for v in model.variables]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_the_elbo_is_that_of_evaluate_within_monte_carlo_error():
    x = pixels(300)
    model = small_vae(latent_dim=2, model=keras_vaezoo.BetaVAE)
    model.compile("adam")
    evaluated = model.evaluate(x, verbose=0, return_dict=True)
    result = keras_vaezoo.score(model, x, samples=20, verbose=0)
    error = result.standard_errors["elbo"]
    assert result.kl > 8 * error
    assert result.elbo == pytest.approx(evaluated["elbo"], abs=4 * error)
    assert result.kl == pytest.approx(evaluated["kl"], rel=1e-4)
