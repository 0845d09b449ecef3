"""Terms of one global batch that two virtual CPU devices share; prints them as JSON."""

import json
import os

ROWS = 8


def centred(model, x):
    """The model with a mean of zero over `x`: half a batch then differs from a whole one."""
    bias = model.encoder.get_layer("encoder_mean").bias
    bias.assign(-model.encode(x).mean.mean(axis=0))
    return model


def main():
    import keras

    from tests.models.methods import build, images
    from tests.scripts.two_devices import two_devices

    x, results = images(ROWS), {}
    with two_devices(keras.backend.backend()):
        for method in ("WiSEALE", "MuVAE"):
            model = centred(build(method), x)
            model.compile("sgd", jit_compile=False)
            results[method] = model.evaluate(x, batch_size=ROWS, verbose=0, return_dict=True)
        model = build("FactorVAE")
        model.compile("sgd", jit_compile=False)
        history = model.fit(x, batch_size=ROWS, shuffle=False, verbose=0).history
        results["FactorVAE"] = {name: values[0] for name, values in history.items()}
    print(json.dumps(results, default=float))


if __name__ == "__main__":
    if os.environ["KERAS_BACKEND"] == "jax":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    main()
