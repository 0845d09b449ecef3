"""The Wasserstein auto-encoder of Tolstikhin et al. with the maximum mean discrepancy."""

import keras
from keras import ops, tree

from keras_vaezoo import checks
from keras_vaezoo.divergences import mmd
from keras_vaezoo.likelihoods import Gaussian
from keras_vaezoo.models.base import BaseVAE
from keras_vaezoo.models.contract import posterior_parameters


@keras.saving.register_keras_serializable("keras_vaezoo")
class WAE(BaseVAE):
    """Wasserstein auto-encoder (WAE-MMD): squared error and the aggregate posterior's MMD.

    `loss = 0.05 ||x - x'||^2 + lambda MMD^2(q(z), N(0, I))` (Tolstikhin et al. 2018,
    Algorithm 2, factors as in the authors' code). The squared error is the default likelihood,
    `Gaussian(sigma=1)` (half of it, up to a constant), times the default coefficient
    "reconstruction" of 0.1. MMD^2 is the unbiased U-statistic between the batch's codes and as
    many draws from the prior, with inverse multiquadratic kernels `C / (C + ||x - y||^2)` summed
    over `C = 2 d {0.1, 0.2, 0.5, 1, 2, 5, 10}`; it may be negative.

    With a deterministic encoder (the default) z is the mean: `encode` gives a log-variance of
    -inf, there is no evidence lower bound, and the layers of the encoder that only its
    log-variance uses are frozen (`trainable = False`). With `stochastic=True`, z is drawn, and
    "kl" and "elbo" are tracked.

    "mmd" is a statistic of the batch: of the replica's under `tf.distribute`, of the global one
    under `keras.distribution`. It depends on the batch size and ignores sample weights.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`; the
            mean alone is accepted where the encoder is deterministic.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default `None`:
            `Gaussian(sigma=1)`.
        lambda_: Weight of MMD^2 (coefficient "mmd"), not negative. Default 10 (the paper's for
            MNIST; 100 for CelebA).
        stochastic: Whether z is drawn from q(z|x). Default `False`.
        seed: Integer seed of the noise; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training, 1 (default) where the
            encoder is deterministic.
        **kwargs: `controllers` and `name`, as for `BaseVAE`.

    Raises:
        ValueError: For a negative lambda_, samples above 1 with a deterministic encoder, or
            networks that do not fit.

    Example:

    ```python
    encoder, decoder = keras_vaezoo.networks.autoencoder((28, 28, 1), latent_dim=8)
    model = keras_vaezoo.WAE(encoder, decoder)
    model.compile("adam")
    model.fit(images, epochs=5)
    ```
    """

    terms = ("reconstruction", "mmd")

    def __init__(
        self,
        encoder,
        decoder,
        likelihood=None,
        lambda_=10.0,
        stochastic=False,
        seed=None,
        samples=1,
        **kwargs,
    ):
        checks.check_number("lambda_", lambda_, minimum=0)
        if not stochastic and samples != 1:
            raise ValueError(
                "A deterministic encoder has one z for each example: pass stochastic=True for "
                f"Monte-Carlo samples. Received: stochastic={stochastic!r}, samples={samples!r}"
            )
        self.stochastic = bool(stochastic)
        super().__init__(
            encoder,
            decoder,
            Gaussian(sigma=1.0, name="likelihood") if likelihood is None else likelihood,
            seed,
            samples,
            coefficients={"reconstruction": 0.1, "mmd": lambda_},
            **kwargs,
        )
        self.lambda_ = lambda_
        if not self.stochastic:
            _freeze_log_variance(encoder, self.input_shape)

    def transform_posterior(self, mean, log_variance):
        if self.stochastic:
            return mean, log_variance
        return mean, ops.full_like(mean, -float("inf"))

    def compute_terms(self, batch):
        return {
            "reconstruction": batch.reconstruction,
            "mmd": mmd(batch.z, batch.prior(), kernel="imq", estimator="u"),
            "kl": batch.kl,
        }

    def get_config(self):
        return {**super().get_config(), "lambda_": self.lambda_, "stochastic": self.stochastic}


def _freeze_log_variance(encoder, input_shape):
    """Freezes what only the log-variance uses, else Keras warns of missing gradients.

    An encoder that is no graph of layers (a subclassed model) cannot be seen into and is left
    as it is: its unused weights get no gradient.
    """
    if not getattr(encoder, "outputs", None):
        return
    structure = encoder.compute_output_spec(keras.KerasTensor(input_shape))
    mean, log_variance = posterior_parameters(tree.pack_sequence_as(structure, encoder.outputs))
    if log_variance is None:
        return
    used = {id(layer) for layer in keras.Model(encoder.inputs, mean).layers}
    for layer in encoder.layers:
        if id(layer) not in used:
            layer.trainable = False
