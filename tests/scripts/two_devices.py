"""One step of a VAE on two virtual CPU devices; prints what the test compares."""

import json
import os
import sys

import numpy as np


def two_devices(backend):
    """A scope under which a model is built, for the running backend."""
    import keras

    if backend == "tensorflow":
        import tensorflow as tf

        cpus = tf.config.list_physical_devices("CPU")
        configuration = [tf.config.LogicalDeviceConfiguration()] * 2
        tf.config.set_logical_device_configuration(cpus[0], configuration)
        return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope()
    keras.distribution.set_distribution(keras.distribution.DataParallel(auto_shard_dataset=False))
    return keras.name_scope("all")


def main(method, noise):
    import keras

    from tests.models.methods import build, images

    backend = keras.backend.backend()
    x = images(8)
    with two_devices(backend):
        model = build(method)
        head = model.encoder.get_layer("encoder_log_variance")
        if noise == "without_noise":
            head.kernel.assign(np.zeros(head.kernel.shape))
            head.bias.assign(np.full(head.bias.shape, -40.0))
        import keras_vaezoo as vz

        model.control("kl", vz.control.Controller(set_point=1.0, maximum=5.0))
        model.compile(keras.optimizers.SGD(0.01), jit_compile=False)
        history = model.fit(x, batch_size=8, epochs=2, shuffle=False, verbose=0).history
        kernel = keras.ops.convert_to_numpy(model.encoder.get_layer("encoder_hidden").kernel)
        print(
            json.dumps(
                {
                    "history": {k: np.ravel(v).tolist() for k, v in history.items()},
                    "kernel": np.asarray(kernel, "float64").sum(axis=1).tolist(),
                    "slot": model.loss_coefficients.slot("kl"),
                    "step": int(keras.ops.convert_to_numpy(model.loss_coefficients.step)),
                }
            )
        )


if __name__ == "__main__":
    if os.environ["KERAS_BACKEND"] == "jax":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    main(*sys.argv[1:])
