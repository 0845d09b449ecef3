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


class LastValues(keras.metrics.Metric):
    """Last value, set point and error of the coefficients that a controller holds.

    One variable for all of them: a metric for each would cost small models a tenth of a step.

    Args:
        coefficients: The model's `coefficients.Coefficients`, which knows who holds what.
    """

    fields = ("value", "set_point", "error")

    def __init__(self, coefficients):
        super().__init__(name="controllers", dtype="float32")
        self.controlled = coefficients.controlled
        shape = (len(self.fields), len(coefficients.names))
        self.last = self.add_variable(shape, "zeros", aggregation="mean", name="last")

    def update_state(self, rows):
        self.last.assign(rows)

    def result(self):
        last = ops.convert_to_tensor(self.last)
        return {
            f"{name}_{field}": last[row, column]
            for name, column in self.controlled().items()
            for row, field in enumerate(self.fields)
        }


class Trackers:
    """The metrics of a model, held outside Keras's attribute tracking.

    So they are no part of the file format: a new one does not make old weights unreadable.

    Args:
        terms: Names of the terms and measures.
        weights: Names of the terms that carry an effective weight.
        settable: Names of coefficients that are no term's own weight.
        coefficients: The model's `coefficients.Coefficients`.
    """

    def __init__(self, terms, weights, settable, coefficients):
        names = [*terms, "regularization", *(weight_name(term) for term in weights), *settable]
        self.means = {name: keras.metrics.Mean(name=name) for name in names}
        self.controllers = LastValues(coefficients)
        self.row_counter = self.means[weight_name(weights[0])]

    def visible(self):
        """All means, and the controllers' last values where there are controllers."""
        shown = list(self.means.values())
        return [*shown, self.controllers] if self.controllers.controlled() else shown


def weight_name(term):
    """The name under which a term's effective weight is logged."""
    return f"{term}_weight"
