"""Draw the README's three pictures from models that are trained in a minute or two.

python examples/pictures.py                     # Fashion-MNIST where it is found, else sprites
python examples/pictures.py --dataset digits --out runs/pictures
"""

import argparse
import pathlib
import time

import keras
import numpy as np

import keras_vaezoo as vz


def load(name, data_dir):
    """Training and test examples; a large grid is thinned to 60,000 images."""
    if name is None:
        try:
            return load("fashion_mnist", data_dir)
        except FileNotFoundError as error:
            print(f"{error}\nGoing on with sprites, which need no files.\n")
            return load("sprites", None)
    data = vz.datasets.load(name, data_dir=data_dir)
    rows = np.random.default_rng(0).permutation(len(data))[:60_000]
    return data.take(np.sort(rows)).split(test_fraction=0.1)


def trained(train, steps, latent_dim, hidden):
    """A VAE after about that many steps."""
    keras.utils.set_random_seed(0)
    encoder, decoder = vz.networks.autoencoder(train.shape, latent_dim, "mlp", hidden=hidden)
    model = vz.VAE(encoder, decoder, seed=0)
    accelerated = {} if keras.backend.backend() == "torch" else {"steps_per_execution": 10}
    model.compile(keras.optimizers.Adam(1e-3), jit_compile=False, **accelerated)
    epochs = max(1, round(steps * 128 / len(train)))
    model.fit(train.as_numpy(), batch_size=128, epochs=epochs, verbose=2)
    return model


def class_names(data):
    """The name of each example's class, or its first factor."""
    if data.labels is None:
        return data.factors[:, 0]
    return np.array(data.label_names)[data.labels]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", choices=["fashion_mnist", "mnist", "digits", "sprites"])
    parser.add_argument("--data-dir", help="folder with the data set's files")
    parser.add_argument("--steps", type=int, default=4000, help="of training, for each model")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/pictures"))
    args = parser.parse_args()
    start = time.perf_counter()
    train, test = load(args.dataset, args.data_dir)
    images = test.images[:1000]

    deep = trained(train, args.steps, latent_dim=10, hidden=(400,))
    flat = trained(train, args.steps, latent_dim=2, hidden=(400, 200))
    figures = {
        "overview": vz.plots.overview(deep, images),
        "traversals": vz.plots.traversals(deep, images, n=6, base=1),
        "embedding": vz.plots.embedding(flat, images[:500], class_names(test)[:500]),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        path = args.out / f"{name}.png"
        figure.savefig(path, dpi=80, bbox_inches="tight")
        print(f"wrote {path}, {path.stat().st_size / 1000:.0f} kB")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
