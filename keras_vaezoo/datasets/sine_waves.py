"""sine_waves: noisy sine waves with known amplitude, frequency and phase."""

import numpy as np

from keras_vaezoo.datasets.dataset import Dataset

FACTOR_NAMES = ("amplitude", "frequency", "phase")

_DEFAULT_COUNTS = {"train": 200_000, "test": 20_000}
_ROWS = 10_000


def load_sine_waves(
    split,
    n=None,
    samples=256,
    amplitude=(0.0, 2.0),
    frequency=(0.0, 10.0),
    phase=(0.0, 2.0 * np.pi),
    noise=0.05,
    seed=0,
):
    """Sine waves after the WiSE-ALE paper.

    ```
    x(t) = A sin(2 pi f t + phi) + noise * e,    e ~ N(0, 1),    t = 0, 1/samples, ... seconds
    ```

    A, f and phi are independent and uniform. The paper gives their kind, 256 samples over one
    second and 200,000 series; their limits and the noise are this package's choice.

    Args:
        split: "train" or "test": independent draws.
        n: Number of series. Defaults to 200,000 for "train" and 20,000 for "test". The first
            series do not depend on it.
        samples: Samples in one second.
        amplitude: `(low, high)` of A.
        frequency: `(low, high)` of f, in hertz.
        phase: `(low, high)` of phi, in radians.
        noise: Standard deviation of the noise, in the units of the amplitude.
        seed: Whole number.

    Returns:
        A `Dataset` of signals `(samples, 1)`. Its factors are real numbers `(n, 3)`:
        amplitude, frequency in hertz, phase in radians; `factor_sizes` is None. Nothing is
        scaled: `value_range` is the smallest and largest sample.
    """
    if split not in _DEFAULT_COUNTS:
        raise ValueError(
            f"'sine_waves' has the splits 'train' and 'test'. Received: split={split!r}"
        )
    n = _DEFAULT_COUNTS[split] if n is None else n
    for what, count in (("n", n), ("samples", samples)):
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise ValueError(
                f"`{what}` must be a whole number of at least 1. Received: {what}={count!r}"
            )
    for what, pair in (("amplitude", amplitude), ("frequency", frequency), ("phase", phase)):
        if np.shape(pair) != (2,) or not pair[0] <= pair[1]:
            raise ValueError(f"`{what}` must be (low, high). Received: {what}={pair!r}")
    if noise < 0:
        raise ValueError(f"`noise` must not be negative. Received: noise={noise!r}")
    limits = np.array([amplitude, frequency, phase], np.float64)
    rng = np.random.default_rng((seed, list(_DEFAULT_COUNTS).index(split)))
    signals = np.empty((n, samples, 1), np.float32)
    factors = np.empty((n, 3), np.float32)
    for start in range(0, n, _ROWS):
        # Whole blocks are drawn even where fewer rows are wanted, so that n changes no row.
        draws = rng.uniform(limits[:, 0], limits[:, 1], size=(_ROWS, 3))
        errors = rng.standard_normal((_ROWS, samples), np.float32)
        rows = slice(start, min(start + _ROWS, n))
        count = rows.stop - start
        factors[rows] = draws[:count]
        signals[rows, :, 0] = sine_waves(draws[:count], samples) + noise * errors[:count]
    return Dataset(
        signals,
        "sine_waves",
        factors=factors,
        factor_names=FACTOR_NAMES,
        value_range=(float(signals.min()), float(signals.max())),
    )


def sine_waves(factors, samples=256):
    """Sine waves without noise, `(n, samples)`, of factors `(n, 3)`: A, f in hertz, phi."""
    amplitude, frequency, phase = np.asarray(factors, np.float64).T[..., None]
    seconds = np.arange(samples) / samples
    return amplitude * np.sin(2.0 * np.pi * frequency * seconds + phase)
