"""mu-VAE: the mean of the posteriors is held at zero, not every single one of them."""

import math

import keras
from keras import ops

from keras_vaezoo import checks
from keras_vaezoo.likelihoods import Gaussian
from keras_vaezoo.models.base import BaseVAE
from keras_vaezoo.sampling import clip_by_latent_norm

VARIANCE_TERMS = {
    "log": lambda log_variance: ops.abs(log_variance),
    "kl": lambda log_variance: ops.exp(log_variance) - log_variance - 1.0,
    "difference": lambda log_variance: ops.abs(ops.exp(log_variance) - 1.0),
}


@keras.saving.register_keras_serializable("keras_vaezoo")
class MuVAE(BaseVAE):
    """mu-VAE: the KL's norm of each mean becomes the absolute sum of the means, with clipping.

    `loss = 1/M {SUM_ij (x_ij - x'_ij)^2 + SUM_k |SUM_i mu_ik| + SUM_ik |log v_ik|}`
    ("Bridging the ELBO and MMD", the mu-VAE objective), with M examples i and latent dimensions
    k. Before all else the means are clipped: `mu <- mu min(1, clip sqrt(d) / ||mu||_2)`, also
    in `encode`. The default likelihood, `Gaussian(sigma=sqrt(1/2))`, is the squared error up to
    a constant. The absolute value of log v is needed: without it the loss has no minimum.

    Terms: "reconstruction", "aggregate_mean" (`1/M SUM_k |SUM_i mu_ik|`, whose gradient shifts
    all means alike) and "variance". Tracked beside them: "kl" (AEVB's), "elbo" and
    "second_moment", the mean over dimensions of `mu_k^2 + v_k`: far from 1, prior samples are
    poor.

    "aggregate_mean" is a statistic of the batch: of the replica's under `tf.distribute`, of the
    global one under `keras.distribution`. It depends on the batch size and ignores sample
    weights.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default `None`:
            `Gaussian(sigma=sqrt(1/2))`.
        clip: Largest norm of a mean in units of `sqrt(d)`, or `None` for no clipping. The
            paper's are 3 (default, mu-VAE#1) and 6 (mu-VAE#2).
        variance: Term for the variance v: "log" for `|log v|` (default, the paper's choice),
            "kl" for `v - log v - 1` or "difference" for `|v - 1|`, each summed over dimensions.
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        **kwargs: `controllers` and `name`, as for `BaseVAE`.

    Raises:
        ValueError: For a clip that is not positive, another variance, or networks that do not
            fit.

    Example:

    ```python
    encoder, decoder = keras_vaezoo.networks.autoencoder(
        (28, 28, 1), latent_dim=10, architecture="mu_vae"
    )
    model = keras_vaezoo.MuVAE(encoder, decoder, clip=6.0)
    model.compile("adam")
    model.fit(images, batch_size=128, epochs=50)
    ```
    """

    terms = ("reconstruction", "aggregate_mean", "variance")
    measures = ("second_moment",)

    def __init__(
        self,
        encoder,
        decoder,
        likelihood=None,
        clip=3.0,
        variance="log",
        seed=None,
        samples=1,
        **kwargs,
    ):
        if clip is not None:
            checks.check_number("clip", clip, above=0)
        if variance not in VARIANCE_TERMS:
            raise ValueError(
                f"variance must be one of {list(VARIANCE_TERMS)}. Received: variance={variance!r}"
            )
        if likelihood is None:
            likelihood = Gaussian(sigma=math.sqrt(0.5), name="likelihood")
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            coefficients={term: 1.0 for term in self.terms},
            **kwargs,
        )
        self.clip, self.variance = clip, variance

    def transform_posterior(self, mean, log_variance):
        return clip_by_latent_norm(mean, self.clip), log_variance

    def compute_terms(self, batch):
        variance = VARIANCE_TERMS[self.variance](batch.log_variance)
        moment = ops.square(batch.mean) + ops.exp(batch.log_variance)
        return {
            "reconstruction": batch.reconstruction,
            "aggregate_mean": ops.sum(ops.abs(ops.mean(batch.mean, axis=0))),
            "variance": ops.sum(variance, axis=-1),
            "second_moment": ops.mean(moment, axis=-1),
            "kl": batch.kl,
        }

    def get_config(self):
        return {**super().get_config(), "clip": self.clip, "variance": self.variance}
