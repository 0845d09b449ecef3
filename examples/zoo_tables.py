"""What the presets of the zoo obtain, as the Markdown tables of README.md.

    python examples/zoo_tables.py

Reads the stored scores; `keras_vaezoo.zoo.verify(name)` computes those of a preset again.
"""

import itertools

import keras_vaezoo as vz

NATS = ("reconstruction", "kl", "elbo")
METRICS = ("mig", "sap", "modularity", "jemmig", "factor_vae_score")


def trained_on(metadata):
    """The data, network and length of a preset's training, in words."""
    recipe = metadata["recipe"]
    data = {"train": "", "gcvae": " (737 images)"}[recipe["train"]["split"]]
    length = f"{recipe['steps']:,} steps" if recipe["steps"] else f"{recipe['epochs']} epochs"
    network = f"`{recipe['architecture']}`, {recipe['latent_dim']}-D"
    return f"{recipe['train']['dataset']}{data}, {network}, {length}"


def table(presets, extra, value):
    """A Markdown table with a row a preset; `value(metadata, name)` gives the extra columns."""
    lines = [("data, network, training", "preset", *NATS, *extra)]
    lines.append(("---",) * len(lines[0]))
    ordered = sorted(presets.items(), key=lambda item: (trained_on(item[1]), item[0]))
    for group, members in itertools.groupby(ordered, key=lambda item: trained_on(item[1])):
        for number, (name, metadata) in enumerate(members):
            nats = (f"{metadata['scores'][column]:.1f}" for column in NATS)
            extras = (value(metadata, column) for column in extra)
            lines.append((group if number == 0 else "", f"`{name}`", *nats, *extras))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def probe(metadata, column):
    return f"{metadata[column]['value']:.3f}" if column in metadata else ""


def metric(metadata, column):
    return f"{metadata['scores']['metrics'][column]['value']:.3f}"


def tables():
    """The presets without and with true factors, as two Markdown tables."""
    ours = {n: m for n, m in vz.presets().items() if "recipe" in m}
    plain = {n: m for n, m in ours.items() if not m["scores"]["metrics"]}
    factors = {n: m for n, m in ours.items() if n not in plain}
    return table(plain, ("probe_accuracy",), probe), table(factors, METRICS, metric)


def main():
    print("\n\n".join(tables()))


if __name__ == "__main__":
    main()
