"""Memory over 2,000 training steps on the running backend: it must stay flat.

python examples/benchmarks/memory_flat.py --steps 2000
"""

import argparse
import json
import pathlib

import keras
import numpy as np

import keras_vaezoo as vz


def resident_megabytes():
    """Anonymous resident memory of this process (Linux)."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no RssAnon")


class Memory(keras.callbacks.Callback):
    """Memory after each epoch of 100 steps."""

    def __init__(self):
        super().__init__()
        self.megabytes = []

    def on_epoch_end(self, epoch, logs=None):
        self.megabytes.append(resident_megabytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    steps = parser.parse_args().steps
    x = np.random.default_rng(0).random((6400, 28, 28, 1)).astype("float32")
    model = vz.VAE(*vz.networks.autoencoder((28, 28, 1), 2, architecture="wise_ale_mnist"))
    model.compile("adam")
    memory = Memory()
    model.fit(x, batch_size=64, epochs=steps // 100, verbose=0, callbacks=[memory])
    third = len(memory.megabytes) // 3
    print(
        json.dumps(
            {
                "backend": keras.backend.backend(),
                "steps": steps,
                "megabytes_after_a_third": round(memory.megabytes[third], 1),
                "megabytes_at_the_end": round(memory.megabytes[-1], 1),
            }
        )
    )


if __name__ == "__main__":
    main()
