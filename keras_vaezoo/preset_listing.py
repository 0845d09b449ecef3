"""Where presets lie, and what there is."""

import json
import os
import pathlib
import warnings

from keras_vaezoo.close_names import did_you_mean

CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
RECIPE = "recipe.json"
_COLUMNS = ("preset", "method", "data", "latent", "likelihood")
_NATS = ("-ELBO", "reconstruction", "kl")


class Presets(dict):
    """`{name: metadata}` of presets, sorted by name; `print` shows it as a table."""

    def __str__(self):
        if not self:
            return "no presets"
        rows = [
            (*_COLUMNS, *_NATS, "others"),
            *(_row(name, metadata) for name, metadata in self.items()),
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join(lines)

    __repr__ = __str__


def listing(method=None):
    """The presets of one class, or of all; broken ones are left out with a warning: `Presets`."""
    found = {}
    for name, directory in paths().items():
        try:
            metadata = _metadata(directory)
            _row(name, metadata)
        except (ValueError, TypeError, AttributeError, KeyError, OSError) as error:
            warnings.warn(
                f"The preset in {str(directory)!r} is left out: its files are damaged ({error}).",
                stacklevel=3,
            )
        else:
            found[name] = metadata
    chosen = {n: m for n, m in found.items() if method in (None, "BaseVAE", m["method"])}
    return Presets(chosen)


def zoo_directory():
    """The package's folder of presets: inside an installed package, or beside pyproject.toml."""
    package = pathlib.Path(__file__).parent
    inside, beside = package / "zoo_weights", package.parent / "zoo_weights"
    if not inside.is_dir() and (package.parent / "pyproject.toml").is_file():
        return beside
    return inside


def paths():
    """`{name: directory}` of the presets there are, sorted: the folders that hold a config.

    A name of the package's folder comes before the same name in $KERAS_VAEZOO_HOME.
    """
    home = os.environ.get("KERAS_VAEZOO_HOME")
    found = {}
    for folder in (zoo_directory(), *([pathlib.Path(os.path.expanduser(home))] if home else [])):
        for path in folder.glob(f"*/{CONFIG}"):
            found.setdefault(path.parent.name, path.parent)
    return dict(sorted(found.items()))


def locate(preset):
    """The directory of a preset name or path."""
    if isinstance(preset, pathlib.PurePath):
        return preset
    if not isinstance(preset, str):
        raise ValueError(f"preset must be a name or a path. Received: {preset!r}")
    known = paths()
    if preset in known:
        return known[preset]
    if "/" in preset or "\\" in preset:
        return pathlib.Path(os.path.expanduser(preset))
    if preset in (path.parent.name for path in zoo_directory().glob(f"*/{RECIPE}")):
        raise ValueError(
            f"The preset {preset!r} has a recipe but no weights yet: run "
            f"python examples/train_preset.py {preset}"
        )
    raise ValueError(
        f"There is no preset {preset!r}. {did_you_mean(preset, known, n=3)}The zoo has "
        f"{list(known)}. For a directory pass a pathlib.Path, or a string with a separator such "
        "as './my_preset'."
    )


def _metadata(directory):
    """The metadata of a preset with the `method`, its class, beside it."""
    metadata = {}
    if (directory / METADATA).is_file():
        metadata = read_json(directory / METADATA)
    config = read_json(directory / CONFIG)
    return {**metadata, "method": config.get("class_name", "")}


def read_json(path):
    """The JSON object in a file, as a dict; a ValueError that names the file otherwise."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{str(path)!r} is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{str(path)!r} must hold a JSON object. Received: {str(found)[:60]}")
    return found


def _row(name, metadata):
    recipe, scores = metadata.get("recipe", {}), metadata.get("scores", {})
    elbo = scores.get("elbo")
    nats = [None if elbo is None else -elbo, scores.get("reconstruction"), scores.get("kl")]
    others = [f"{key} {value['value']:.3f}" for key, value in scores.get("metrics", {}).items()]
    if "probe_accuracy" in metadata:
        others.insert(0, f"probe {metadata['probe_accuracy']['value']:.3f}")
    return (
        name,
        metadata["method"],
        _data(recipe.get("train", {})),
        str(recipe.get("latent_dim", "")),
        scores.get("settings", {}).get("likelihood", {}).get("class", ""),
        *("" if number is None else f"{number:.1f}" for number in nats),
        ", ".join(others),
    )


def _data(source):
    """Name of the training data, and which part of them where that is not "train"."""
    split = source.get("split", "train")
    return source.get("dataset", "") + ("" if split == "train" else f" ({split})")
