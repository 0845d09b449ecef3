"""The code that README shows is run as it stands there."""

import importlib
import pathlib
import re

import keras
import numpy as np

import keras_vaezoo as vz
from tests.models.methods import images, networks

ROOT = pathlib.Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block_with(text):
    """The Python block of the README that holds a piece of text."""
    found = [block for block in re.findall(r"```python\n(.*?)```", README, re.S) if text in block]
    assert len(found) == 1, text
    return found[0]


def test_a_method_of_ones_own(tmp_path):
    names = {"keras": keras, "vz": vz}
    exec(block_with("class SquaredMean"), names)
    model = names["SquaredMean"](*networks(), weight=3.0, seed=0)
    model.compile("adam")
    history = model.fit(images(16), epochs=2, verbose=0).history
    assert {"squared_mean", "squared_mean_weight", "kl", "elbo"} <= set(history)
    model.save(tmp_path / "own.keras")
    loaded = keras.saving.load_model(tmp_path / "own.keras")
    assert loaded.weight == 3.0
    np.testing.assert_array_equal(loaded.reconstruct(images(2)), model.reconstruct(images(2)))


def test_controllers_and_schedules():
    model = vz.VAE(*networks(), seed=0)
    model.compile("adam")
    names = {"vz": vz, "model": model, "images": images(16)}
    exec(block_with("PIDController").replace("epochs=20", "epochs=2, verbose=0"), names)
    assert model.loss_coefficients.enabled("kl")


def test_every_method_stands_in_the_table():
    for name in vz.models.__all__:
        assert f"| `{name}` |" in README, name


def test_the_zoo_obtains_what_the_tables_say(monkeypatch):
    monkeypatch.delenv("KERAS_VAEZOO_HOME", raising=False)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = importlib.import_module("zoo_tables")
    for table in (*module.tables(), module.gcvae_table()):
        assert table in README, "python examples/zoo_tables.py prints what belongs into README.md"
