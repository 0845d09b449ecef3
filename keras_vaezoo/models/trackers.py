"""Loss trackers: one a term, one a weight, and the last values of the controllers."""

import keras
from keras import ops


class PerExampleMean(keras.losses.Loss):
    """The (weighted) mean of a per-example vector, scaled as Keras scales its own losses.

    Going through `keras.losses.Loss` brings sample weights, float32 and the replica scaling of
    `tf.distribute`; a hand-written mean gives gradients too large by the number of replicas.
    """

    def __init__(self):
        super().__init__(reduction="mean_with_sample_weight", dtype="float32")

    def call(self, y_true, y_pred):
        return y_pred

    def mean(self, values, sample_weight=None):
        """Mean of `values` `(M,)`."""
        return self(values, values, sample_weight=sample_weight)


class LastValue(keras.metrics.Mean):
    """A metric that keeps the last value it was given (the mean of it over replicas)."""

    def update_state(self, value):
        self.total.assign(ops.cast(value, self.dtype))
        self.count.assign(ops.ones((), self.dtype))


class Trackers:
    """The metrics of a model, held outside Keras's attribute tracking.

    So they are no part of the file format: a new one does not make old weights unreadable.

    Args:
        terms: Names of the terms and measures.
        weights: Names of the terms that carry an effective weight.
        settable: Names of coefficients that are no term's own weight.
        controlled: Names of the coefficients that a controller can hold.
    """

    def __init__(self, terms, weights, settable, controlled):
        names = [*terms, "regularization", *(weight_name(term) for term in weights), *settable]
        self.means = {name: keras.metrics.Mean(name=name) for name in names}
        self.last = {
            name: {
                field: LastValue(name=f"{name}_{field}")
                for field in ("value", "set_point", "error")
            }
            for name in controlled
        }
        self.row_counter = self.means[weight_name(weights[0])]

    def visible(self, is_controlled):
        """All means, and the last values of the coefficients that have a controller."""
        shown = list(self.means.values())
        for name, fields in self.last.items():
            if is_controlled(name):
                shown.extend(fields.values())
        return shown


def weight_name(term):
    """The name under which a term's effective weight is logged."""
    return f"{term}_weight"
