"""A Gaussian VAE that learns its own sigma, and what sigma it should have learned.

For fixed networks the best sigma^2 is the mean squared residual E_q (x - decoder(z))^2: with sigma
learned, reconstruction and KL find their own balance and no beta has to be tuned.

    python examples/learned_sigma.py                     # Fashion-MNIST where its files are
    python examples/learned_sigma.py --dataset digits --epochs 30
"""

import argparse

import keras
import numpy as np

import keras_vaezoo as vz


def residual(model, images, seed=0):
    """Root mean squared residual under draws of z, not under its mean."""
    mean, log_variance = model.encode(images)
    noise = np.random.default_rng(seed).standard_normal(mean.shape)
    z = (mean + np.exp(log_variance / 2) * noise).astype("float32")
    return float(np.sqrt(np.mean((images - model.decode(z)) ** 2, dtype="float64")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="fashion_mnist")
    parser.add_argument("--data-dir")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--latent-dim", type=int, default=10)
    parser.add_argument("--images", type=int, default=20_000, help="images of an epoch")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)
    images = vz.datasets.load(args.dataset, data_dir=args.data_dir).images[: args.images]
    networks = vz.networks.autoencoder(images.shape[1:], args.latent_dim)
    likelihood = vz.likelihoods.Gaussian(sigma="scalar")
    model = vz.VAE(*networks, likelihood=likelihood, seed=args.seed)
    model.compile(keras.optimizers.Adam(1e-3))
    model.fit(images, batch_size=64, epochs=args.epochs)
    sigma = float(model.likelihood.current_scale())
    best = residual(model, images)
    print(f"learned sigma {sigma:.4f}, residual's standard deviation {best:.4f}: ratio ", end="")
    print(f"{sigma / best:.3f}")


if __name__ == "__main__":
    main()
