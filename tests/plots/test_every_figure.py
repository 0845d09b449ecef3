"""What holds for all pictures: they render headless, and pyplot never hears of them."""

import io

import matplotlib.figure
import numpy as np
import pytest
from linear_model import LinearModel

from keras_vaezoo import plots

MODEL = LinearModel((8, 8, 1), 2)
IMAGES = np.random.default_rng(0).uniform(size=(12, 8, 8, 1))
LOGS = {"loss": [2.0, 1.0], "kl_set_point": [1, 1], "kl_error": [1, 0], "kl_value": [0.1, 0.2]}

FIGURES = {
    "controllers": lambda: plots.controllers(LOGS),
    "embedding": lambda: plots.embedding(MODEL, IMAGES, np.arange(12) % 3),
    "embedding_comparison": lambda: plots.embedding_comparison(
        {"a": MODEL.encode(IMAGES), "b": MODEL.encode(2 * IMAGES)}, np.arange(12)
    ),
    "history": lambda: plots.history(LOGS),
    "kl_per_dimension": lambda: plots.kl_per_dimension(*MODEL.encode(IMAGES)),
    "manifold": lambda: plots.manifold(MODEL, n=3),
    "overview": lambda: plots.overview(MODEL, IMAGES, n=4),
    "overview_comparison": lambda: plots.overview_comparison({"a": MODEL, "b": MODEL}, IMAGES, n=4),
    "rate_distortion": lambda: plots.rate_distortion({"VAE": (25.0, 18.0)}),
    "reconstructions": lambda: plots.reconstructions(MODEL, IMAGES),
    "samples": lambda: plots.samples(MODEL, n=4),
    "traversals": lambda: plots.traversals(MODEL, IMAGES, steps=3),
    "two_posteriors": lambda: plots.two_posteriors(),
}


def test_all_exports_are_drawn_here():
    assert sorted(FIGURES) == plots.__all__


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FIGURES)
def test_renders_and_leaves_pyplot_alone(name, monkeypatch):
    from matplotlib import pyplot

    def refuse(*args, **kwargs):
        raise AssertionError("a picture used pyplot")

    for function in ("show", "figure", "subplots", "gcf", "gca"):
        monkeypatch.setattr(pyplot, function, refuse)
    figure = FIGURES[name]()
    assert type(figure) is matplotlib.figure.Figure
    file = io.BytesIO()
    figure.savefig(file)
    assert file.getvalue().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == []
    assert_text_inside(figure)


def assert_text_inside(figure):
    """No title, label or legend may be cut off at the figure's edge."""
    texts = [text for axes in figure.axes for text in (axes.title, axes.xaxis.label)]
    for artist in [*texts, *figure.legends, figure._supxlabel]:
        if artist is None or (hasattr(artist, "get_text") and not artist.get_text()):
            continue
        box = artist.get_window_extent()
        assert box.x0 >= -1 and box.y0 >= -1, artist
        assert box.x1 <= figure.bbox.width + 1 and box.y1 <= figure.bbox.height + 1, artist


def test_tensors_of_the_backend_are_taken():
    ops = pytest.importorskip("keras").ops

    class TensorModel(LinearModel):
        def encode(self, x):
            return [ops.convert_to_tensor(part, "float32") for part in super().encode(x)]

        def decode(self, z):
            return ops.convert_to_tensor(super().decode(z), "float32")

        def reconstruct(self, x):
            return self.decode(np.asarray(super().encode(x).mean))

    drawn = plots.overview(TensorModel((8, 8, 1), 2), ops.convert_to_tensor(IMAGES), n=3)
    plain = plots.overview(LinearModel((8, 8, 1), 2), IMAGES, n=3)
    for a, b in zip(drawn.axes[0].images, plain.axes[0].images, strict=True):
        np.testing.assert_allclose(a.get_array(), b.get_array(), atol=1e-5)
    plots.embedding(TensorModel((8, 8, 1), 2), IMAGES, ops.convert_to_tensor(np.arange(12)))
