"""Preset directories: config.json, metadata.json with a checksum, model.weights.h5.

The layout also loads with `keras.saving.load_model(directory)`. The optimizer is left out.
Nothing of a directory is used before its files were checked.
"""

import hashlib
import json
import pathlib
import shutil
import tempfile

import keras

from keras_vaezoo.preset_listing import CONFIG, METADATA, WEIGHTS, listing, locate, read_json

_OWN = "keras_vaezoo>"


class _PresetsOfClass:
    """The presets of a class as its attribute: `VAE.presets`."""

    def __get__(self, instance, owner):
        return listing(owner.__name__)


class PresetMixin:
    """`presets`, `from_preset` and `save_to_preset` of the models."""

    presets = _PresetsOfClass()

    def save_to_preset(self, directory, metadata=None):
        """Writes config, metadata and weights (no optimizer) into a directory.

        Args:
            directory: Path, `~` for the home folder; it may exist, files of an older preset in
                it are replaced.
            metadata: JSON-ready dict that is stored beside the checksum. Default: nothing.
        """
        write(self, directory, metadata)

    @classmethod
    def from_preset(cls, preset, **overrides):
        """Loads a model from the zoo or from a preset directory.

        Args:
            preset: A name in `keras_vaezoo.presets()`, or a path (a string with a separator, or
                a `pathlib.Path`).
            **overrides: `coefficient=value` pairs that win over the stored ones.

        Returns:
            A model, not compiled, ready to encode, sample and fine-tune.

        Raises:
            ValueError: For an unknown preset, a preset of another class, a missing or altered
                file, or a config that names a class of another package.

        Example:

        ```python
        model = keras_vaezoo.VAE.from_preset("runs/my_vae")
        ```
        """
        model = read(locate(preset), expected_class=cls)
        for name, value in overrides.items():
            if name in model.coefficients and model.loss_coefficients.enabled(name):
                raise ValueError(
                    f"A controller holds coefficient {name!r} of this preset: load it without "
                    f"{name}=, call model.release({name!r}), then assign model.coefficients."
                )
            model.coefficients[name] = value
        return model


def write(model, directory, metadata=None):
    """Writes a preset: all files are made whole aside and then moved to their place."""
    directory = pathlib.Path(directory).expanduser()
    config = keras.saving.serialize_keras_object(model)
    config.pop("compile_config", None)
    _refuse_foreign_classes(config, directory / CONFIG)
    metadata = _checked_metadata(metadata)
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".writing_") as aside:
        aside = pathlib.Path(aside)
        (aside / CONFIG).write_text(json.dumps(config, indent=2))
        keras.saving.save_weights(model, aside / WEIGHTS, objects_to_skip=skipped(model))
        record = {
            **metadata,
            "keras_version": keras.__version__,
            "weights_sha256": sha256(aside / WEIGHTS),
        }
        (aside / METADATA).write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
        for name in (WEIGHTS, CONFIG, METADATA):
            shutil.move(aside / name, directory / name)


def _checked_metadata(metadata):
    metadata = {} if metadata is None else metadata
    try:
        return dict(json.loads(json.dumps(metadata)))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"metadata must be a dict of what JSON holds; turn NumPy's numbers into float(x) and "
            f"arrays into x.tolist(). Received: {metadata!r} ({error})"
        ) from error


def read(directory, expected_class=None):
    """Reads a preset after checking its files, its checksum and the classes it names."""
    directory = pathlib.Path(directory).expanduser()
    if not directory.is_dir():
        raise ValueError(f"There is no preset's folder {str(directory.absolute())!r}.")
    for name in (CONFIG, METADATA, WEIGHTS):
        if not (directory / name).is_file():
            raise ValueError(f"The preset {str(directory)!r} has no file {name}.")
        if (directory / name).resolve().parent != directory.resolve():
            raise ValueError(
                f"{str(directory / name)!r} leads out of the preset's directory, to "
                f"{str((directory / name).resolve())!r}. Copy the file into the directory."
            )
    config = read_json(directory / CONFIG)
    _refuse_foreign_classes(config, directory / CONFIG)
    metadata = read_metadata(directory)
    expected, found = metadata.get("weights_sha256"), sha256(directory / WEIGHTS)
    if expected != found:
        raise ValueError(
            f"{str(directory / WEIGHTS)!r} is damaged or was altered. Expected sha256 {expected}, "
            f"found {found}. Fetch or save the preset again."
        )
    registered = str(config.get("registered_name") or config.get("class_name"))
    kind = keras.saving.get_registered_object(registered)
    if expected_class is not None and not (
        isinstance(kind, type) and issubclass(kind, expected_class)
    ):
        raise ValueError(
            f"The preset {str(directory)!r} holds a {registered.removeprefix(_OWN)}, not a "
            f"{expected_class.__name__}. Use keras_vaezoo.from_preset({str(directory)!r})."
        )
    model = _built(config, directory / CONFIG)
    model.load_weights(directory / WEIGHTS, objects_to_skip=skipped(model))
    return model


def _built(config, path):
    """The model that a config describes; a ValueError if Keras cannot build it."""
    try:
        return keras.saving.deserialize_keras_object(config)
    except Exception as error:  # an altered config fails in many ways
        raise ValueError(
            f"{str(path)!r} does not describe a model that Keras {keras.__version__} can build: "
            f"{type(error).__name__}: {error}"
        ) from error


def read_metadata(directory):
    """The metadata of a preset as a dict."""
    return read_json(pathlib.Path(directory) / METADATA)


def skipped(model):
    """What a preset leaves out: the optimizer and what the model itself names."""
    parts = list(getattr(model, "left_out_of_presets", ()))
    if getattr(model, "optimizer", None) is not None:
        parts.append(model.optimizer)
    return parts


def sha256(path):
    """Hexadecimal sha256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_foreign_classes(config, path):
    """Walks a config and refuses any class that is not of Keras or of this package."""
    if isinstance(config, list):
        for item in config:
            _refuse_foreign_classes(item, path)
    if not isinstance(config, dict):
        return
    if "class_name" in config:
        name, module = str(config["class_name"]), config.get("module") or ""
        of_keras = module == "keras" or module.startswith("keras.")
        registered = str(config.get("registered_name") or "")
        own = registered.startswith(_OWN) and keras.saving.get_registered_object(registered)
        # Keras writes tensors, tuples and shapes as dunder names without a module.
        is_data = name.startswith("__") and not module and name != "__lambda__"
        if not (of_keras or own or is_data):
            raise ValueError(
                f"{str(path)!r} names a class of another package: {registered or module} {name}. "
                "Presets may only hold classes of keras and keras_vaezoo, nothing was done; "
                "model.save('model.keras') keeps classes of your own."
            )
    for value in config.values():
        _refuse_foreign_classes(value, path)
