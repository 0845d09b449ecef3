"""Float64 NumPy and SciPy twins of the divergences, written from their definitions."""

import numpy as np
from scipy.integrate import trapezoid
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import norm

IMQ_SCALES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def gaussian_kl(mean, log_variance):
    variance = np.exp(log_variance)
    return 0.5 * np.sum(mean**2 + variance - 1.0 - log_variance, axis=1)


def log_overlaps(mean, log_variance):
    """log INTEGRAL q_i q_j: the density of mean_i under N(mean_j, v_i + v_j)."""
    variance = np.exp(log_variance)
    deviation = np.sqrt(variance[:, None] + variance[None])
    return norm.logpdf(mean[:, None], mean[None], deviation).sum(axis=-1)


def _cross_entropy(mean, log_variance):
    """Minus the mean of log N(z; 0, I) under the aggregate posterior."""
    return 0.5 * np.mean(np.sum(np.exp(log_variance) + mean**2 + np.log(2 * np.pi), axis=1))


def aggregate_kl_bound(mean, log_variance):
    rows = logsumexp(log_overlaps(mean, log_variance), axis=1) - np.log(len(mean))
    return rows.mean() + _cross_entropy(mean, log_variance)


def aggregate_kl_loose_bound(mean, log_variance):
    total = logsumexp(log_overlaps(mean, log_variance)) - 2 * np.log(len(mean))
    return total + _cross_entropy(mean, log_variance)


def aggregate_kl_moments(mean, log_variance, diagonal=False):
    centre = mean.mean(axis=0)
    covariance = np.atleast_2d(np.cov(mean.T, bias=True)) + np.diag(
        np.exp(log_variance).mean(axis=0)
    )
    if diagonal:
        covariance = np.diag(np.diag(covariance))
    return 0.5 * (
        np.trace(covariance) + centre @ centre - len(centre) - np.linalg.slogdet(covariance)[1]
    )


def true_aggregate_kl(mean, log_variance, limit=9.0, points=601):
    """KL(aggregate || N(0, I)) by quadrature on a grid, for d = 1 or 2."""
    axis = np.linspace(-limit, limit, points)
    grid = np.stack(np.meshgrid(*[axis] * mean.shape[1], indexing="ij"), axis=-1)
    deviation = np.exp(0.5 * log_variance)
    density = np.mean(
        [np.exp(norm.logpdf(grid, m, s).sum(-1)) for m, s in zip(mean, deviation, strict=True)],
        axis=0,
    )
    integrand = density * (np.log(density + 1e-300) - norm.logpdf(grid).sum(-1))
    for _ in range(mean.shape[1]):
        integrand = trapezoid(integrand, axis, axis=0)
    return integrand


def gaussian_kernel(a, b):
    return np.exp(-cdist(a, b, "sqeuclidean") / a.shape[1] ** 2)


def imq_kernel(a, b):
    squared = cdist(a, b, "sqeuclidean")
    return sum(2 * a.shape[1] * scale / (2 * a.shape[1] * scale + squared) for scale in IMQ_SCALES)


def mmd(x, y, kernel=gaussian_kernel, estimator="v"):
    within = []
    for sample in (x, y):
        matrix = kernel(sample, sample)
        kept = np.ones_like(matrix, bool) if estimator == "v" else ~np.eye(len(sample), dtype=bool)
        within.append(matrix[kept].mean())
    return sum(within) - 2 * kernel(x, y).mean()


def mahalanobis(z):
    centre = z.mean(axis=0)
    pooled = 0.5 * (np.atleast_2d(np.cov(z.T, bias=True)) + np.eye(z.shape[1]))
    return centre @ np.linalg.inv(pooled) @ centre


def kernel_mahalanobis(z, prior_z, codes_of_covariance=None):
    codes = z if codes_of_covariance is None else codes_of_covariance
    covariance = np.atleast_2d(np.cov(codes.T, bias=True)) + 1e-4 * np.eye(z.shape[1])
    return np.trace(np.linalg.inv(covariance)) / z.shape[1] * mmd(z, prior_z)
