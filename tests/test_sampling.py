"""Draws: the reparameterised posterior, the evaluation table, permuted codes, the clip."""

import keras
import numpy as np
import pytest

from keras_vaezoo import sampling
from tests.gradients import value_and_grad


def numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def test_posterior_is_mean_plus_scaled_noise_of_its_own_seed():
    mean = keras.ops.convert_to_tensor([[1.0, -2.0]] * 500)
    log_variance = keras.ops.log(keras.ops.convert_to_tensor([[0.25, 9.0]] * 500))
    z = numpy(sampling.Sampling(seed=4).posterior(mean, log_variance))
    generator = keras.random.SeedGenerator(4)
    noise = numpy(keras.random.normal((500, 2), seed=generator))
    np.testing.assert_allclose(z, [1.0, -2.0] + np.array([0.5, 3.0]) * noise, rtol=1e-5, atol=1e-6)


def test_seed_state_is_saved_and_restored():
    first, second = sampling.Sampling(seed=1), sampling.Sampling(seed=2)
    first.prior((3,))
    store = {}
    first.save_own_variables(store)
    second.load_own_variables(store)
    np.testing.assert_array_equal(numpy(first.prior((3,))), numpy(second.prior((3,))))


def test_permuted_codes_keep_marginals_and_lose_correlation():
    column = np.random.default_rng(0).normal(size=(400, 1)).astype("float32")
    z = np.concatenate([column, 2 * column], axis=1)
    permuted = numpy(sampling.CodePermutation(seed=0)(z))
    np.testing.assert_array_equal(np.sort(permuted, axis=0), np.sort(z, axis=0))
    assert abs(np.corrcoef(permuted.T)[0, 1]) < 0.2


def test_evaluation_rows_wrap_around():
    table = sampling.evaluation_noise(3)
    assert table.shape == (4096, 3)
    rows = numpy(sampling.evaluation_rows(4094.0, 4, 3))
    np.testing.assert_array_equal(rows, table[[4094, 4095, 0, 1]])


@pytest.mark.parametrize("count", [0, -1, 2.5, True, None])
def test_impossible_number_of_samples(count):
    with pytest.raises(ValueError, match="positive integer"):
        sampling.prior_samples(count, 2)


def test_clip_by_latent_norm_value_and_gradient():
    mean = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, -0.1], [30.0, 40.0, 0.0]], "float32")
    clip = 1.5
    bound = clip * np.sqrt(3)

    def oracle(mean):
        norm = np.linalg.norm(mean, axis=1, keepdims=True)
        return mean * np.minimum(1.0, bound / np.maximum(norm, 1e-12))

    weights = np.array([[1.0, 2.0, 3.0]], "float32")
    value, gradient = value_and_grad(
        lambda t: keras.ops.sum(keras.ops.multiply(sampling.clip_by_latent_norm(t, clip), weights)),
        mean,
    )
    exact = mean.astype("float64")
    np.testing.assert_allclose(value, (oracle(exact) * weights).sum(), rtol=1e-6)
    for row in range(3):
        for column in range(3):
            step = np.zeros_like(exact)
            step[row, column] = 1e-6
            slope = ((oracle(exact + step) - oracle(exact - step)) * weights).sum() / 2e-6
            assert gradient[0][row, column] == pytest.approx(slope, abs=1e-4)


def test_clip_bounds_every_norm_and_none_does_nothing():
    mean = np.random.default_rng(0).normal(scale=20, size=(100, 5)).astype("float32")
    clipped = numpy(sampling.clip_by_latent_norm(mean, 3.0))
    assert np.linalg.norm(clipped, axis=1).max() <= 3 * np.sqrt(5) * (1 + 1e-6)
    assert sampling.clip_by_latent_norm(mean, None) is mean
    with pytest.raises(ValueError, match="clip must be"):
        sampling.clip_by_latent_norm(mean, 0.0)
