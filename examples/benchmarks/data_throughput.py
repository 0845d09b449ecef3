"""How fast batches of float32 images come, and what memory they take.

    python examples/benchmarks/data_throughput.py

Measured: sprites drawn on demand; a folder of JPEG files, decoded anew in every epoch, against
a bare tf.data pipeline on the same files (with antialias=True, which is the work that this
package does, and as tf.image.resize does it by itself, which skips pixels); one epoch over a
memory-mapped set of several gigabytes. Nothing else should be running.
Memory is read from /proc, so on Linux only.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from keras.utils import Progbar
from PIL import Image

from keras_vaezoo import datasets

BATCH = 64
ROADS = ("as_tf", "as_pydataset")


def images_per_second(source, images):
    """Over one epoch of a tf.data.Dataset or PyDataset; the first batch is not timed."""
    batches = source if hasattr(source, "cardinality") else (source[i] for i in range(len(source)))
    progress, start, done = Progbar(images, unit_name="image"), None, 0
    for batch in batches:
        start = start or time.perf_counter()
        done += len(batch[0] if isinstance(batch, tuple) else batch)
        progress.update(done)
    return (done - BATCH) / (time.perf_counter() - start)


def anonymous_megabytes():
    """Memory of this process that is not a mapped file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))


def bare_pipeline(paths, antialias):
    import tensorflow as tf

    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, (64, 64), antialias=antialias) / 255.0

    files = tf.data.Dataset.from_tensor_slices([str(path) for path in paths])
    images = files.shuffle(len(paths)).map(load, num_parallel_calls=tf.data.AUTOTUNE)
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
    for start in range(0, count, len(block)):
        pixels[start : start + len(block)] = block[: count - start]
    return path


def measure(options, folder):
    """Yields `(what, value, unit, required value or None, whether more is better)`."""
    sprites = datasets.load("sprites").sample(options.sprites, seed=0)
    for road in ROADS:
        speed = images_per_second(getattr(sprites, road)(BATCH), len(sprites))
        yield f"sprites, {road}", speed, "images/s", 20_000, True

    write_jpegs(folder, options.jpegs)
    jpegs = datasets.from_folder(folder, size=(64, 64), fit="stretch", in_memory=False)
    speeds = {road: images_per_second(getattr(jpegs, road)(BATCH), len(jpegs)) for road in ROADS}
    for antialias, needed in ((True, 0.6), (False, None)):
        bare = images_per_second(bare_pipeline(jpegs.images.paths, antialias), len(jpegs))
        yield f"JPEGs, bare tf.data, antialias={antialias}", bare, "images/s", None, True
        for road, speed in speeds.items():
            yield f"JPEGs, {road}", speed / bare, "of that", needed, True

    large = datasets.from_arrays(write_npy(folder / "large.npy", options.gigabytes))
    for road in ROADS:
        before = anonymous_megabytes()
        speed = images_per_second(getattr(large, road)(BATCH), len(large))
        grown = anonymous_megabytes() - before
        yield f"{options.gigabytes:g} GB epoch, {road}", speed, "images/s", None, True
        yield f"{options.gigabytes:g} GB epoch, {road}, memory", grown, "MB", 500, False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sprites", type=int, default=100_000, help="number of images")
    parser.add_argument("--jpegs", type=int, default=5_000, help="number of files")
    parser.add_argument("--gigabytes", type=float, default=4.0, help="size of the large set")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = list(measure(options, Path(folder)))
    missed = 0
    for what, value, unit, needed, more in results:
        passed = needed is None or (value >= needed if more else value <= needed)
        missed += not passed
        bar = "" if needed is None else f"{'at least' if more else 'at most'} {needed:,}"
        print(f"{what:42}{value:12,.2f} {unit:9} {bar:16} {'' if passed else 'MISSED'}")
    sys.exit(missed > 0)
