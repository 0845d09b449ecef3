"""Traversals and manifold: the codes that are decoded, their order and their labels."""

import numpy as np
import pytest
import scipy.stats
from linear_model import LinearModel, Posterior

from keras_vaezoo import plots

IMAGES = np.random.default_rng(3).normal(size=(200, 6, 6, 1))


def texts(labels):
    return [label.get_text() for label in labels]


@pytest.fixture
def model():
    made = LinearModel((6, 6, 1), 5)
    made.encoder *= [0.1, 3.0, 0.5, 2.0, 1.0]
    return made


def test_traversals_walk_the_aggregate_posterior_by_information(model):
    figure = plots.traversals(model, IMAGES, steps=5, limit=1.5, base=7, n=3)
    mean, log_variance = model.encode(IMAGES)
    by_scipy = [
        scipy.stats.entropy([1]) + kl_of(mean[:, k], np.exp(log_variance[:, k])) for k in range(5)
    ]
    order = np.argsort(by_scipy)[::-1][:3]
    labels = texts(figure.axes[0].get_yticklabels())
    assert labels == [f"z[{k}]  {by_scipy[k]:.2f} nats" for k in order]
    assert texts(figure.axes[0].get_xticklabels())[0] == "\u22121.5 sd"
    assert "3 of 5 dimensions" in figure.axes[0].get_title()

    z = model.decoded[0].reshape(3, 5, 5)
    draws = mean[:, None] + np.exp(log_variance / 2)[:, None] * np.random.default_rng(0).normal(
        size=(200, 2000, 5)
    )
    for row, k in enumerate(order):
        walk = z[row, :, k]
        assert (walk[0] + walk[-1]) / 2 == pytest.approx(draws[..., k].mean(), abs=0.02)
        assert (walk[-1] - walk[0]) / 3 == pytest.approx(draws[..., k].std(), rel=0.02)
        np.testing.assert_allclose(np.diff(walk), walk[1] - walk[0], rtol=1e-4)
        kept = np.delete(z[row], k, axis=1)
        np.testing.assert_allclose(kept, np.tile(np.delete(mean[7], k), (5, 1)), rtol=1e-6)


def kl_of(mean, variance):
    """Return the mean of KL(N(mean, variance) || N(0, 1)) as cross entropy minus entropy."""
    entropy = [scipy.stats.norm(scale=np.sqrt(v)).entropy() for v in variance[:1]]
    cross = 0.5 * np.log(2 * np.pi) + 0.5 * np.mean(mean**2 + variance)
    return cross - entropy[0]


def test_frame_lies_on_the_cell_nearest_to_the_code(model):
    figure = plots.traversals(model, IMAGES, dimensions=[3, 0], steps=9, base=11)
    frames = figure.axes[0].collections[-1].get_paths()
    z = model.decoded[0].reshape(2, 9, 5)
    own = model.encode(IMAGES).mean[11]
    for row, k in enumerate([3, 0]):
        assert int(frames[row].vertices[:, 0].min()) == np.abs(z[row, :, k] - own[k]).argmin()
    assert [text[:4] for text in texts(figure.axes[0].get_yticklabels())] == ["z[3]", "z[0]"]


def test_one_image_walks_the_prior(model):
    plots.traversals(model, IMAGES[:1], dimensions=[2], steps=3, limit=2.0)
    np.testing.assert_allclose(model.decoded[0][:, 2], [-2, 0, 2], atol=1e-6)


def test_deterministic_codes_are_ordered_by_spread(model):
    encode = model.encode
    model.encode = lambda x: Posterior(encode(x).mean, np.full((len(x), 5), -np.inf))
    figure = plots.traversals(model, IMAGES)
    order = np.argsort(-encode(IMAGES).mean.var(axis=0))
    assert texts(figure.axes[0].get_yticklabels()) == [f"z[{k}]  infinite" for k in order]


@pytest.mark.parametrize(("latent_dim", "rows"), [(1, 1), (50, 10)])
def test_rows_of_few_and_of_many_dimensions(latent_dim, rows):
    figure = plots.traversals(LinearModel((6, 6, 1), latent_dim), IMAGES, steps=21)
    assert len(figure.axes[0].images) == 21 * rows
    assert len(figure.axes[0].get_xticks()) == 3


@pytest.mark.parametrize(("latent_dim", "dimensions"), [(2, None), (5, (3, 1))])
def test_manifold_decodes_prior_quantiles(latent_dim, dimensions):
    model = LinearModel((6, 6, 1), latent_dim)
    figure = plots.manifold(model, n=4, dimensions=dimensions)
    across, upwards = dimensions or (0, 1)
    z = model.decoded[0].reshape(4, 4, latent_dim)
    quantiles = scipy.stats.norm.ppf([0.125, 0.375, 0.625, 0.875])
    np.testing.assert_allclose(z[..., across], np.tile(quantiles, (4, 1)), rtol=1e-6)
    np.testing.assert_allclose(z[..., upwards], np.tile(quantiles[::-1, None], 4), rtol=1e-6)
    assert (np.delete(z, [across, upwards], axis=2) == 0).all()
    assert figure.axes[0].get_xlabel().startswith(f"z[{across}]")
    assert figure.axes[0].get_ylabel() == f"z[{upwards}]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: plots.manifold(m), "latent_dim=5, dimensions=None"),
        (lambda m: plots.manifold(m, dimensions=(1,)), r"dimensions=\(1,\)"),
        (lambda m: plots.manifold(m, dimensions=(1, 5)), "from 0 to 4"),
        (lambda m: plots.traversals(m, IMAGES, dimensions=[0, 0]), r"dimensions=\[0, 0\]"),
        (lambda m: plots.traversals(m, IMAGES, dimensions=[]), r"dimensions=\[\]"),
        (lambda m: plots.traversals(m, IMAGES, steps=1), "steps=1"),
        (lambda m: plots.traversals(m, IMAGES, limit=0.0), "limit=0.0"),
        (lambda m: plots.traversals(m, IMAGES, base=200), "base=200 and 200 images"),
        (lambda m: plots.traversals(m, IMAGES * np.nan), "200 of 200 rows"),
    ],
)
def test_bad_input(model, call, message):
    with pytest.raises(ValueError, match=message):
        call(model)
