"""ScoreLogger: likelihoods and disentanglement as columns of the training log."""

from keras_vaezoo import checks
from keras_vaezoo.callbacks._fixed_images import EveryEpochs, chosen_at_random
from keras_vaezoo.evaluation import score
from keras_vaezoo.evaluation._chosen_metrics import checked_choice
from keras_vaezoo.evaluation._result import NATS_OF_EXAMPLES

_NUMBERS = (*NATS_OF_EXAMPLES, "mse", "aggregate_kl", "active_units")


class ScoreLogger(EveryEpochs):
    """Runs `keras_vaezoo.score` on the same examples every few epochs and logs the numbers.

    The columns are `score_reconstruction`, `score_kl`, `score_elbo`, `score_log_likelihood`,
    `score_mse`, `score_aggregate_kl`, `score_active_units` and one a metric, such as
    `score_mig`; "dci" gives `score_dci_disentanglement`, `score_dci_completeness` and
    `score_dci_informativeness`. They stand in the logs of every epoch, as CSVLogger keeps the
    columns of the first one, and are nan in the epochs between two scores and after the model
    has diverged.

    History and the progress bar see them wherever this callback stands. List CSVLogger,
    TensorBoard, EarlyStopping and ModelCheckpoint after it: Keras passes the logs on in the
    order of the list. EarlyStopping counts an epoch without a score as one without progress.

    The model's run is the same bit for bit with and without this callback (give an estimator of
    your own a random_state: NumPy's global generator shuffles the data on JAX). A score costs
    `samples * most` passes through the decoder, and the metrics; one is made before the first
    step, so that a bad setting shows at once.

    Args:
        data: `datasets.Dataset`, an array of images, or a tuple (images, factors), as for
            `keras_vaezoo.score`.
        metrics: Names of metrics, or a dict from names to settings, as for `score`.
            Default: none.
        every: Epochs between two scores. Default 1: one after each.
        most: Examples that are used, drawn once. Default 2,000: the mutual information behind
            "mig", "jemmig" and "modularity" wants 10,000 where there are many factors.
        samples: Draws of z for each example. Default 10.
        seed: Integer seed of the choice of examples, the draws and the metrics. Default 0.
        batch_size: Images that are encoded, or codes that are decoded, at a time. Default 512.
        prefix: What the columns begin with; another one for each of several such callbacks.
            Default "score_".

    Attributes:
        before: The `evaluation.Evaluation` made when training began.
        results: `{epoch: evaluation.Evaluation}` of this training, epochs from 0.

    Raises:
        ValueError: For data or metrics that `score` does not take; when training begins, for
            images of another shape or range than the model's.

    Example:

    ```python
    sprites = keras_vaezoo.datasets.load("sprites").sample(10_000, seed=0)
    scores = keras_vaezoo.callbacks.ScoreLogger(sprites, ["mig"], every=5, most=10_000)
    history = model.fit(images, epochs=20, callbacks=[scores, CSVLogger("log.csv")])
    history.history["score_mig"]         # nan, nan, nan, nan, 0.11, nan, ...
    ```
    """

    def __init__(
        self,
        data,
        metrics=(),
        every=1,
        *,
        most=2000,
        samples=10,
        seed=0,
        batch_size=512,
        prefix="score_",
    ):
        checks.check_positive_integer("most", most)
        if not isinstance(prefix, str):
            raise ValueError(f"prefix must be a string. Received: prefix={prefix!r}")
        self._examples = chosen_at_random(data, most, seed)
        super().__init__(self._examples.images, every)
        self.metrics = checked_choice(metrics, self._examples.factors)
        self.prefix = prefix
        self._settings = {"samples": samples, "seed": seed, "batch_size": batch_size}

    def try_out(self):
        self.before, self.results = self._score(), {}
        self._missing = dict.fromkeys(self._columns(self.before), float("nan"))

    def look(self, epoch):
        self.results[epoch] = self._score()

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if logs is not None:
            result = self.results.get(epoch)
            logs.update(self._missing if result is None else self._columns(result))

    def _score(self):
        images, factors, _ = self._examples
        data = images if factors is None else (images, factors)
        return score(self.model, data, self.metrics, repeats=0, verbose=0, **self._settings)

    def _columns(self, result):
        numbers = {name: getattr(result, name) for name in _NUMBERS}
        numbers |= {name: scored.value for name, scored in result.metrics.items()}
        return {
            f"{self.prefix}{name}": float(number)
            for name, number in numbers.items()
            if number is not None
        }
