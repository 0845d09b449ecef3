"""Embeddings: ellipses of the right size, shared axes, labels of every kind."""

import numpy as np
import pytest
from linear_model import LinearModel
from matplotlib.collections import EllipseCollection

from keras_vaezoo import plots

RNG = np.random.default_rng(11)
MEAN = RNG.normal(size=(30, 2))
LOG_VARIANCE = RNG.normal(-2, 1, size=(30, 2))


def ellipses(axes):
    return [c for c in axes.collections if isinstance(c, EllipseCollection)]


def test_half_axes_are_one_and_two_standard_deviations():
    figure = plots.embedding_comparison({"model": (MEAN, LOG_VARIANCE)})
    outer, inner = ellipses(figure.axes[0])
    deviation = np.sqrt(np.exp(LOG_VARIANCE))
    for collection, count in ((outer, 2), (inner, 1)):
        np.testing.assert_allclose(collection.get_widths(), 2 * count * deviation[:, 0])
        np.testing.assert_allclose(collection.get_heights(), 2 * count * deviation[:, 1])
        np.testing.assert_allclose(collection.get_offsets(), MEAN)
        assert collection._units == "xy"


def test_panels_share_axes_that_hold_every_ellipse():
    wide = (5 * MEAN, LOG_VARIANCE + 2)
    figure = plots.embedding_comparison({"a": (MEAN, LOG_VARIANCE), "b": wide})
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim() and first.get_ylim() == second.get_ylim()
    reach = 2 * np.exp(wide[1] / 2)
    for side, limits in ((0, first.get_xlim()), (1, first.get_ylim())):
        assert limits[0] < (wide[0] - reach)[:, side].min()
        assert limits[1] > (wide[0] + reach)[:, side].max()
    assert first.get_aspect() == second.get_aspect() == 1
    assert [axes.get_title() for axes in figure.axes] == ["a", "b"]


def test_ellipses_of_some_and_means_of_all():
    figure = plots.embedding_comparison({"model": (MEAN, LOG_VARIANCE)}, ellipses=4)
    outer = ellipses(figure.axes[0])[0]
    np.testing.assert_allclose(outer.get_offsets(), MEAN[[0, 9, 19, 29]])
    points = figure.axes[0].collections[-1].get_offsets()
    np.testing.assert_allclose(points, MEAN)
    assert "30 means, ellipses of 4" in figure._supxlabel.get_text()


def test_deterministic_codes_are_points():
    figure = plots.embedding_comparison({"WAE": (MEAN, np.full((30, 2), -np.inf))})
    assert all(len(c.get_widths()) == 0 for c in ellipses(figure.axes[0]))
    assert "deterministic" in figure._supxlabel.get_text()


def test_embedding_picks_two_dimensions():
    model = LinearModel((4,), 5)
    x = RNG.normal(size=(10, 4))
    figure = plots.embedding(model, x, dimensions=(4, 2))
    offsets = ellipses(figure.axes[0])[0].get_offsets()
    np.testing.assert_allclose(offsets, model.encode(x).mean[:, [4, 2]])
    assert figure.axes[0].get_xlabel() == "z[4]" and figure.axes[0].get_ylabel() == "z[2]"


def test_a_label_is_one_colour():
    labels = np.array(["bag", "coat", "shirt"])[np.arange(30) % 3]
    figure = plots.embedding_comparison({"model": (MEAN, LOG_VARIANCE)}, labels)
    colours = ellipses(figure.axes[0])[0].get_facecolor()
    for k in range(3):
        assert len(np.unique(colours[k::3], axis=0)) == 1
    assert len(np.unique(colours, axis=0)) == 3
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["bag", "coat", "shirt"]


def test_ten_labels_have_ten_colours_and_eleven_a_bar():
    ten = plots.embedding_comparison({"model": (MEAN, LOG_VARIANCE)}, np.arange(30) % 10)
    assert len(np.unique(ellipses(ten.axes[0])[0].get_facecolor(), axis=0)) == 10
    assert len(ten.axes) == 1
    for labels in (np.arange(30) % 11, RNG.normal(size=30), [f"kind {k}" for k in range(30)]):
        figure = plots.embedding_comparison({"model": (MEAN, LOG_VARIANCE)}, labels)
        assert len(figure.axes) == 2 and not figure.legends


def test_one_column_of_labels_is_taken():
    plots.embedding_comparison({"model": (MEAN, LOG_VARIANCE)}, np.arange(30)[:, None] % 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: plots.embedding(LinearModel((4,), 3), np.zeros((5, 4))),
            "latent_dim=3, dimensions=None",
        ),
        (lambda: plots.embedding(LinearModel((4,), 2), np.zeros((0, 4))), r"len\(images\)=0"),
        (
            lambda: plots.embedding(LinearModel((4,), 2), np.zeros((5, 4)), [1, 2, 3]),
            r"labels of shape \(3,\) for 5 examples",
        ),
        (
            lambda: plots.embedding(LinearModel((4,), 2), np.zeros((5, 4)), np.zeros((5, 3))),
            r"labels of shape \(5, 3\)",
        ),
        (lambda: plots.embedding_comparison({}), r"codes=\{\}"),
        (
            lambda: plots.embedding_comparison(
                {"a": (MEAN, LOG_VARIANCE), "b": (MEAN[:9], LOG_VARIANCE[:9])}
            ),
            r"\{'a': 30, 'b': 9\}",
        ),
        (
            lambda: plots.embedding_comparison({"a": (MEAN, LOG_VARIANCE[:, :1])}),
            r"'a' with a mean of shape \(30, 2\)",
        ),
        (lambda: plots.embedding_comparison({"a": (MEAN, np.inf * MEAN**2)}), "30 of 30 rows"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
