"""Train a preset of the zoo from its recipe, score it, and write weights, scores and model card.

    python examples/train_preset.py vae_fashion_mnist_2d            # into zoo_weights/
    python examples/train_preset.py vae_fashion_mnist_2d --epochs 1 --zoo runs/zoo
    python examples/train_preset.py vae_fashion_mnist_2d --seed 1 --zoo runs/seed_1
    python examples/train_preset.py vae_fashion_mnist_2d --verify   # are the stored scores right?

A stopped run goes on where it was: its state lies in runs/zoo.
"""

import argparse
import copy
import dataclasses
import json
import pathlib
import time

import keras
from argument_types import positive
from preset_card import write_card

import keras_vaezoo as vz
from keras_vaezoo.close_names import did_you_mean
from keras_vaezoo.zoo import Recipe, checksum, environment

ZOO = pathlib.Path(__file__).parent.parent / "zoo_weights"
EPOCH = 500  # steps that count as an epoch where a recipe counts steps


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


def check_same_recipe(recipe, path):
    """Refuses to go on with a run of another recipe."""
    now = json.loads(json.dumps(dataclasses.asdict(recipe)))
    before = json.loads(path.read_text()) if path.exists() else now
    if before != now:
        changed = [name for name in now if now[name] != before.get(name)]
        raise SystemExit(f"{path.parent} holds a run with other {changed}: remove it first.")
    path.write_text(json.dumps(now, indent=2))


def trained(recipe, data, run, verbose):
    """The trained model of a recipe, and the seconds that it took."""
    keras.utils.set_random_seed(recipe.seed)
    model = recipe.model(data.shape)
    accelerated = {} if keras.backend.backend() == "torch" else {"steps_per_execution": 10}
    optimizer = keras.optimizers.get(copy.deepcopy(recipe.optimizer))  # get() changes the config
    model.compile(optimizer, jit_compile=False, **accelerated)
    if recipe.steps:
        length = min(EPOCH, recipe.steps)
        plan = {"epochs": recipe.steps // length, "steps_per_epoch": length}
    else:
        plan = {"epochs": recipe.epochs}
    backup = keras.callbacks.BackupAndRestore(
        str(run / "backup"), double_checkpoint=True, delete_checkpoint=False
    )
    log = keras.callbacks.CSVLogger(str(run / "log.csv"), append=True)
    clock = Clock(run / "seconds.json")
    batches = data.as_tf(recipe.batch_size, seed=recipe.seed, repeat=bool(recipe.steps))
    model.fit(batches, callbacks=[backup, log, clock], verbose=verbose, **plan)
    return model, clock.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a folder of the zoo with a recipe.json")
    parser.add_argument("--data-dir", help="folder with the data set's files")
    parser.add_argument("--epochs", type=positive, help="instead of the recipe's epochs or steps")
    parser.add_argument("--seed", type=int, help="instead of the recipe's seed")
    parser.add_argument("--zoo", type=pathlib.Path, default=ZOO, help="where the preset goes")
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs/zoo"))
    parser.add_argument("--verify", action="store_true", help="only compute the scores again")
    parser.add_argument("--verbose", type=int, default=1)
    args = parser.parse_args()
    if args.verify:
        try:
            print(vz.zoo.verify(args.name, args.data_dir, verbose=args.verbose))
        except (OSError, ValueError) as error:
            parser.error(str(error))
        return
    known = sorted(path.parent.name for path in ZOO.glob("*/recipe.json"))
    if args.name not in known:
        hint = did_you_mean(args.name, known, n=3) or f"There are: {', '.join(known)}"
        parser.error(f"there is no recipe {args.name!r}. {hint}")
    recipe = Recipe.read(ZOO / args.name / "recipe.json")
    if args.epochs:
        recipe = dataclasses.replace(recipe, epochs=args.epochs, steps=None)
    if args.seed is not None:
        recipe = dataclasses.replace(recipe, seed=args.seed)
    if recipe.steps and recipe.steps % min(EPOCH, recipe.steps):
        parser.error(f"a recipe's steps must be below {EPOCH} or a multiple of it: {recipe.steps}")
    data = recipe.load("train", args.data_dir)
    named = f"{args.name}_{recipe.epochs or recipe.steps}"
    run = args.runs / (named if args.seed is None else f"{named}_seed_{args.seed}")
    run.mkdir(parents=True, exist_ok=True)
    check_same_recipe(recipe, run / "recipe.json")
    model, seconds = trained(recipe, data, run, args.verbose)
    metadata = {
        "recipe": dataclasses.asdict(recipe),
        "training": {**environment(), "seconds": round(seconds), "train_sha256": checksum(data)},
        **recipe.scores(model, args.data_dir, args.verbose),
    }
    model.save_to_preset(args.zoo / args.name, metadata)
    test = recipe.load("test", args.data_dir)
    write_card(args.zoo / args.name, model, test, run / "log.csv")
    print(f"wrote {args.zoo / args.name}")


if __name__ == "__main__":
    main()
