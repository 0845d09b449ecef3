"""The GCVAE of Ezukwoke et al.: three controllers weigh reconstruction, KL and correlation."""

import keras
from keras import ops

from keras_vaezoo import checks
from keras_vaezoo.control import Controller
from keras_vaezoo.divergences import kernel_mahalanobis, mahalanobis, mmd
from keras_vaezoo.models.base import BaseVAE

CORRELATIONS = {
    "mmd": lambda batch: mmd(batch.z, batch.prior(), kernel="gaussian", estimator="v"),
    "mahalanobis": lambda batch: mahalanobis(batch.z),
    "kernel_mahalanobis": lambda batch: kernel_mahalanobis(batch.z, batch.prior()),
}
ALPHA_ACTIONS = ("reverse", "paper")

_COEFFICIENTS = ("alpha", "beta", "gamma")
_PER_ROW = "reconstruction_per_row"
_GAINS = {"kp": 0.1, "ki": 1e-4}
# While a controller acts, the reconstruction keeps at least a hundredth of its weight.
_HIGHEST_SUM = 0.99


@keras.saving.register_keras_serializable("keras_vaezoo")
class GCVAE(BaseVAE):
    """Generalized-Controllable VAE: GCVAE-I, II and III, by their measure of correlation.

    `loss = (1 - alpha - beta) E[-log p(x|z)] + beta KL(q(z|x) || N(0, I)) + gamma D(q(z), p(z))`
    (Ezukwoke et al. 2022, "GCVAE", appendix A.3). alpha, beta and gamma are each set in every
    step by a PI controller, `W = W_min + 0.1 / (1 + exp(e)) - 0.0001 SUM e` with
    `e = set point - measured`, see `keras_vaezoo.control.Controller`. By default:

    - alpha in [0, 0.99] (-0.01 where beta is 1) holds the reconstruction term at 10 nats, in
      reverse: it rises where the term is below;
    - beta in [0, 1] holds the KL divergence at 30 nats; the paper's for dSprites is
      `beta=Controller(16.0, kp=0.1, ki=1e-4, maximum=1.0)`;
    - gamma in [1, 100] holds D at 0.1.

    Where the set points cannot all be met, the KL divergence wins: the reconstruction stays above
    10 nats and alpha rests at 0, beta holds its set point within 3% after some 2,500 steps, and
    gamma moves by hundredths or tenths. After the controllers, alpha is limited to 0.99 - beta
    (beta to 0.99 - alpha where alone beta is controlled): the reconstruction never loses all its
    weight.
    D is a statistic of the batch, which ignores sample weights; the kernel form is large in
    batches of no more than d images.

    What differs from the authors' released code: it makes new controllers in every step, so that
    no error is ever summed; its Mahalanobis terms carry no gradient, the first is a constant; it
    divides the reconstruction by the height of the image. Here controllers remember, every D has
    its gradient, all is in nats; the numbers of the paper's Table 1 are therefore not this
    model's. The sign that the paper prints for alpha is positive feedback, for alpha is
    subtracted: in nats alpha reaches its limit within 100 steps and nothing is learnt.
    `alpha_action="paper"` keeps the sign, on the reconstruction term divided by the height of the
    image (the first axis of the input), as the code does: 10 is then 640 nats of a 64x64 image.

    Special cases, with all three fixed: `alpha=-1, beta=1, gamma=0` is the VAE; `alpha=beta=0`
    is InfoVAE with alpha 1 and lambda gamma; `alpha=gamma=0` is 1 - beta times a beta-VAE of
    weight beta / (1 - beta), which beta under control turns into ControlVAE.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        correlation: D. "mmd" (GCVAE-I, default): squared maximum mean discrepancy between z and
            prior samples; "mahalanobis" (GCVAE-II): squared Mahalanobis distance between q(z)
            and p(z); "kernel_mahalanobis" (GCVAE-III): its kernel form. It names the term.
        alpha, beta, gamma: A number is fixed and has no limits; a `control.Controller` is used
            as it is; `None` (default) is the controller above.
        alpha_action: "reverse" (default) or "paper", of alpha's default controller.
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        controllers: `{"alpha": Controller}` and so on: another way to write the above.
        **kwargs: `name`, as for `BaseVAE`.

    Raises:
        ValueError: For an unknown correlation or action, networks that do not fit, or limits of
            alpha and beta whose sum passes 1, so that the reconstruction's weight is negative.

    Example:

    ```python
    beta = keras_vaezoo.control.Controller(16.0, kp=0.1, ki=1e-4, maximum=1.0)
    model = keras_vaezoo.GCVAE(encoder, decoder, correlation="mahalanobis", beta=beta)
    model.compile("adam")
    model.fit(images, epochs=100)        # logs alpha_value, alpha_set_point, alpha_error ...
    ```
    """

    def __init__(
        self,
        encoder,
        decoder,
        likelihood="bernoulli",
        correlation="mmd",
        alpha=None,
        beta=None,
        gamma=None,
        alpha_action="reverse",
        seed=None,
        samples=1,
        controllers=None,
        **kwargs,
    ):
        for what, value, choices in (
            ("correlation", correlation, list(CORRELATIONS)),
            ("alpha_action", alpha_action, list(ALPHA_ACTIONS)),
        ):
            if value not in choices:
                raise ValueError(f"{what} must be one of {choices}. Received: {what}={value!r}")
        given = _merged({"alpha": alpha, "beta": beta, "gamma": gamma}, controllers)
        held = given | _default_controllers(correlation, alpha_action, given)
        controllers = {n: value for n, value in held.items() if isinstance(value, Controller)}
        _check_sum(*(_range(held[n]) for n in ("alpha", "beta")))
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            terms=("reconstruction", "kl", correlation),
            measures=(_PER_ROW,) if alpha_action == "paper" else None,
            coefficients={n: _range(value)[0] for n, value in held.items()},
            controllers=controllers,
            **kwargs,
        )
        self.correlation, self.alpha_action = correlation, alpha_action

    def compute_terms(self, batch):
        return {
            "reconstruction": batch.reconstruction,
            "kl": batch.kl,
            self.correlation: CORRELATIONS[self.correlation](batch),
            _PER_ROW: batch.reconstruction / self.input_shape[1],
        }

    def term_weights(self, coefficients, batch):
        alpha, beta, gamma = (coefficients[name] for name in _COEFFICIENTS)
        return {"reconstruction": 1.0 - alpha - beta, "kl": beta, self.correlation: gamma}

    def limit_coefficients(self, coefficients):
        held = self.loss_coefficients.enabled
        if not (held("alpha") or held("beta")):
            return coefficients
        limited, other = ("alpha", "beta") if held("alpha") else ("beta", "alpha")
        highest = _HIGHEST_SUM - coefficients[other]
        return {**coefficients, limited: ops.minimum(coefficients[limited], highest)}

    def control(self, name, controller, keep_state=False):
        if name in ("alpha", "beta"):
            ranges = {n: self._present_range(n) for n in ("alpha", "beta")}
            _check_sum(**(ranges | {name: _range(controller)}))
        super().control(name, controller, keep_state)

    def _present_range(self, name):
        slot = self.loss_coefficients.slot(name)
        if slot["enabled"]:
            return slot["minimum"], slot["maximum"]
        return slot["value"], slot["value"]

    def get_config(self):
        config = super().get_config()
        controllers = config.pop("controllers")
        held = {n: controllers.get(n, self.loss_coefficients.initial[n]) for n in _COEFFICIENTS}
        return {
            **config,
            **held,
            "correlation": self.correlation,
            "alpha_action": self.alpha_action,
        }


def _merged(given, controllers):
    """The three arguments, with `controllers` filled in; a ValueError for what cannot be."""
    controllers = dict(controllers or {})
    for name, value in controllers.items():
        if name not in given:
            raise ValueError(
                f"There is no coefficient {name!r}; GCVAE has {list(given)}. "
                f"Received: controllers={sorted(controllers)}"
            )
        if given[name] is not None:
            raise ValueError(f"Received: both {name}={given[name]!r} and a controller for it.")
        given[name] = value
    for name, value in given.items():
        if value is not None and not isinstance(value, Controller):
            checks.check_number(name, value)
    return given


def _default_controllers(correlation, alpha_action, given):
    of_alpha = {"measured": "reconstruction", "action": -1}
    if alpha_action == "paper":
        of_alpha = {"measured": _PER_ROW, "action": 1}
    least = {n: 0.0 if given[n] is None else _range(given[n])[0] for n in ("alpha", "beta")}
    # A default leaves the reconstruction some weight beside what was given for the other.
    alpha = {"minimum": 0.0, "maximum": _room(_HIGHEST_SUM, _HIGHEST_SUM - least["beta"])}
    beta = {"minimum": 0.0, "maximum": _room(1.0, 1.0 - least["alpha"])}
    makers = {
        "alpha": lambda: Controller(10.0, **_GAINS, **alpha, **of_alpha),
        "beta": lambda: Controller(30.0, **_GAINS, **beta),
        "gamma": lambda: Controller(
            0.1, **_GAINS, minimum=1.0, maximum=100.0, measured=correlation
        ),
    }
    return {name: makers[name]() for name, value in given.items() if value is None}


def _room(highest, left):
    """The lesser of both; where nothing is left, `_check_sum` says so of `highest`."""
    return min(highest, left) if left > 0.0 else highest


def _range(value):
    """Lowest and highest value of a coefficient: a number, or what has a controller."""
    if isinstance(value, Controller):
        return value.minimum, value.maximum
    return float(value), float(value)


def _check_sum(alpha, beta):
    """Raises a ValueError where a limit of one, with the least of the other, passes 1."""
    if max(alpha[0] + beta[1], alpha[1] + beta[0]) > 1.0:
        raise ValueError(
            "The reconstruction has the weight 1 - alpha - beta, which these limits allow to be "
            "negative: lower the maximum of the controller, or the fixed value. "
            f"Received: alpha in [{alpha[0]:g}, {alpha[1]:g}], beta in [{beta[0]:g}, {beta[1]:g}]"
        )
