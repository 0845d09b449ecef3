"""Disentanglement of a VAE and a beta-VAE on sprites, whose true factors are known.

Trains both, prints for each a table of likelihoods, codes and disentanglement scores with their
intervals, and draws what each latent dimension changes, the most informative one first:

    python examples/disentanglement.py --steps 3000
"""

import argparse
import pathlib

import keras
from argument_types import positive

import keras_vaezoo as vz

METRICS = {
    "mig": {},
    "modularity": {},
    "jemmig": {},
    "sap": {"estimator": "r2"},
    "factor_vae_score": {},
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=positive, default=3000, help="training steps of each model")
    parser.add_argument("--beta", type=float, default=4.0)
    parser.add_argument("--latent-dim", type=positive, default=10)
    parser.add_argument("--images", type=positive, default=10_000, help="fresh sprites to score on")
    parser.add_argument("--samples", type=positive, default=10, help="draws of z of the likelihood")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/disentanglement"))
    return parser.parse_args()


def trained(method, options, sprites, **coefficients):
    """A model on Burgess's network, trained for `options.steps` batches of 64."""
    keras.utils.set_random_seed(options.seed)
    encoder, decoder = vz.networks.autoencoder(sprites.shape, options.latent_dim, "burgess")
    model = method(encoder, decoder, seed=options.seed, **coefficients)
    backend = keras.backend.backend()
    model.compile(
        keras.optimizers.Adam(5e-4),
        jit_compile=backend == "jax",
        steps_per_execution=1 if backend == "torch" else 10,
    )
    batches = sprites.sample(64 * options.steps, seed=options.seed).as_pydataset(64)
    model.fit(batches, verbose=2)
    return model


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    sprites = vz.datasets.load("sprites")
    fresh = sprites.sample(options.images, seed=options.seed + 1)
    models = {
        "vae": trained(vz.VAE, options, sprites),
        "beta_vae": trained(vz.BetaVAE, options, sprites, beta=options.beta),
    }
    for name, model in models.items():
        result = vz.score(
            model, fresh, METRICS, seed=options.seed, samples=options.samples, verbose=2
        )
        print(f"\n{result}\n")
        result.to_json(options.out / f"{name}.json")
        picture = options.out / f"{name}_traversals.png"
        vz.plots.traversals(model, fresh.images[:500]).savefig(picture)
        print(f"wrote {picture}")


if __name__ == "__main__":
    main()
