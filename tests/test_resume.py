"""A run that was killed inside an epoch ends as the unbroken run does, bit for bit."""

import signal

import keras
import numpy as np
import pytest

from tests.scripts import resumable
from tests.subprocesses import run

BACKEND = keras.backend.backend()
STEPS_AN_EPOCH = 5


# Methods, and which of their coefficients a controller holds.
CONTROLLED = {"VAE": {"kl"}, "GCVAE": {"alpha", "beta", "gamma"}, "FactorVAE": set()}


@pytest.mark.parametrize("method", CONTROLLED)
def test_killed_run_resumes_bit_for_bit(method, tmp_path):
    unbroken, resumed = tmp_path / "unbroken.npz", tmp_path / "resumed.npz"
    resumable.main(method, tmp_path / "a", unbroken, 0)
    kill_at = 2 * STEPS_AN_EPOCH + 3
    status, _ = run(
        "resumable.py", method, tmp_path / "b", resumed, kill_at, backend=BACKEND, check=False
    )
    assert status == -signal.SIGKILL and not resumed.exists()
    run("resumable.py", method, tmp_path / "b", resumed, 0, backend=BACKEND)
    expected, found = np.load(unbroken), np.load(resumed)
    assert set(expected.files) == set(found.files)
    for name in expected.files:
        wanted = expected[name][2:] if name.startswith("history_") else expected[name]
        np.testing.assert_array_equal(found[name], wanted, err_msg=name)
    integrals = {n.removeprefix("integral_") for n in found.files if n.startswith("integral_")}
    assert {n for n in integrals if found[f"integral_{n}"] != 0.0} == CONTROLLED[method]
