"""Load a preset of the zoo, then encode, reconstruct and sample with it.

python examples/from_preset.py                                    # on samples of its own
python examples/from_preset.py vae_fashion_mnist_2d my_photos     # on your images
"""

import argparse
import pathlib

import numpy as np

import keras_vaezoo as vz


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("preset", nargs="?", default="vae_fashion_mnist_2d", help="name or path")
    parser.add_argument("folder", nargs="?", help="image files of any size")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/from_preset"))
    args = parser.parse_args()

    print(vz.presets())
    try:
        model = vz.from_preset(args.preset)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if args.folder is None:
        print("No folder given: samples of the model stand in for originals.")
        images = model.sample(10, seed=1)
    else:
        if len(model.input_shape) != 4:
            parser.error(f"{args.preset} is no model of images: leave the folder out.")
        height, width, channels = model.input_shape[1:]
        try:
            data = vz.datasets.from_folder(args.folder, size=(height, width), channels=channels)
        except (OSError, ValueError) as error:
            parser.error(str(error))
        rows = np.linspace(0, len(data) - 1, min(10, len(data)))  # over all sub-folders
        images = data.images[rows.astype(int)]

    codes = model.encode(images)
    rebuilt = model.reconstruct(images)
    new = model.sample(10, seed=0)
    print(f"codes of {model.latent_dim} dimensions, the first at {codes.mean[0].round(2)}")
    print(f"reconstructions {rebuilt.shape}, samples {new.shape}")

    args.out.mkdir(parents=True, exist_ok=True)
    picture = args.out / "overview.png"
    vz.plots.overview(model, images).savefig(picture)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
