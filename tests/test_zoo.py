"""The zoo: what is listed, loaded and verified."""

import json
import pathlib
import shutil

import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo import preset_listing
from keras_vaezoo.preset_listing import zoo_directory
from keras_vaezoo.zoo import Recipe, checksum

DIGITS = {"dataset": "digits", "split": "all"}
RECIPE = Recipe(
    method="BetaVAE",
    method_arguments={"beta": 2.0},
    architecture="mlp",
    latent_dim=3,
    train=DIGITS,
    test={**DIGITS, "sample": 300},
    optimizer={"class_name": "Adam", "config": {"learning_rate": 1e-3}},
    batch_size=64,
    epochs=1,
    score={"samples": 2, "metrics": ["mig"]},
    probe=True,
)
FOLDERS = sorted(path.parent for path in zoo_directory().glob("*/config.json"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a zoo with one preset, untrained, and its metadata."""
    home = tmp_path_factory.mktemp("home")
    model = RECIPE.model((8, 8, 1))
    metadata = {"recipe": RECIPE.__dict__, **RECIPE.scores(model, verbose=0)}
    model.save_to_preset(home / "beta_vae_digits", metadata)
    return home


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    """A copy of it, in $KERAS_VAEZOO_HOME."""
    shutil.copytree(made, tmp_path / "zoo")
    monkeypatch.setenv("KERAS_VAEZOO_HOME", str(tmp_path / "zoo"))
    return tmp_path / "zoo"


def edit(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_the_folder_of_the_environment_is_listed_behind_the_packages(home):
    assert "beta_vae_digits" in vz.presets()
    assert set(vz.presets()) == {path.name for path in FOLDERS} | {"beta_vae_digits"}
    assert isinstance(vz.from_preset("beta_vae_digits"), vz.BetaVAE)
    row = next(line for line in str(vz.presets()).splitlines() if "beta_vae_digits" in line)
    elbo = vz.presets()["beta_vae_digits"]["scores"]["elbo"]
    data = ["beta_vae_digits", "BetaVAE", "digits", "(all)", "3", "Bernoulli", f"{-elbo:.1f}"]
    assert row.split()[:7] == data


def test_presets_of_a_class(home):
    assert "beta_vae_digits" in vz.BetaVAE.presets
    assert "beta_vae_digits" not in vz.VAE.presets
    assert set(vz.models.BaseVAE.presets) == set(vz.presets())


def test_unknown_names_are_answered_with_close_ones(home):
    with pytest.raises(ValueError, match="Did you mean 'beta_vae_digits'"):
        vz.from_preset("betavae_digits")
    with pytest.raises(ValueError, match=r"There is no preset '\.\.'"):
        vz.from_preset("..")


def test_a_recipe_without_weights_and_a_missing_folder_are_told_apart(monkeypatch, tmp_path):
    monkeypatch.setattr(preset_listing, "zoo_directory", lambda: tmp_path)
    (tmp_path / "planned").mkdir()
    (tmp_path / "planned" / "recipe.json").write_text("{}")
    with pytest.raises(
        ValueError, match=r"no weights yet: run python examples/train_preset.py pla"
    ):
        vz.from_preset("planned")
    with pytest.raises(ValueError, match=r"no preset's folder '/.*mine'"):
        vz.from_preset("./mine")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.json", "{"),
        ("config.json", "[]"),
        ("metadata.json", "\xff"),
        ("metadata.json", '{"recipe": 3}'),
        ("metadata.json", '{"scores": {"elbo": "high"}}'),
    ],
)
def test_a_broken_preset_does_not_hide_the_others(home, name, text):
    shutil.copytree(home / "beta_vae_digits", home / "broken")
    (home / "broken" / name).write_text(text, encoding="latin-1")
    with pytest.warns(UserWarning, match="broken.* is left out: its files are damaged"):
        found = vz.presets()
    assert "beta_vae_digits" in found and "broken" not in found and str(found)


def test_metadata_cannot_name_another_class(home):
    edit(home / "beta_vae_digits" / "metadata.json", lambda found: found.update(method="VAE"))
    assert "beta_vae_digits" in vz.BetaVAE.presets


def test_a_preset_of_another_class_is_refused(home):
    with pytest.raises(ValueError, match="holds a BetaVAE, not a WAE"):
        vz.WAE.from_preset("beta_vae_digits")


def test_a_file_that_leads_out_of_the_directory_is_refused(home, tmp_path):
    weights = home / "beta_vae_digits" / "model.weights.h5"
    weights.rename(tmp_path / "outside.h5")
    weights.symlink_to(tmp_path / "outside.h5")
    with pytest.raises(ValueError, match="leads out of the preset's directory"):
        vz.from_preset("beta_vae_digits")


def test_verify_computes_the_stored_scores_again(home):
    result = vz.zoo.verify("beta_vae_digits", verbose=0)
    assert result.ok, str(result)
    names = {"elbo", "kl", "reconstruction", "mig", "probe_accuracy", "test_sha256"}
    assert names <= set(result.stored)


def test_verify_names_the_scores_that_differ(home):
    def change(metadata):
        metadata["scores"]["kl"] *= 1.01
        metadata["test_sha256"] = "0" * 64

    edit(home / "beta_vae_digits" / "metadata.json", change)
    result = vz.zoo.verify("beta_vae_digits", verbose=0)
    assert result.differing == ["test_sha256", "kl"]
    assert "SCORES DIFFER" in str(result)


def test_verify_needs_a_recipe(home):
    edit(home / "beta_vae_digits" / "metadata.json", lambda metadata: metadata.pop("recipe"))
    with pytest.raises(ValueError, match="has no recipe"):
        vz.zoo.verify("beta_vae_digits", verbose=0)


@pytest.mark.parametrize("change", [{"steps": 5}, {"epochs": None}, {"method": "BetaVAEs"}])
def test_impossible_recipes(change):
    with pytest.raises(ValueError, match="A recipe"):
        Recipe(**{**RECIPE.__dict__, **change})


def test_checksum_sees_one_pixel():
    data = vz.datasets.load("digits", split="all")
    before = checksum(data)
    assert checksum(vz.datasets.load("digits", split="all")) == before
    data.images[5, 3, 3] += 1 / 16
    assert checksum(data) != before


def test_every_recipe_is_a_recipe():
    for path in zoo_directory().glob("*/recipe.json"):
        Recipe.read(path)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_presets_of_the_package(folder):
    model = vz.from_preset(folder.name)
    metadata = vz.presets()[folder.name]
    recipe = Recipe.read(folder / "recipe.json")
    assert recipe == Recipe(**metadata["recipe"])
    assert type(model).__name__ == recipe.method
    assert model.latent_dim == recipe.latent_dim
    images = model.sample(2, seed=0)
    assert np.isfinite(images).all()
    assert np.isfinite(model.encode(images).mean).all()
    assert (folder / "model.weights.h5").stat().st_size < 4e6
    assert folder.name in (folder / "README.md").read_text(encoding="utf-8")
    assert (folder / "overview.png").is_file()


def test_the_zoo_is_small():
    files = [path for path in pathlib.Path(zoo_directory()).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 80e6
