"""The number that every metric returns: a float that keeps the detail behind it."""

import numpy as np


class Score(float):
    """A float with the detail behind it.

    It computes, formats, pickles and goes to JSON as a plain float.

    Args:
        value: The score.
        per_factor: (k,) array, one number a factor. `nan` marks a factor column that was left out
            because it is constant, or that has no number of its own.
        matrix: (d, k) array, one number per code and factor; each metric says which.
        per_code: (d,) array where the metric has one number a code, else `None`.
        train: The same score on the training rows, where the metric trains something, else `None`.
        settings: Dictionary of the settings that the number depends on, beside the data, the seed
            and `factor_bins`.

    Example:

    ```python
    score = Score(0.5, per_factor=[0.25, 0.75], settings={"bins": 20})
    score + 1          # 1.5
    score.per_factor   # array([0.25, 0.75])
    ```
    """

    def __new__(cls, value, per_factor=None, matrix=None, per_code=None, train=None, settings=None):
        return super().__new__(cls, value)

    def __init__(
        self, value, per_factor=None, matrix=None, per_code=None, train=None, settings=None
    ):
        self.per_factor = _array_or_none(per_factor)
        self.matrix = _array_or_none(matrix)
        self.per_code = _array_or_none(per_code)
        self.train = None if train is None else float(train)
        self.settings = dict(settings or {})

    def __repr__(self):
        parts = [f"{float(self):.6g}"]
        if self.per_factor is not None:
            parts.append(f"per_factor={np.array2string(self.per_factor, precision=4)}")
        if self.train is not None:
            parts.append(f"train={self.train:.6g}")
        parts += [f"{name}={value!r}" for name, value in self.settings.items()]
        return f"Score({', '.join(parts)})"

    __str__ = float.__repr__


def _array_or_none(values):
    return None if values is None else np.asarray(values, dtype=np.float64)
