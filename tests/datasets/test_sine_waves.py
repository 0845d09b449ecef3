"""sine_waves against a fit of each signal by scipy."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from keras_vaezoo import datasets


def test_signals_carry_their_factors():
    data = datasets.load("sine_waves", n=40)
    assert data.shape == (256, 1) and data.images.dtype == np.float32
    assert data.factor_names == ("amplitude", "frequency", "phase") and data.factor_sizes is None
    seconds = np.linspace(0, 1, 256, endpoint=False)

    def wave(t, a, f, phi):
        return a * np.sin(2 * np.pi * f * t + phi)

    errors = []
    # float64: the fit takes differences over steps that float32 does not resolve.
    signals, factors = data.images[..., 0].astype(float), data.factors.astype(float)
    for signal, (a, f, phi) in zip(signals, factors, strict=True):
        residual = signal - wave(seconds, a, f, phi)
        errors.append(residual)
        if a > 0.3 and f > 1.5:
            fitted, _ = scipy.optimize.curve_fit(wave, seconds, signal, p0=(1.1 * a, f, phi + 0.1))
            np.testing.assert_allclose(fitted[0], a, atol=0.03)
            np.testing.assert_allclose(fitted[1], f, atol=0.05)
            np.testing.assert_allclose(fitted[2], phi, atol=0.15)
    errors = np.concatenate(errors)
    np.testing.assert_allclose(errors.std(), 0.05, rtol=0.02)
    assert scipy.stats.kstest(errors / 0.05, "norm").pvalue > 0.001


def test_factors_are_uniform_and_independent():
    factors = datasets.load("sine_waves", n=4000, samples=2).factors
    for column, high in zip(factors.T, (2.0, 10.0, 2 * np.pi), strict=True):
        assert scipy.stats.kstest(column / high, "uniform").pvalue > 0.001
    correlations = np.corrcoef(factors.T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 0.06


def test_limits_and_noise_can_be_chosen():
    data = datasets.load(
        "sine_waves", n=50, amplitude=(1, 1), frequency=(2, 2), phase=(0.5, 0.5), noise=0.0
    )
    expected = np.sin(2 * np.pi * 2 * np.arange(256) / 256 + 0.5)
    np.testing.assert_allclose(data.images[:, :, 0], np.tile(expected, (50, 1)), atol=1e-6)
    np.testing.assert_allclose(data.value_range, (-1, 1), atol=1e-3)


def test_seed_split_and_number():
    first = datasets.load("sine_waves", n=5, seed=3)
    np.testing.assert_array_equal(
        first.images, datasets.load("sine_waves", n=12, seed=3).images[:5]
    )
    for other in (
        datasets.load("sine_waves", n=5, seed=4),
        datasets.load("sine_waves", split="test", n=5, seed=3),
    ):
        assert np.abs(other.factors - first.factors).min() > 0


@pytest.mark.parametrize(
    "option, message",
    [
        ({"n": 0}, "n=0"),
        ({"n": 1e3}, "n=1000.0"),
        ({"samples": 0}, "samples=0"),
        ({"noise": -1}, "noise=-1"),
        ({"amplitude": 2.0}, "amplitude=2.0"),
        ({"phase": (1, 0)}, r"phase=\(1, 0\)"),
    ],
)
def test_wrong_options(option, message):
    with pytest.raises(ValueError, match=message):
        datasets.load("sine_waves", **option)
    with pytest.raises(ValueError, match="'train' and 'test'"):
        datasets.load("sine_waves", split="all")
