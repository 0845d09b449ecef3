"""Values and gradients on the running backend, and their finite-difference oracle."""

import functools

import keras
import numpy as np


def value_and_grad(function, *arrays):
    """Return `function(*arrays)`, a scalar, and its gradient by each array, as NumPy.

    TensorFlow and torch run eagerly, JAX under `jax.jit`.

    Args:
        function: takes tensors, returns a scalar tensor.
        *arrays: NumPy arrays; they become float32 tensors.

    Returns:
        `(value, gradients)`, a float and a tuple of arrays.
    """
    return _to_numpy(_BACKENDS[keras.backend.backend()](function)(*_float32(arrays)))


def compiled_value_and_grad(function, *arrays):
    """As `value_and_grad`, on TensorFlow in a `tf.function` that does not know the first axes."""
    if keras.backend.backend() != "tensorflow":
        return value_and_grad(function, *arrays)
    arrays = _float32(arrays)
    return _to_numpy(compiled(_tensorflow(function), *arrays)(*arrays))


def compiled(function, *examples):
    """Return `function` as the backend compiles it, for arrays of any first axis.

    Args:
        function: takes and returns tensors.
        *examples: arrays with the ranks and the other axes of what will be passed.
    """
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        signature = [tf.TensorSpec((None, *array.shape[1:]), "float32") for array in examples]
        return tf.function(function, input_signature=signature, autograph=False)
    if backend == "jax":
        import jax

        return jax.jit(function)
    return function


def finite_difference(oracle, *arrays, step=1e-5):
    """Return the central differences of a float64 NumPy function by each array."""
    arrays = [np.array(array, "float64") for array in arrays]
    gradients = []
    for array in arrays:
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            kept = array[index]
            array[index] = kept + step
            above = oracle(*arrays)
            array[index] = kept - step
            below = oracle(*arrays)
            array[index] = kept
            gradient[index] = (above - below) / (2 * step)
        gradients.append(gradient)
    return tuple(gradients)


def _tensorflow(function):
    import tensorflow as tf

    def both(*arrays):
        tensors = [tf.convert_to_tensor(array) for array in arrays]
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            value = function(*tensors)
        return value, tape.gradient(value, tensors, unconnected_gradients="zero")

    return both


@functools.cache
def _jax(function):
    """Compiled once for each function and shape: tests that share both take no more time."""
    import jax

    @jax.jit
    def both(*arrays):
        return jax.value_and_grad(function, argnums=tuple(range(len(arrays))))(*arrays)

    return both


def _torch(function):
    import torch

    def both(*arrays):
        tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
        value = function(*tensors)
        return value, torch.autograd.grad(value, tensors, allow_unused=True, materialize_grads=True)

    return both


_BACKENDS = {"tensorflow": _tensorflow, "jax": _jax, "torch": _torch}

# Where a backend has two ways to run, tests of gradients go through both.
EVALUATIONS = (
    [value_and_grad, compiled_value_and_grad]
    if keras.backend.backend() == "tensorflow"
    else [value_and_grad]
)


def _float32(arrays):
    return [np.asarray(array, "float32") for array in arrays]


def _to_numpy(value_and_gradients):
    value, gradients = value_and_gradients
    return (
        float(keras.ops.convert_to_numpy(value)),
        tuple(keras.ops.convert_to_numpy(gradient) for gradient in gradients),
    )
