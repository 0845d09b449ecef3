"""Two virtual CPU devices: tf.distribute.MirroredStrategy and keras.distribution.DataParallel."""

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from tests.models.methods import build, images
from tests.subprocesses import run

BACKEND = keras.backend.backend()
pytestmark = pytest.mark.skipif(BACKEND == "torch", reason="TensorFlow and JAX only")


def single_device(noise):
    model = build("VAE")
    if noise == "without_noise":
        head = model.encoder.get_layer("encoder_log_variance")
        head.kernel.assign(np.zeros(head.kernel.shape))
        head.bias.assign(np.full(head.bias.shape, -40.0))
    model.control("kl", vz.control.Controller(set_point=1.0, maximum=5.0))
    model.compile(keras.optimizers.SGD(0.01), jit_compile=False)
    history = model.fit(images(8), batch_size=8, epochs=2, shuffle=False, verbose=0).history
    return model, history


def test_two_devices_take_the_same_steps_as_one():
    _, found = run("two_devices.py", "VAE", "without_noise", backend=BACKEND)
    model, history = single_device("without_noise")
    kernel = keras.ops.convert_to_numpy(model.encoder.get_layer("encoder_hidden").kernel)
    np.testing.assert_allclose(found["kernel"], kernel.sum(axis=1), rtol=1e-4, atol=1e-5)
    for name, values in history.items():
        np.testing.assert_allclose(found["history"][name], values, rtol=1e-5, err_msg=name)
    assert found["step"] == 2
    for field, value in model.loss_coefficients.slot("kl").items():
        np.testing.assert_allclose(found["slot"][field], value, rtol=1e-5, err_msg=field)


@pytest.mark.skipif(BACKEND != "tensorflow", reason="replicas exist on TensorFlow")
def test_replicas_draw_different_noise():
    _, found = run("replica_noise.py", backend=BACKEND)
    first, second = found
    assert np.abs(np.subtract(first, second)).min() > 1e-6
