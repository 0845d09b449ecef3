"""Prints the terms of one global batch that two virtual CPU devices share, as JSON.

Run as `python -m tests.models.two_device_terms`: the devices must be set up before any other use
of the backend.
"""

import contextlib
import json
import os
import sys

ROWS = 8


def two_devices():
    """The backend's data parallelism over two CPU devices, as a scope for building a model."""
    backend = os.environ["KERAS_BACKEND"]
    if backend == "tensorflow":
        import tensorflow as tf

        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )
        return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope()
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    import keras

    assert len(keras.distribution.list_devices()) == 2
    keras.distribution.set_distribution(keras.distribution.DataParallel())
    return contextlib.nullcontext()


def centred(model, x):
    """The model with a mean of zero over `x`: half a batch then differs from a whole one."""
    bias = model.encoder.get_layer("encoder_mean").bias
    bias.assign(-model.encode(x).mean.mean(axis=0))
    return model


def main():
    results = {}
    with two_devices():
        from tests.models.methods import build, images

        x = images(ROWS)
        for method in ("WiSEALE", "MuVAE", "FactorVAE"):
            model = centred(build(method), x)
            model.compile("sgd", jit_compile=False)
            logs = model.evaluate(x, batch_size=ROWS, verbose=0, return_dict=True)
            trained = model.fit(x, batch_size=ROWS, shuffle=False, verbose=0).history
            results[method] = {name: float(value) for name, value in logs.items()}
            results[method]["trained_loss"] = trained["loss"][0]
            results[method]["trained_terms"] = sum(
                trained[f"{term}_weight"][0] * trained[term][0] for term in model.terms
            )
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
