"""GCVAE's experiment: seven models on 737 sprites, scored on fresh ones (Table 1, Figs. 2, 4-6).

    python examples/gcvae_sprites.py --steps 20000                    # beta 1, 10, D weight 500
    python examples/gcvae_sprites.py --steps 20000 --protocol paper   # 64-fold
    python examples/gcvae_sprites.py --steps 8000 --latent-dims 2 10 50 --seeds 0 1 2

The released code divides the reconstruction by the image's height in the loss: `paper` weighs the
other terms 64-fold instead (not GCVAE's, whose controllers find their weights). A finished model
is not trained again, a stopped one goes on. The paper's own network (--architecture
gcvae_dsprites) takes ten times as long as Burgess's.
"""

import argparse
import json
import pathlib
import statistics

import keras
from argument_types import positive
from gcvae_figures import draw_all
from zoo_tables import PUBLISHED, against_published

import keras_vaezoo as vz

METRICS = ("mig", "modularity", "jemmig", "factor_vae_score")
HEADS = ("", "R of 737", "KL", "R fresh", "KL", *METRICS, "weights")
EPOCH = 500  # steps that count as one
CORRELATIONS = {"I": "mmd", "II": "mahalanobis", "III": "kernel_mahalanobis"}


def rows(protocol):
    """`{row of the table: (class, arguments)}`."""
    unit, set_point, action = {"nats": (1, 16.0, "reverse"), "paper": (64, 30.0, "paper")}[protocol]
    # ControlVAE's own gains and limits, or those of GCVAE's code.
    held = {"kp": 0.1 * unit, "ki": 1e-4 * unit, "maximum": 1.0 * unit} if unit > 1 else {}
    beta = vz.control.Controller(set_point, kp=0.1, ki=1e-4, maximum=1.0)
    gcvae = {"beta": beta, "alpha_action": action}
    return {
        "VAE": (vz.BetaVAE, {"beta": 1.0 * unit}),
        "beta-VAE": (vz.BetaVAE, {"beta": 10.0 * unit}),
        "ControlVAE": (vz.ControlVAE, {"set_point": set_point, **held}),
        "InfoVAE": (vz.InfoVAE, {"alpha": 1.0, "lambda_": 500.0 * unit}),
        **{f"GCVAE-{n}": (vz.GCVAE, {"correlation": c, **gcvae}) for n, c in CORRELATIONS.items()},
    }


def trained(method, arguments, sprites, latent_dim, seed, args, folder):
    """The model of one row: loaded if it is there, else trained or trained on."""
    file = folder / "model.keras"
    if file.exists():
        return keras.saving.load_model(file, compile=False)
    folder.mkdir(parents=True, exist_ok=True)
    keras.utils.set_random_seed(seed)
    networks = vz.networks.autoencoder(sprites.shape, latent_dim, args.architecture)
    model = method(*networks, seed=seed, **arguments)
    on_torch = keras.backend.backend() == "torch"
    model.compile(keras.optimizers.Adam(1e-3), steps_per_execution=1 if on_torch else 10)
    epoch = min(EPOCH, args.steps)
    resume = keras.callbacks.BackupAndRestore(str(folder / "backup"), double_checkpoint=True)
    log = keras.callbacks.CSVLogger(str(folder / "log.csv"), append=True)
    model.fit(
        sprites.as_tf(64, seed=seed, repeat=True),
        steps_per_epoch=epoch,
        epochs=args.steps // epoch,
        callbacks=[resume, log],
        verbose=args.verbose,
    )
    model.save(file)
    return model


def experiment(latent_dim, seed, args):
    """`{row: results}` of one number of latent dimensions and seed, and the folder they lie in."""
    parts = (args.protocol, args.architecture, args.steps, latent_dim, seed)
    folder = args.out / "_".join(map(str, parts))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"results_{args.scored}.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    sprites = vz.datasets.load("sprites")
    few = vz.datasets.load("sprites", split="gcvae")
    fresh = sprites.sample(args.scored, seed=seed + 1)
    models = {}
    for name in args.models:
        print(f"\n{name}: {latent_dim} latent dimensions, {args.steps} steps, seed {seed}")
        row = rows(args.protocol)[name]
        models[name] = model = trained(*row, few, latent_dim, seed, args, folder / name)
        if name not in results:
            results[name] = {
                "fresh": vz.score(model, fresh, METRICS, samples=1).to_dict(),
                "trained_on": vz.score(model, few, samples=10, verbose=0).to_dict(),
                "coefficients": {n: round(value, 3) for n, value in model.coefficients.items()},
            }
            path.write_text(json.dumps(results, indent=2))
    picture = vz.plots.overview_comparison(models, fresh.images[:10])
    picture.savefig(folder / "fig2_generation.png")
    return results, folder


def numbers(result):
    """The columns of one run: losses in nats, then metrics."""
    known, fresh = result["trained_on"], result["fresh"]
    losses = [found[term] for found in (known, fresh) for term in ("reconstruction", "kl")]
    return losses + [fresh["metrics"][metric]["value"] for metric in METRICS]


def spread(values, digits):
    """The mean of some runs, with their standard deviation where they differ."""
    text = f"{statistics.mean(values):.{digits}f}"
    return f"{text} ± {statistics.stdev(values):.{digits}f}" if len(set(values)) > 1 else text


def line(name, results):
    """A row of the printed table, from the results of every seed."""
    columns = zip(*map(numbers, results), strict=True)
    cells = [spread(column, 1 if n < 4 else 3) for n, column in enumerate(columns)]
    weights = {key: [r["coefficients"][key] for r in results] for key in results[0]["coefficients"]}
    cells.append(", ".join(f"{key} {spread(values, 2)}" for key, values in weights.items()))
    return f"| {name} | {' | '.join(cells)} |"


def as_the_paper_counts(name, results):
    """A row beside the published one: R in nats / 64 and KL on the 737 images."""
    reconstruction, kl, *_ = zip(*map(numbers, results), strict=True)
    metrics = [
        spread([result["fresh"]["metrics"][metric]["value"] for result in results], 3)
        for metric in METRICS[:3]
    ]
    return name, *metrics, spread([r / 64 for r in reconstruction], 3), spread(kl, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=positive, default=2000)
    parser.add_argument("--protocol", choices=("nats", "paper"), default="nats")
    parser.add_argument("--models", nargs="+", default=list(rows("nats")), choices=rows("nats"))
    parser.add_argument("--latent-dims", type=positive, nargs="+", default=[10])
    parser.add_argument("--architecture", default="burgess")
    parser.add_argument("--scored", type=positive, default=10_000, help="fresh sprites to score on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--verbose", type=int, default=1, help="Keras's: 1 bars, 2 lines, 0 none")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/gcvae_sprites"))
    args = parser.parse_args()
    if args.steps % min(EPOCH, args.steps):
        parser.error(f"--steps must be below {EPOCH} or a multiple of it. Received: {args.steps}")
    found = {
        dims: [experiment(dims, seed, args) for seed in args.seeds] for dims in args.latent_dims
    }
    for dims, runs in found.items():
        print(f"\n{args.protocol}, {dims} dimensions, {args.steps} steps, seeds {args.seeds}\n")
        print(f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}")
        for name in args.models:
            print(line(name, [results[name] for results, _ in runs]))
        if args.protocol == "paper" and dims == 10:
            key = dict(zip(rows("paper"), PUBLISHED, strict=True))
            beside = {
                key[name]: as_the_paper_counts(name, [results[name] for results, _ in runs])
                for name in args.models
            }
            print(f"\n{against_published(beside)}")
    first = {dims: runs[0] for dims, runs in found.items()}
    named = f"pictures_{args.protocol}_{args.steps}_{args.seeds[0]}"
    pictures = draw_all(first, args.models, args.out / named)
    print("wrote", *pictures, *(folder / "fig2_generation.png" for _, folder in first.values()))


if __name__ == "__main__":
    main()
