"""Files: across backends, guarded by a committed one, and refused when damaged."""

import importlib.util
import json
import pathlib
import shutil

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from tests.models.methods import build, images, networks
from tests.subprocesses import run

BACKENDS = ("tensorflow", "jax", "torch")
COMMITTED = pathlib.Path(__file__).parent / "data" / "committed_preset"


@pytest.mark.parametrize("writer", BACKENDS)
def test_file_of_every_backend_loads_here_and_trains_on(writer, tmp_path):
    if importlib.util.find_spec(writer) is None:
        pytest.skip(f"{writer} is not installed")
    run("write_model.py", tmp_path, backend=writer)
    expected = dict(np.load(tmp_path / "outputs.npz"))
    for path in (tmp_path / "model.keras", tmp_path / "preset"):
        model = keras.saving.load_model(path)
        np.testing.assert_allclose(
            model.reconstruct(images(4)), expected["reconstruction"], atol=1e-5
        )
        for field, value in model.loss_coefficients.slot("kl").items():
            assert value == pytest.approx(float(expected[field]), rel=1e-6), field
        if not model.compiled:
            model.compile("adam")
        history = model.fit(images(), batch_size=16, verbose=0).history
        assert np.isfinite(history["loss"]).all() and "kl_set_point" in history


def test_committed_preset_still_loads():
    model = vz.from_preset(COMMITTED)
    expected = np.load(COMMITTED / "reconstruction.npy")
    np.testing.assert_allclose(model.reconstruct(images(4)), expected, atol=1e-5)
    assert type(model) is vz.BetaVAE
    assert model.coefficients["kl"] == pytest.approx(0.5)
    assert model.loss_coefficients.enabled("kl")


def test_argument_wins_over_the_stored_coefficient():
    with pytest.raises(ValueError, match=r"release\('kl'\)"):
        vz.from_preset(COMMITTED, kl=2.0)
    assert vz.from_preset(COMMITTED, reconstruction=2.0).coefficients["reconstruction"] == 2.0


@pytest.fixture
def preset(tmp_path):
    shutil.copytree(COMMITTED, tmp_path / "preset")
    return tmp_path / "preset"


def test_one_flipped_bit_is_refused_with_both_checksums(preset):
    weights = preset / "model.weights.h5"
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    with pytest.raises(ValueError, match=r"Expected sha256 [0-9a-f]{64}, found [0-9a-f]{64}"):
        vz.from_preset(preset)


@pytest.mark.parametrize("name", ["config.json", "metadata.json", "model.weights.h5"])
def test_missing_file_is_named(preset, name):
    (preset / name).unlink()
    with pytest.raises(ValueError, match=f"has no file {name}"):
        vz.from_preset(preset)


def test_broken_json_is_named(preset):
    (preset / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"config\.json' is not valid JSON"):
        vz.from_preset(preset)


@pytest.mark.parametrize(("old", "new"), [('"Dense"', '"Lambda"'), ('"units"', '"unit"')])
def test_a_config_that_cannot_be_built_is_named(preset, old, new):
    config = (preset / "config.json").read_text()
    assert old in config
    (preset / "config.json").write_text(config.replace(old, new))
    with pytest.raises(ValueError, match=r"config\.json' does not describe a model"):
        vz.from_preset(preset)


FOREIGN = [
    {"module": "os", "class_name": "system", "config": {}, "registered_name": "keras_vaezoo>x"},
    {"module": "os", "class_name": "system", "config": {}, "registered_name": None},
    {"module": "builtins", "class_name": "function", "config": "eval", "registered_name": "x"},
    {"module": None, "class_name": "__lambda__", "config": {"value": ""}},
    {"module": "keras_evil", "class_name": "Dense", "config": {}, "registered_name": "Dense"},
]


@pytest.mark.parametrize("foreign", FOREIGN)
def test_foreign_class_is_refused_before_anything_runs(preset, foreign):
    config = json.loads((preset / "config.json").read_text())
    config["config"]["likelihood"] = foreign
    (preset / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="names a class of another package"):
        vz.from_preset(preset)


def test_another_class_is_refused(preset):
    with pytest.raises(ValueError, match=r"holds a BetaVAE, not a VAE.*from_preset"):
        vz.VAE.from_preset(preset)


def test_unknown_name_lists_the_zoo():
    with pytest.raises(ValueError, match=r"no preset 'nothing'. The zoo has \["):
        vz.from_preset("nothing")


def test_preset_replaces_an_older_one_and_leaves_nothing_else(tmp_path):
    for beta in (1.0, 2.0):
        build("BetaVAE", beta=beta).save_to_preset(tmp_path)
        assert vz.from_preset(tmp_path).coefficients["kl"] == beta
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["config.json", "metadata.json", "model.weights.h5"]


def test_the_weights_file_has_no_optimizer(tmp_path):
    model = build("VAE")
    model.compile("adam")
    model.fit(images(8), verbose=0)
    model.save_to_preset(tmp_path)
    import h5py

    with h5py.File(tmp_path / "model.weights.h5") as file:
        assert "optimizer" not in file
        assert sorted(file) == ["layers", "loss_coefficients", "sampling", "vars"], sorted(file)


def test_a_class_of_the_users_own_is_refused_when_saving(tmp_path):
    @keras.saving.register_keras_serializable("mine")
    class Own(keras.layers.Layer):
        def call(self, x):
            return x

    encoder, decoder = networks()
    decoder = keras.Sequential([decoder.input, Own(), decoder])
    model = vz.VAE(encoder, decoder)
    with pytest.raises(ValueError, match="mine>Own"):
        model.save_to_preset(tmp_path / "preset")
    assert not (tmp_path / "preset").exists()


@pytest.mark.parametrize("metadata", [{"a": np.float32(1)}, 3])
def test_metadata_that_json_cannot_hold_are_refused_before_anything_is_written(tmp_path, metadata):
    with pytest.raises(ValueError, match="metadata must be a dict of what JSON holds"):
        build("VAE").save_to_preset(tmp_path / "preset", metadata)
    assert not (tmp_path / "preset").exists()


def test_the_home_folder_is_meant_by_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    build("VAE").save_to_preset("~/mine")
    assert (tmp_path / "mine" / "config.json").exists()
    assert isinstance(vz.from_preset("~/mine"), vz.VAE)
    assert isinstance(vz.from_preset(pathlib.Path("~/mine")), vz.VAE)


@pytest.mark.parametrize("config", [{"class_name": "Functional", "module": "keras"}, {}])
def test_a_folder_of_another_kind_of_model_is_refused(tmp_path, config):
    build("VAE").save_to_preset(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "registered_name": None}))
    with pytest.raises(ValueError, match=f"holds a {config.get('class_name')}, not a BaseVAE"):
        vz.from_preset(tmp_path)
