"""The ControlVAE of Shao et al.: the KL divergence held at a set point."""

import keras

from keras_vaezoo import checks
from keras_vaezoo.control import Controller
from keras_vaezoo.models.base import BaseVAE


@keras.saving.register_keras_serializable("keras_vaezoo")
class ControlVAE(BaseVAE):
    """ControlVAE: a PI controller sets the weight of the KL divergence in every step.

    `loss = E[-log p(x|z)] + beta(t) KL(q(z|x) || N(0, I))` with
    `beta(t) = Kp / (1 + exp(e(t))) - Ki SUM_{j <= t} e(j) + beta_min`, `e = set point - KL` of
    the batch, clipped to [minimum, maximum] (Shao et al. 2020, "ControlVAE", Algorithm 1).
    `keras_vaezoo.control.Controller` says what is different from the authors' code.

    The paper's limits are beta >= 1 for disentangling (`minimum=1.0`) and [0, 1] for images and
    text (`maximum=1.0`, ki 0.0001); its set point climbs, see the example. A set point that the
    limits do not allow is not met, and said so: a warning ends `fit`, and the column `kl_error`
    (set point minus measured) stays away from 0. The default ki is the paper's; 0.005 reaches a
    set point of 10 or 18 nats on sprites within 6,000 steps.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        set_point: Wanted KL divergence in nats: a number or a `control.Schedule` of steps.
        kp: Proportional gain. Default 0.01.
        ki: Integral gain. Default 0.001.
        kd: Derivative gain. Default 0.0.
        minimum: Lower limit of beta, not negative. Default 0.0.
        maximum: Upper limit of beta. Default 100.0.
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        controllers: As for `BaseVAE`; one for "kl" takes the place of the paper's.
        **kwargs: `name`, as for `BaseVAE`.

    Raises:
        ValueError: For networks that do not fit, a set point that is not positive, negative
            gains, or limits out of order.

    Example:

    ```python
    stairs = keras_vaezoo.control.Schedule(
        "staircase", start=0.5, end=18.0, increment=0.15, length=5000
    )
    model = keras_vaezoo.ControlVAE(encoder, decoder, set_point=stairs, minimum=1.0)
    model.compile("adam")
    model.fit(images, epochs=100)        # logs kl_value, kl_set_point and kl_error
    ```
    """

    terms = ("reconstruction", "kl")

    def __init__(
        self,
        encoder,
        decoder,
        likelihood="bernoulli",
        *,
        set_point,
        kp=0.01,
        ki=0.001,
        kd=0.0,
        minimum=0.0,
        maximum=100.0,
        seed=None,
        samples=1,
        controllers=None,
        **kwargs,
    ):
        checks.check_number("minimum", minimum, minimum=0.0)
        gains = {"kp": kp, "ki": ki, "kd": kd, "minimum": minimum, "maximum": maximum}
        given = dict(controllers or {})
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            coefficients={"reconstruction": 1.0, "kl": minimum},
            controllers={"kl": Controller(set_point, **gains)} | given,
            **kwargs,
        )
        self.set_point, self.gains, self.given = set_point, gains, tuple(given)

    def compute_terms(self, batch):
        return {"reconstruction": batch.reconstruction, "kl": batch.kl}

    def get_config(self):
        config = super().get_config()
        controllers = {name: config["controllers"][name] for name in self.given}
        set_point = keras.saving.serialize_keras_object(self.set_point)
        return {**config, **self.gains, "set_point": set_point, "controllers": controllers}
