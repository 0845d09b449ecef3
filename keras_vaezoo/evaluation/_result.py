"""What `score` returns: numbers with their settings, as a table, a dict or JSON."""

import dataclasses
import json
import math
import pathlib

import numpy as np

NATS_OF_EXAMPLES = {
    "reconstruction": "E_q[-log p(x|z)]",
    "kl": "KL(q(z|x) || p(z))",
    "elbo": "evidence lower bound",
    "log_likelihood": "importance-weighted log p(x)",
}
_NATS_OF_ALL = {"aggregate_kl": "KL of the aggregate's moments"}


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of `keras_vaezoo.score`; `print` shows it as a table.

    Attributes:
        reconstruction: Mean of `E_q[-log p(x|z)]` over the examples, nats.
        mse: Mean squared difference of x and the mean of p(x|z) at the posterior mean, per value.
        kl: Mean of `KL(q(z|x) || N(0, I))`, nats.
        kl_per_dimension: `(d,)`, the same for each latent dimension.
        elbo: `-(reconstruction + kl)`, nats: the evidence lower bound whatever the model's loss.
        log_likelihood: Mean of `log 1/K SUM_k p(x|z_k) p(z_k) / q(z_k|x)`, nats.
        aggregate_kl: `KL(N(m, S) || N(0, I))` of the aggregate posterior's mean and covariance.
        active_units: How many latent dimensions have a posterior mean that varies over the data
            by more than the threshold.
        code_variance: `(d,)` variance of the posterior mean over the data.
        bits_per_dimension: `{name: -bits / D}` of log-likelihoods (`reconstruction`, `elbo`,
            `log_likelihood`), lower is better; below 0 where a density exceeds 1.
        standard_errors: `{name: nats}` of the means over the examples: standard deviation / sqrt n.
        metrics: `{name: MetricScore}` of the metrics asked for.
        missing: `{name: reason}` of the numbers that do not exist and are `None`.
        settings: Everything that the numbers depend on.
    """

    reconstruction: float
    mse: float
    kl: float | None
    kl_per_dimension: np.ndarray | None
    elbo: float | None
    log_likelihood: float | None
    aggregate_kl: float
    active_units: int
    code_variance: np.ndarray
    bits_per_dimension: dict
    standard_errors: dict
    metrics: dict
    missing: dict
    settings: dict

    def to_dict(self):
        """All of it in plain Python types; `None` for what is missing or not finite."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return _plain({**values, "metrics": {k: _metric(v) for k, v in self.metrics.items()}})

    def to_json(self, path=None, indent=2):
        """The dict as JSON text, which is also written to `path` if that is given."""
        text = json.dumps(self.to_dict(), indent=indent, allow_nan=False)
        if path is not None:
            pathlib.Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def __str__(self):
        parts = [self._heading(), *self._likelihood_lines(), *self._code_lines()]
        parts += self._metric_lines()
        parts += [f"{name}: {reason}" for name, reason in self.missing.items()]
        return "\n".join(parts)

    def _heading(self):
        s = self.settings
        data = f" on {s['data']}" if s["data"] else ""
        return (
            f"{s['model']}{data}: {s['examples']:,} examples of {s['dimensions']:,} values, "
            f"{s['likelihood']['class']} likelihood, {s['samples']} draws of z, seed {s['seed']}"
        )

    def _likelihood_lines(self):
        lines = [f"{'':<16}{'nats':>12}{'+-':>9}{'bits/dim':>10}"]
        for name, meaning in (NATS_OF_EXAMPLES | _NATS_OF_ALL).items():
            error, bits = self.standard_errors.get(name), self.bits_per_dimension.get(name)
            lines.append(
                f"{name:<16}{_number(getattr(self, name), 3):>12}{_number(error, 3):>9}"
                f"{_number(bits, 4):>10}  {meaning}"
            )
        lines.append(f"{'mse':<16}{_number(self.mse, 6):>12}{'':19}  squared error per value")
        return lines

    def _code_lines(self):
        threshold = self.settings["active_threshold"]
        units = f"{self.active_units} of {len(self.code_variance)}"
        lines = [f"{'active_units':<16}{units:>12}{'':19}  Var(posterior mean) > {threshold:g}"]
        if self.kl_per_dimension is not None:
            largest = np.sort(self.kl_per_dimension)[::-1]
            shown = " ".join(f"{value:.2f}" for value in largest[:10])
            more = " ..." if len(largest) > 10 else ""
            lines.append(f"kl of each dimension, largest first: {shown}{more}")
        return lines

    def _metric_lines(self):
        if not self.metrics:
            return []
        width = max(len(name) for name in self.metrics) + 2
        lines = [f"{'':<{width}}{'all rows':>9}{'mean':>9}{'sd':>8}"]
        for name, (value, interval) in self.metrics.items():
            line = f"{name:<{width}}{float(value):>9.4f}"
            if interval is not None:
                rows = self.settings["interval_rows"]
                line += f"{interval.mean:>9.4f}{interval.standard_deviation:>8.4f}"
                line += f"  {len(interval.scores)} disjoint samples of {rows:,} rows"
            lines.append(line)
        return lines


def _number(value, digits):
    return "" if value is None else f"{value:,.{digits}f}"


def _metric(scored):
    value, interval = scored
    entry = {"value": float(value), "per_factor": value.per_factor, "settings": value.settings}
    if interval is not None:
        entry["mean"] = interval.mean
        entry["standard_deviation"] = interval.standard_deviation
        entry["scores"] = [float(one) for one in interval.scores]
    return entry


def _plain(value):
    """Plain Python types all the way down; JSON has no number for nan and infinity."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return repr(value)
