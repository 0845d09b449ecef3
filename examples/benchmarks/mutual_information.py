"""Time of the mutual information table against the same table by scikit-learn.

10,000 rows, 10 codes, dSprites' five factors, 20 bins. Prints both times, their ratio and the
largest difference between the two tables:

    python examples/benchmarks/mutual_information.py
"""

import argparse
import time

import numpy as np
from sklearn.metrics import mutual_info_score

from keras_vaezoo import metrics

FACTOR_SIZES = (3, 6, 40, 32, 32)


def codes_and_factors(rows, n_codes, seed=0):
    """Codes that are noisy copies of the factors, and noise for the rest."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, FACTOR_SIZES, size=(rows, len(FACTOR_SIZES)))
    codes = rng.normal(size=(rows, n_codes))
    informed = min(n_codes, len(FACTOR_SIZES))
    codes[:, :informed] += 3.0 * factors[:, :informed] / np.array(FACTOR_SIZES[:informed])
    return codes, factors


def table_by_scikit_learn(binned, factors):
    """mutual_info_score of every pair; the codes come binned, which favours this side."""
    return np.array([[mutual_info_score(v, q) for v in factors.T] for q in binned.T])


def best_time(function, repeats):
    """Result and smallest wall time in seconds of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return result, min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--codes", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    codes, factors = codes_and_factors(options.rows, options.codes)
    ours, our_time = best_time(
        lambda: metrics.mutual_information_table(codes, factors), options.repeats
    )
    binned = metrics.discretize(codes)
    theirs, their_time = best_time(lambda: table_by_scikit_learn(binned, factors), options.repeats)
    difference = np.abs(ours.mutual_information - theirs).max()
    print(f"keras_vaezoo, binning included: {1e3 * our_time:8.2f} ms")
    print(f"scikit-learn, codes binned:     {1e3 * their_time:8.2f} ms")
    print(f"ratio:                          {their_time / our_time:8.1f}")
    print(f"largest difference:             {difference:8.1e} nats")


if __name__ == "__main__":
    main()
