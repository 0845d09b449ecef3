"""Draw the README's pictures from presets of the zoo.

python examples/pictures.py                        # Fashion-MNIST where it is found
python examples/pictures.py --data-dir FOLDER --out runs/pictures
"""

import argparse
import pathlib

import numpy as np

import keras_vaezoo as vz


def overview(test, model):
    return vz.plots.overview(model, test.images[:10])


def traversals(test, model):
    return vz.plots.traversals(model, test.images[:1000], n=6, base=3)


def embedding(test, model):
    names = np.array(test.label_names)[test.labels[:500]]
    return vz.plots.embedding(model, test.images[:500], names)


def wise_ale_posteriors(test, *models):
    """WiSE-ALE's Fig. 1, near the prior."""
    titles = ("WAE", "WiSE-ALE", "WiSE-ALE, weight 1", "AEVB", "beta-VAE (4)")
    codes = [model.encode(test.images[:64]) for model in models]
    labels = np.array(test.label_names)[test.labels[:64]]
    codes = dict(zip(titles, codes, strict=True))
    figure = vz.plots.embedding_comparison(codes, labels, columns=len(codes))
    for axes in figure.axes:
        axes.set(xlim=(-4, 4), ylim=(-4, 4))
    return figure


def wise_ale_sine_waves(test, *models):
    """WiSE-ALE's Fig. 5."""
    titles = ("AEVB", "beta-VAE (2)", "WiSE-ALE")
    named = dict(zip(titles, models, strict=True))
    return vz.plots.overview_comparison(named, test.images[:8], n=8)


PICTURES = {
    overview: ["vae_fashion_mnist_10d"],
    traversals: ["factor_vae_sprites_10d"],
    embedding: ["vae_fashion_mnist_2d"],
    wise_ale_posteriors: [
        f"{name}_fashion_mnist_2d"
        for name in ("wae", "wise_ale", "wise_ale_example", "vae", "beta_vae")
    ],
    wise_ale_sine_waves: [f"{name}_sine_waves" for name in ("vae", "beta_vae", "wise_ale")],
}


def write(figure, path):
    figure.savefig(path, dpi=80, bbox_inches="tight")
    print(f"wrote {path}, {path.stat().st_size / 1000:.0f} kB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", help="folder with the files of Fashion-MNIST")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/pictures"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    write(vz.plots.two_posteriors(), args.out / "two_posteriors.png")  # WiSE-ALE's Fig. 4
    for draw, presets in PICTURES.items():
        path = args.out / f"{draw.__name__}.png"
        recipe = vz.zoo.Recipe(**vz.presets()[presets[0]]["recipe"])
        try:
            test = recipe.load("test", args.data_dir if "mnist" in presets[0] else None)
        except FileNotFoundError as error:
            print(f"{error}\nWithout its data, {path} is not drawn.\n")
            continue
        write(draw(test, *map(vz.from_preset, presets)), path)


if __name__ == "__main__":
    main()
