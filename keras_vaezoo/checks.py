"""Checks of what users pass in: each raises a ValueError that says what to do."""

import keras
import numpy as np


def check_positive_integer(name, value):
    """A ValueError unless `value` is an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1. Received: {name}={value!r}")


def is_number(value):
    """Whether `value` is one finite number, and no boolean."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    return bool(np.isfinite(value))


def check_number(name, value, minimum=None, above=None):
    """A ValueError unless `value` is a finite number, at least `minimum` and beyond `above`."""
    wanted = "a finite number"
    if minimum is not None:
        wanted += f" of at least {minimum:g}"
    if above is not None:
        wanted += f" above {above:g}"
    if not (
        is_number(value)
        and (minimum is None or value >= minimum)
        and (above is None or value > above)
    ):
        raise ValueError(f"{name} must be {wanted}. Received: {name}={value!r}")


def checked_seed(seed):
    """`None`, or the seed as a Python integer; a ValueError unless it is a whole number >= 0."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be None or an integer >= 0. Received: seed={seed!r}")
    return int(seed)


def check_batch(x, shape, what="x"):
    """Dtype, rank and shape of one batch, as known while a step is traced.

    Args:
        x: A tensor or array with a batch axis.
        shape: Expected shape without the batch axis.
        what: Name of the tensor in messages.
    """
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise ValueError(
            f"{what} must be one array or tensor of shape (batch, {_listed(shape)}). "
            f"Received: {type(x).__name__}"
        )
    dtype = keras.backend.standardize_dtype(x.dtype)
    if "float" not in dtype:
        raise ValueError(
            f"{what} must be floating point, e.g. images.astype('float32') / 255. "
            f"Received: dtype={dtype}"
        )
    given = tuple(x.shape)
    fits = len(given) == len(shape) + 1 and all(
        expected is None or actual is None or expected == actual
        for actual, expected in zip(given[1:], shape, strict=True)
    )
    if not fits:
        advice = ""
        if given[1:] == tuple(shape)[:-1] and shape[-1] == 1:
            advice = f" Add the channel axis: {what}[..., None]."
        elif given == tuple(shape):
            advice = f" Add the batch axis: {what}[None]."
        raise ValueError(
            f"{what} must have shape (batch, {_listed(shape)}).{advice} Received: shape={given}"
        )


def check_values(x, value_range, what="x"):
    """NaN, infinity and range of an array in memory.

    Args:
        x: A NumPy array or what converts to one.
        value_range: `(low, high)` or `None` for any finite value.
        what: Name of the array in messages.
    """
    x = np.asarray(x) if isinstance(x, (np.ndarray, list)) else keras.ops.convert_to_numpy(x)
    if x.size == 0:
        raise ValueError(f"{what} is empty. Received: shape={x.shape}")
    low, high = float(x.min()), float(x.max())
    if not np.isfinite([low, high]).all():
        bad = int((~np.isfinite(x)).sum())
        raise ValueError(
            f"{what} has {bad} values that are NaN or infinite; remove or replace them. "
            f"Received: shape={x.shape}"
        )
    if value_range is None:
        return
    lowest, highest = value_range
    if low < lowest - 1e-6 or high > highest + 1e-6:
        advice = "rescale the data, or choose likelihood='gaussian'"
        if low >= 0.0 and highest == 1.0 and 1.0 < high <= 255.0:
            advice = "divide by 255, or choose likelihood='gaussian'"
        if low >= -1.0 and low < 0.0 and high <= 1.0:
            advice = "use (x + 1) / 2, or choose likelihood='gaussian'"
        raise ValueError(
            f"This likelihood takes data in [{lowest:g}, {highest:g}]: {advice}. "
            f"Received: {what} in [{low:g}, {high:g}]"
        )


def check_weights(sample_weight):
    """Weights of examples in memory: finite and not negative."""
    weights = keras.ops.convert_to_numpy(sample_weight)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(
            "sample_weight must hold finite numbers of at least 0. Received: values from "
            f"{weights.min()} to {weights.max()}"
        )


def check_is_no_dataset(x):
    """A ValueError for the package's own Dataset, which can be streamed in several ways."""
    if hasattr(x, "as_pydataset"):
        raise ValueError(
            "Say how the data set is to be read: x.as_tf(batch_size=64), "
            f"x.as_pydataset(batch_size=64), or x.images for all of it. Received: {x!r}"
        )


def check_data(x, y, shape, value_range, target="input"):
    """Checks before training: all of an array in memory, one batch of a stream.

    Streams that can be iterated again (tf.data, PyDataset, DataLoader) are peeked at; one-shot
    generators are checked only for dtype and shape, while the first step is traced.

    Args:
        x: What the user passed to fit or evaluate.
        y: Targets in memory that are reconstructed, or `None`.
        shape: Input shape without the batch axis.
        value_range: Range of the likelihood, which holds for what is reconstructed.
        target: What that is, "input" or "y"; then x may be any finite numbers.
    """
    x_range = value_range if target == "input" else None
    check_is_no_dataset(x)
    if hasattr(x, "__array__") and not hasattr(x, "dtype"):
        x = np.asarray(x)  # data frames
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        check_batch(x, shape)
        check_values(x, x_range)
        if y is not None:
            check_batch(y, shape, "y")
            check_values(y, value_range, "y")
        return
    batch = _first_batch(x)
    if batch is None:
        return
    if target == "y" and isinstance(batch, (list, tuple)) and len(batch) > 1:
        check_batch(batch[1], shape, "y")
        check_values(batch[1], value_range, "y")
    while isinstance(batch, (list, tuple)):
        batch = batch[0]
    check_batch(batch, shape)
    check_values(batch, x_range)


def _first_batch(x):
    """The first batch of a stream that can be iterated again, as the stream gives it."""
    if hasattr(x, "element_spec"):
        batch = next(iter(x.take(1)), None)
    elif isinstance(x, keras.utils.PyDataset):
        batch = x[0] if x.num_batches is None or x.num_batches > 0 else None
    elif type(x).__module__.startswith("torch.utils.data"):
        batch = next(iter(x), None)
    elif isinstance(x, (list, tuple, dict)):
        raise ValueError(
            "x must be one array, a tf.data.Dataset, a keras.utils.PyDataset, a DataLoader or a "
            f"generator. Received: {type(x).__name__}"
        )
    else:
        return None
    if batch is None:
        raise ValueError(f"x has no batches. Received: {type(x).__name__}")
    return batch


def _listed(shape):
    return ", ".join(str(size) for size in shape)
