"""The pictures of gcvae_sprites.py: Figs. 4 to 6 of the GCVAE paper, and the controllers."""

import csv
import itertools

import keras_vaezoo as vz

LOSSES = {"reconstruction": "reconstruction", "kl": "KL(q(z|x), p)", "aggregate_kl": "KL(q(z), p)"}
METRICS = {
    "mig": "MIG",
    "modularity": "modularity",
    "jemmig": "JEMMIG",
    "factor_vae_score": "FactorVAE score",
}
CORRELATION = {
    "GCVAE-I": "mmd",
    "GCVAE-II": "mahalanobis",
    "GCVAE-III": "kernel_mahalanobis",
}
MARKERS = "osD^vPX"


def draw_all(found, models, folder):
    """Draws `{latent dimensions: (results, folder of runs)}`; returns the pictures' paths."""
    folder.mkdir(parents=True, exist_ok=True)
    scores = {
        dims: {name: results[name] for name in models} for dims, (results, _) in found.items()
    }
    pictures = {"fig4_losses_and_metrics": losses_and_metrics(scores, models)}
    if len(found) > 1:
        pictures["fig5_latent_dimensions"] = over_dimensions(scores, models)
    runs = {
        (name, dims): file
        for name in models
        for dims, (_, runs) in found.items()
        if name in CORRELATION and (file := runs / name / "log.csv").exists()
    }
    if runs:
        pictures["fig6_training"] = training(runs)
    for (name, dims), file in runs.items():
        pictures[f"controllers_{name}_{dims}"] = vz.plots.controllers(file)
    for name, figure in pictures.items():
        figure.savefig(folder / f"{name}.png", dpi=100)
    return [folder / f"{name}.png" for name in pictures]


def figure(rows, columns):
    """A Figure that pyplot does not know of, and its panels `(rows, columns)`."""
    from matplotlib.figure import Figure

    new = Figure(figsize=(3.4 * columns, 2.8 * rows), layout="constrained")
    return new, new.subplots(rows, columns, squeeze=False)


def value_of(result, name):
    """A loss in nats or a metric, on fresh sprites."""
    fresh = result["fresh"]
    return fresh["metrics"][name]["value"] if name in METRICS else fresh[name]


def losses_and_metrics(scores, models):
    """Fig. 4: reconstruction against both divergences and against each metric."""
    new, panels = figure(2, 3)
    others = [name for name in (*LOSSES, *METRICS) if name != "reconstruction"]
    for axes, other in zip(panels.flat, others, strict=True):
        for number, model in enumerate(models):
            axes.plot([], [], "o", color=f"C{number}", label=model)
        for marker, (dims, results) in zip(itertools.cycle(MARKERS), scores.items(), strict=False):
            axes.plot([], [], marker, color="0.4", label=f"{dims} dimensions")
            for number, model in enumerate(models):
                point = [value_of(results[model], name) for name in ("reconstruction", other)]
                axes.plot(*point, marker, color=f"C{number}", ms=7, alpha=0.8)
        axes.set_xlabel("reconstruction (nats)")
        axes.set_ylabel(f"{LOSSES[other]} (nats)" if other in LOSSES else METRICS[other])
    new.suptitle("Fresh sprites")
    new.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return new


def over_dimensions(scores, models):
    """Fig. 5: losses above, metrics below, by the number of latent dimensions."""
    new, panels = figure(2, 4)
    panels[0, 3].remove()
    names = dict(zip((*LOSSES, *METRICS), (*panels[0, :3], *panels[1]), strict=True))
    positions = range(len(scores))
    for name, axes in names.items():
        for number, model in enumerate(models):
            values = [value_of(results[model], name) for results in scores.values()]
            axes.plot(positions, values, MARKERS[number] + "-", color=f"C{number}", label=model)
        axes.set_xticks(positions, map(str, scores))
        axes.set_title(LOSSES.get(name) or METRICS[name])
        axes.set_ylabel("nats" if name in LOSSES else "")
    new.supxlabel("latent dimensions")
    handles = panels[0, 0].get_legend_handles_labels()
    new.legend(*handles, loc="upper right", bbox_to_anchor=(0.98, 0.95), frameon=False)
    return new


def training(runs):
    """Fig. 6: reconstruction, KL and the model's own D over training, a column a dimension."""
    dimensions = sorted({dims for _, dims in runs})
    new, panels = figure(3, len(dimensions))
    for (name, dims), file in runs.items():
        with open(file, newline="") as opened:
            log = {int(row["epoch"]): row for row in csv.DictReader(opened)}
        epochs = sorted(log)
        for axes, term in zip(
            panels[:, dimensions.index(dims)],
            ("reconstruction", "kl", CORRELATION[name]),
            strict=True,
        ):
            axes.plot([e + 1 for e in epochs], [float(log[e][term]) for e in epochs], label=name)
    for axes, dims in zip(panels[0], dimensions, strict=True):
        axes.set_title(f"{dims} latent dimensions")
    for axes, title in zip(panels[:, 0], ("reconstruction (nats)", "KL (nats)", "D"), strict=True):
        axes.set_ylabel(title)
    new.supxlabel("epoch")
    new.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return new
