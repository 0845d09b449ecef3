"""Data that the tests of the metrics share."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

DATA = Path(__file__).parents[1] / "data"


class Case(NamedTuple):
    codes: np.ndarray
    factors: np.ndarray
    expected: dict


@pytest.fixture(scope="session")
def reference():
    """The JSON of the reference cases: cases and dci_from_importance."""
    return json.loads((DATA / "metric_cases.json").read_text())


@pytest.fixture(scope="session")
def cases(reference):
    """Reference cases by name."""
    with np.load(DATA / "metric_cases.npz") as arrays:
        return {
            name: Case(arrays[f"{name}__codes"], arrays[f"{name}__factors"], expected)
            for name, expected in reference["cases"].items()
        }


@pytest.fixture(scope="session")
def perfect(cases):
    return cases["perfect"]


@pytest.fixture
def entangled():
    """Codes that mix three factors, so that every metric is far from its ends."""
    rng = np.random.default_rng(7)
    factors = rng.integers(0, (3, 4, 5), size=(1500, 3))
    mixing = np.array([[1.0, 0.6, 0.0], [0.5, 0.9, 0.5], [0.0, 0.4, 0.8], [0.4, 0.3, 0.5]])
    codes = factors @ mixing.T + 0.4 * rng.normal(size=(1500, 4))
    return codes, factors
