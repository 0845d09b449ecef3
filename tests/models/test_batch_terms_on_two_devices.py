"""What terms of the batch see under data parallelism: the replica's batch or the global one."""

import json
import os
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest

from tests.models.methods import build, images
from tests.models.steps import evaluated
from tests.models.two_device_terms import ROWS, centred

BACKEND = keras.backend.backend()
pytestmark = pytest.mark.skipif(BACKEND == "torch", reason="torch has no keras.distribution")


@pytest.fixture(scope="module")
def on_two_devices():
    root = pathlib.Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-m", "tests.models.two_device_terms"],
        cwd=root,
        env={**os.environ, "KERAS_BACKEND": BACKEND},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("method", "term"), [("WiSEALE", "aggregate_kl"), ("MuVAE", "aggregate_mean")]
)
def test_replicas_under_tf_distribute_the_global_batch_under_keras_distribution(
    on_two_devices, method, term
):
    x = images(ROWS)
    model = centred(build(method), x)
    halves = [evaluated(model, half)[term] for half in (x[: ROWS // 2], x[ROWS // 2 :])]
    expected = {"tensorflow": np.mean(halves), "jax": evaluated(model, x)[term]}
    assert abs(expected["tensorflow"] - expected["jax"]) > 1e-4
    np.testing.assert_allclose(
        on_two_devices[method][term], expected[BACKEND], rtol=1e-4, atol=1e-6
    )


def test_wise_ales_weight_is_of_the_batch_that_its_bound_sees(on_two_devices):
    rows = {"tensorflow": ROWS // 2, "jax": ROWS}[BACKEND]
    weight = on_two_devices["WiSEALE"]["aggregate_kl_weight"]
    np.testing.assert_allclose(weight, 1 / rows, rtol=1e-6)


@pytest.mark.parametrize("method", ["WiSEALE", "MuVAE", "FactorVAE"])
def test_training_on_two_devices_keeps_the_loss_identity(on_two_devices, method):
    logs = on_two_devices[method]
    assert np.isfinite(logs["trained_loss"])
    np.testing.assert_allclose(logs["trained_loss"], logs["trained_terms"], rtol=1e-5)
