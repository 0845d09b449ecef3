"""Train a VAE on real images, evaluate it, save it, load it again and draw what it does.

python examples/quickstart.py --method VAE --dataset fashion_mnist --epochs 3 --latent-dim 10
"""

import argparse
import pathlib

import keras
import numpy as np

import keras_vaezoo as vz

REQUIRED = {"ControlVAE": {"set_point": 18.0}}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="VAE", choices=vz.models.__all__)
    parser.add_argument(
        "--dataset", help="default: fashion_mnist where its files are found, else sprites"
    )
    parser.add_argument("--data-dir", help="folder with the data set's files")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--latent-dim", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/quickstart"))
    return parser.parse_args()


def load(name, data_dir, most=20_000):
    """Training and held-out images; a large grid is thinned to `most` images."""
    if name is None:
        try:
            return load("fashion_mnist", data_dir, most=60_000)
        except FileNotFoundError as error:
            print(f"{error}\nGoing on with sprites, which need no files.\n")
            return load("sprites", None, most)
    data = vz.datasets.load(name, data_dir=data_dir)
    rows = np.random.default_rng(0).permutation(len(data))[:most]
    train, test = data.take(np.sort(rows)).split(test_fraction=0.1)
    return train.as_numpy(), test.as_numpy()


def main():
    args = arguments()
    keras.utils.set_random_seed(args.seed)
    train, test = load(args.dataset, args.data_dir)
    print(f"{len(train)} training and {len(test)} held-out images of shape {train.shape[1:]}")

    encoder, decoder = vz.networks.autoencoder(train.shape[1:], args.latent_dim)
    method = getattr(vz, args.method)
    model = method(encoder, decoder, seed=args.seed, **REQUIRED.get(args.method, {}))
    model.compile(keras.optimizers.Adam(1e-3))
    model.fit(train, epochs=args.epochs, batch_size=args.batch_size, validation_data=(test,))
    scores = model.evaluate(test, batch_size=250, verbose=0, return_dict=True)
    print({name: round(value, 3) for name, value in scores.items()})

    args.out.mkdir(parents=True, exist_ok=True)
    model.save(args.out / "model.keras")
    loaded = keras.saving.load_model(args.out / "model.keras")
    difference = np.abs(loaded.reconstruct(test[:16]) - model.reconstruct(test[:16])).max()
    print(f"saved, loaded again, largest difference of a reconstruction: {difference:.1e}")
    picture = args.out / "overview.png"
    vz.plots.overview(loaded, test[:16]).savefig(picture)
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
