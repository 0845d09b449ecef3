"""verify: are the stored scores of a preset those of its weights?"""

import dataclasses
import json

from keras_vaezoo import presets_io
from keras_vaezoo.preset_listing import locate
from keras_vaezoo.zoo._loading import from_preset
from keras_vaezoo.zoo._recipe import Recipe

_NUMBERS = ("reconstruction", "kl", "elbo", "log_likelihood", "aggregate_kl", "mse", "active_units")


@dataclasses.dataclass(frozen=True)
class Verification:
    """What `verify` found; `print` shows it as a table.

    Attributes:
        preset: Name.
        stored, found: `{name: value}` of the scores as stored and as computed now.
        tolerance: Relative difference up to which two scores agree.
    """

    preset: str
    stored: dict
    found: dict
    tolerance: float

    @property
    def differing(self):
        """Names of the scores that differ, sorted as in the table."""
        return [name for name in self.stored if not self._agrees(name)]

    @property
    def ok(self):
        """Whether all scores agree."""
        return not self.differing

    def __str__(self):
        lines = [f"{self.preset}: {'all scores agree' if self.ok else 'SCORES DIFFER'}"]
        for name, stored in self.stored.items():
            mark = "" if self._agrees(name) else "  differs"
            lines.append(f"{name:<24}{_shown(stored):>16}{_shown(self.found.get(name)):>16}{mark}")
        return "\n".join(lines)

    def _agrees(self, name):
        stored, found = self.stored[name], self.found.get(name)
        if not isinstance(stored, float) or not isinstance(found, float):
            return stored == found
        return abs(stored - found) <= self.tolerance * max(abs(stored), 1e-2)


def verify(preset, data_dir=None, tolerance=2e-3, verbose=1):
    """Computes a preset's stored scores again, from its weights and local data.

    Scores come from the same seeds and settings as the stored ones, so they agree but for
    rounding, on any backend. Metrics and the probe count and train, which magnifies rounding: the
    tolerance leaves room for that.

    Args:
        preset: A name in `presets()`, or the path of a preset with a recipe.
        data_dir: Folder of the data set's files, as for `datasets.load`.
        tolerance: Relative difference up to which two scores agree. Default 2e-3.
        verbose: 1 (default) shows progress bars, 0 nothing.

    Returns:
        `Verification`: prints as a table; `.ok`, `.differing`.

    Raises:
        ValueError: For an unknown or damaged preset, or one without a recipe.
        FileNotFoundError: If the test data are not on this machine; lists the ways to get them.

    Example:

    ```python
    print(keras_vaezoo.zoo.verify("vae_fashion_mnist_2d"))
    ```
    """
    directory = locate(preset)
    model = from_preset(preset)
    metadata = presets_io.read_metadata(directory)
    if "recipe" not in metadata or "scores" not in metadata:
        raise ValueError(
            f"The preset {str(directory)!r} has no recipe and scores in its metadata: there is "
            "nothing to compare with. examples/train_preset.py writes them."
        )
    recipe = Recipe(**metadata["recipe"])
    found = json.loads(json.dumps(recipe.scores(model, data_dir, verbose)))
    return Verification(directory.name, _numbers(metadata), _numbers(found), tolerance)


def _numbers(record):
    """`{name: value}` of all that is compared."""
    scores = record["scores"]
    numbers = {"test_sha256": record["test_sha256"]}
    numbers |= {name: scores[name] for name in _NUMBERS}
    numbers |= {name: entry["value"] for name, entry in scores["metrics"].items()}
    if "probe_accuracy" in record:
        numbers["probe_accuracy"] = record["probe_accuracy"]["value"]
    return numbers


def _shown(value):
    if isinstance(value, str):
        return value[:12]
    return "" if value is None else f"{value:,.5g}"
