"""Running a network over data in batches, without gradients, into NumPy."""

import contextlib

import keras
import numpy as np
from keras import ops, tree

from keras_vaezoo import checks


def run_in_batches(network, x, batch_size, check=None):
    """Outputs of `network(batch, training=False)` over all of `x`, joined in NumPy.

    Args:
        network: A Keras model.
        x: Anything with a shape that can be sliced (arrays, tensors, lazy images), or an
            iterable of batches, or of tuples whose first entry is the batch.
        batch_size: Rows in one pass, for what can be sliced.
        check: Function of a batch that raises where it is no input. Default: none.

    Returns:
        The network's output structure, of arrays.
    """
    checks.check_positive_integer("batch_size", batch_size)
    outputs = []
    with _without_gradients():
        for batch in _batches(x, batch_size):
            if check is not None:
                check(batch)
            output = network(ops.convert_to_tensor(batch), training=False)
            outputs.append(tree.map_structure(ops.convert_to_numpy, output))
    if not outputs:
        raise ValueError(f"There is nothing to run the network on. Received: {type(x).__name__}")
    return tree.map_structure(lambda *parts: np.concatenate(parts), *outputs)


def _batches(x, batch_size):
    if hasattr(x, "shape"):
        for start in range(0, x.shape[0], batch_size):
            yield x[start : start + batch_size]
        return
    for batch in x:
        while isinstance(batch, (list, tuple)):
            batch = batch[0]
        yield batch


def _without_gradients():
    if keras.backend.backend() != "torch":
        return contextlib.nullcontext()
    import torch

    return torch.no_grad()
