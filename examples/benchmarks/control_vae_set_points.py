"""Does ControlVAE hold its set points on sprites? Mean KL of the last 1,000 steps, three seeds.

Burgess's network, Adam 1e-4, batches of 64, TensorFlow. A finished run is kept in the results
file and not repeated; a stopped one goes on where it was.

python examples/benchmarks/control_vae_set_points.py
python examples/benchmarks/control_vae_set_points.py --set-points 18 --seeds 0 --steps 1000
"""

import argparse
import csv
import json
import os
import pathlib
import statistics

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras

import keras_vaezoo as vz

EPOCH = 500  # steps between two lines of the log
STEPS = {5.0: 10_000, 10.0: 6_000, 18.0: 6_000}


def train(set_point, seed, steps, ki, out):
    """Trains one model and returns what the acceptance looks at."""
    keras.utils.set_random_seed(seed)
    encoder, decoder = vz.networks.autoencoder((64, 64, 1), 10, architecture="burgess")
    model = vz.ControlVAE(encoder, decoder, set_point=set_point, ki=ki, seed=seed)
    model.compile(keras.optimizers.Adam(1e-4), jit_compile=False, steps_per_execution=10)
    batches = vz.datasets.load("sprites").as_tf(64, seed=seed, repeat=True)
    folder = out / f"set_point_{set_point:g}_seed_{seed}_{steps}_steps"
    folder.mkdir(parents=True, exist_ok=True)
    model.fit(
        batches,
        steps_per_epoch=EPOCH,
        epochs=steps // EPOCH,
        callbacks=[
            keras.callbacks.BackupAndRestore(str(folder / "backup"), double_checkpoint=True),
            keras.callbacks.CSVLogger(str(folder / "log.csv"), append=True),
        ],
    )
    with open(folder / "log.csv", newline="") as file:
        log = list(csv.DictReader(file))
    slot = model.loss_coefficients.slot("kl")
    mean = statistics.mean(float(row["kl"]) for row in log[-1000 // EPOCH :])
    return {
        "set_point": set_point,
        "seed": seed,
        "steps": steps,
        "ki": ki,
        "kl": mean,
        "relative_error": mean / set_point - 1.0,
        "beta": slot["value"],
        "inside_limits": slot["minimum"] < slot["value"] < slot["maximum"],
        "reconstruction": float(log[-1]["reconstruction"]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set-points", type=float, nargs="+", default=list(STEPS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, help=f"default: {STEPS}, else 6,000")
    parser.add_argument("--ki", type=float, default=0.005, help="the paper's 0.001 is slower")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/control_vae"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "results.json"
    results = json.loads(path.read_text()) if path.exists() else []
    for set_point in args.set_points:
        for seed in args.seeds:
            steps = args.steps or STEPS.get(set_point, 6_000)
            wanted = {"set_point": set_point, "seed": seed, "steps": steps, "ki": args.ki}
            if not any(wanted.items() <= found.items() for found in results):
                results.append(train(set_point, seed, steps, args.ki, args.out))
                path.write_text(json.dumps(results, indent=2))
    for found in results:
        met = abs(found["relative_error"]) < 0.03 and found["inside_limits"]
        print(
            f"set point {found['set_point']:g}, seed {found['seed']}, {found['steps']} steps: "
            f"KL {found['kl']:.3f} ({found['relative_error']:+.1%}), beta {found['beta']:.3f}, "
            f"reconstruction {found['reconstruction']:.1f}: {'met' if met else 'NOT MET'}"
        )


if __name__ == "__main__":
    main()
