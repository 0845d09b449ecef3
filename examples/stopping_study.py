"""GCVAE with and without its stopping criterion: epochs and scores at each stop and at the end.

    python examples/stopping_study.py --epochs 300 --seeds 0 1 2

Trains GCVAE-I, II and III on the paper's 737 sprites (12 steps an epoch). Two rules watch the same
training without ending it: the paper's, and the one that StoppingCriterion recommends. Where a rule
fires, the model is scored. A finished model is not trained again.
"""

import argparse
import itertools
import json
import pathlib

import keras
from argument_types import positive
from gcvae_sprites import CORRELATIONS, METRICS, rows
from zoo_tables import as_markdown

import keras_vaezoo as vz


class Watch(keras.callbacks.Callback):
    """Notes the epoch in which each rule would have stopped the training, and the scores then."""

    def __init__(self, rules, scores):
        super().__init__()
        self.rules, self.scores, self.found = rules, scores, {}

    def set_model(self, model):
        super().set_model(model)
        for rule in self.rules.values():
            rule.set_model(model)

    def on_train_begin(self, logs=None):
        for rule in self.rules.values():
            rule.on_train_begin(logs)

    def on_epoch_end(self, epoch, logs=None):
        for name, rule in self.rules.items():
            if name not in self.found:
                rule.on_epoch_end(epoch, logs)
                if rule.stopped_epoch is not None:
                    self.found[name] = {"epoch": epoch + 1, **self.scores(self.model)}
        self.model.stop_training = False


def study(name, few, fresh, seed, args):
    """`{rule: epoch and scores}` of one model."""

    def scores(model):
        result = vz.score(model, fresh, METRICS, samples=1, repeats=0, verbose=0)
        metrics = {metric: float(score.value) for metric, score in result.metrics.items()}
        return {"reconstruction": result.reconstruction, "kl": result.kl, **metrics}

    keras.utils.set_random_seed(seed)
    networks = vz.networks.autoencoder(few.shape, args.latent_dim, args.architecture)
    method, arguments = rows("nats")[f"GCVAE-{name}"]
    model = method(*networks, seed=seed, **arguments)
    on_torch = keras.backend.backend() == "torch"
    model.compile(keras.optimizers.Adam(1e-3), steps_per_execution=1 if on_torch else 10)
    rules = {
        "the paper's": vz.callbacks.StoppingCriterion(verbose=0),
        "patience 5, smoothing 0.9": vz.callbacks.StoppingCriterion(
            patience=5, smoothing=0.9, verbose=0
        ),
    }
    watch = Watch(rules, scores)
    batches = few.as_tf(64, seed=seed)
    model.fit(batches, epochs=args.epochs, callbacks=[watch], verbose=args.verbose)
    return {**watch.found, "none": {"epoch": args.epochs, **scores(model)}}


def studies(few, seed, args):
    """`{model: {rule: epoch and scores}}` of one seed; finished models are read from a file."""
    parts = (args.architecture, args.epochs, args.latent_dim, args.scored, seed)
    path = args.out / f"results_{'_'.join(map(str, parts))}.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    fresh = vz.datasets.load("sprites").sample(args.scored, seed=seed + 1)
    for name in (name for name in args.models if name not in results):
        print(f"\nGCVAE-{name}: {args.epochs} epochs, seed {seed}")
        results[name] = study(name, few, fresh, seed, args)
        path.write_text(json.dumps(results, indent=2))
    return results


def table(results, models):
    """A Markdown table: a row for each rule that fired, and one for the end."""
    lines = [("model", "seed", "stopped by", "epoch", "R", "KL", *METRICS)]
    lines.append(("---",) * len(lines[0]))
    for name, seed in itertools.product(models, results):
        for rule, found in results[seed][name].items():
            nats = (f"{found[term]:.1f}" for term in ("reconstruction", "kl"))
            metrics = (f"{found[metric]:.3f}" for metric in METRICS)
            lines.append((f"GCVAE-{name}", str(seed), rule, str(found["epoch"]), *nats, *metrics))
    return as_markdown(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=positive, default=300, help="of 12 steps")
    parser.add_argument("--models", nargs="+", default=list(CORRELATIONS), choices=CORRELATIONS)
    parser.add_argument("--latent-dim", type=positive, default=10)
    parser.add_argument("--architecture", default="burgess")
    parser.add_argument("--scored", type=positive, default=10_000, help="fresh sprites to score on")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--verbose", type=int, default=1, help="Keras's: 1 bars, 2 lines, 0 none")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/stopping_study"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    few = vz.datasets.load("sprites", split="gcvae")
    results = {seed: studies(few, seed, args) for seed in args.seeds}
    print(f"\n{table(results, args.models)}")


if __name__ == "__main__":
    main()
