"""Methods side by side on one network and data set, each with several seeds.

    python examples/compare_methods.py --dataset digits --epochs 20 --seeds 0 1 2 \\
        --methods VAE BetaVAE:beta=4 WAE:stochastic=True GCVAE:correlation=mahalanobis

Prints a table of mean ± standard deviation over the seeds and writes report.md, report.json, a
picture of rate and distortion and one of what the models of the first seed draw. A finished run is
not repeated, a stopped one goes on where it was.
"""

import argparse
import ast
import itertools
import json
import pathlib

import keras
import numpy as np
from argument_types import positive
from quickstart import REQUIRED

import keras_vaezoo as vz

SETTINGS = ("dataset", "architecture", "latent_dim", "likelihood", "epochs", "batch_size", "images")
COLUMNS = ("reconstruction", "kl", "elbo", "active_units")
REPORT = """# Methods on {dataset}

Mean ± standard deviation over the seeds {seeds} (of initial weights, noise and batches) on {test}
held-out images; {train} others were for training. In nats, with 10 draws of z: reconstruction is
E_q[-log p(x|z)] and elbo is -(reconstruction + kl), whatever a method's loss is.

{table}

{picture}

![Reconstructions and samples, seed {seeds[0]}](overview.png)

All have the same network and likelihood: {settings}.
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--methods", nargs="+", type=completed, default=["VAE", "BetaVAE"], metavar="Name:k=v,...")
    add("--seeds", nargs="+", type=int, default=[0, 1, 2])
    add("--dataset", default="digits", help="a name that keras_vaezoo.datasets.load takes")
    add("--data-dir", help="folder with the data set's files")
    add("--architecture", default="auto", choices=vz.networks.architectures())
    add("--latent-dim", type=positive, default=10)
    add("--likelihood", default="bernoulli", help="one for all, so that nats compare")
    add("--epochs", type=positive, default=20)
    add("--batch-size", type=positive, default=64)
    add("--images", type=positive, default=20_000, help="of a larger set; a tenth is held out")
    add("--verbose", type=int, default=1, help="Keras's: 1 bars, 2 lines, 0 none")
    add("--out", type=pathlib.Path, default=pathlib.Path("runs/compare_methods"))
    return parser, parser.parse_args()


def completed(text):
    """With what a method requires: "ControlVAE" becomes "ControlVAE:set_point=18.0"."""
    name, _, rest = text.partition(":")
    pairs = rest.split(",") if rest else []
    given = [pair.partition("=")[0] for pair in pairs]
    pairs += [f"{k}={value}" for k, value in REQUIRED.get(name, {}).items() if k not in given]
    return f"{name}:{','.join(pairs)}" if pairs else name


def build(text, seed, shape, args):
    """The compiled model of a text such as "BetaVAE:beta=4,capacity=2"."""
    name, _, rest = text.partition(":")
    if name not in vz.models.__all__:
        raise ValueError(f"the methods are {', '.join(vz.models.__all__)}")
    given = {}
    for key, _, value in (pair.partition("=") for pair in rest.split(",") if pair):
        try:
            given[key] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            given[key] = value
    keras.utils.set_random_seed(seed)
    networks = vz.networks.autoencoder(shape, args.latent_dim, args.architecture)
    model = getattr(vz, name)(*networks, likelihood=args.likelihood, seed=seed, **given)
    backend = keras.backend.backend()
    several = 1 if backend == "torch" else 10
    model.compile("adam", jit_compile=backend == "jax", steps_per_execution=several)
    return model


def run_folder(out, text, seed):
    return out / text.replace(":", "_") / f"seed_{seed}"


def run(model, seed, train, test, args, folder):
    """`{column: value}` of one run; its model stays in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    resume = keras.callbacks.BackupAndRestore(str(folder / "backup"), double_checkpoint=True)
    batches = train.as_pydataset(args.batch_size, seed=seed)
    model.fit(batches, epochs=args.epochs, verbose=args.verbose, callbacks=[resume])
    model.save(folder / "model.keras")
    metrics = () if test.factors is None else ("mig",)
    result = vz.score(model, test, metrics, samples=10, repeats=0, verbose=0)
    values = {column: getattr(result, column) for column in COLUMNS}
    return values | {name: float(score.value) for name, score in result.metrics.items()}


def over_seeds(values):
    """Mean and standard deviation; nothing where a value does not exist."""
    if None in values:
        return {}
    deviation = {"deviation": float(np.std(values, ddof=1))} if len(values) > 1 else {}
    return {"mean": float(np.mean(values)), **deviation}


def table(summary):
    """Markdown that also reads well in a terminal."""
    rows = [["method", *next(iter(summary.values()))]]
    for name, columns in summary.items():
        cells = (" ± ".join(f"{number:.3f}" for number in c.values()) for c in columns.values())
        rows.append([name, *(cell or "-" for cell in cells)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(map(str.ljust, row, widths))} |" for row in rows)


def main():
    parser, args = arguments()
    try:
        data = vz.datasets.load(args.dataset, data_dir=args.data_dir)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    rows = np.random.default_rng(0).permutation(len(data))[: args.images]
    train, test = data.take(np.sort(rows)).split(test_fraction=0.1)
    for text in args.methods:
        try:
            build(text, 0, train.shape, args)
        except (TypeError, ValueError) as error:
            parser.error(f"{text}: {error}")

    settings = {name: getattr(args, name) for name in SETTINGS}
    out = args.out / "_".join(map(str, settings.values())).replace("/", "_")
    out.mkdir(parents=True, exist_ok=True)
    kept, aside = out / "results.json", out / "results.new"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for seed, text in itertools.product(args.seeds, args.methods):
        runs = results.setdefault(text, {})
        if str(seed) not in runs:
            print(f"\n{text}, seed {seed}")
            model = build(text, seed, train.shape, args)
            runs[str(seed)] = run(model, seed, train, test, args, run_folder(out, text, seed))
            aside.write_text(json.dumps(results, indent=2))
            aside.replace(kept)

    summary = {}
    for text in args.methods:
        runs = [results[text][str(seed)] for seed in args.seeds]
        summary[text] = {name: over_seeds([one[name] for one in runs]) for name in runs[0]}
    points = {
        m: (c["kl"]["mean"], c["reconstruction"]["mean"]) for m, c in summary.items() if c["kl"]
    }
    picture = "No method has a rate: a deterministic encoder has no KL."
    if points:
        vz.plots.rate_distortion(points).savefig(out / "rate_distortion.png")
        picture = "![Rate and distortion](rate_distortion.png)"
    files = {text: run_folder(out, text, args.seeds[0]) / "model.keras" for text in args.methods}
    models = {text: keras.saving.load_model(file, compile=False) for text, file in files.items()}
    vz.plots.overview_comparison(models, test.images[:10]).savefig(out / "overview.png")
    facts = {"seeds": args.seeds, "train": len(train), "test": len(test), "settings": settings}
    report = json.dumps({**facts, "methods": summary, "runs": results}, indent=2)
    (out / "report.json").write_text(report)
    facts["settings"] = ", ".join(f"{name} {value}" for name, value in settings.items())
    report = REPORT.format(**facts, dataset=args.dataset, table=table(summary), picture=picture)
    (out / "report.md").write_text(report, encoding="utf-8")
    print(f"\n{table(summary)}\nwrote report.md and report.json to {out}")


if __name__ == "__main__":
    main()
