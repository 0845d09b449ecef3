"""A real kill -9 inside an epoch of GCVAE, and the run that goes on from the backup."""

import signal

import keras
import pytest

from tests.subprocesses import run

BACKEND = keras.backend.backend()
KILLED_IN = 2
NEVER = -1


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What the unbroken and the resumed run ended with, and the exit status of the killed one."""
    whole, broken = (tmp_path_factory.mktemp(name) for name in ("whole", "broken"))
    _, expected = run("train_gcvae.py", whole, NEVER, backend=BACKEND)
    status, nothing = run("train_gcvae.py", broken, KILLED_IN, backend=BACKEND, check=False)
    assert nothing is None
    _, resumed = run("train_gcvae.py", broken, NEVER, backend=BACKEND)
    return expected, resumed, status


def test_the_run_was_killed(runs):
    assert runs[2] == -signal.SIGKILL


@pytest.mark.parametrize("part", ["weights", "optimizer", "noise"])
def test_resumed_state_is_equal_bit_for_bit(runs, part):
    expected, resumed, _ = runs
    assert resumed[part] == expected[part]


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
def test_coefficients_and_integrals_are_equal(runs, name):
    expected, resumed, _ = runs
    assert expected["slots"][name]["integral"] != 0.0
    assert expected["slots"][name]["updates"] == 12.0
    assert resumed["slots"][name] == expected["slots"][name]


def test_history_of_the_epochs_after_the_restart_is_equal(runs):
    expected, resumed, _ = runs
    assert set(resumed["history"]) == set(expected["history"])
    for column, values in expected["history"].items():
        assert resumed["history"][column] == values[KILLED_IN:], column
