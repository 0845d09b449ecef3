"""InfoVAE of Zhao et al.: a KL divergence and an MMD between aggregate posterior and prior."""

import keras

from keras_vaezoo import checks
from keras_vaezoo.divergences import mmd
from keras_vaezoo.models.base import BaseVAE


@keras.saving.register_keras_serializable("keras_vaezoo")
class InfoVAE(BaseVAE):
    """InfoVAE (MMD-VAE): the evidence lower bound with the aggregate posterior's mismatch.

    `loss = E[-log p(x|z)] + (1 - alpha) KL(q(z|x) || N(0, I))
    + (alpha + lambda - 1) MMD^2(q(z), N(0, I))` (Zhao et al. 2017, Eq. 7 with the maximum mean
    discrepancy). MMD^2 is the V-statistic between the batch's z and as many draws from the
    prior, kernel `exp(-||x - y||^2 / d^2)`. With alpha=0, lambda=1 it is the VAE; alpha=1 is
    the MMD-VAE.

    "mmd" is a statistic of the batch: of the replica's under `tf.distribute`, of the global one
    under `keras.distribution`. It depends on the batch size and ignores sample weights.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        alpha: 1 minus the weight of the KL divergence (coefficient "kl"), at most 1. Default 0.
        lambda_: With alpha it sets the weight of MMD^2 (coefficient "mmd"),
            `alpha + lambda_ - 1`, which must not be negative. Default 10.
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        **kwargs: `controllers` and `name`, as for `BaseVAE`.

    Raises:
        ValueError: If `alpha > 1` (a negative KL weight) or `alpha + lambda_ < 1` (mismatch
            would be rewarded), or for networks that do not fit.

    Example:

    ```python
    model = keras_vaezoo.InfoVAE(encoder, decoder, alpha=1.0, lambda_=100.0)
    model.compile("adam")
    model.fit(images, epochs=5)
    ```
    """

    terms = ("reconstruction", "kl", "mmd")

    def __init__(
        self,
        encoder,
        decoder,
        likelihood="bernoulli",
        alpha=0.0,
        lambda_=10.0,
        seed=None,
        samples=1,
        **kwargs,
    ):
        checks.check_number("alpha", alpha)
        checks.check_number("lambda_", lambda_)
        if alpha > 1:
            raise ValueError(
                "alpha <= 1 must hold: the KL divergence has the weight 1 - alpha. "
                f"Received: alpha={alpha!r}"
            )
        if alpha + lambda_ < 1:
            raise ValueError(
                "alpha + lambda_ >= 1 must hold: MMD^2 has the weight alpha + lambda_ - 1, and a "
                "negative one would reward mismatch with the prior. "
                f"Received: alpha={alpha!r}, lambda_={lambda_!r}"
            )
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            coefficients={"reconstruction": 1.0, "kl": 1.0 - alpha, "mmd": alpha + lambda_ - 1.0},
            **kwargs,
        )
        self.alpha, self.lambda_ = alpha, lambda_

    def compute_terms(self, batch):
        return {
            "reconstruction": batch.reconstruction,
            "kl": batch.kl,
            "mmd": mmd(batch.z, batch.prior(), kernel="gaussian", estimator="v"),
        }

    def get_config(self):
        return {**super().get_config(), "alpha": self.alpha, "lambda_": self.lambda_}
