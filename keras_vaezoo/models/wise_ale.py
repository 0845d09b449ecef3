"""WiSE-ALE: the prior is put on the aggregate posterior of the batch."""

import functools

import keras
from keras import ops

from keras_vaezoo import checks
from keras_vaezoo.divergences import (
    aggregate_kl_bound,
    aggregate_kl_loose_bound,
    aggregate_kl_moments,
)
from keras_vaezoo.models.base import BaseVAE

ESTIMATORS = {
    "bound": aggregate_kl_bound,
    "loose_bound": aggregate_kl_loose_bound,
    "moments": aggregate_kl_moments,
    "diagonal_moments": functools.partial(aggregate_kl_moments, diagonal=True),
}


@keras.saving.register_keras_serializable("keras_vaezoo")
class WiSEALE(BaseVAE):
    """WiSE-ALE: an upper bound on the KL divergence of the batch's aggregate posterior.

    `loss = E[-log p(x|z)] + (1 / M) UB`, the first term averaged over the M examples of the
    batch, `UB >= KL(1/M SUM_i q(z|x_i) || N(0, I))` (Lin et al. 2019, Eq. 21 and 27; see
    `keras_vaezoo.divergences.aggregate_kl_bound` for the formula). Equation 27 is a sum of M
    reconstruction terms minus one bound, so the bound's weight is 1/M for each example.

    The bound is not the KL: it is `d/2 (1 - log 2)` where every posterior is N(0, I). Beside
    it, "kl" (the mean KL of the single posteriors, AEVB's), "aggregate_kl_moments" (a lower
    bound on the aggregate's KL) and "elbo" (the true evidence lower bound) are tracked. Where
    the posteriors of a batch do not overlap, the bound has the gradient of "kl", so the method
    is then `BetaVAE(beta=1/M)`: show that beside it.

    "aggregate_kl" and "aggregate_kl_moments" are statistics of the batch: of the replica's
    under `tf.distribute`, of the global one under `keras.distribution`, and M is its size. They
    depend on the batch size and ignore sample weights.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        kl_weight: "batch" (default) for the paper's 1/M, with M the rows of the batch at hand;
            "example" for 1, as some other codes have it; or a number that is not negative.
            Coefficient "aggregate_kl" is the factor in front of 1/M with "batch", the weight
            itself otherwise; the effective weight is logged as "aggregate_kl_weight".
        estimator: What stands for the aggregate's KL: "bound" (default), "loose_bound",
            "moments" or "diagonal_moments"; always diagonal_moments <= moments <= KL <= bound
            <= loose_bound.
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        **kwargs: `controllers` and `name`, as for `BaseVAE`.

    Raises:
        ValueError: For another kl_weight or estimator, or networks that do not fit.

    Example:

    ```python
    encoder, decoder = keras_vaezoo.networks.autoencoder((28, 28, 1), latent_dim=2)
    model = keras_vaezoo.WiSEALE(encoder, decoder)
    model.compile("adam")
    model.fit(images, batch_size=64, epochs=30)
    ```
    """

    terms = ("reconstruction", "aggregate_kl")
    measures = ("aggregate_kl_moments",)

    def __init__(
        self,
        encoder,
        decoder,
        likelihood="bernoulli",
        kl_weight="batch",
        estimator="bound",
        seed=None,
        samples=1,
        **kwargs,
    ):
        if isinstance(kl_weight, str) and kl_weight not in ("batch", "example"):
            raise ValueError(
                "kl_weight must be 'batch' (1/M), 'example' (1) or a number that is not negative. "
                f"Received: kl_weight={kl_weight!r}"
            )
        if not isinstance(kl_weight, str):
            checks.check_number("kl_weight", kl_weight, minimum=0)
        if estimator not in ESTIMATORS:
            raise ValueError(
                f"estimator must be one of {list(ESTIMATORS)}. Received: estimator={estimator!r}"
            )
        factor = 1.0 if isinstance(kl_weight, str) else kl_weight
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            coefficients={"reconstruction": 1.0, "aggregate_kl": factor},
            **kwargs,
        )
        self.kl_weight, self.estimator = kl_weight, estimator

    def compute_terms(self, batch):
        return {
            "reconstruction": batch.reconstruction,
            "aggregate_kl": ESTIMATORS[self.estimator](batch.mean, batch.log_variance),
            "aggregate_kl_moments": aggregate_kl_moments(batch.mean, batch.log_variance),
            "kl": batch.kl,
        }

    def term_weights(self, coefficients, batch):
        weights = super().term_weights(coefficients, batch)
        if self.kl_weight == "batch":
            rows = ops.cast(ops.shape(batch.mean)[0], "float32")
            weights["aggregate_kl"] = weights["aggregate_kl"] / rows
        return weights

    def get_config(self):
        config = super().get_config()
        return {**config, "kl_weight": self.kl_weight, "estimator": self.estimator}
