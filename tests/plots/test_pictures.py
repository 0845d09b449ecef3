"""Reconstructions, samples and overview: the right example, in the right cell, as it is."""

import numpy as np
import pytest
from linear_model import LinearModel
from matplotlib.collections import LineCollection, PolyCollection

from keras_vaezoo import plots

RNG = np.random.default_rng(7)


def cells(figure):
    """Return {(row, column): pixels} of the images of a figure without gaps between rows."""
    found = {}
    for image in figure.axes[0].images:
        left, _, _, top = image.get_extent()
        found[int(-top), int(left)] = np.asarray(image.get_array())
    return found


def caption(figure):
    return figure.axes[0].get_xlabel()


class Echo:
    """A model that gives back what it gets, plus a shift."""

    def __init__(self, shift=0.0, samples=None):
        self.shift, self.samples = shift, samples

    def reconstruct(self, x):
        return x + self.shift

    def sample(self, n, seed=None):
        return self.samples[:n]


def test_reconstructions_stand_below_their_originals():
    images = RNG.uniform(0, 0.5, size=(4, 5, 5, 1))
    found = cells(plots.reconstructions(Echo(0.25), images, n=3))
    assert sorted(found) == [(row, column) for row in range(2) for column in range(3)]
    for column in range(3):
        grey = np.repeat(images[column], 3, axis=2)
        np.testing.assert_allclose(found[0, column], grey)
        np.testing.assert_allclose(found[1, column], grey + 0.25)


def test_more_than_were_given_and_more_than_a_row():
    images = RNG.uniform(size=(13, 4, 4, 1))
    figure = plots.reconstructions(Echo(), images, n=50)
    assert len(figure.axes[0].images) == 26
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["original", "reconstruction"] * 2


def test_samples_fill_rows_and_leave_the_rest_empty():
    model = LinearModel((3, 3, 1), 2)
    figure = plots.samples(model, n=12, seed=5)
    z = np.random.default_rng(5).normal(size=(12, 2))
    np.testing.assert_array_equal(model.decoded[0], z)
    assert sorted(cells(figure)) == [(0, k) for k in range(10)] + [(1, 0), (1, 1)]


def test_overview_has_three_kinds_of_rows():
    images = RNG.uniform(size=(5, 4, 4, 3))
    figure = plots.overview(Echo(samples=images[::-1]), images, n=5)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["original", "reconstruction", "sample"]
    pixels = [np.asarray(image.get_array()) for image in figure.axes[0].images]
    np.testing.assert_allclose(pixels[10:], images[::-1])


def test_a_comparison_has_a_row_of_each_kind_for_each_model():
    images = RNG.uniform(0, 0.5, size=(3, 4, 4, 1))
    models = {"same": Echo(samples=images), "brighter": Echo(0.5, samples=1 - images)}
    figure = plots.overview_comparison(models, images, n=2)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["original", "same", "brighter", "same, samples", "brighter, samples"]
    found = [np.asarray(image.get_array())[..., :1] for image in figure.axes[0].images]
    expected = [images, images, images + 0.5, images, 1 - images]
    np.testing.assert_allclose(found, np.concatenate([rows[:2] for rows in expected]))
    tops = [image.get_extent()[3] for image in figure.axes[0].images[::2]]
    assert (np.diff(tops) <= -1.0).all()
    with pytest.raises(ValueError, match="at least one model"):
        plots.overview_comparison({}, images)


@pytest.mark.parametrize(
    ("values", "low", "high", "text"),
    [
        ([0.0, 0.3, 0.9], 0.0, 1.0, ""),
        ([-1.0, 0.0, 1.0], -1.0, 1.0, "Shown from \u22121 to 1"),
        ([4.0, 4.0, 4.0], 3.5, 4.5, "Shown from 3.5 to 4.5"),
    ],
)
def test_range_of_images(values, low, high, text):
    images = np.array(values).reshape(3, 1, 1, 1) * np.ones((1, 2, 2, 1))
    figure = plots.reconstructions(Echo(), images)
    for column, value in enumerate(values):
        np.testing.assert_allclose(cells(figure)[0, column], (value - low) / (high - low))
    assert caption(figure) == text


def test_reconstructions_beyond_the_range_are_cut_and_reported():
    images = np.full((2, 3, 3, 1), 0.5)
    figure = plots.reconstructions(Echo(2.0), images)
    assert (cells(figure)[1, 0] == 1.0).all()
    assert caption(figure) == "Shown from 0 to 1; the values run from 0.5 to 2.5"
    given = plots.reconstructions(Echo(2.0), images, value_range=(0.0, 2.5))
    np.testing.assert_allclose(cells(given)[1, 0], 1.0)
    np.testing.assert_allclose(cells(given)[0, 0], 0.2)


def test_bytes_are_shown_from_0_to_255():
    images = np.full((2, 3, 3, 1), 51, np.uint8)
    np.testing.assert_allclose(cells(plots.reconstructions(Echo(0), images))[0, 0], 0.2)


def test_four_channels_are_four_grey_panels():
    image = np.stack([np.full((2, 3), level) for level in (0.1, 0.2, 0.3, 0.4)], axis=-1)
    drawn = cells(plots.reconstructions(Echo(), image[None]))[0, 0]
    assert drawn.shape == (5, 7, 3)
    levels = drawn[[0, 0, 3, 3], [0, 4, 0, 4], 1]
    np.testing.assert_allclose(levels, [0.1, 0.2, 0.3, 0.4])
    assert (drawn[2] == 1).all() and (drawn[:, 3] == 1).all()


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_pixels_that_are_not_finite_are_orange(channels):
    images = np.full((1, 4, 4, channels), 0.5)
    images[0, 1, 2] = np.nan
    figure = plots.reconstructions(Echo(), images)
    drawn = cells(figure)[0, 0]
    np.testing.assert_allclose(drawn[1, 2], (1.0, 0.55, 0.0))
    np.testing.assert_allclose(drawn[0, 0], 0.5)
    assert "not finite" in caption(figure)


def test_nothing_but_nan_is_drawn():
    assert len(plots.samples(Echo(samples=np.full((3, 4, 4, 1), np.nan)), 3).axes[0].images) == 3


def lines(figure, axes=0):
    return [c for c in figure.axes[axes].collections if type(c) is LineCollection]


def test_signals_are_lines_one_a_channel_over_their_originals():
    signals = RNG.normal(size=(3, 50, 2))
    figure = plots.reconstructions(Echo(0.5), signals)
    above, below, reference = lines(figure)
    assert [len(c.get_segments()) for c in (above, below, reference)] == [6, 6, 6]
    low, high = signals.min(), signals.max() + 0.5
    inner = 0.9 * (0.6 - 0.08)
    for shift, collection in ((0.0, reference), (0.5, below)):
        y = collection.get_segments()[1][:, 1]
        expected = (signals[0, :, 1] + shift - low) / (high - low) * inner
        np.testing.assert_allclose(np.diff(y), np.diff(expected), atol=1e-12)
    gap = below.get_segments()[1][:, 1] - reference.get_segments()[1][:, 1]
    np.testing.assert_allclose(gap, 0.5 / (high - low) * inner)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["channel 0", "channel 1"]
    assert "50 values across" in caption(figure)


def test_long_signals_keep_their_extremes():
    signals = RNG.normal(size=(2, 100_000, 1))
    signals[1, 77_777] = 50.0
    (drawn,) = lines(plots.samples(Echo(samples=signals), n=2))
    first, second = drawn.get_segments()
    assert len(first) == 1000
    peak = second[:, 1].argmax()
    assert second[peak, 0] - 1.04 == pytest.approx(0.92 * 0.77777, abs=1e-3)
    assert second[peak, 1] > first[:, 1].max() + 0.2


def test_rows_of_a_table_are_bars():
    rows = np.array([[1.0, -1.0, 0.5]])
    figure = plots.samples(Echo(samples=rows), n=1)
    (bars,) = [c for c in figure.axes[0].collections if type(c) is PolyCollection]
    heights = [np.ptp(path.vertices[:, 1]) for path in bars.get_paths()]
    np.testing.assert_allclose(np.array(heights) / heights[0], [1.0, 1.0, 0.5])
    rows = np.array([[2.0, 4.0, 8.0]])
    (bars,) = [
        c
        for c in plots.samples(Echo(samples=rows), n=1).axes[0].collections
        if type(c) is PolyCollection
    ]
    heights = [np.ptp(path.vertices[:, 1]) for path in bars.get_paths()]
    np.testing.assert_allclose(np.array(heights) / heights[0], [1.0, 2.0, 4.0])  # from 0
    (long,) = lines(plots.samples(Echo(samples=RNG.normal(size=(1, 40))), n=1))
    assert len(long.get_segments()) == 1


@pytest.mark.parametrize(
    ("example_shape", "is_image"),
    [((8, 8), True), ((28, 28), True), ((256, 12), False), ((3, 2), False), ((9, 5), True)],
)
def test_images_without_channels_and_signals_are_told_apart(example_shape, is_image):
    figure = plots.samples(Echo(samples=RNG.uniform(size=(2, *example_shape))), n=2)
    assert bool(figure.axes[0].images) is is_image


def test_flattened_images_take_a_shape():
    images = RNG.uniform(size=(3, 64))
    found = cells(plots.reconstructions(Echo(), images, shape=(8, 8, 1)))
    np.testing.assert_allclose(found[0, 2][..., 0], images[2].reshape(8, 8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.reconstructions(Echo(), np.zeros((0, 4, 4, 1))), r"len\(images\)=0"),
        (lambda: plots.reconstructions(Echo(), np.zeros((2, 4, 4, 1)), n=0), "Received: n=0"),
        (lambda: plots.samples(Echo(), n=2.5), "Received: n=2.5"),
        (
            lambda: plots.reconstructions(Echo(np.zeros((2, 4, 4, 2))), np.zeros((2, 4, 4, 1))),
            r"reconstructions of shape \(2, 4, 4, 2\)",
        ),
        (
            lambda: plots.reconstructions(Echo(), np.zeros((2, 64)), shape=(8, 9)),
            r"shape=\(8, 9\) and examples of shape \(64,\)",
        ),
        (
            lambda: plots.reconstructions(Echo(), np.zeros((2, 4, 4)), value_range=(1, 0)),
            r"value_range=\(1, 0\)",
        ),
        (lambda: plots.reconstructions(Echo(), np.zeros((2, 2, 4, 4, 1))), r"\(2, 4, 4, 1\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
