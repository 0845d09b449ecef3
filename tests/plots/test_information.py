"""KL per dimension, rate against distortion, and the WiSE-ALE paper's Fig. 4."""

import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats

from keras_vaezoo import plots

RNG = np.random.default_rng(2)


def kl_by_quadrature(mean, deviation):
    q, p = scipy.stats.norm(mean, deviation), scipy.stats.norm()
    low, high = mean - 12 * deviation, mean + 12 * deviation
    return scipy.integrate.quad(lambda z: q.pdf(z) * (q.logpdf(z) - p.logpdf(z)), low, high)[0]


def test_kl_of_every_dimension_largest_first():
    mean, log_variance = RNG.normal(size=(3, 4)), RNG.normal(-1, 1, size=(3, 4))
    mean[:, 2], log_variance[:, 2] = 0.0, 0.0
    expected = np.mean(np.vectorize(kl_by_quadrature)(mean, np.exp(log_variance / 2)), axis=0)
    axes = plots.kl_per_dimension(mean, log_variance).axes[0]
    order = np.argsort(-expected)
    heights = [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(heights, expected[order], atol=1e-8)
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(k) for k in order]
    assert axes.get_title() == f"KL {expected.sum():.2f} nats; 3 of 4 dimensions above 0.01 nats"
    assert axes.patches[-1].get_facecolor() != axes.patches[0].get_facecolor()


@pytest.mark.parametrize("latent_dim", [1, 200])
def test_any_number_of_dimensions(latent_dim):
    codes = RNG.normal(size=(2, 10, latent_dim))
    axes = plots.kl_per_dimension(*codes).axes[0]
    assert len(axes.patches) == latent_dim and len(axes.get_xticks()) <= 50


def test_rate_and_distortion_are_drawn_where_they_are():
    figure = plots.rate_distortion({"VAE": (25.4, 18.0), "beta": ([5, 10], [60, 40])})
    single, curve = figure.axes[0].lines
    np.testing.assert_allclose(single.get_xydata(), [[25.4, 18.0]])
    np.testing.assert_allclose(curve.get_xydata(), [[5, 60], [10, 40]])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["VAE", "beta"]
    for text in figure.axes[0].texts:
        x, y = text.get_position()
        assert x + y == pytest.approx(float(text.get_text().split()[-1]), rel=0.02)


def test_twenty_models_look_different():
    figure = plots.rate_distortion({str(k): (k, k) for k in range(20)})
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.rate_distortion({}), r"points=\{\}"),
        (lambda: plots.rate_distortion({"a": (1.0, np.nan)}), r"points\['a'\]=\(1.0, nan\)"),
        (lambda: plots.rate_distortion({"a": 3.0}), r"points\['a'\]=3.0"),
        (lambda: plots.rate_distortion({"a": ([1, 2], [3])}), r"points\['a'\]"),
        (lambda: plots.kl_per_dimension(np.zeros((3, 2)), np.full((3, 2), -np.inf)), "-inf"),
        (lambda: plots.kl_per_dimension(np.zeros(3), np.zeros(3)), r"shape \(3,\)"),
        (lambda: plots.two_posteriors(variances=[0.5, 0.0]), "variances="),
        (lambda: plots.two_posteriors(distance=-1.0), "distance=-1.0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def bound(means, variance):
    """Return the WiSE-ALE bound of any one-dimensional posteriors of one variance."""
    gaps = np.subtract.outer(means, means) ** 2 / (2 * variance)
    overlap = -0.5 * (np.log(2 * np.pi) + np.log(2 * variance) + gaps)
    inner = scipy.special.logsumexp(overlap, axis=1) - np.log(len(means))
    return inner.mean() + 0.5 * np.mean(variance + np.square(means) + np.log(2 * np.pi))


def true_kl(means, variance):
    parts = [scipy.stats.norm(mean, np.sqrt(variance)) for mean in means]

    def integrand(z):
        density = np.mean([part.pdf(z) for part in parts])
        return density * (np.log(density) - scipy.stats.norm.logpdf(z))

    reach = max(means) + 12 * np.sqrt(variance)
    return scipy.integrate.quad(integrand, -reach, reach, points=means, limit=200)[0]


def test_fig_4_prints_the_papers_numbers():
    *panels, _ = plots.two_posteriors().axes
    printed = [panel.get_title().split("\n")[1] for panel in panels]
    assert printed == [
        "AEVB 0.25, WiSE-ALE 0.16 nats",
        "AEVB 0.30, WiSE-ALE 0.14 nats",
        "AEVB 1.60, WiSE-ALE 0.35 nats",
    ]


@pytest.mark.parametrize("distance", [1.0, 3.0])
def test_fig_4_curves(distance):
    means = [-distance / 2, distance / 2]
    panel, *_, last = plots.two_posteriors(distance=distance).axes
    aevb, wise, truth, *_ = last.lines
    for index in (0, 150, 299):
        v = aevb.get_xdata()[index]
        expected = sum(kl_by_quadrature(mean, np.sqrt(v)) for mean in means)
        assert aevb.get_ydata()[index] == pytest.approx(expected, abs=1e-7)
        assert wise.get_ydata()[index] == pytest.approx(bound(means, v), abs=1e-10)
        assert truth.get_ydata()[index] == pytest.approx(true_kl(means, v), abs=1e-6)
    assert (wise.get_ydata() >= truth.get_ydata()).all()
    densities = np.array([line.get_ydata() for line in panel.lines])
    np.testing.assert_allclose(densities[3], densities[:2].mean(axis=0))
    np.testing.assert_allclose(densities[2], scipy.stats.norm.pdf(panel.lines[2].get_xdata()))
