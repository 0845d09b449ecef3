"""The one place where whole-number pixels become float32."""

import numpy as np


def to_float32(pixels, value_range=(0.0, 1.0), maximum=None, out=None):
    """Scales whole-number pixels linearly to float32.

    ```
    y = low + (high - low) * x / maximum
    ```

    Args:
        pixels: Array of whole numbers between 0 and `maximum`.
        value_range: `(low, high)` of the result. Defaults to `(0.0, 1.0)`.
        maximum: The pixel value that becomes `high`. Defaults to the largest of the dtype:
            1 for bool, 255 for uint8, 65535 for uint16.
        out: A float32 array of the same shape to write to, or None for a new one.

    Returns:
        A float32 array of the same shape.

    Example:

    >>> to_float32(np.array([0, 51, 255], "uint8"))
    array([0. , 0.2, 1. ], dtype=float32)
    """
    low, high = value_range
    pixels = np.asarray(pixels)
    if maximum is None:
        maximum = 1 if pixels.dtype == bool else np.iinfo(pixels.dtype).max
    scaled = np.divide(pixels, np.float32(maximum), out=out, dtype=np.float32)
    if (low, high) != (0.0, 1.0):
        scaled *= np.float32(high - low)
        scaled += np.float32(low)
    return scaled


def check_value_range(value_range):
    """Returns `value_range` as two floats, or raises a ValueError."""
    try:
        low, high = (float(bound) for bound in value_range)
    except (TypeError, ValueError):
        low = high = 0.0
    if not (low < high and np.isfinite([low, high]).all()):
        raise ValueError(
            "`value_range` must be two finite numbers, the lower first, such as (0.0, 1.0). "
            f"Received: value_range={value_range!r}"
        )
    return low, high
