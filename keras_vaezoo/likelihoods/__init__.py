"""Likelihoods p(x|z): each owns its output activation, its data range and its exact density.

Every likelihood maps the decoder's raw output (linear last layer) to the mean of p(x|z) and
gives the negative log-likelihood of one example in nats, summed over the example's dimensions.
"""

from keras_vaezoo.close_names import did_you_mean
from keras_vaezoo.likelihoods.base import Likelihood
from keras_vaezoo.likelihoods.bernoulli import Bernoulli, ContinuousBernoulli
from keras_vaezoo.likelihoods.location_scale import Gaussian, Laplace

__all__ = ["Bernoulli", "ContinuousBernoulli", "Gaussian", "Laplace", "Likelihood", "get"]

_BY_NAME = {
    "bernoulli": Bernoulli,
    "continuous_bernoulli": ContinuousBernoulli,
    "gaussian": Gaussian,
    "laplace": Laplace,
}


def get(likelihood):
    """The likelihood object for a name or an object.

    Args:
        likelihood: `"bernoulli"`, `"continuous_bernoulli"`, `"gaussian"` (unit sigma),
            `"laplace"` (unit scale), or a `Likelihood`.

    Raises:
        ValueError: For anything else, with the valid names.
    """
    if isinstance(likelihood, Likelihood):
        return likelihood
    if isinstance(likelihood, str) and likelihood in _BY_NAME:
        return _BY_NAME[likelihood](name="likelihood")
    if isinstance(likelihood, (int, float)):
        advice = "A model's weights and seed go by name, as in beta=4.0. "
    else:
        advice = did_you_mean(likelihood, _BY_NAME)
    raise ValueError(
        f"likelihood must be one of {sorted(_BY_NAME)} or a keras_vaezoo.likelihoods.Likelihood "
        f"object. {advice}Received: likelihood={likelihood!r}"
    )
