"""Peak memory of WiSE-ALE's bound with its gradient, in a fresh process."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = """
import pathlib
import numpy as np
from keras_vaezoo import divergences
from tests.gradients import compiled_value_and_grad

def peak_megabytes():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024

def run(count):
    rows = np.random.default_rng(0).normal(size=(count, 64))
    compiled_value_and_grad(divergences.aggregate_kl_bound, rows, rows - 2.0)

run(8)
before = peak_megabytes()
run(2048)
print("extra megabytes:", peak_megabytes() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_peak_memory_at_two_thousand_posteriors_of_64_dimensions():
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=pathlib.Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    # One tensor of shape (2048, 2048, 64) alone takes 1,074 megabytes.
    assert 0.0 < float(result.stdout.split()[-1]) < 600.0, result.stdout
