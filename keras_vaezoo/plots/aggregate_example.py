"""Two posteriors in one dimension: what the AEVB and the WiSE-ALE objective reward."""

from string import ascii_lowercase

import numpy as np

from keras_vaezoo.plots._figure import BLUE, GREEN, GREY, VERMILION, new_figure

SKY = "#56B4E9"


def two_posteriors(variances=(1.0, 0.709, 0.106), distance=1.0):
    """Draw the paper's example of two posteriors N(-a, v) and N(a, v), a half the distance.

    The first panels show prior, posteriors and aggregate posterior at some variances; the last
    shows, for every v, in nats

        AEVB      SUM_i KL(q_i || N(0, 1))  =  a^2 + v - 1 - log v
        WiSE-ALE  UB  =  log(1 + exp(-a^2 / v)) - log 2 - 1/2 log(4 pi v)
                         + 1/2 (v + a^2 + log 2 pi)
        true KL   of the aggregate 1/2 (q_1 + q_2) from N(0, 1), by quadrature

    UB is the paper's bound for two posteriors, so UB >= true KL.

    Args:
        variances: Variances v of the first panels. The defaults are the paper's: the least AEVB
            value, the least WiSE-ALE value, and a small one that WiSE-ALE still accepts.
        distance: Distance 2a of the two means, in prior standard deviations.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If a variance is not positive, or the distance negative.

    Reference:
        Lin et al., WiSE-ALE: Wide Sample Estimator for Approximate Latent Embedding, Fig. 4.

    Example:

        keras_vaezoo.plots.two_posteriors().savefig("two_posteriors.png")
    """
    variances = np.atleast_1d(np.asarray(variances, np.float64))
    if variances.ndim != 1 or not variances.size or not (variances > 0).all():
        raise ValueError(f"`variances` must be above 0. Received: variances={variances!r}")
    if not (np.isfinite(distance) and distance >= 0):
        raise ValueError(f"`distance` must be at least 0. Received: distance={distance!r}")
    half = distance / 2
    count = len(variances)
    figure = new_figure(3.1 * (count + 1) + 0.6, 3.4)
    axes = figure.subplots(1, count + 1)
    reach = half + 4.0
    z = np.linspace(-reach, reach, 1001)
    for letter, panel, variance in zip(ascii_lowercase, axes[:-1], variances, strict=False):
        pair = _normal(z, -half, variance), _normal(z, half, variance)
        panel.plot(z, pair[0], color=VERMILION, ls="--", lw=1.2, label="posteriors")
        panel.plot(z, pair[1], color=VERMILION, ls="--", lw=1.2)
        panel.plot(z, _normal(z, 0.0, 1.0), color=BLUE, lw=2.5, label="prior N(0, 1)")
        panel.plot(z, (pair[0] + pair[1]) / 2, color=SKY, label="aggregate posterior")
        panel.set_title(
            f"({letter}) v = {variance:.3g}\nAEVB {_aevb(half, variance):.2f}, "
            f"WiSE-ALE {_wise_ale(half, variance):.2f} nats",
            fontsize="medium",
        )
        panel.set_xlabel("z")
        panel.sharey(axes[0])
    axes[0].set_ylabel("probability density")
    _draw_divergences(axes[-1], half, variances)
    handles, labels = (
        first + last
        for first, last in zip(
            axes[0].get_legend_handles_labels(),
            axes[-1].get_legend_handles_labels(),
            strict=True,
        )
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_divergences(axes, half, variances):
    """Draw the three divergences over the variance, with the panels' variances marked."""
    low, high = min(0.05, variances.min()), max(2.0, 1.2 * variances.max())
    v = np.geomspace(low, high, 300)
    axes.plot(v, _aevb(half, v), color=GREY, label="AEVB KL (sum)")
    axes.plot(v, _wise_ale(half, v), color=GREEN, label="WiSE-ALE bound")
    axes.plot(v, _true_kl(half, v), color="black", ls=":", label="true KL of the aggregate")
    axes.plot(variances, _aevb(half, variances), "o", color=GREY)
    axes.plot(variances, _wise_ale(half, variances), "o", color=GREEN)
    axes.set(xlabel="posterior variance v", ylabel="KL from the prior (nats)", ylim=(0, None))
    letter = ascii_lowercase[len(variances) % 26]
    axes.set_title(f"({letter}) all variances\ndots: the other panels", fontsize="medium")


def _normal(z, mean, variance):
    return np.exp(-((z - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def _aevb(half, variance):
    return half**2 + variance - 1 - np.log(variance)


def _wise_ale(half, variance):
    overlap = np.log1p(np.exp(-(half**2) / variance)) - np.log(2)
    return (
        overlap
        - 0.5 * np.log(4 * np.pi * variance)
        + 0.5 * (variance + half**2 + np.log(2 * np.pi))
    )


def _true_kl(half, variances):
    """Return KL(aggregate || N(0, 1)) for each variance, by quadrature over 10 deviations."""
    reach = half + 10 * np.sqrt(variances)
    z = np.linspace(-reach, reach, 4001)
    log_pair = [
        -((z - mean) ** 2) / (2 * variances) - 0.5 * np.log(2 * np.pi * variances)
        for mean in (-half, half)
    ]
    log_q = np.logaddexp(*log_pair) - np.log(2)
    log_prior = -(z**2) / 2 - 0.5 * np.log(2 * np.pi)
    return np.trapezoid(np.exp(log_q) * (log_q - log_prior), z, axis=0)
