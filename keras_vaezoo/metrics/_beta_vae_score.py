"""The BetaVAE metric (Higgins et al. 2017)."""

import numpy as np

from keras_vaezoo.metrics._classifiers import FittedClassifier, accuracy, scikit_learn
from keras_vaezoo.metrics._information import spread
from keras_vaezoo.metrics._inputs import check_integer, check_number
from keras_vaezoo.metrics._same_value_draws import (
    chunk_sizes,
    draw_source,
    labels_per_factor,
    rescaled_from_chance,
)
from keras_vaezoo.metrics._score import Score


def beta_vae_score(
    codes=None,
    factors=None,
    *,
    sample_fn=None,
    factor_sizes=None,
    batch_size=64,
    train_points=10_000,
    eval_points=5_000,
    C=1.0,
    max_iter=10_000,
    value_draw="frequency",
    rescale=False,
    seed=0,
    factor_bins=None,
):
    """BetaVAE metric: can a linear classifier tell which factor a set of pairs shares.

        one point: pick factor j at random; draw L pairs of rows that share the value of j, a new
                   value for each pair; x = mean over pairs of |z1 - z2|, label j
        score = accuracy on evaluation points of softmax regression x -> j

    In [1/k, 1], higher is better, 1/k by chance. Higgins et al., "beta-VAE: Learning Basic Visual
    Concepts with a Constrained Variational Framework" (2017). It gives 1 to some imperfect codes,
    and it is not scale-invariant (L2 penalty on raw features): a code of tiny range cannot be used.

    Rows come from a table (codes, factors), with replacement, or fresh from a simulator
    (`sample_fn`, `factor_sizes`), which is called on (train_points + eval_points) x 2 L rows:
    1.92 million.

    Args:
        codes: (n, d) array, the posterior means, in any float type or framework.
        factors: (n, k) integer classes, at least two factors that vary.
        sample_fn: In place of the two: function of (n, k) integer factors that returns (n, d)
            codes; it is called with at most 8,192 rows or one point at a time.
        factor_sizes: With `sample_fn`: number of values of each factor.
        batch_size: Pairs per point, L.
        train_points: Number of points that train the classifier.
        eval_points: Number of points that are scored.
        C: Inverse strength of the L2 penalty.
        max_iter: Largest number of solver iterations.
        value_draw: On a table, `"frequency"` fixes the value of a random row; `"uniform"` one of
            the values with at least two rows, all equally likely.
        rescale: Whether to return (score - 1/k) / (1 - 1/k), which is 0 by chance.
        seed: Seed of all draws.
        factor_bins: Number of equal-width bins for factor columns that are not integer-valued.

    Returns:
        `Score`; per_factor: accuracy on the points of the factor; matrix: weight of code i for
        factor j; train: accuracy on the training points.

    Raises:
        ValueError: Shapes that differ, fewer than 2 rows, nan or inf (names the column),
            continuous factors without `factor_bins`, fewer than two factors that vary.
        ImportError: Without scikit-learn.

    Example:

    ```python
    factors = np.random.default_rng(0).integers(0, 4, size=(1000, 2))
    beta_vae_score(factors.astype("float32"), factors)  # 1.0
    ```
    """
    check_integer("batch_size", batch_size, 1)
    check_integer("train_points", train_points, 1)
    check_integer("eval_points", eval_points, 1)
    check_integer("max_iter", max_iter, 1)
    check_number("C", C, above=True)
    source = draw_source(codes, factors, sample_fn, factor_sizes, value_draw, factor_bins)
    regression = scikit_learn("linear_model", "beta_vae_score").LogisticRegression(
        C=C, max_iter=max_iter
    )
    rng = np.random.default_rng(seed)
    x_train, train_labels = _points(source, train_points, batch_size, rng)
    x_eval, eval_labels = _points(source, eval_points, batch_size, rng)
    fitted = FittedClassifier(regression, x_train, train_labels)
    predicted = fitted.predict(x_eval)
    value = accuracy(predicted, eval_labels)
    train_value = accuracy(fitted.predict(x_train), train_labels)
    k = len(source.kept)
    own = [predicted[eval_labels == j] == j for j in range(k)]
    per_factor = np.array([right.mean() if len(right) else np.nan for right in own])
    if rescale:
        value, train_value = rescaled_from_chance(value, k), rescaled_from_chance(train_value, k)
        per_factor = rescaled_from_chance(per_factor, k)
    settings = {"batch_size": batch_size, "train_points": train_points, "eval_points": eval_points}
    settings |= {"C": C, "rescale": bool(rescale), "value_draw": value_draw}
    return Score(
        value,
        spread(per_factor, source.kept, source.n_factors),
        spread(fitted.weights(source.n_codes, k), source.kept, source.n_factors),
        train=train_value,
        settings=settings,
    )


def _points(source, count, pairs, rng):
    """(count, d) mean absolute differences and (count,) positions of the shared factor."""
    counts = labels_per_factor(source.kept, count, rng)
    features = []
    for position, n_points in enumerate(counts):
        for chunk in chunk_sizes(n_points, 2 * pairs):
            pair = source.groups(source.kept[position], chunk * pairs, 2, rng)
            differences = np.abs(pair[:, 0] - pair[:, 1])
            features.append(differences.reshape(chunk, pairs, -1).mean(axis=1))
    return np.concatenate(features), np.repeat(np.arange(len(counts)), counts)
