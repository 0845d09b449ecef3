"""GCVAE's squared Mahalanobis distances between the codes of a batch and the prior."""

from keras import ops

from keras_vaezoo.divergences._covariance import covariance_root
from keras_vaezoo.divergences._mmd import mmd
from keras_vaezoo.divergences._rows import float_rows, require_equal_width

KERNEL_COVARIANCE_FLOOR = 1e-4


def mahalanobis(z):
    """Compute the squared Mahalanobis distance between the codes' mean and the prior's.

    D = zbar^T S^-1 zbar with zbar the mean of the codes and S = (cov(z) + I) / 2 the covariance
    pooled over codes and prior, cov with divisor M. GCVAE-II of Ezukwoke et al.,
    "GCVAE: Generalized-Controllable Variational AutoEncoder" (2022), with the distance taken
    between the two distributions, so that it carries a gradient.

    0 for codes of mean 0, invariant to rotation, finite for any M. A statistic of the batch.

    Args:
        z: codes, tensor of shape `(M, d)`.

    Returns:
        Scalar, at least 0, float32.

    Raises:
        ValueError: unless z is a matrix.

    Example:

    ```python
    keras_vaezoo.divergences.mahalanobis([[1.0, 0.0]])  # 2.0: S = I / 2
    ```
    """
    z = float_rows("z", z)
    root = covariance_root(z, ops.ones((z.shape[1],), dtype="float32"))
    whitened = ops.solve_triangular(ops.transpose(root), ops.mean(z, axis=0)[:, None], lower=True)
    return 2.0 * ops.sum(ops.square(whitened))


def kernel_mahalanobis(z, prior_z, stop_covariance_gradient=True):
    """Compute the kernel form of the squared Mahalanobis distance between codes and prior.

    D = (tr S^-1 / d) MMD^2(z, prior_z) with S = cov(z) + 1e-4 I, cov with divisor M, and the
    Gaussian kernel and V-statistic of `mmd`. GCVAE-III of Ezukwoke et al. (2022), appendix A.4.

    A statistic of the batch. 0 where z and prior_z are one sample; finite for any M.

    Args:
        z: codes, tensor of shape `(M, d)`.
        prior_z: fresh samples of the prior, tensor of shape `(N, d)`.
        stop_covariance_gradient: whether S counts as a constant in the gradient. Through S the
            term rewards codes for inflating without end.

    Returns:
        Scalar, at least 0 up to rounding, float32.

    Raises:
        ValueError: unless both arguments are matrices of equal width.

    Example:

    ```python
    prior_z = keras.random.normal((64, 2))
    keras_vaezoo.divergences.kernel_mahalanobis(prior_z + 1.0, prior_z)
    ```
    """
    z = float_rows("z", z)
    prior_z = float_rows("prior_z", prior_z)
    require_equal_width("z", z, "prior_z", prior_z)
    dimensions = z.shape[1]
    floor = ops.full((dimensions,), KERNEL_COVARIANCE_FLOOR, dtype="float32")
    root = covariance_root(ops.stop_gradient(z) if stop_covariance_gradient else z, floor)
    inverse_root = ops.solve_triangular(root, ops.eye(dimensions, dtype="float32"))
    return ops.sum(ops.square(inverse_root)) / dimensions * mmd(z, prior_z)
