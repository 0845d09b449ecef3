"""Disentanglement metrics on plain arrays: codes (n, d) and factors (n, k) in, a float out."""

from keras_vaezoo.metrics._beta_vae_score import beta_vae_score
from keras_vaezoo.metrics._dci import DCI, dci, dci_from_importance
from keras_vaezoo.metrics._explicitness import explicitness
from keras_vaezoo.metrics._factor_vae_score import factor_vae_score
from keras_vaezoo.metrics._information import (
    InformationTable,
    discretize,
    entropy,
    mutual_information_table,
)
from keras_vaezoo.metrics._jemmig import jemmig
from keras_vaezoo.metrics._mig import mig
from keras_vaezoo.metrics._modularity import modularity
from keras_vaezoo.metrics._posterior_information import (
    posterior_information_table,
    soft_information_table,
)
from keras_vaezoo.metrics._repeated import Interval, repeated
from keras_vaezoo.metrics._sap import sap
from keras_vaezoo.metrics._score import Score

__all__ = [
    "DCI",
    "InformationTable",
    "Interval",
    "Score",
    "beta_vae_score",
    "dci",
    "dci_from_importance",
    "discretize",
    "entropy",
    "explicitness",
    "factor_vae_score",
    "jemmig",
    "mig",
    "modularity",
    "mutual_information_table",
    "posterior_information_table",
    "repeated",
    "sap",
    "soft_information_table",
]
