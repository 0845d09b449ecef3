"""FactorVAE of Kim and Mnih: a discriminator estimates the total correlation of the codes."""

import keras
from keras import ops

from keras_vaezoo import checks, networks, sampling
from keras_vaezoo.models.base import BaseVAE
from keras_vaezoo.models.contract import output_shape
from keras_vaezoo.models.two_optimizers import two_optimizers


@keras.saving.register_keras_serializable("keras_vaezoo")
class FactorVAE(BaseVAE):
    """FactorVAE: the evidence lower bound with a penalty on the codes' total correlation.

    `loss = E[-log p(x|z)] + KL(q(z|x) || N(0, I)) + gamma TC` with
    `TC = KL(q(z) || PROD_k q(z_k))`, estimated as the mean of `D_0(z) - D_1(z)`, the logits of
    a discriminator D between codes (class 0) and codes that were permuted over the batch in
    each dimension (class 1) (Kim and Mnih 2018, Eq. 2 and 3). D is trained in the same step
    with an optimizer of its own to minimise `1/2 [CE(D(z), 0) + CE(D(z'), 1)]` (Algorithm 2,
    term "discriminator"). Its loss sends no gradient to the encoder, the other terms none to D.

    The first ceil(M/2) codes of the batch are D's real ones, the rest is permuted among
    itself; TC and the VAE's terms use all M. With one code D's loss is 0.

    "total_correlation" is a mean over examples and "discriminator" a statistic of the batch,
    which ignores sample weights: of the replica's batch under `tf.distribute` (each replica
    permutes its own codes), of the global one under `keras.distribution`. `loss` and `val_loss`
    contain the discriminator's: monitor "val_elbo" or a term.

    A preset has no discriminator (20 MB by default): `from_preset` starts it afresh. `.keras`
    files have it.

    Args:
        encoder: Built `keras.Model`: `(batch, *input_shape)` -> `[mean, log_variance]`.
        decoder: Built `keras.Model`: `(batch, latent_dim)` -> raw parameters of p(x|z).
        likelihood: Name or `keras_vaezoo.likelihoods.Likelihood`. Default "bernoulli".
        gamma: Weight of the total correlation (coefficient "total_correlation"), not negative.
            Default 6.4.
        discriminator: Built `keras.Model`: `(batch, latent_dim)` -> two logits `(batch, 2)`.
            Default `None`: `keras_vaezoo.networks.discriminator(latent_dim)`, six layers of
            1,000 units.
        seed: Integer seed of the noise and the permutations; `None` takes a random one.
        samples: Monte-Carlo samples of z for each example in training. Default 1.
        **kwargs: `controllers` and `name`, as for `BaseVAE`.

    Raises:
        ValueError: For a negative gamma, or networks that do not fit.

    Example:

    ```python
    encoder, decoder = keras_vaezoo.networks.autoencoder((64, 64, 1), 10, "burgess")
    model = keras_vaezoo.FactorVAE(encoder, decoder, gamma=6.4)
    model.compile(keras.optimizers.Adam(1e-4))
    model.fit(images, epochs=60)
    model.optimizer.optimizers[1].learning_rate       # the VAE's; [0] is the discriminator's
    ```
    """

    terms = ("reconstruction", "kl", "total_correlation", "discriminator")

    def __init__(
        self,
        encoder,
        decoder,
        likelihood="bernoulli",
        gamma=6.4,
        discriminator=None,
        seed=None,
        samples=1,
        **kwargs,
    ):
        checks.check_number("gamma", gamma, minimum=0)
        super().__init__(
            encoder,
            decoder,
            likelihood,
            seed,
            samples,
            coefficients={
                "reconstruction": 1.0,
                "kl": 1.0,
                "total_correlation": gamma,
                "discriminator": 1.0,
            },
            **kwargs,
        )
        if discriminator is None:
            discriminator = networks.discriminator(self.latent_dim)
        _check_discriminator(discriminator, self.latent_dim)
        self.gamma, self.discriminator = gamma, discriminator
        self.permutation = sampling.CodePermutation(
            sampling.derived_seed(seed, stream=2), name="permutation"
        )

    def compile(self, optimizer="adam", discriminator_optimizer=None, **kwargs):
        """Compiles with two optimizers.

        `model.optimizer` is a `keras.optimizers.MultiOptimizer` (inside a `LossScaleOptimizer`
        under mixed_float16), which has no `learning_rate`: those of the two are at
        `model.optimizer.optimizers`, the discriminator's first. Keras's learning-rate callbacks
        change both.

        Args:
            optimizer: Name or `keras.optimizers.Optimizer` of encoder, decoder and likelihood.
                Default "adam" (rate 1e-3; the paper's is 1e-4).
            discriminator_optimizer: The discriminator's. Default `None`: the paper's,
                `Adam(1e-4, beta_1=0.5, beta_2=0.9)`.
            **kwargs: As for the other models.

        Raises:
            ValueError: If layers of the discriminator have the names of the encoder's or
                decoder's, and for what the other models refuse.
        """
        if discriminator_optimizer is None:
            discriminator_optimizer = keras.optimizers.Adam(1e-4, beta_1=0.5, beta_2=0.9)
        optimizer = keras.optimizers.get(optimizer)
        discriminator_optimizer = keras.optimizers.get(discriminator_optimizer)
        discriminators = self.discriminator.trainable_variables
        ids = {id(variable) for variable in discriminators}
        others = [v for v in self.trainable_variables if id(v) not in ids]
        combined = two_optimizers(optimizer, discriminator_optimizer, others, discriminators)
        super().compile(optimizer=combined, **kwargs)
        # A file keeps the two: Keras would load the combined one as one optimizer a variable.
        self._compile_config.config.update(
            optimizer=optimizer, discriminator_optimizer=discriminator_optimizer
        )

    @property
    def left_out_of_presets(self):
        """What a preset does not store."""
        return (self.discriminator,)

    def compute_terms(self, batch):
        return {
            "reconstruction": batch.reconstruction,
            "kl": batch.kl,
            "total_correlation": self._total_correlation(batch),
            "discriminator": self._discriminator_loss(batch),
        }

    def _total_correlation(self, batch):
        """`D_0(z) - D_1(z)` of each example, with the discriminator's weights held fixed."""
        discriminator = self.discriminator
        held = [
            (variable, ops.stop_gradient(ops.convert_to_tensor(variable)))
            for variable in discriminator.trainable_variables
            + discriminator.non_trainable_variables
        ]
        with keras.StatelessScope(state_mapping=held):
            logits = ops.cast(discriminator(batch.z, training=batch.training), "float32")
        ratio = logits[:, 0] - logits[:, 1]
        if batch.training and self.samples > 1:
            ratio = ops.mean(ops.reshape(ratio, (self.samples, -1)), axis=0)
        return ratio

    def _discriminator_loss(self, batch):
        z = ops.stop_gradient(batch.z)
        rows = ops.shape(z)[0]
        real_rows = (rows + 1) // 2
        permuted_rows = rows - real_rows
        rest = z[real_rows:]
        if batch.training:
            permuted = self.permutation(rest)
        else:
            permuted = sampling.ordered_by(batch.prior()[real_rows:], rest)
        logits = self.discriminator(
            ops.concatenate([z[:real_rows], permuted]), training=batch.training
        )
        logits = ops.cast(logits, "float32")
        is_real = ops.arange(rows) < real_rows
        towards_wrong = ops.where(is_real, logits[:, 1] - logits[:, 0], logits[:, 0] - logits[:, 1])
        counts = ops.where(is_real, real_rows, ops.maximum(permuted_rows, 1))
        cross_entropy = ops.softplus(towards_wrong) / ops.cast(counts, "float32")
        any_permuted = ops.cast(ops.minimum(permuted_rows, 1), "float32")
        return 0.5 * any_permuted * ops.sum(cross_entropy)

    def get_config(self):
        return {
            **super().get_config(),
            "gamma": self.gamma,
            "discriminator": keras.saving.serialize_keras_object(self.discriminator),
        }


def _check_discriminator(discriminator, latent_dim):
    if not isinstance(discriminator, keras.Model) or not discriminator.built:
        raise ValueError(
            "discriminator must be a built keras.Model or None. Received: "
            f"{type(discriminator).__name__}"
        )
    given = output_shape(discriminator, latent_dim)
    if given != (None, 2):
        raise ValueError(
            f"discriminator must map codes of shape (batch, {latent_dim}) to two logits "
            f"(batch, 2). Received: output {given}"
        )
