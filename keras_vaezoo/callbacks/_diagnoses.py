"""What the TrainingDoctor knows: one function a fault, which gives the message or `None`."""

import math

import numpy as np

from keras_vaezoo import checks

# Part of the likelihood's range that images have to fill.
_SMALLEST_PART = 0.1
# Largest ratio of the values' standard deviation to a fixed scale of the likelihood.
_WIDEST_RATIO = 10.0
# Change of the KL weight from the ELBO's that counts as one.
_KL_WEIGHT_TOLERANCE = 0.01

_CALMER_STEPS = "a lower learning rate or clipped gradients (clipnorm=1.0 in the optimizer)"


def images_outside_range(images, likelihood):
    """Images that leave the likelihood's range, or fill a small part of it."""
    if likelihood.value_range is None:
        return None
    try:
        checks.check_values(images, likelihood.value_range, "images")
    except ValueError as error:
        return str(error)
    low, high = likelihood.value_range
    darkest, brightest = float(images.min()), float(images.max())
    if brightest - darkest >= _SMALLEST_PART * (high - low):
        return None
    return (
        f"The images lie in [{darkest:.4g}, {brightest:.4g}], a small part of the likelihood's "
        f"range [{low:g}, {high:g}]. Were they divided by 255 twice? Rescale them to fill it."
    )


def scale_too_narrow(images, likelihood):
    """A fixed sigma or b that is small beside the images' values."""
    scale, deviation = fixed_scale(likelihood), float(images.std(dtype="float64"))
    if scale is None or deviation <= _WIDEST_RATIO * scale:
        return None
    name = likelihood.scale_name
    return (
        f"The images' values have a standard deviation of {deviation:.4g}, "
        f"{deviation / scale:.3g} times the likelihood's {name}={scale:g}, so that the KL "
        f"divergence hardly counts. Rescale the images, or let {name} be learned: "
        f"{name}='scalar'."
    )


def scale_too_wide(images, likelihood, kl_weight):
    """A fixed sigma or b with which the best linear VAE ignores its codes."""
    scale = fixed_scale(likelihood)
    if scale is None or kl_weight is None or len(images) < 2:
        return None
    largest = largest_eigenvalue(images.reshape(len(images), -1).astype("float64"))
    if scale**2 * kl_weight < largest:
        return None
    name = likelihood.scale_name
    return (
        f"The likelihood's {name}={scale:g} is wide for these images, whose largest standard "
        f"deviation along any direction is {math.sqrt(largest):.3g}: with a KL weight of "
        f"{kl_weight:g} it is best to ignore the codes. Lower {name}, let it be learned "
        f"({name}='scalar'), or rescale the images."
    )


def fixed_scale(likelihood):
    """A location-scale likelihood's fixed sigma or b; `None` where there is none."""
    scale = getattr(likelihood, "scale", None)
    return scale if isinstance(scale, (int, float)) else None


def largest_eigenvalue(values):
    """Largest eigenvalue of the covariance of `(n, D)` values."""
    centred = values - values.mean(axis=0)
    # Both products have the same eigenvalues but for zeros: the smaller one is quick.
    rows, columns = centred.shape
    product = centred @ centred.T if rows < columns else centred.T @ centred
    return max(0.0, float(np.linalg.eigvalsh(product)[-1])) / rows


def loss_not_finite(parts, batch, epoch, steps_at_a_time):
    """`{part of the loss: value}` that were not finite first in this batch of an epoch."""
    if len(parts) > 1:
        parts = {name: value for name, value in parts.items() if name != "loss"}
    listed = ", ".join(f"{name} = {value}" for name, value in sorted(parts.items()))
    first, last = max(1, batch + 2 - steps_at_a_time), batch + 1
    steps = f"step {last}" if first == last else f"steps {first} to {last}"
    return (
        f"{listed} in {steps} of epoch {epoch}: the weights are lost. Start again with "
        f"{_CALMER_STEPS}, and look at that batch for values out of range."
    )


def codes_not_finite():
    """An encoder that no longer gives numbers, although no loss has said so."""
    return (
        f"The encoder's codes are NaN or infinite: the weights are lost. Start again with "
        f"{_CALMER_STEPS}."
    )


def kl_weight_off(weight, initial, terms, far):
    """A KL weight that left the ELBO's 1, or was chosen far from it."""
    if initial == 1.0:
        if abs(weight - 1.0) <= _KL_WEIGHT_TOLERANCE:
            return None
        return (
            f"The KL divergence weighs {weight:.4g} times the reconstruction; the model was "
            "built with 1, the ELBO's weight. Set model.coefficients['kl'] and "
            f"['reconstruction'] back; if it is meant, use BetaVAE(beta={weight:.4g}), or a "
            "CoefficientSchedule for a warm-up."
        )
    if set(terms) != {"reconstruction", "kl"} or 1.0 / far <= weight <= far:
        return None
    effect = "codes that say nothing" if weight > 1.0 else "samples unlike the data"
    return (
        f"The KL divergence weighs {weight:.4g} times the reconstruction, far from the ELBO's 1: "
        f"expect {effect}. Both terms are sums over dimensions, in nats, so that no weight has "
        "to make up for the size of an image. Take one nearer to 1."
    )


def log_variance_explodes(dimensions, worst, limit):
    return (
        f"The log-variance of latent dimensions {dimensions} explodes: up to {worst:.4g}, limit "
        f"{limit:g}. Take {_CALMER_STEPS}, or let the log-variance's layer start at zero."
    )


def log_variance_vanishes(dimensions, worst, limit):
    return (
        f"The log-variance of latent dimensions {dimensions} falls to {worst:.4g}, limit "
        f"{limit:g}: these codes are all but deterministic. Raise the weight of the KL "
        "divergence, or a sigma that is too small for the data."
    )


def dimensions_collapsed(dimensions, count, latent_dim, threshold, kl_weight):
    """Latent dimensions that carry nothing; `count` is how many do in all."""
    return (
        f"Collapsed: latent dimensions {dimensions} carry less than {threshold:g} nats each "
        f"({count} of {latent_dim} do). {_advice_on_collapse(count == latent_dim, kl_weight)}"
    )


def _advice_on_collapse(all_of_them, kl_weight):
    if kl_weight is not None and kl_weight > 1.0:
        return f"The KL weight is {kl_weight:g}: lower it, or raise it from 0 in the first epochs."
    if all_of_them:
        return (
            "The decoder ignores the codes: raise the KL weight from 0 in the first epochs "
            "(CoefficientSchedule), hold the KL divergence (ControlVAE), or lower a fixed sigma."
        )
    return "The data may need no more; then a smaller latent_dim does as well."
