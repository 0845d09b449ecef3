"""The beta-VAE of Higgins et al., with the capacity form of Burgess et al."""

import keras
from keras import ops

from keras_vaezoo import checks
from keras_vaezoo.models.base import BaseVAE


@keras.saving.register_keras_serializable("keras_vaezoo")
class BetaVAE(BaseVAE):
    """beta-VAE: the KL divergence weighted by beta, or held at a capacity.

    `loss = E[-log p(x|z)] + beta KL(q(z|x) || N(0, I))` (Higgins et al. 2017, Eq. 4). With a
    capacity C in nats, `loss = E[-log p(x|z)] + beta |KL - C|`, KL averaged over the batch
    (Burgess et al. 2018, Eq. 8: beta 1000, C from 0 to 25 over 100,000 steps, see
    `keras_vaezoo.callbacks.CoefficientSchedule("capacity", ...)`).

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        beta: Weight of the KL divergence, coefficient "kl". Default 4.0.
        capacity: C in nats, coefficient "capacity"; `None` (default) for the plain form. The
            term is then "kl_gap", which sees the whole batch (the replica's, under
            `tf.distribute`) and ignores sample weights, and "kl" is tracked beside it.
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        **kwargs: `controllers` and `name`, as for `BaseVAE`.

    Raises:
        ValueError: For a negative beta or capacity, or networks that do not fit.

    Example:

    ```python
    model = keras_vaezoo.BetaVAE(encoder, decoder, beta=4.0)
    model.compile("adam")
    model.fit(images, epochs=5)
    model.coefficients["kl"] = 2.0       # takes effect in the next step
    ```
    """

    def __init__(
        self,
        encoder,
        decoder,
        likelihood="bernoulli",
        beta=4.0,
        capacity=None,
        seed=None,
        samples=1,
        **kwargs,
    ):
        for name, value in (("beta", beta), ("capacity", capacity)):
            if name == "beta" or value is not None:
                checks.check_number(name, value, minimum=0)
        coefficients = {"reconstruction": 1.0, "kl": beta}
        if capacity is not None:
            coefficients["capacity"] = capacity
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            terms=("reconstruction", "kl" if capacity is None else "kl_gap"),
            coefficients=coefficients,
            **kwargs,
        )
        self.beta, self.capacity = beta, capacity

    def compute_terms(self, batch):
        terms = {"reconstruction": batch.reconstruction, "kl": batch.kl}
        if self.capacity is not None:
            terms["kl_gap"] = ops.abs(ops.mean(batch.kl) - batch.coefficients["capacity"])
        return terms

    def term_weights(self, coefficients, batch):
        return {term: coefficients[term.removesuffix("_gap")] for term in self.terms}

    def get_config(self):
        return {**super().get_config(), "beta": self.beta, "capacity": self.capacity}
