"""What terms of the batch see under data parallelism: the replica's batch or the global one."""

import keras
import numpy as np
import pytest

from tests.models.methods import build, images
from tests.models.steps import evaluated
from tests.scripts.batch_terms_on_two_devices import ROWS, centred
from tests.subprocesses import run

BACKEND = keras.backend.backend()
pytestmark = pytest.mark.skipif(BACKEND == "torch", reason="TensorFlow and JAX only")


@pytest.fixture(scope="module")
def on_two_devices():
    return run("batch_terms_on_two_devices.py", backend=BACKEND)[1]


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
    seen = on_two_devices[method][term]
    np.testing.assert_allclose(seen, expected[BACKEND], rtol=1e-4, atol=1e-6)


def test_wise_ales_weight_is_of_the_batch_that_its_bound_sees(on_two_devices):
    rows = {"tensorflow": ROWS // 2, "jax": ROWS}[BACKEND]
    weight = on_two_devices["WiSEALE"]["aggregate_kl_weight"]
    np.testing.assert_allclose(weight, 1 / rows, rtol=1e-6)


def test_two_optimizers_train_on_two_devices(on_two_devices):
    logs = on_two_devices["FactorVAE"]
    total = sum(logs[f"{t}_weight"] * logs[t] for t in build("FactorVAE").terms)
    np.testing.assert_allclose(logs["loss"], total, rtol=1e-5)
