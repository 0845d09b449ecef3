"""The model card of a preset: README.md with what it is, how it was made and what it scores."""

import json

import keras_vaezoo as vz

_CARD = """# {name}

{formula}

![Test examples, their reconstructions, samples from the prior](overview.png)
{controllers}
```python
model = keras_vaezoo.from_preset("{name}")
mean, log_variance = model.encode(images)  # images: {shape}, float32 in {value_range}
new = model.sample(16, seed=0)
```

## Scores

On {examples:,} test examples ({test}); nats, mean and standard error.
`keras_vaezoo.zoo.verify("{name}")` computes them again.

{scores}

## Recipe

`python examples/train_preset.py {name}` trains it again from `recipe.json`.

{recipe}

Limits: a small network for study and as a starting point; samples show what this method gives on
this data, not what is possible.
"""


_CONTROLLERS = """
![Each controller: set point, measured term and coefficient, by epoch of training](controllers.png)
"""


def write_card(directory, model, test, log):
    """Writes README.md and pictures into a preset's directory; `log` is CSVLogger's file."""
    metadata = json.loads((directory / "metadata.json").read_text())
    scores, recipe = metadata["scores"], metadata["recipe"]
    vz.plots.overview(model, test.images[:10]).savefig(directory / "overview.png", dpi=60)
    controlled = any(map(model.loss_coefficients.enabled, model.coefficients))
    if controlled:
        vz.plots.controllers(log).savefig(directory / "controllers.png", dpi=60)
    text = _CARD.format(
        name=directory.name,
        formula=" ".join(type(model).__doc__.split("\n\n")[0].split()),
        controllers=_CONTROLLERS if controlled else "",
        shape=("n", *test.shape),
        value_range=model.likelihood.value_range or "any range",
        examples=scores["settings"]["examples"],
        test=_source(recipe["test"]),
        scores=_table(_scores(metadata), "score", "value"),
        recipe=_table(_recipe(metadata), "what", "value"),
    )
    (directory / "README.md").write_text(text, encoding="utf-8")


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
