"""One optimizer for a part of a model's variables and another for the rest, as one."""

import keras
from keras.optimizers import LossScaleOptimizer, MultiOptimizer


def two_optimizers(optimizer, other_optimizer, variables, other_variables):
    """A `MultiOptimizer` that gives each of two groups of variables its own optimizer.

    Keras picks the optimizer by `variable.path`, which has no name of the sub-model: the paths
    are matched exactly, and a path in both groups is refused. A `LossScaleOptimizer` cannot lie
    inside: it is taken off and put around the whole.

    Args:
        optimizer: `keras.optimizers.Optimizer` of `variables`.
        other_optimizer: `keras.optimizers.Optimizer` of `other_variables`.
        variables: Variables of the first group.
        other_variables: Variables of the second group.

    Returns:
        A `MultiOptimizer`, or a `LossScaleOptimizer` around one. It has no learning rate of its
        own; those of the two are `.optimizers[i].learning_rate`.

    Raises:
        ValueError: If a path is in both groups, or an optimizer is a `MultiOptimizer`.
    """
    shared = sorted({v.path for v in variables} & {v.path for v in other_variables})
    if shared:
        raise ValueError(
            "Variables of two networks have the same path, so their optimizers cannot be told "
            f"apart: rename the layers of one network. Received: {shared}"
        )
    inner, other = (_without_loss_scaling(o) for o in (optimizer, other_optimizer))
    chosen = keras.optimizers.OptimizerMap(inner, {v.path: other for v in other_variables})
    combined = MultiOptimizer(chosen, loss_scale_factor=optimizer.loss_scale_factor)
    if isinstance(optimizer, LossScaleOptimizer):
        return LossScaleOptimizer(
            combined, optimizer.initial_scale, optimizer.dynamic_growth_steps, name=optimizer.name
        )
    return combined


def _without_loss_scaling(optimizer):
    if isinstance(optimizer, LossScaleOptimizer):
        optimizer = optimizer.inner_optimizer
    if isinstance(optimizer, MultiOptimizer):
        raise ValueError(
            "Give two optimizers, one for each group of variables. Received: a MultiOptimizer"
        )
    return optimizer
