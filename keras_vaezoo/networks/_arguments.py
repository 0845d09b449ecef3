"""Checks of the arguments that every network factory takes, and their defaults."""

import math
import operator

import keras

from keras_vaezoo.checks import check_positive_integer


def checked_input_shape(input_shape, ranks=(1, 2, 3)):
    """Return `input_shape` as a tuple of positive integers of an allowed rank."""
    try:
        shape = tuple(operator.index(size) for size in input_shape)
    except TypeError:
        shape = ()
    if not shape or min(shape) < 1:
        raise ValueError(
            "input_shape must be a tuple of positive integers without the batch axis, such as "
            f"(28, 28, 1). Received: input_shape={input_shape!r}"
        )
    if len(shape) not in ranks:
        layouts = {
            1: "(features,) for a table",
            2: "(length, channels) for a signal",
            3: "(height, width, channels) for an image",
        }
        allowed = " or ".join(layouts[rank] for rank in ranks)
        raise ValueError(
            f"input_shape must be {allowed}, channels last and without the batch axis. "
            f"Received: input_shape={input_shape!r}"
        )
    return shape


def checked_count(name, value):
    """Return `value` as an integer of at least 1."""
    check_positive_integer(name, value)
    return int(value)


def checked_counts(name, values):
    """Return `values` as a tuple of integers of at least 1; it may be empty."""
    try:
        values = tuple(values)
    except TypeError:
        raise ValueError(
            f"{name} must be a sequence of integers, such as (64, 32). Received: {name}={values!r}"
        ) from None
    return tuple(checked_count(f"{name}[{i}]", value) for i, value in enumerate(values))


def kernel_initializer(initializer):
    """Return a new initializer; None is a uniform distribution on +-1/sqrt(fan_in).

    An object is copied for each layer: Keras's draw the same numbers every time that they are
    asked, so that layers of one shape would start out equal.
    """
    if initializer is None:
        return keras.initializers.VarianceScaling(1 / 3, mode="fan_in", distribution="uniform")
    if isinstance(initializer, keras.initializers.Initializer):
        return initializer.clone()
    return keras.initializers.get(initializer)


def parameter_shape(input_shape, parameters_per_value):
    """Return the decoder's output shape: the last axis repeats once a parameter of p(x|z)."""
    return (*input_shape[:-1], input_shape[-1] * parameters_per_value)


def default_filters(input_shape):
    """Return as many filter counts as bring the longest side to about 4 by halving."""
    stages = math.ceil(math.log2(max(input_shape[:-1]) / 4))
    return (32, 32, 64, 64, 128)[: max(1, stages)]
