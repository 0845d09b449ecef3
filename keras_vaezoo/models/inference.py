"""What a user does with a model: encode, decode, sample, and steer its coefficients."""

from typing import Any, NamedTuple

import numpy as np
from keras import ops

from keras_vaezoo import checks, sampling
from keras_vaezoo.coefficients import CoefficientView
from keras_vaezoo.models.batching import run_in_batches


class Posterior(NamedTuple):
    """Parameters of q(z|x), each `(M, d)`."""

    mean: Any
    log_variance: Any


class InferenceMixin:
    """Encoding, decoding, sampling and the coefficients of a model."""

    @property
    def coefficients(self):
        """Live mapping of the coefficients: reads floats, assignment writes the variables."""
        return CoefficientView(self._current_coefficients())

    def encode(self, x, batch_size=256):
        """Parameters of q(z|x).

        Args:
            x: Array `(n, *input_shape)`, or a dataset whose batches have that shape.
            batch_size: Examples in one pass, for arrays. Default 256.

        Returns:
            Named tuple `(mean, log_variance)` of NumPy arrays, each `(n, latent_dim)`.
        """
        if isinstance(x, list):
            x = np.asarray(x, "float32")
        shape = self.input_shape[1:]
        if hasattr(x, "shape"):
            checks.check_batch(x, shape)
        outputs = run_in_batches(
            self.encoder, x, batch_size, lambda batch: checks.check_batch(batch, shape)
        )
        posterior = self._posterior(outputs)
        return Posterior(*(ops.convert_to_numpy(tensor) for tensor in posterior))

    def decode(self, z, batch_size=256):
        """Mean of p(x|z) for codes `z` `(n, latent_dim)`, as a NumPy array `(n, *input_shape)`."""
        return ops.convert_to_numpy(self.likelihood(self._decoder_output(z, batch_size)))

    def reconstruct(self, x, batch_size=256):
        """Mean of p(x|z) at the posterior mean, `(n, *input_shape)`."""
        return self.decode(self.encode(x, batch_size).mean, batch_size)

    def sample(self, n, seed=None, mean=True):
        """New data from the prior.

        Args:
            n: Number of examples.
            seed: Integer seed, the same draws of z on every backend; `None` for fresh ones.
            mean: Whether to give the mean of p(x|z) or a draw from it. Default `True`.

        Returns:
            Array `(n, *input_shape)`.
        """
        seed = checks.checked_seed(seed)
        z = sampling.prior_samples(n, self.latent_dim, seed)
        if mean:
            return self.decode(z)
        noise = np.random.default_rng(None if seed is None else [seed, 1])
        return self.likelihood.draw(self._decoder_output(z), noise)

    def set_weights(self, weights):
        """Keras's `set_weights`; controllers that came with the weights act at once."""
        super().set_weights(weights)
        self.loss_coefficients.refresh()

    def control(self, name, controller, keep_state=False):
        """Lets a `control.Controller` hold a coefficient, until `release(name)`.

        Args:
            name: The coefficient.
            controller: Its settings are copied.
            keep_state: Whether a coefficient that is controlled already keeps its integral and
                value, as a resumed run must. Default `False`.

        Raises:
            ValueError: For an unknown coefficient or measured term.
        """
        self._current_coefficients().control(name, controller, keep_state)
        self._refresh_functions()

    def schedule(self, name, schedule):
        """Lets a coefficient follow a `control.Schedule` of training steps, until `release`."""
        self._current_coefficients().schedule(name, schedule)
        self._refresh_functions()

    def release(self, name):
        """Takes the controller or schedule off a coefficient; its value stays as it is."""
        self._current_coefficients().release(name)
        self._refresh_functions()

    def summary(self, *args, **kwargs):
        """Keras's summary, then the coefficients and what controls them."""
        super().summary(*args, **kwargs)
        show = kwargs.get("print_fn") or print
        for name, value in self.coefficients.items():
            held = ""
            if self.loss_coefficients.enabled(name):
                slot = self.loss_coefficients.slot(name)
                term = self.loss_coefficients.measurable[int(slot["measured"])]
                held = f", controlled: {term} at {slot['set_point']:g}"
            show(f" coefficient {name} = {value:g}{held}")

    def _current_coefficients(self):
        """The coefficients, their variables as they are now: inside `fit`, JAX holds the values."""
        if hasattr(self, "jax_state_sync"):
            self.jax_state_sync()
        return self.loss_coefficients

    def _decoder_output(self, z, batch_size=256):
        z = np.asarray(ops.convert_to_numpy(z), "float32")
        if z.ndim != 2 or z.shape[1] != self.latent_dim:
            raise ValueError(f"z must have shape (n, {self.latent_dim}). Received: shape={z.shape}")
        return run_in_batches(self.decoder, z, batch_size)
