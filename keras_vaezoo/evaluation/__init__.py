"""Numbers about a trained model: `score` and what it returns."""

from keras_vaezoo.evaluation._chosen_metrics import MetricScore
from keras_vaezoo.evaluation._result import Evaluation
from keras_vaezoo.evaluation._scoring import score

__all__ = ["Evaluation", "MetricScore", "score"]
