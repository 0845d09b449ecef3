"""From a folder of images to a trained model, reconstructions and samples.

python examples/own_images.py my_photos --size 64 --epochs 20
"""

import argparse
import pathlib

import keras

import keras_vaezoo as vz


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="PNG or JPEG files of any size")
    parser.add_argument("--size", type=int, default=64, help="side of the square crop in pixels")
    parser.add_argument("--channels", type=int, choices=(1, 3), default=3, help="grey or colour")
    parser.add_argument("--latent-dim", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--skip-broken", action="store_true", help="leave out unreadable files")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/own_images"))
    args = parser.parse_args()

    keras.utils.set_random_seed(0)
    data = vz.datasets.from_folder(
        args.folder,
        size=(args.size, args.size),
        channels=args.channels,
        on_error="skip" if args.skip_broken else "raise",
    )
    train, test = data.split(test_fraction=0.1, seed=0)
    print(f"{len(train)} training and {len(test)} test images of shape {data.shape}")

    encoder, decoder = vz.networks.autoencoder(data.shape, args.latent_dim)
    model = vz.VAE(encoder, decoder, seed=0)
    model.compile(keras.optimizers.Adam(1e-3))
    args.out.mkdir(parents=True, exist_ok=True)
    model.fit(
        train.as_pydataset(args.batch_size),
        epochs=args.epochs,
        validation_data=test.as_pydataset(args.batch_size, shuffle=False),
        callbacks=[
            keras.callbacks.BackupAndRestore(str(args.out / "backup"), double_checkpoint=True),
            keras.callbacks.CSVLogger(str(args.out / "log.csv"), append=True),
        ],
    )
    model.save(args.out / "model.keras")
    vz.plots.overview(model, test.images[:10]).savefig(args.out / "overview.png")
    vz.plots.history(args.out / "log.csv").savefig(args.out / "history.png")
    print(f"wrote model.keras, overview.png, history.png and log.csv to {args.out}")


if __name__ == "__main__":
    main()
