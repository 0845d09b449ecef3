"""The examples run as a user runs them, at a tiny size and on files made here."""

import dataclasses
import importlib
import json
import os
import pathlib
import re
import sys
import types

import keras
import numpy as np
import pytest
from PIL import Image

import keras_vaezoo as vz

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.py") if "__main__" in p.read_text(encoding="utf-8"))
PRESET = "vae_mnist_2d"


@pytest.fixture
def photos(tmp_path):
    """A folder of 40 grey PNG files, 28x28, in two sub-folders: bright squares at random places."""
    rng = np.random.default_rng(0)
    for number in range(40):
        image = np.zeros((28, 28), "uint8")
        top, left = rng.integers(2, 16, size=2)
        image[top : top + 10, left : left + 10] = 255
        path = tmp_path / "photos" / "ab"[number % 2] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path)
    return tmp_path / "photos"


@pytest.fixture
def example(monkeypatch):
    """Imports an example by its name; its folder is where Python looks when it is run."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


@pytest.fixture
def run_example(example, monkeypatch):
    """Runs an example's `main` with the arguments of a command line."""

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *map(str, arguments)])
        example(name).main()

    return run


def test_quickstart(run_example, tmp_path):
    small = ("--dataset", "digits", "--epochs", 1, "--latent-dim", 2)
    run_example("quickstart", *small, "--method", "ControlVAE", "--out", tmp_path)
    assert (tmp_path / "overview.png").stat().st_size > 5000
    model = keras.saving.load_model(tmp_path / "model.keras")
    assert isinstance(model, vz.ControlVAE) and model.sample(2).shape == (2, 8, 8, 1)


def test_own_images(run_example, photos, tmp_path):
    small = ("--size", 16, "--channels", 1, "--latent-dim", 2, "--epochs", 1)
    run_example("own_images", photos, *small, "--out", tmp_path)
    assert {"model.keras", "overview.png", "history.png", "log.csv"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_fine_tune(run_example, photos, tmp_path):
    options = ("--epochs", 2, "--batch-size", 8, "--learning-rate", 0.01, "--freeze", "encoder")
    run_example("fine_tune", PRESET, photos, *options, "--out", tmp_path / "out")
    folder = tmp_path / "out" / f"{PRESET}_photos_encoder"
    before, after = vz.from_preset(PRESET), vz.from_preset(folder)
    for old, new in zip(before.encoder.get_weights(), after.encoder.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    assert len(after.trainable_variables) == len(before.trainable_variables)
    scores = json.loads((folder / "metadata.json").read_text())["scores"]
    assert scores["before"]["settings"]["examples"] == 4
    assert scores["after"]["elbo"] > scores["before"]["elbo"] + 10
    assert (folder / "before.png").exists() and (folder / "after.png").exists()


def test_from_preset(run_example, photos, tmp_path):
    run_example("from_preset", PRESET, photos, "--out", tmp_path)
    assert (tmp_path / "overview.png").stat().st_size > 5000


def test_compare_methods(run_example, tmp_path):
    options = ("--images", 200, "--architecture", "mlp", "--latent-dim", 2, "--epochs", 1)
    methods = ("--methods", "VAE", "--seeds", 0, 1)
    run_example("compare_methods", *options, *methods, "--out", tmp_path)
    folder = tmp_path / "digits_mlp_2_bernoulli_1_64_200"
    report = json.loads((folder / "report.json").read_text())
    runs = [report["runs"]["VAE"][seed] for seed in ("0", "1")]
    assert runs[0] != runs[1] and (report["train"], report["test"]) == (180, 20)
    for one in runs:
        assert one["elbo"] == pytest.approx(-one["reconstruction"] - one["kl"])
    assert {"rate_distortion.png", "overview.png", "report.md"} <= set(os.listdir(folder))
    model = keras.saving.load_model(folder / "VAE" / "seed_1" / "model.keras")
    assert model.latent_dim == 2


def test_a_run_of_another_recipe_is_not_gone_on_with(example, tmp_path):
    check = example("train_preset").check_same_recipe
    recipe = vz.zoo.Recipe.read(EXAMPLES.parent / "zoo_weights" / PRESET / "recipe.json")
    check(recipe, tmp_path / "recipe.json")
    check(recipe, tmp_path / "recipe.json")
    with pytest.raises(SystemExit, match=r"a run with other \['seed'\]: remove it first"):
        check(dataclasses.replace(recipe, seed=7), tmp_path / "recipe.json")


def test_train_preset_with_another_seed(example, run_example, monkeypatch, tmp_path):
    digits = {"dataset": "digits", "split": "all"}
    recipe = {"method": "VAE", "architecture": "mlp", "latent_dim": 2, "train": digits}
    recipe |= {"test": {**digits, "sample": 100}, "optimizer": {"class_name": "Adam", "config": {}}}
    recipe |= {"batch_size": 256, "epochs": 2, "score": {"samples": 1}}
    (tmp_path / "zoo" / "small").mkdir(parents=True)
    (tmp_path / "zoo" / "small" / "recipe.json").write_text(json.dumps(recipe))
    monkeypatch.setattr(example("train_preset"), "ZOO", tmp_path / "zoo")
    common = ("small", "--epochs", 1, "--verbose", 0, "--runs", tmp_path / "runs")
    elbos = set()
    for seed in (0, 3, 3):
        run_example("train_preset", *common, "--seed", seed, "--zoo", tmp_path / f"seed_{seed}")
        metadata = json.loads((tmp_path / f"seed_{seed}/small/metadata.json").read_text())
        assert metadata["recipe"]["seed"] == seed and metadata["recipe"]["epochs"] == 1
        elbos.add(metadata["scores"]["elbo"])
        assert vz.from_preset(tmp_path / f"seed_{seed}/small").latent_dim == 2
    assert len(elbos) == 2
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {
        "small_1_seed_0",
        "small_1_seed_3",
    }


def test_a_preset_to_train_is_named_rightly(run_example, capsys):
    for arguments, message in (
        (("vae_mnist2d",), "Did you mean 'vae_mnist_2d'"),
        (("beta",), "There are: beta_vae_fashion_mnist_10d, "),
        (("vae_mnist2d", "--verify"), "There is no preset 'vae_mnist2d'"),
    ):
        with pytest.raises(SystemExit):
            run_example("train_preset", *arguments)
        assert message in capsys.readouterr().err


def test_steps_make_whole_epochs(run_example, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run_example("gcvae_sprites", "--steps", 700, "--out", tmp_path)
    assert "a multiple of it. Received: 700" in capsys.readouterr().err
    assert not os.listdir(tmp_path)


def test_a_folder_needs_a_model_of_images(run_example, tmp_path, capsys):
    for name in ("from_preset", "fine_tune"):
        with pytest.raises(SystemExit) as stopped:
            run_example(name, "vae_sine_waves", tmp_path, "--out", tmp_path / "out")
        said = str(stopped.value) + capsys.readouterr().err
        assert "vae_sine_waves is no model of images" in said


SMALL = ("--architecture", "mlp", "--scored", 2000, "--verbose", 0)


def test_gcvae_sprites(run_example, tmp_path, capsys):
    many = ("--latent-dims", 2, 3, "--seeds", 0, 1)
    options = (*SMALL, "--steps", 2, *many, "--models", "GCVAE-II")
    run_example("gcvae_sprites", *options, "--out", tmp_path)
    found = set(os.listdir(tmp_path / "pictures_nats_2_0"))
    assert {
        "fig4_losses_and_metrics.png",
        "fig5_latent_dimensions.png",
        "fig6_training.png",
    } < found
    assert "controllers_GCVAE-II_3.png" in found
    assert (tmp_path / "nats_mlp_2_3_0" / "fig2_generation.png").exists()
    first = capsys.readouterr().out
    run_example("gcvae_sprites", *options, "--out", tmp_path)
    again = capsys.readouterr().out
    assert first[first.index("\nnats") :] == again[again.index("\nnats") :]
    assert first.count("| GCVAE-II | ") == 2 and "beta 0." in first


def test_gcvae_sprites_gives_mean_and_spread_over_seeds(example):
    spread = example("gcvae_sprites").spread
    assert spread([1.0, 2.0, 4.5], 2) == "2.50 ± 1.80"
    assert spread([1.25], 1) == "1.2"


def test_stopping_study(run_example, tmp_path, capsys):
    options = (*SMALL, "--models", "II", "--latent-dim", 2)
    run_example("stopping_study", *options, "--epochs", 2, "--seeds", 0, 1, "--out", tmp_path)
    files = [tmp_path / f"results_mlp_2_2_2000_{seed}.json" for seed in (0, 1)]
    first, second = (json.loads(file.read_text())["II"]["none"] for file in files)
    assert first["epoch"] == 2 and 0 <= first["mig"] <= 1
    assert first["kl"] != second["kl"]
    printed = capsys.readouterr().out
    for seed, found in enumerate((first, second)):
        assert f"| GCVAE-II | {seed} | none | 2 | {found['reconstruction']:.1f} |" in printed


@pytest.mark.parametrize("number", ["0", "-1", "1.5"])
@pytest.mark.parametrize(
    "command",
    [
        ("stopping_study", "--epochs"),
        ("gcvae_sprites", "--latent-dims"),
        ("compare_methods", "--images"),
        ("train_preset", PRESET, "--epochs"),
        ("fine_tune", PRESET, ".", "--batch-size"),
    ],
    ids=lambda command: command[0],
)
def test_counts_are_whole_numbers_from_1(run_example, capsys, command, number):
    with pytest.raises(SystemExit):
        run_example(*command, number)
    wanted = f"argument {command[-1]}: must be a whole number from 1. Received: {number!r}"
    assert wanted in capsys.readouterr().err


def test_an_unknown_data_set_is_answered_without_a_traceback(run_example, capsys):
    with pytest.raises(SystemExit):
        run_example("compare_methods", "--dataset", "nope")
    assert "Valid names: celeb_a, digits" in capsys.readouterr().err


def test_a_wrong_preset_or_folder_is_answered_without_a_traceback(run_example, tmp_path, capsys):
    for name in ("from_preset", "fine_tune"):
        for arguments, message in (
            (("vae_fashion_mnist2d", tmp_path), "vae_fashion_mnist_2d"),
            ((PRESET, tmp_path / "nothing"), "nothing"),
        ):
            with pytest.raises(SystemExit) as stopped:
                run_example(name, *arguments, "--out", tmp_path / "out")
            assert message in str(stopped.value) + capsys.readouterr().err


def test_each_rule_notes_its_own_epoch(example):
    watch = example("stopping_study").Watch(
        {"a": Rule(2), "b": Rule(4)}, lambda model: {"mig": 0.5}
    )
    watch.set_model(types.SimpleNamespace(stop_training=False))
    watch.on_train_begin()
    for epoch in range(6):
        watch.on_epoch_end(epoch)
        assert not watch.model.stop_training
    assert watch.found == {"a": {"epoch": 3, "mig": 0.5}, "b": {"epoch": 5, "mig": 0.5}}


class Rule(keras.callbacks.Callback):
    """Stops at the end of one epoch, counted from 0."""

    def __init__(self, last):
        super().__init__()
        self.last = last

    def on_train_begin(self, logs=None):
        self.stopped_epoch = None

    def on_epoch_end(self, epoch, logs=None):
        if epoch == self.last:
            self.stopped_epoch, self.model.stop_training = epoch, True


COMPARED = ["--methods", "VAE", "BetaVAE:beta=2", "--seeds", "0", "1", "--architecture", "mlp"]


def test_compare_methods_goes_on_where_it_was_stopped(example, monkeypatch, tmp_path, capsys):
    module, done = example("compare_methods"), []

    def stand_in(model, seed, train, test, args, folder):
        if len(done) == 3 and "stopped" not in done:
            done.append("stopped")
            raise KeyboardInterrupt
        done.append((model.coefficients["kl"], seed))
        folder.mkdir(parents=True)
        model.save(folder / "model.keras")
        kl = None if model.coefficients["kl"] == 2.0 else 3.0
        return {"reconstruction": 20.0 + 2 * seed, "kl": kl}

    monkeypatch.setattr(module, "run", stand_in)
    monkeypatch.setattr(sys, "argv", ["compare_methods.py", *COMPARED, "--out", str(tmp_path)])
    with pytest.raises(KeyboardInterrupt):
        module.main()
    module.main()
    assert done == [(1.0, 0), (2.0, 0), (1.0, 1), "stopped", (2.0, 1)]
    printed = capsys.readouterr().out
    assert "| VAE            | 21.000 ± 1.414 | 3.000 ± 0.000 |" in printed
    assert "| BetaVAE:beta=2 | 21.000 ± 1.414 | -             |" in printed


def test_compare_methods_names_what_a_method_requires(example):
    completed = example("compare_methods").completed
    assert completed("ControlVAE") == "ControlVAE:set_point=18.0"
    assert completed("ControlVAE:set_point=5") == "ControlVAE:set_point=5"
    assert completed("ControlVAE:ki=0.005") == "ControlVAE:ki=0.005,set_point=18.0"
    assert completed("VAE") == "VAE"


@pytest.mark.parametrize(
    "method, message",
    [
        ("Vae", "Vae: the methods are GCVAE, VAE"),
        ("BetaVAE:bet=2", "BetaVAE:bet=2: .*no argument 'bet'. Did you mean 'beta'"),
        ("InfoVAE:lambda_=high", "InfoVAE:lambda_=high: lambda_ must be .*Received: .*'high'"),
        ("InfoVAE:lambda_", "InfoVAE:lambda_: lambda_ must be .*Received: .*''"),
    ],
)
def test_compare_methods_checks_all_before_it_starts(
    method, message, example, monkeypatch, tmp_path, capsys
):
    out = tmp_path / "out"
    argv = ["compare_methods.py", "--methods", "VAE", method, "--out", str(out)]
    monkeypatch.setattr(sys, "argv", argv)
    with pytest.raises(SystemExit):
        example("compare_methods").main()
    error = " ".join(capsys.readouterr().err.split())
    assert not out.exists()
    assert re.search(message, error), error


def test_pictures_of_missing_files_are_left_out(run_example, tmp_path, monkeypatch, capsys):
    load = vz.datasets.load

    def without_files(name, *arguments, **options):
        if name != "sprites":
            raise FileNotFoundError(f"no {name}")
        return load(name, *arguments, **options)

    monkeypatch.setattr(vz.datasets, "load", without_files)
    run_example("pictures", "--out", tmp_path)
    assert set(os.listdir(tmp_path)) == {"traversals.png", "two_posteriors.png"}
    assert capsys.readouterr().out.count("no fashion_mnist") == 3


def test_sprites_stand_in_for_missing_files(example, tmp_path, monkeypatch):
    asked = []

    def load(name, data_dir=None):
        asked.append(name)
        if name != "sprites":
            raise FileNotFoundError(name)
        assert data_dir is None
        return vz.datasets.from_arrays(np.zeros((20, 4, 4, 1), "float32"))

    monkeypatch.setattr(vz.datasets, "load", load)
    train, test = example("quickstart").load(None, str(tmp_path))
    assert asked == ["fashion_mnist", "sprites"] and (len(train), len(test)) == (18, 2)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_imports_and_says_how_it_is_run(name, example):
    assert f"python examples/{name}.py" in example(name).__doc__


def test_a_card_of_data_without_labels(example, tmp_path):
    sprites = vz.datasets.load("sprites").sample(20, seed=0)
    model = vz.VAE(*vz.networks.autoencoder(sprites.shape, 2, "mlp"))
    drawn = list(example("preset_card")._drawn(tmp_path, model, sprites, None))
    assert sprites.labels is None and any("embedding.png" in line for line in drawn)
    assert (tmp_path / "embedding.png").exists()
