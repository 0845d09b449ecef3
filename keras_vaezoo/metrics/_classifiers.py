"""What the metrics that fit classifiers share; scikit-learn is imported when one of them runs."""

import copy
import importlib

import numpy as np

from keras_vaezoo.metrics._inputs import constant_columns


def scikit_learn(module, metric):
    """Imports a module of scikit-learn, or says how to install it."""
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError as error:
        raise ImportError(
            f"{metric} needs scikit-learn. Install it with: pip install 'keras-vaezoo[metrics]'"
        ) from error


def standardize(train, test):
    """Shifts and scales both by the training rows' mean and standard deviation (ddof 0).

    A column that is constant in the training rows is only shifted.
    """
    constant = constant_columns(train)
    mean = np.where(constant, train[0], train.mean(axis=0))
    std = np.where(constant, 1.0, train.std(axis=0))
    return (train - mean) / std, (test - mean) / std


def scale_to_unit_range(train, test):
    """Maps the training rows' range of each column to [0, 1]; a constant column is only shifted."""
    low = train.min(axis=0)
    width = np.where(constant_columns(train), 1.0, train.max(axis=0) - low)
    return (train - low) / width, (test - low) / width


class FittedClassifier:
    """An estimator fitted on a copy, for any set of classes that the training rows hold.

    With a single class in the training rows there is nothing to fit: it predicts that class.

    Args:
        estimator: An object with `fit` and `predict`; it is copied, never changed.
        codes: (n, d) training codes.
        classes: (n,) integer classes; some of 0 ... L - 1 may be missing.
    """

    def __init__(self, estimator, codes, classes):
        # Some estimators accept only the classes 0 ... L - 1 without a gap.
        self._seen, compact = np.unique(np.asarray(classes, dtype=np.intp), return_inverse=True)
        self.estimator = None
        if len(self._seen) > 1:
            self.estimator = copy.deepcopy(estimator).fit(codes, compact)

    def predict(self, codes):
        """Predicted class of each row."""
        if self.estimator is None:
            return np.full(len(codes), self._seen[0])
        return self._seen[np.asarray(self.estimator.predict(codes), dtype=np.intp)]

    def probabilities(self, codes, n_classes):
        """(n, n_classes) class probabilities; 0 for a class that the training rows lack."""
        full = np.zeros((len(codes), n_classes))
        full[:, self._seen] = 1.0 if self.estimator is None else self.estimator.predict_proba(codes)
        return full

    def weights(self, n_codes, n_classes):
        """(d, n_classes) weights of a linear estimator; 0 for a class not in the training rows."""
        full = np.zeros((n_codes, n_classes))
        if self.estimator is not None:
            coefficients = self.estimator.coef_
            if len(coefficients) == 1:  # two classes share one weight vector
                coefficients = np.concatenate([-coefficients, coefficients])
            full[:, self._seen] = coefficients.T
        return full


def accuracy(predicted, actual):
    """Share of rows predicted right."""
    return float(np.mean(predicted == actual))


def balanced_accuracy(predicted, actual):
    """Mean over the classes that occur of the share of their rows predicted right."""
    present = np.unique(actual)
    return float(np.mean([np.mean(predicted[actual == c] == c) for c in present]))
