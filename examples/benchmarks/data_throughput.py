"""How fast batches of float32 images come, and what memory they take.

    python examples/benchmarks/data_throughput.py

Three measurements, each against the figure it should reach:
sprites drawn on demand; a folder of JPEG files against a bare tf.data pipeline that decodes
and resizes the same files; one epoch over a memory-mapped data set of several gigabytes.
Nothing else should run on the machine. Without /proc (not Linux) memory is not measured.
"""

import argparse
import functools
import tempfile
import time
from pathlib import Path

import numpy as np
from keras.utils import Progbar
from PIL import Image

from keras_vaezoo import datasets

BATCH = 64


def batches_of(source):
    """Batches of one epoch of a tf.data.Dataset or a PyDataset."""
    return source if hasattr(source, "cardinality") else (source[i][0] for i in range(len(source)))


def rate(source, images):
    """Images in a second, over one epoch of `source`; the first batch is not counted."""
    progress, done = Progbar(images, unit_name="image"), 0
    for batch in batches_of(source):
        start = start if done else time.perf_counter()  # noqa: F821
        done += len(batch)
        progress.update(done)
    return (done - BATCH) / (time.perf_counter() - start)


def anonymous_megabytes():
    """Memory of this process that is not a mapped file."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if "RssAnon" in line), np.nan)


def report(what, value, unit, bar, passed):
    print(f"{what:34} {value:12,.2f} {unit:10} {bar:16} {'ok' if passed else 'MISSED'}")
    return passed


def bare_pipeline(paths, side):
    import tensorflow as tf

    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, (side, side)) / 255.0

    files = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
    files = files.shuffle(len(paths), seed=0)
    images = files.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    return images.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def write_jpegs(folder, count):
    rng = np.random.default_rng(0)
    for number in range(count):
        coarse = Image.fromarray(rng.integers(256, size=(14, 11, 3), dtype=np.uint8))
        coarse.resize((178, 218), Image.Resampling.BICUBIC).save(folder / f"{number:05d}.jpg")


def write_npy(path, gigabytes):
    count = int(gigabytes * 1e9 / (64 * 64 * 3))
    pixels = np.lib.format.open_memmap(path, "w+", np.uint8, (count, 64, 64, 3))
    block = np.random.default_rng(0).integers(256, size=(1024, 64, 64, 3), dtype=np.uint8)
    for start in range(0, count, 1024):
        pixels[start : start + 1024] = block[: count - start]
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sprites", type=int, default=100_000)
    parser.add_argument("--jpegs", type=int, default=5_000)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        sprites = datasets.load("sprites").sample(options.sprites, seed=0)
        write_jpegs(folder, options.jpegs)
        jpegs = datasets.from_folder(folder, size=(64, 64), fit="stretch", in_memory=False)
        bare = rate(bare_pipeline(jpegs.images.paths, 64), len(jpegs))
        for road in ("as_tf", "as_pydataset"):
            speed = rate(getattr(sprites, road)(BATCH), len(sprites))
            line = (f"sprites, {road}", speed, "images/s", "at least 20,000", speed >= 2e4)
            results.append(functools.partial(report, *line))
            share = rate(getattr(jpegs, road)(BATCH), len(jpegs)) / bare
            line = (f"JPEGs, {road}", share, "of bare", "at least 0.60", share >= 0.6)
            results.append(functools.partial(report, *line))
        large = datasets.from_arrays(write_npy(folder / "large.npy", options.gigabytes))
        for road in ("as_tf", "as_pydataset"):
            before = anonymous_megabytes()
            speed = rate(getattr(large, road)(BATCH), len(large))
            grown = anonymous_megabytes() - before
            line = (f"{options.gigabytes:g} GB epoch, {road}", grown, "MB more", "under 500", grown < 500)
            results.append(functools.partial(report, *line))
            results.append(functools.partial(report, "  its speed", speed, "images/s", "", True))
    print(f"\nbare tf.data on the JPEGs: {bare:,.0f} images/s")
    raise SystemExit(not all([show() for show in results]))
