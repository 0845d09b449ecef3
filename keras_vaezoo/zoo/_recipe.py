"""Recipe: all that a preset is trained and scored with, as JSON."""

import dataclasses
import hashlib
import json
import pathlib
import platform

import keras
import numpy as np

from keras_vaezoo import datasets, likelihoods, models, networks
from keras_vaezoo.evaluation import score
from keras_vaezoo.probe import Probe

_HASHED = 60_000
_BLOCK = 2048


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a preset is made of; `recipe.json` in its folder.

    Args:
        method: Name of the class, "BetaVAE".
        architecture: Name for `networks.autoencoder`.
        latent_dim: Number of latent dimensions.
        train, test: `{"dataset": name, "split": name}` of the data, with further options of
            `datasets.load` as "options", and in `test` "sample": number of rows drawn with seed 1.
        optimizer: Keras's config of the optimizer.
        batch_size: Examples in a batch.
        epochs: Passes over the data; or
        steps: Training steps, over the data again and again.
        seed: Seed of weights, order and noise. Default 0.
        method_arguments: Further arguments of the class; a controller as Keras's config of it.
        likelihood: Name, or Keras's config. Default: that of the class.
        score: Arguments of `keras_vaezoo.score`: samples, metrics. Default: none.
        probe: Whether a classifier is trained on the codes (`probe.Probe`). Default False.
    """

    method: str
    architecture: str
    latent_dim: int
    train: dict
    test: dict
    optimizer: dict
    batch_size: int
    epochs: int | None = None
    steps: int | None = None
    seed: int = 0
    method_arguments: dict = dataclasses.field(default_factory=dict)
    likelihood: str | dict | None = None
    score: dict = dataclasses.field(default_factory=dict)
    probe: bool = False

    def __post_init__(self):
        if (self.epochs is None) == (self.steps is None):
            raise ValueError(
                "A recipe needs either epochs or steps. Received: "
                f"epochs={self.epochs}, steps={self.steps}"
            )
        if self.method not in models.__all__:
            raise ValueError(
                f"A recipe's method must be one of {models.__all__}. Received: {self.method!r}"
            )

    @classmethod
    def read(cls, path):
        """The recipe in a JSON file."""
        return cls(**json.loads(pathlib.Path(path).read_text(encoding="utf-8")))

    def load(self, part, data_dir=None):
        """The data of "train" or "test": `datasets.Dataset`."""
        source = getattr(self, part)
        data = datasets.load(
            source["dataset"], source["split"], data_dir=data_dir, **source.get("options", {})
        )
        return data.sample(source["sample"], seed=1) if "sample" in source else data

    def model(self, input_shape):
        """The model before training, not compiled."""
        encoder, decoder = networks.autoencoder(
            input_shape, self.latent_dim, architecture=self.architecture
        )
        arguments = {name: _revived(value) for name, value in self.method_arguments.items()}
        if self.likelihood is not None:
            arguments["likelihood"] = likelihoods.get(_revived(self.likelihood))
        return getattr(models, self.method)(encoder, decoder, seed=self.seed, **arguments)

    def scores(self, model, data_dir=None, verbose=1):
        """What is measured on the test data, JSON-ready.

        Returns:
            `{"scores": ..., "test_sha256": ...}`, and with `probe` "probe_accuracy".
        """
        test = self.load("test", data_dir)
        result = score(model, test, seed=self.seed, verbose=verbose, **self.score)
        found = {"scores": result.to_dict(), "test_sha256": checksum(test)}
        if self.probe:
            train = self.load("train", data_dir)
            codes, labels = model.encode(train.images).mean, train.labels
            probe = Probe(seed=self.seed).fit(codes, labels)
            accuracy = probe.accuracy(model.encode(test.images).mean, test.labels)
            found["probe_accuracy"] = {"value": accuracy, "epochs": probe.epochs}
        return found


def environment():
    """Versions that a training ran on."""
    import keras_vaezoo

    backend = keras.backend.backend()
    return {
        "backend": backend,
        "python": platform.python_version(),
        "keras": keras.__version__,
        "keras_vaezoo": keras_vaezoo.__version__,
        "numpy": np.__version__,
        backend: __import__(backend).__version__,
    }


def checksum(data):
    """sha256 of a data set: of at most 60,000 evenly spaced examples as float32.

    Where real factors made the examples it is that of the factors: sine and noise differ in the
    last bit from one processor to the next.
    """
    computed = data.factors is not None and data.factor_sizes is None
    values = data.factors if computed else data.images
    rows = np.linspace(0, len(values) - 1, min(len(values), _HASHED)).astype(int)
    digest = hashlib.sha256(repr((len(values), tuple(values.shape[1:]))).encode())
    for start in range(0, len(rows), _BLOCK):
        block = np.asarray(values[rows[start : start + _BLOCK]], "<f4")
        digest.update(np.ascontiguousarray(block).data)
    return digest.hexdigest()


def _revived(value):
    """The object of a Keras config; other values as they are."""
    return keras.saving.deserialize_keras_object(value) if isinstance(value, dict) else value
