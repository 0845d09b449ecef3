"""The model card of a preset: README.md with what it is, how it was made and what it scores."""

import json

import numpy as np

import keras_vaezoo as vz

_CARD = """# {name}

{formula}

{pictures}

```python
model = keras_vaezoo.from_preset("{name}")
mean, log_variance = model.encode(images)  # images: (n, {shape}), float32, {value_range}
new = model.sample(16, seed=0)
```

## Scores

On {examples:,} test examples ({test}); nats, mean ± standard error. Behind a
metric's value ± gives the standard deviation over smaller samples (`metadata.json`).
`keras_vaezoo.zoo.verify("{name}")` computes them again.

{scores}

## Recipe

`python examples/train_preset.py {name}` trains it again from `recipe.json`.

{recipe}

Limits: a small network for study and as a starting point; samples show what this method gives on
this data, not what is possible.
"""


def write_card(directory, model, test, log):
    """Writes README.md and pictures into a preset's directory; `log` is CSVLogger's file."""
    metadata = json.loads((directory / "metadata.json").read_text())
    scores, recipe = metadata["scores"], metadata["recipe"]
    valid = model.likelihood.value_range
    text = _CARD.format(
        name=directory.name,
        formula=" ".join(type(model).__doc__.split("\n\n")[0].split()),
        pictures="\n\n".join(_drawn(directory, model, test, log)),
        shape=", ".join(map(str, test.shape)),
        value_range="in [{:g}, {:g}]".format(*valid) if valid else "of any range",
        examples=scores["settings"]["examples"],
        test=_source(recipe["test"]),
        scores=_table(_scores(metadata), "score", "value"),
        recipe=_table(_recipe(metadata), "what", "value"),
    )
    (directory / "README.md").write_text(text, encoding="utf-8")


def _drawn(directory, model, test, log):
    """Draws the pictures of a card; gives the lines that show them."""
    images = test.images[:500]
    figures = {
        "Test examples, their reconstructions, samples from the prior": (
            "overview",
            vz.plots.overview(model, images[:10]),
        )
    }
    if model.latent_dim == 2:
        figures["Posteriors of 500 test examples; ellipses of 64, the prior dashed"] = (
            "embedding",
            vz.plots.embedding(model, images, _names(test, len(images))),
        )
    if test.factors is not None and len(test.shape) == 3:
        figures["What the most informative latent dimensions change in one example"] = (
            "traversals",
            vz.plots.traversals(model, images, n=6),
        )
    if any(map(model.loss_coefficients.enabled, model.coefficients)):
        figures["Each controller: set point, measured term and coefficient, by epoch"] = (
            "controllers",
            vz.plots.controllers(log),
        )
    for caption, (name, figure) in figures.items():
        figure.savefig(directory / f"{name}.png", dpi=60)
        yield f"![{caption}]({name}.png)"


def _names(test, n):
    """The first names of the labels, or labels where they have no names; `None` without labels."""
    if test.labels is None:
        return None
    labels = test.labels[:n]
    return labels if test.label_names is None else np.array(test.label_names)[labels]


def _scores(metadata):
    scores = metadata["scores"]
    for name in ("reconstruction", "kl", "elbo", "log_likelihood", "aggregate_kl", "mse"):
        if scores[name] is not None:
            error = scores["standard_errors"].get(name)
            yield name, f"{scores[name]:.4g}" + (f" ± {error:.2g}" if error else "")
    yield "active_units", f"{scores['active_units']} of {scores['settings']['latent_dim']}"
    for name, entry in scores["metrics"].items():
        spread = f" ± {entry['standard_deviation']:.2g}" if "standard_deviation" in entry else ""
        yield f"{name} `{json.dumps(entry['settings'])}`", f"{entry['value']:.4f}{spread}"
    if "probe_accuracy" in metadata:
        yield "probe_accuracy", f"{metadata['probe_accuracy']['value']:.4f}"
    yield "draws of z, seed", f"{scores['settings']['samples']}, {scores['settings']['seed']}"
    yield "sha256 of the test data", f"`{metadata['test_sha256']}`"


def _recipe(metadata):
    recipe, training = metadata["recipe"], dict(metadata["training"])
    yield "data", _source(recipe["train"])
    yield "sha256 of the training data", f"`{training.pop('train_sha256')}`"
    yield "network", f"`{recipe['architecture']}`, {recipe['latent_dim']} latent dimensions"
    arguments = (f"{k}={_brief(value)}" for k, value in recipe["method_arguments"].items())
    yield "method", f"`{recipe['method']}({', '.join(arguments)})`"
    yield "likelihood", f"`{json.dumps(metadata['scores']['settings']['likelihood'])}`"
    yield "optimizer", f"`{_brief(recipe['optimizer'])}`"
    length = f"{recipe['steps']} steps" if recipe["steps"] else f"{recipe['epochs']} epochs"
    yield "training", f"{length} of batches of {recipe['batch_size']}, seed {recipe['seed']}"
    yield "wall time", f"{training.pop('seconds')} s on two shared CPU cores"
    yield "versions", ", ".join(f"{name} {version}" for name, version in training.items())


def _brief(value):
    """An argument as text; the Keras config of an object as the call that makes it."""
    if not isinstance(value, dict):
        return repr(value)
    given = {k: v for k, v in value["config"].items() if v is not None and k != "name"}
    return f"{value['class_name']}({', '.join(f'{k}={v!r}' for k, v in given.items())})"


def _source(source):
    drawn = f", {source['sample']:,} rows drawn with seed 1" if "sample" in source else ""
    return f"{source['dataset']}, {source['split']}{drawn}"


def _table(rows, *head):
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
