"""Time and peak memory of WiSE-ALE's bound with its gradient, against the naive form.

Each figure comes from a fresh process, as peak memory never falls within one:

    KERAS_BACKEND=tensorflow python examples/benchmarks/wise_ale_memory.py
"""

import argparse
import json
import resource
import subprocess
import sys
import time


def measure(batch, dimensions, form):
    """Return milliseconds and extra peak megabytes of one training step on the bound."""
    import keras
    import numpy as np

    from keras_vaezoo import divergences

    bound = {"bounded": divergences.aggregate_kl_bound, "naive": naive_bound}[form]

    class Posteriors(keras.Model):
        """The bound of posteriors that a linear layer gives: trains and compiles as a VAE does."""

        def __init__(self):
            super().__init__()
            self.parameters_of_posteriors = keras.layers.Dense(2 * dimensions)

        def call(self, inputs):
            return self.parameters_of_posteriors(inputs)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            return bound(*keras.ops.split(y_pred, 2, axis=1))

    model = Posteriors()
    model.compile("sgd", jit_compile=keras.backend.backend() == "jax")
    data = np.random.default_rng(0).normal(size=(batch, 2 * dimensions)).astype("float32")
    model.train_on_batch(data[:8])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.train_on_batch(data)
    start = time.perf_counter()
    model.train_on_batch(data)
    elapsed = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"milliseconds": 1e3 * elapsed, "megabytes": (peak - before) / 1024}


def naive_bound(mean, log_variance):
    """The bound from tensors of shape (M, M, d), left to automatic differentiation."""
    from keras import ops

    variance = ops.exp(log_variance)
    total = variance[:, None] + variance
    difference = mean[:, None] - mean
    overlaps = -0.5 * ops.sum(ops.log(total) + ops.square(difference) / total, axis=-1)
    second_moment = ops.sum(ops.square(mean) + variance, axis=1)
    count = ops.cast(ops.shape(mean)[0], "float32")
    return ops.mean(ops.logsumexp(overlaps, axis=1) + 0.5 * second_moment) - ops.log(count)


def measure_in_new_process(batch, dimensions, form):
    """Run `measure` in a process of its own."""
    command = [sys.executable, __file__, "--one", str(batch), str(dimensions), form]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 128, 256, 512, 1024, 2048])
    parser.add_argument("--naive-up-to", type=int, default=1024, help="it takes 2 GB at 1,024")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        batch, dimensions, form = arguments.one
        print(json.dumps(measure(int(batch), int(dimensions), form)))
        return
    print(f"d = {arguments.dimensions}; one step: value and gradient")
    print("    M      ms     MB   naive ms  naive MB  naive MB / MB")
    for batch in arguments.batches:
        ours = measure_in_new_process(batch, arguments.dimensions, "bounded")
        line = f"{batch:5d} {ours['milliseconds']:7.1f} {ours['megabytes']:6.0f}"
        if batch <= arguments.naive_up_to:
            naive = measure_in_new_process(batch, arguments.dimensions, "naive")
            ratio = naive["megabytes"] / max(ours["megabytes"], 1.0)
            line += f" {naive['milliseconds']:10.1f} {naive['megabytes']:9.0f} {ratio:14.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
