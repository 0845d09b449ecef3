"""What the presets of the zoo obtain, as the Markdown tables of README.md.

    python examples/zoo_tables.py

Reads the stored scores; `keras_vaezoo.zoo.verify(name)` computes those of a preset again.
"""

import itertools

import keras_vaezoo as vz

NATS = ("reconstruction", "kl", "elbo")
METRICS = ("mig", "sap", "modularity", "jemmig", "factor_vae_score")

# GCVAE's Table 1: MIG, modularity, JEMMIG, reconstruction (nats / 64), KL.
PUBLISHED = {
    "vae": (0.1268, 0.798, 0.233, 3.339, 3.0025),
    "beta_vae": (0.0778, 0.881, 0.238, 0.012, 35.0295),
    "control_vae": (0.1213, 0.782, 0.312, 0.016, 24.3809),
    "info_vae": (0.1501, 0.757, 0.188, 0.079, 10.0621),
    "gcvae_1": (0.1507, 0.844, 0.236, 0.012, 24.3739),
    "gcvae_2": (0.2793, 0.858, 0.312, 0.012, 24.4316),
    "gcvae_3": (0.1337, 0.825, 0.294, 0.015, 24.2937),
}


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
    return as_markdown(lines)


def as_markdown(lines):
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


def gcvae_table():
    """GCVAE's Table 1 from the presets on 737 sprites, obtained and published."""
    presets, obtained = vz.presets(), {}
    for model in PUBLISHED:
        name = f"{model}_sprites_737_10d"
        if name in presets:
            metadata = presets[name]
            metrics = (metric(metadata, column) for column in ("mig", "modularity", "jemmig"))
            nats = (f"{metadata['scores'][column]:.1f}" for column in ("reconstruction", "kl"))
            obtained[model] = (f"`{name}`", *metrics, *nats)
    return against_published(obtained)


def against_published(obtained):
    """GCVAE's Table 1 from `{model: (name, MIG, modularity, JEMMIG, R, KL)}`, all in words."""
    columns = ("MIG", "modularity", "JEMMIG", "R", "KL")
    head = ("model", *columns, *(f"{column}, published" for column in columns))
    rows = [(*row, *map(str, PUBLISHED[model])) for model, row in obtained.items()]
    return as_markdown([head, ("---",) * len(head), *rows])


def main():
    print("\n\n".join((*tables(), gcvae_table())))


if __name__ == "__main__":
    main()
