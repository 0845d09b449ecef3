"""Large sets, decoded once into a memory-mapped file on disk."""

import os
import shutil
from pathlib import Path

import numpy as np

from keras_vaezoo.datasets.local_files import DATA_VARIABLE

# Decoded images up to this size are kept in memory instead.
MEMORY_LIMIT_BYTES = 2**30


def decoded_folder():
    """Where decoded sets are kept: in $KERAS_VAEZOO_DATA, else in the user's cache folder."""
    home = os.environ.get(DATA_VARIABLE)
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home or Path(cache) / "keras_vaezoo").expanduser() / "decoded"


def gather(key, count, item_shape, chunks):
    """Collects `(images, targets)` chunks, in memory or, where they are large, on disk.

    Args:
        key: Name of the folder on disk; says everything that the content depends on.
        count: Number of images, or None where it is not known (then: in memory).
        item_shape: Shape of one image.
        chunks: Function without arguments that gives an iterator of pairs
            `(uint8 images, targets)`.

    Returns:
        `(images, targets)`, the images memory-mapped where they are on disk.
    """
    size = None if count is None else count * int(np.prod(item_shape))
    if size is not None and size > MEMORY_LIMIT_BYTES:
        return _decode_once(decoded_folder() / key, count, item_shape, size, chunks)
    images, targets = zip(*chunks(), strict=True)
    return np.concatenate(images), np.concatenate(targets)


def _decode_once(folder, count, item_shape, size, chunks):
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder.parent).free
        if size > free:
            raise OSError(
                f"Decoding {folder.name} needs {size / 2**30:.1f} GiB in {folder.parent}, where "
                f"{free / 2**30:.1f} GiB are free. Free some, or set {DATA_VARIABLE} to a folder "
                "on a larger disk."
            )
        _write(folder, (count, *item_shape), chunks)
    images = np.load(folder / "images.npy", mmap_mode="r")
    targets = np.load(folder / "targets.npy")
    if images.shape != (count, *item_shape) or len(targets) != count:
        raise ValueError(
            f"The decoded set {folder} should hold images of shape {(count, *item_shape)}. "
            f"Received: {images.shape}. Delete that folder; it is made again."
        )
    return images, targets


def _write(folder, shape, chunks):
    import keras

    # The folder gets its name only when it is whole: what stops half-way leaves nothing.
    partial = folder.with_name(f"{folder.name}.partial-{os.getpid()}")
    partial.mkdir()
    try:
        images = np.lib.format.open_memmap(partial / "images.npy", "w+", np.uint8, shape)
        progress = keras.utils.Progbar(shape[0], unit_name="image")
        done, targets = 0, []
        for chunk, chunk_targets in chunks():
            images[done : done + len(chunk)] = chunk
            done += len(chunk)
            targets.append(chunk_targets)
            progress.update(done)
        if done != shape[0]:
            raise ValueError(f"{folder.name} should have {shape[0]} images. Received: {done}")
        images.flush()
        np.save(partial / "targets.npy", np.concatenate(targets))
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
