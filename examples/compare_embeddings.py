"""Methods side by side on the WiSE-ALE paper's 2-D network: its Fig. 1, its Fig. 4 and a table.

    python examples/compare_embeddings.py --dataset fashion_mnist --epochs 30

All have the same network, initial weights and Bernoulli likelihood, so that nats compare, and
each method's own coefficients. beta-VAE at 1/64 stands beside WiSE-ALE because that is what
WiSE-ALE is at batch size 64 where posteriors do not overlap. A stopped run goes on where it was.
"""

import argparse
import functools
import pathlib

import keras
import numpy as np
from argument_types import positive

import keras_vaezoo as vz

BATCH = 64
COLUMNS = ("reconstruction", "kl", "elbo", "aggregate_kl", "active_units", "mse")


def factor_vae(*networks, **arguments):
    """FactorVAE with a discriminator that is small, as the codes have two dimensions."""
    small = vz.networks.discriminator(2, hidden=(200,) * 3)
    return vz.FactorVAE(*networks, discriminator=small, **arguments)


METHODS = {
    "WAE": functools.partial(vz.WAE, stochastic=True),
    "WiSE-ALE": vz.WiSEALE,
    "AEVB": vz.VAE,
    "beta-VAE (4)": functools.partial(vz.BetaVAE, beta=4.0),
    "beta-VAE (1 of 64)": functools.partial(vz.BetaVAE, beta=1 / BATCH),
    "WiSE-ALE (weight 1)": functools.partial(vz.WiSEALE, kl_weight="example"),
    "InfoVAE": vz.InfoVAE,
    "mu-VAE": vz.MuVAE,
    "FactorVAE": factor_vae,
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="fashion_mnist", choices=("mnist", "fashion_mnist"))
    parser.add_argument("--data-dir", help="folder with the data set's files")
    parser.add_argument("--epochs", type=positive, default=30)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", type=int, default=1, help="Keras's: 1 bars, 2 lines, 0 none")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/embeddings"))
    return parser.parse_args()


def trained(name, options, train, folder):
    """The model of a method: loaded if it is there, else trained or trained on."""
    file = folder / "model.keras"
    if file.exists():
        return keras.saving.load_model(file, compile=False)
    print(f"\n{name}")
    keras.utils.set_random_seed(options.seed)
    pair = vz.networks.autoencoder(train.shape, latent_dim=2, architecture="wise_ale_mnist")
    model = METHODS[name](*pair, likelihood="bernoulli", seed=options.seed)
    several = 1 if keras.backend.backend() == "torch" else 10
    on_jax = keras.backend.backend() == "jax"
    model.compile(keras.optimizers.Adam(1e-3), jit_compile=on_jax, steps_per_execution=several)
    resume = keras.callbacks.BackupAndRestore(str(folder / "backup"), double_checkpoint=True)
    batches = train.as_pydataset(BATCH, seed=options.seed)
    model.fit(batches, epochs=options.epochs, verbose=options.verbose, callbacks=[resume])
    model.save(file)
    return model


def main():
    options = arguments()
    out = options.out / f"{options.dataset}_{options.epochs}_epochs_seed_{options.seed}"
    load = functools.partial(vz.datasets.load, options.dataset, data_dir=options.data_dir)
    train, test = load(split="train"), load(split="test")
    shown = np.random.default_rng(options.seed).choice(len(test), 64, replace=False)
    codes, table = {}, [f"{'nats':20}" + "".join(f"{column:>15}" for column in COLUMNS)]
    for name in options.methods:
        folder = out / name.replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        model = trained(name, options, train, folder)
        result = vz.score(model, test, samples=10, seed=options.seed, verbose=0)
        result.to_json(folder / "scores.json")
        table.append(f"{name:20}" + "".join(f"{getattr(result, c):15.4f}" for c in COLUMNS))
        codes[name] = model.encode(test.images[shown])
    print(f"\n{options.dataset}, {options.epochs} epochs, {len(test):,} test images")
    print("\n".join(table))
    posteriors = vz.plots.embedding_comparison(codes, test.labels[shown], columns=3)
    posteriors.savefig(out / "fig1_posteriors.png")
    for axes in posteriors.axes:
        axes.set(xlim=(-4, 4), ylim=(-4, 4))
    posteriors.savefig(out / "fig1_near_the_prior.png")
    vz.plots.two_posteriors().savefig(out / "fig4_two_posteriors.png")
    print(f"wrote three pictures into {out}")


if __name__ == "__main__":
    main()
