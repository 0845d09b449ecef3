"""CPU time of fit, all trackers on, over a bare tf.function loop with the same networks.

Paired runs in one process, interleaved; the median ratio is printed. TensorFlow only.

python examples/benchmarks/fit_overhead.py --runs 7 --steps 400
"""

import argparse
import json
import os
import time

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf

import keras_vaezoo as vz


def bare_loop(encoder, decoder, data, steps):
    """A hand-written VAE step on the same networks, ten steps an execution, no trackers."""
    optimizer = keras.optimizers.Adam(1e-3)
    weights = encoder.trainable_weights + decoder.trainable_weights
    optimizer.build(weights)

    def step(x):
        with tf.GradientTape() as tape:
            mean, log_variance = encoder(x, training=True)
            noise = tf.random.stateless_normal(tf.shape(mean), [0, 1])
            logits = decoder(mean + tf.exp(0.5 * log_variance) * noise, training=True)
            nll = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            kl = 0.5 * (mean**2 + tf.exp(log_variance) - 1.0 - log_variance)
            loss = tf.reduce_mean(tf.reduce_sum(nll, [1, 2, 3]) + tf.reduce_sum(kl, 1))
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    @tf.function
    def ten_steps(iterator):
        for _ in tf.range(10):
            step(next(iterator))

    def run():
        iterator = iter(data)
        for _ in range(steps // 10):
            ten_steps(iterator)

    return run


def measured(run):
    """CPU seconds and wall seconds of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - cpu, time.perf_counter() - wall


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--architecture", default="wise_ale_mnist")
    args = parser.parse_args()
    x = np.random.default_rng(0).random((64 * args.steps, 28, 28, 1)).astype("float32")
    data = tf.data.Dataset.from_tensor_slices(x).batch(64, drop_remainder=True)
    data = data.cache().prefetch(tf.data.AUTOTUNE)

    networks = {"architecture": args.architecture}
    bare = bare_loop(*vz.networks.autoencoder((28, 28, 1), 2, **networks), data, args.steps)
    model = vz.VAE(*vz.networks.autoencoder((28, 28, 1), 2, **networks), seed=0)
    model.compile(keras.optimizers.Adam(1e-3), steps_per_execution=10, jit_compile=False)

    def fit():
        model.fit(data, epochs=1, verbose=0)

    for run in (bare, fit):
        run()
    pairs = [(measured(bare), measured(fit)) for _ in range(args.runs)]
    cpu = [ours[0] / theirs[0] for theirs, ours in pairs]
    wall = [ours[1] / theirs[1] for theirs, ours in pairs]
    print(
        json.dumps(
            {
                "architecture": args.architecture,
                "steps": args.steps,
                "runs": args.runs,
                "cpu_ratio_median": round(float(np.median(cpu)), 3),
                "cpu_ratios": [round(r, 3) for r in cpu],
                "wall_ratio_median": round(float(np.median(wall)), 3),
                "fit_ms_per_step": round(1e3 * np.median([o[1] for _, o in pairs]) / args.steps, 2),
            }
        )
    )


if __name__ == "__main__":
    main()
