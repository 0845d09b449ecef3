"""Train a preset of the zoo from its recipe, score it, and write weights, scores and model card.

python examples/train_preset.py vae_fashion_mnist_2d            # into zoo_weights/
python examples/train_preset.py vae_fashion_mnist_2d --epochs 1 --zoo runs/zoo

A stopped run goes on where it was: the state lies in runs/<name> until the preset is written.
"""

import argparse
import json
import pathlib
import time

import keras

import keras_vaezoo as vz

ZOO = pathlib.Path(__file__).parent.parent / "zoo_weights"


def build(recipe, shape):
    """The model of a recipe, compiled."""
    likelihood = vz.likelihoods.get(recipe["likelihood"])
    encoder, decoder = vz.networks.autoencoder(
        shape, recipe["latent_dim"], architecture=recipe["architecture"]
    )
    method = getattr(vz, recipe["method"])
    model = method(encoder, decoder, likelihood, seed=recipe["seed"], **recipe["method_arguments"])
    accelerated = {} if keras.backend.backend() == "torch" else {"steps_per_execution": 10}
    model.compile(keras.optimizers.get(recipe["optimizer"]), jit_compile=False, **accelerated)
    return model


class Clock(keras.callbacks.Callback):
    """Wall time of training, kept over restarts in a file."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.seconds = json.loads(path.read_text()) if path.exists() else 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self.start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.seconds += time.perf_counter() - self.start
        self.path.write_text(json.dumps(self.seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a folder of the zoo with a recipe.json")
    parser.add_argument("--data-dir", help="folder with the data set's files")
    parser.add_argument("--epochs", type=int, help="instead of the recipe's")
    parser.add_argument("--zoo", type=pathlib.Path, default=ZOO, help="where the preset goes")
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs"))
    parser.add_argument("--verbose", type=int, default=1)
    args = parser.parse_args()
    recipe = json.loads((ZOO / args.name / "recipe.json").read_text())
    recipe["epochs"] = args.epochs or recipe["epochs"]
    run = args.runs / args.name
    run.mkdir(parents=True, exist_ok=True)

    keras.utils.set_random_seed(recipe["seed"])
    train = vz.datasets.load(recipe["dataset"], data_dir=args.data_dir)
    test = vz.datasets.load(recipe["dataset"], split="test", data_dir=args.data_dir)
    model = build(recipe, train.shape)
    clock = Clock(run / "seconds.json")
    model.fit(
        train.as_tf(recipe["batch_size"], seed=recipe["seed"]),
        epochs=recipe["epochs"],
        verbose=args.verbose,
        callbacks=[
            keras.callbacks.BackupAndRestore(
                str(run / "backup"), double_checkpoint=True, delete_checkpoint=False
            ),
            keras.callbacks.CSVLogger(str(run / "log.csv"), append=True),
            clock,
        ],
    )
    result = vz.score(model, test, seed=0, samples=50, verbose=args.verbose)
    print(result)
    metadata = {
        "recipe": {**recipe, "backend": keras.backend.backend(), "seconds": round(clock.seconds)},
        "scores": result.to_dict(),
    }
    folder = args.zoo / args.name
    model.save_to_preset(folder, metadata)
    vz.plots.overview(model, test.images[:10]).savefig(folder / "overview.png", dpi=60)
    print(f"wrote {folder}")


if __name__ == "__main__":
    main()
