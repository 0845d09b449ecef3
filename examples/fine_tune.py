"""From a preset of the zoo to a model of your own images.

python examples/fine_tune.py vae_fashion_mnist_2d my_photos --epochs 5
python examples/fine_tune.py vae_fashion_mnist_2d my_photos --freeze encoder

Prints scores on held-out images before and after, and writes the new preset with a picture of
both. A stopped run goes on where it was.
"""

import argparse
import pathlib

import keras
import numpy as np
from argument_types import positive

import keras_vaezoo as vz

SHOWN = ("reconstruction", "kl", "elbo", "mse", "active_units")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("preset", help="a name in keras_vaezoo.presets(), or a preset's folder")
    parser.add_argument("folder", type=pathlib.Path, help="PNG or JPEG files of any size")
    parser.add_argument("--epochs", type=positive, default=5)
    parser.add_argument("--freeze", choices=("encoder", "decoder"), help="is left as it is")
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--batch-size", type=positive, default=64)
    parser.add_argument("--test-fraction", type=float, default=0.1, help="of images held out")
    parser.add_argument("--skip-broken", action="store_true", help="leave out unreadable files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", type=int, default=1, help="Keras's: 1 bars, 2 lines, 0 none")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/fine_tune"))
    return parser.parse_args()


def split_images(folder, model, args):
    """Training and held-out images, brought to the model's shape and range."""
    if len(model.input_shape) != 4:
        raise SystemExit(f"{args.preset} is no model of images: choose another preset.")
    height, width, channels = model.input_shape[1:]
    data = vz.datasets.from_folder(
        folder,
        size=(height, width),
        channels=channels,
        value_range=model.likelihood.value_range or (0.0, 1.0),
        on_error="skip" if args.skip_broken else "raise",
    )
    return data.split(args.test_fraction, args.seed)


def main():
    args = arguments()
    keras.utils.set_random_seed(args.seed)
    try:
        model = vz.from_preset(args.preset)
        train, test = split_images(args.folder, model, args)
    except (OSError, ValueError) as error:
        raise SystemExit(f"fine_tune.py: error: {error}") from None
    print(f"{len(train)} training and {len(test)} held-out images, brought to {train.shape}")
    parts = (pathlib.Path(args.preset).name, args.folder.resolve().name, args.freeze)
    out = args.out / "_".join(part for part in parts if part)
    out.mkdir(parents=True, exist_ok=True)

    rows = np.linspace(0, len(test) - 1, min(10, len(test)))  # files are sorted by folder
    shown = test.images[rows.astype(int)]
    before = vz.score(model, test, samples=10, verbose=0)
    vz.plots.overview(model, shown).savefig(out / "before.png")
    if args.freeze:
        getattr(model, args.freeze).trainable = False
    model.compile(keras.optimizers.Adam(args.learning_rate))
    model.fit(
        train.as_pydataset(args.batch_size, seed=args.seed),
        epochs=args.epochs,
        validation_data=test.as_pydataset(args.batch_size, shuffle=False),
        verbose=args.verbose,
        callbacks=[keras.callbacks.BackupAndRestore(str(out / "backup"), double_checkpoint=True)],
    )
    after = vz.score(model, test, samples=10, verbose=0)
    vz.plots.overview(model, shown).savefig(out / "after.png")
    print(f"\n{'held-out images':15}{'before':>12}{'after':>12}")
    for name in SHOWN:
        values = [getattr(result, name) for result in (before, after)]
        print(f"{name:15}" + "".join(f"{'-' if v is None else f'{v:.4f}':>12}" for v in values))

    if args.freeze:
        getattr(model, args.freeze).trainable = True
    scores = {"before": before.to_dict(), "after": after.to_dict()}
    model.save_to_preset(out, {"fine_tuned_from": args.preset, "scores": scores})
    print(f"wrote before.png, after.png and the preset to {out}; load it with")
    print(f"keras_vaezoo.from_preset(pathlib.Path({str(out)!r}))")


if __name__ == "__main__":
    main()
