"""A run that was killed inside an epoch ends as the unbroken run does, bit for bit."""

import signal

import keras
import numpy as np
import pytest

from tests.subprocesses import run

BACKEND = keras.backend.backend()
STEPS_AN_EPOCH = 5


@pytest.mark.parametrize("method", ["VAE", "GCVAE", "FactorVAE"])
def test_killed_run_resumes_bit_for_bit(method, tmp_path):
    unbroken, resumed = tmp_path / "unbroken.npz", tmp_path / "resumed.npz"
    run("resumable.py", method, tmp_path / "a", unbroken, 0, backend=BACKEND)
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
