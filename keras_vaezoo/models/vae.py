"""The variational autoencoder of Kingma and Welling."""

import keras

from keras_vaezoo.models.base import BaseVAE


@keras.saving.register_keras_serializable("keras_vaezoo")
class VAE(BaseVAE):
    """Variational autoencoder (AEVB): minus the evidence lower bound.

    `loss = E_q(z|x)[-log p(x|z)] + KL(q(z|x) || N(0, I))`, with
    `KL = 1/2 SUM_k (mu_k^2 + v_k - 1 - log v_k)` (Kingma and Welling 2014, Eq. 3 and
    Appendix B). Both terms are in nats, summed over dimensions, averaged over the batch.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        **kwargs: `controllers` and `name`, as for `BaseVAE`.

    Raises:
        ValueError: For networks that do not fit or an unknown likelihood.

    Example:

    ```python
    encoder, decoder = keras_vaezoo.networks.autoencoder((28, 28, 1), latent_dim=10)
    model = keras_vaezoo.VAE(encoder, decoder, seed=0)
    model.compile("adam")
    model.fit(images, epochs=5)          # float32 in [0, 1], shape (n, 28, 28, 1)
    ```
    """

    terms = ("reconstruction", "kl")

    def __init__(self, encoder, decoder, likelihood="bernoulli", seed=None, samples=1, **kwargs):
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            coefficients={"reconstruction": 1.0, "kl": 1.0},
            **kwargs,
        )

    def compute_terms(self, batch):
        return {"reconstruction": batch.reconstruction, "kl": batch.kl}
