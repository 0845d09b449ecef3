"""from_folder: the user's own image files."""

import collections
import concurrent.futures
import functools
import os
import warnings
from pathlib import Path

import numpy as np

from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.lazy_images import LazyImages, hold
from keras_vaezoo.datasets.pictures import DECODING_ERRORS, Look, header_of
from keras_vaezoo.datasets.scaling import check_value_range
from keras_vaezoo.datasets.splits import part

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")

# Folders that decode to no more than this are decoded while they are loaded.
_MEMORY_LIMIT_BYTES = 2**28
_NAMED_FILES = 5
_PROGRESS_FILES = 2000


def from_folder(
    path,
    size=None,
    channels=None,
    on_error="raise",
    crop=None,
    fit="crop",
    background="white",
    value_range=(0.0, 1.0),
    in_memory=None,
    split="train",
    test_fraction=None,
    seed=0,
):
    """Loads the image files of a folder and its sub-folders.

    Files count by their suffix (PNG, JPEG, BMP, GIF, TIFF, WebP, PPM); other files and
    everything whose name begins with a dot are ignored. Files are sorted by their path. Where
    all of them lie in two or more sub-folders, the sub-folders are the labels. EXIF rotation
    is applied, palettes are resolved, transparent pixels show `background`, 16-bit grey is
    scaled to 8 bits.

    Args:
        path: The folder.
        size: `(height, width)` in pixels that every image is brought to. None: all images
            must already have one size.
        channels: 1 for grey, 3 for colour. None: grey if every file is grey, else colour.
        on_error: "raise", or "skip" to leave out files that cannot be decoded, with a warning
            that names them. With "skip" every file is decoded once while loading; with
            "raise" a file whose beginning is whole may show its damage only when it is read.
        crop: `(height, width)` in pixels, cut from the middle before resizing.
        fit: Where the proportions differ from those of `size`: "crop" cuts the sides off,
            "stretch" distorts.
        background: Colour behind transparent pixels: a name such as "white", or
            "#rrggbb".
        value_range: `(low, high)` that black and white become. Defaults to `(0.0, 1.0)`.
        in_memory: Decode all files now (True), or each when it is read (False). None: now
            if that takes at most 256 MiB.
        split: "train", "test" or "all".
        test_fraction: Share of the files that form "test". None: "train" has all of them.
        seed: Seed of the split.

    Returns:
        A `Dataset` of images `(height, width, channels)`. `dataset.images.paths`, where the
        images are lazy, are the files.

    Raises:
        FileNotFoundError: If there is no such folder.
        ValueError: If the folder holds no image, an image cannot be decoded, the sizes differ
            while `size` is None, or an argument is out of place.

    Example:

    ```python
    data = keras_vaezoo.datasets.from_folder("photos", size=(64, 64), on_error="skip")
    model.fit(data.as_tf(64), epochs=10)
    ```
    """
    folder = Path(path).expanduser()
    value_range = check_value_range(value_range)
    if on_error not in ("raise", "skip"):
        raise ValueError(f"`on_error` must be 'raise' or 'skip'. Received: on_error={on_error!r}")
    look = Look(size, channels or 3, crop, fit, background)
    paths = image_files(folder)
    headers, errors = _try_each(header_of, paths, "file")
    paths, headers = _without_failures(folder, paths, headers, errors, on_error)
    if channels is None and all(is_grey for _, _, is_grey in headers):
        look.channels = 1
    shape = _common_shape(folder, paths, headers, look)
    if in_memory is None:
        in_memory = len(paths) * int(np.prod(shape)) <= _MEMORY_LIMIT_BYTES
    if in_memory or on_error == "skip":
        load = look.load if in_memory else lambda file: look.load(file) is None
        decoded, errors = _try_each(load, paths, "image")
        paths, decoded = _without_failures(folder, paths, decoded, errors, on_error)
    images = (
        hold(np.stack(decoded), value_range)
        if in_memory
        else FolderImages(paths, look, shape, value_range)
    )
    labels, label_names = _labels_of(folder, paths)
    dataset = Dataset(
        images, folder.name, labels=labels, label_names=label_names, value_range=value_range
    )
    return part(dataset, split, test_fraction, seed)


def image_files(folder):
    """The image files in a folder and its sub-folders, sorted; at least one."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}. Received: path={str(folder)!r}")
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(parent, name)
            for name in names
            if not name.startswith(".") and name.lower().endswith(SUFFIXES)
        ]
    if not found:
        raise ValueError(
            f"The folder {folder} holds no image file ({', '.join(SUFFIXES)}); hidden files do "
            "not count."
        )
    return sorted(found, key=lambda file: file.relative_to(folder).parts)


class FolderImages(LazyImages):
    """Image files that are decoded, by several threads, when they are read.

    Args:
        paths: The files.
        look: A `pictures.Look` with a size and channels.
        item_shape: Shape of one image.
        value_range: `(low, high)` that black and white become.
    """

    def __init__(self, paths, look, item_shape, value_range=(0.0, 1.0)):
        super().__init__(len(paths), item_shape, value_range)
        self.paths = paths
        self._look = look

    def _read(self, indices):
        images = np.empty((len(indices), *self.shape[1:]), np.uint8)

        def read(places):
            for place in places:
                images[place] = self._load(self.paths[indices[place]])

        shares = np.array_split(np.arange(len(indices)), os.cpu_count())
        for _ in _decoders(os.getpid()).map(read, shares):
            pass
        return images

    def _load(self, path):
        try:
            return self._look.load(path)
        except DECODING_ERRORS as error:
            raise ValueError(_complaint([(path, error)])) from error


@functools.cache
def _decoders(process):
    # One pool a process: threads do not survive a fork.
    return concurrent.futures.ThreadPoolExecutor(os.cpu_count())


def _try_each(function, paths, unit):
    """Results of `function` for all paths, and `(path, error)` of those that failed."""
    progress = None
    if len(paths) >= _PROGRESS_FILES:
        import keras

        progress = keras.utils.Progbar(len(paths), unit_name=unit)

    def attempt(path):
        try:
            return function(path), None
        except DECODING_ERRORS as error:
            return None, error

    results, errors = [], []
    for path, (result, error) in zip(
        paths, _decoders(os.getpid()).map(attempt, paths), strict=True
    ):
        results.append(result)
        if error is not None:
            errors.append((path, error))
        if progress is not None:
            progress.update(len(results))
    return results, errors


def _without_failures(folder, paths, results, errors, on_error):
    if not errors:
        return paths, results
    if on_error == "raise":
        raise ValueError(_complaint(errors))
    failed = {path for path, _ in errors}
    if len(failed) == len(paths):
        raise ValueError(f"No image file in {folder} can be decoded. {_complaint(errors)}")
    warnings.warn(f"Skipped. {_complaint(errors)}", stacklevel=3)
    kept = [number for number, path in enumerate(paths) if path not in failed]
    return [paths[number] for number in kept], [results[number] for number in kept]


def _complaint(errors):
    named = "; ".join(f"{path} ({error})" for path, error in errors[:_NAMED_FILES])
    more = f"; and {len(errors) - _NAMED_FILES} more" if len(errors) > _NAMED_FILES else ""
    return (
        f"{len(errors)} image file(s) cannot be decoded: {named}{more}. Repair or remove them, "
        "or pass on_error='skip'."
    )


def _common_shape(folder, paths, headers, look):
    sizes = collections.Counter((height, width) for height, width, _ in headers)
    if look.size is not None:
        height, width = look.size
        smaller = sum(n for (h, w), n in sizes.items() if h < height or w < width)
        if smaller:
            warnings.warn(
                f"{smaller} of the {len(paths)} images in {folder} are smaller than "
                f"size={look.size} and are enlarged.",
                stacklevel=3,
            )
        return (*look.size, look.channels)
    if look.crop is not None:
        return (*look.crop, look.channels)
    if len(sizes) > 1:
        (first, _), (second, _) = sizes.most_common(2)
        example = next(
            path for path, header in zip(paths, headers, strict=True) if header[:2] == second
        )
        raise ValueError(
            f"The images in {folder} have {len(sizes)} sizes: most are {first[0]}x{first[1]}, "
            f"{example} is {second[0]}x{second[1]}. Pass size=(height, width)."
        )
    return (*next(iter(sizes)), look.channels)


def _labels_of(folder, paths):
    """Labels and their names where the files lie in two or more sub-folders, else None."""
    parts = [path.relative_to(folder).parts for path in paths]
    names = sorted({names[0] for names in parts if len(names) > 1})
    if len(names) < 2 or any(len(names) == 1 for names in parts):
        return None, None
    return np.array([names.index(part[0]) for part in parts], np.int64), tuple(names)
