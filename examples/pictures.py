"""Draw the README's three pictures from presets of the zoo.

python examples/pictures.py                        # Fashion-MNIST where it is found, sprites anyway
python examples/pictures.py --data-dir FOLDER --out runs/pictures
"""

import argparse
import pathlib

import numpy as np

import keras_vaezoo as vz


def overview(model, test):
    return vz.plots.overview(model, test.images[:10])


def traversals(model, test):
    return vz.plots.traversals(model, test.images[:1000], n=6, base=3)


def embedding(model, test):
    names = np.array(test.label_names)[test.labels[:500]]
    return vz.plots.embedding(model, test.images[:500], names)


PICTURES = {
    overview: "vae_fashion_mnist_10d",
    traversals: "factor_vae_sprites_10d",
    embedding: "vae_fashion_mnist_2d",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", help="folder with the files of Fashion-MNIST")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/pictures"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for draw, preset in PICTURES.items():
        path = args.out / f"{draw.__name__}.png"
        recipe = vz.zoo.Recipe(**vz.presets()[preset]["recipe"])
        try:
            test = recipe.load("test", args.data_dir if "mnist" in preset else None)
        except FileNotFoundError as error:
            print(f"{error}\nWithout its data, {path} is not drawn.\n")
            continue
        draw(vz.from_preset(preset), test).savefig(path, dpi=80, bbox_inches="tight")
        print(f"wrote {path}, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
