"""load: names, options, and the one place of scaling."""

import numpy as np
import pytest

from keras_vaezoo import datasets
from keras_vaezoo.datasets.scaling import to_float32


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(ValueError, match=r"'mnits'.*Did you mean 'mnist'\?.*celeb_a, digits"):
        datasets.load("mnits")
    for name in ("", "../mnist", None, "a set"):
        with pytest.raises(ValueError, match=r"Valid names: .*sprites"):
            datasets.load(name)


def test_unknown_options_list_the_valid_ones():
    with pytest.raises(ValueError, match=r"load\('sprites'\) has no option 'size'.*test_fraction"):
        datasets.load("sprites", size=(32, 32))
    with pytest.raises(ValueError, match="no option 'data_dir'"):
        datasets.load("sine_waves", data_dir="somewhere")


@pytest.mark.parametrize("value_range", [(1, 0), (0, 0), 1.0, ("a", "b"), (0, 1, 2), (0, np.nan)])
def test_wrong_ranges(value_range):
    with pytest.raises(ValueError, match="`value_range`"):
        datasets.load("sprites", value_range=value_range)


def test_every_name_is_listed():
    assert datasets.names() == sorted(
        [
            "celeb_a",
            "digits",
            "dsprites",
            "fashion_mnist",
            "mnist",
            "shapes3d",
            "sine_waves",
            "sprites",
        ]
    )


@pytest.mark.parametrize("dtype, top", [(bool, 1), (np.uint8, 255), (np.uint16, 65535)])
def test_scaling_is_exact_at_both_ends_and_linear(dtype, top):
    pixels = np.unique(np.linspace(0, top, 300).round()).astype(dtype)
    for low, high in ((0.0, 1.0), (-1.0, 1.0)):
        scaled = to_float32(pixels, (low, high))
        assert scaled.dtype == np.float32 and (scaled[0], scaled[-1]) == (low, high)
        expected = low + (high - low) * (pixels.astype(np.float64) / top)
        np.testing.assert_allclose(scaled, expected, atol=2e-7)
