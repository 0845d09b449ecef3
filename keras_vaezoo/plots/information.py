"""How much information a model carries: by latent dimension, and against its distortion."""

import numpy as np

from keras_vaezoo.plots._arrays import check_codes, kl_by_dimension, to_numpy
from keras_vaezoo.plots._figure import (
    BLUE,
    CATEGORIES,
    GREY,
    LIGHT_GREY,
    MARKERS,
    new_figure,
    number,
)

UNUSED = 0.01  # nats


def kl_per_dimension(mean, log_variance):
    """Draw the mean KL divergence of every latent dimension, largest first.

    KL_k = mean_i 1/2 (mu_ik^2 + v_ik - 1 - log v_ik), v = exp(log_variance). Dimensions below
    0.01 nats carry next to nothing (collapsed) and are grey.

    Args:
        mean: Posterior means, (examples, latent dimensions).
        log_variance: Log-variances of the posteriors, of the same shape.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If the codes are malformed or not finite; a deterministic code (log-variance
            -inf) has no finite KL.

    Example:

        keras_vaezoo.plots.kl_per_dimension(*model.encode(images)).savefig("kl.png")
    """
    codes = check_codes(mean, log_variance)
    if np.isneginf(codes.log_variance).any():
        raise ValueError(
            "The KL divergence of a deterministic code is infinite; give the codes of a stochastic "
            "encoder. Received: a log_variance with values of -inf"
        )
    information = kl_by_dimension(codes)
    order = np.argsort(-information, kind="stable")
    count = len(order)
    figure = new_figure(float(np.clip(1.5 + 0.35 * count, 5, 12)), 3.6)
    axes = figure.add_subplot()
    colours = [BLUE if information[k] > UNUSED else LIGHT_GREY for k in order]
    bars = axes.bar(range(count), information[order], color=colours)
    if count <= 16:
        axes.bar_label(bars, [f"{information[k]:.2f}" for k in order], padding=2, fontsize="small")
    axes.axhline(UNUSED, color=GREY, lw=0.8, ls="--")
    shown = range(0, count, -(-count // 50))
    axes.set_xticks(shown, [str(order[k]) for k in shown], fontsize="small" if count > 16 else None)
    axes.set_xlim(-0.6, count - 0.4)
    axes.set_xlabel("latent dimension, by information")
    axes.set_ylabel("mean KL (nats)")
    axes.margins(y=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    used = int((information > UNUSED).sum())
    axes.set_title(
        f"KL {information.sum():.2f} nats; {used} of {count} dimensions above {UNUSED} nats"
    )
    return figure


def rate_distortion(points):
    """Draw models by their rate and their distortion.

    The rate is the mean posterior KL, the distortion the mean negative log-likelihood of the
    reconstruction; -ELBO = rate + distortion is constant along the grey lines, lower left is
    better.

    Args:
        points: {name: (rate, distortion)} in nats. Two arrays instead of two numbers draw a curve,
            such as one method at several weights.

    Returns:
        A ``matplotlib.figure.Figure``.

    Raises:
        ValueError: If there are no points, or if a point is not a pair of finite numbers or of
            arrays of one length.

    Reference:
        Alemi et al., Fixing a Broken ELBO, 2018.

    Example:

        points = {"VAE": (25.4, 18.0), "beta-VAE(4)": (15.4, 35.6)}
        keras_vaezoo.plots.rate_distortion(points).savefig("rate_distortion.png")
    """
    if not points:
        raise ValueError(f"Give at least one point by name. Received: points={points!r}")
    curves = {name: _check_point(name, point) for name, point in points.items()}
    figure = new_figure(7.4, 4.4)
    axes = figure.add_subplot()
    for index, (name, (rate, distortion)) in enumerate(curves.items()):
        style = dict(
            color=CATEGORIES[index % len(CATEGORIES)],
            # Shifted by one after each round, so that no two names look alike.
            marker=MARKERS[(index + index // len(CATEGORIES)) % len(MARKERS)],
            ls="-" if len(rate) > 1 else "",
        )
        axes.plot(rate, distortion, label=name, ms=8, mec="white", mew=0.6, zorder=3, **style)
    axes.margins(0.15)
    _draw_equal_elbo(axes)
    axes.set_xlabel("rate: mean KL (nats)")
    axes.set_ylabel("distortion: mean negative log-likelihood (nats)")
    axes.set_title("Rate and distortion")
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _check_point(name, point):
    """Return rate and distortion as two float arrays (points,)."""
    try:
        rate, distortion = (np.atleast_1d(to_numpy(part)).astype(np.float64) for part in point)
    except (TypeError, ValueError):
        rate = distortion = np.array([np.nan])
    finite = np.isfinite(rate).all() and np.isfinite(distortion).all()
    if rate.ndim != 1 or rate.shape != distortion.shape or not rate.size or not finite:
        raise ValueError(
            "A point is a pair (rate, distortion) of finite numbers, or of arrays of one length. "
            f"Received: points[{name!r}]={point!r}"
        )
    return rate, distortion


def _draw_equal_elbo(axes):
    """Draw grey lines of equal rate + distortion over the whole panel."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    x, y = np.meshgrid(np.linspace(left, right, 50), np.linspace(bottom, top, 50))
    lines = axes.contour(x, y, x + y, levels=6, colors=LIGHT_GREY, linewidths=0.8, zorder=1)
    axes.clabel(lines, fmt=lambda level: f"\N{MINUS SIGN}ELBO {number(level)}", fontsize=7)
