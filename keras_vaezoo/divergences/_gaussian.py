"""KL divergence of diagonal Gaussians from the standard normal prior."""

from keras import ops

from keras_vaezoo.divergences._rows import posterior_rows


def gaussian_kl(mean, log_variance):
    """Compute KL(N(mean, diag exp(log_variance)) || N(0, I)) for each example.

    KL = 1/2 SUM_k (mean_k^2 + v_k - 1 - log v_k), Kingma and Welling (2014), appendix B.

    Args:
        mean: tensor of shape `(M, d)`.
        log_variance: tensor of shape `(M, d)`, log v.

    Returns:
        Tensor of shape `(M,)` in nats, at least 0, float32.

    Raises:
        ValueError: unless both arguments are matrices of one shape.

    Example:

    ```python
    keras_vaezoo.divergences.gaussian_kl([[1.0, 0.0]], [[0.0, 0.0]])  # [0.5]
    ```
    """
    return ops.sum(gaussian_kl_per_dimension(mean, log_variance), axis=-1)


def gaussian_kl_per_dimension(mean, log_variance):
    """Compute the terms of `gaussian_kl` before their sum over latent dimensions.

    A dimension whose mean over the data is above 0.01 nats is commonly called active.

    Args:
        mean: tensor of shape `(M, d)`.
        log_variance: tensor of shape `(M, d)`, log v.

    Returns:
        Tensor of shape `(M, d)` in nats, at least 0, float32.

    Raises:
        ValueError: unless both arguments are matrices of one shape.

    Example:

    ```python
    keras_vaezoo.divergences.gaussian_kl_per_dimension([[1.0, 0.0]], [[0.0, 0.0]])  # [[0.5, 0.0]]
    ```
    """
    mean, log_variance = posterior_rows(mean, log_variance)
    return 0.5 * (ops.square(mean) + ops.expm1(log_variance) - log_variance)
