"""One number after another about a trained model: `score` and what it returns."""

from keras_vaezoo.evaluation._result import Evaluation, MetricScore
from keras_vaezoo.evaluation._scoring import score

__all__ = ["Evaluation", "MetricScore", "score"]
