"""Callbacks for `fit`: they steer coefficients, stop training, and show what a model learns."""

from keras_vaezoo.callbacks.doctor import Finding, TrainingDoctor
from keras_vaezoo.callbacks.latent_probe import LatentProbe
from keras_vaezoo.callbacks.pictures import ReconstructionImages, TraversalImages
from keras_vaezoo.callbacks.pid import PIDController
from keras_vaezoo.callbacks.schedule import CoefficientSchedule
from keras_vaezoo.callbacks.scores import ScoreLogger
from keras_vaezoo.callbacks.stopping import StoppingCriterion

__all__ = [
    "CoefficientSchedule",
    "Finding",
    "LatentProbe",
    "PIDController",
    "ReconstructionImages",
    "ScoreLogger",
    "StoppingCriterion",
    "TrainingDoctor",
    "TraversalImages",
]
