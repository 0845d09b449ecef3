"""CPU time of fit with three PIDControllers over fit without; the bar is 1.10.

BetaVAE with a capacity on Burgess's network and sprites; paired runs in one process, interleaved,
the median ratio is printed. Runs on every backend.

KERAS_BACKEND=tensorflow python examples/benchmarks/controller_overhead.py --runs 7 --steps 60
"""

import argparse
import json
import statistics
import time

import keras

import keras_vaezoo as vz


def build(architecture):
    encoder, decoder = vz.networks.autoencoder((64, 64, 1), 10, architecture=architecture)
    model = vz.BetaVAE(encoder, decoder, beta=1.0, capacity=5.0, seed=0)
    on_torch = keras.backend.backend() == "torch"
    model.compile("adam", **({} if on_torch else {"steps_per_execution": 10}))
    return model


def controllers():
    """One on each coefficient of the model."""
    held = vz.callbacks.PIDController
    return [
        held("reconstruction", "reconstruction", set_point=50.0, minimum=0.5, maximum=2.0),
        held("kl", "kl_gap", set_point=1.0),
        held("capacity", "kl", set_point=10.0, maximum=25.0, action=-1),
    ]


def measured(model, images, callbacks):
    """CPU seconds of one epoch."""
    start = time.process_time()
    model.fit(images, batch_size=64, verbose=0, callbacks=callbacks)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7, help="pairs of runs")
    parser.add_argument("--steps", type=int, default=60, help="steps of 64 images in a run")
    parser.add_argument("--architecture", default="burgess")
    args = parser.parse_args()
    images = vz.datasets.load("sprites").sample(64 * args.steps, seed=0).as_numpy()
    free, held = build(args.architecture), build(args.architecture)
    for model, callbacks in ((free, []), (held, controllers())):
        measured(model, images, callbacks)  # compiles
    pairs = [
        (measured(free, images, []), measured(held, images, controllers()))
        for _ in range(args.runs)
    ]
    ratios = [with_them / without for without, with_them in pairs]
    result = {
        "backend": keras.backend.backend(),
        "architecture": args.architecture,
        "ms_a_step_without": 1e3 * statistics.median(p[0] for p in pairs) / args.steps,
        "ms_a_step_with_three": 1e3 * statistics.median(p[1] for p in pairs) / args.steps,
        "median_ratio": statistics.median(ratios),
        "ratios": [round(ratio, 3) for ratio in sorted(ratios)],
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
