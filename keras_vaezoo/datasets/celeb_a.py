"""celeb_a: CelebA faces, from the folder img_align_celeba or from tensorflow_datasets."""

import numpy as np
from PIL import Image

from keras_vaezoo.datasets import tfds_sets
from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.decoded_files import gather
from keras_vaezoo.datasets.folder import FolderImages
from keras_vaezoo.datasets.lazy_images import hold
from keras_vaezoo.datasets.local_files import DATA_VARIABLE, folders_of
from keras_vaezoo.datasets.pictures import Look
from keras_vaezoo.datasets.scaling import check_value_range
from keras_vaezoo.datasets.sources import download_way, first_found, prepared_way

_FOLDER = "img_align_celeba"
_ATTRIBUTES = "list_attr_celeba.txt"
# First and last number of the files of each split.
_NUMBERS = {"train": (1, 162_770), "validation": (162_771, 182_637), "test": (182_638, 202_599)}


def load_celeb_a(
    split, data_dir=None, value_range=(0.0, 1.0), crop=140, size=(64, 64), download=False
):
    """CelebA: 202,599 faces, cut to the middle 140x140 pixels and resized. See `load`."""
    value_range = check_value_range(value_range)
    if split not in _NUMBERS:
        raise ValueError(
            f"'celeb_a' has the splits {', '.join(map(repr, _NUMBERS))}. Received: split={split!r}"
        )
    look = Look(size, channels=3, crop=(crop, crop))
    folders = folders_of("celeb_a", data_dir)
    images, factors, names = first_found(
        "celeb_a",
        data_dir,
        folders,
        lambda: _read_folders(split, folders, look, value_range),
        lambda: _read_prepared(split, data_dir, download, look, value_range),
        ways=(
            download_way("celeb_a"),
            f"Unpack {_FOLDER}.zip of the CelebA project and pass the folder that holds {_FOLDER} "
            f"(and, for the 40 attributes, {_ATTRIBUTES}) as data_dir, or put both into the "
            f"sub-folder 'celeb_a' of the folder that {DATA_VARIABLE} names.",
            prepared_way("celeb_a"),
        ),
    )
    return Dataset(
        images,
        "celeb_a",
        factors=factors,
        factor_names=names,
        factor_sizes=None if names is None else (2,) * len(names),
        value_range=value_range,
    )


def _read_folders(split, folders, look, value_range):
    for folder in folders:
        # Some archives hold the folder twice, one in the other.
        for pictures in (folder / _FOLDER / _FOLDER, folder / _FOLDER):
            files = {int(path.stem): path for path in pictures.glob("[0-9]*.jpg")}
            if files:
                return _from_files(split, files, folder / _ATTRIBUTES, look, value_range)
    return None


def _from_files(split, files, attributes_file, look, value_range):
    first, last = _NUMBERS[split]
    numbers = sorted(number for number in files if first <= number <= last)
    if not numbers:
        raise ValueError(
            f"The {len(files)} files of celeb_a hold none of the split '{split}', which are "
            f"{first:06d}.jpg to {last:06d}.jpg."
        )
    paths = [files[number] for number in numbers]
    images = FolderImages(paths, look, (*look.size, 3), value_range)
    if not attributes_file.is_file():
        return images, None, None
    names, rows = _read_attributes(attributes_file)
    missing = [path.name for path in paths if path.name not in rows]
    if missing:
        raise ValueError(f"The file {attributes_file} lacks the attributes of {missing[0]}.")
    return images, np.stack([rows[path.name] for path in paths]), names


def _read_attributes(path):
    """Attribute names, and a dict from file names to 0 / 1 for each attribute."""
    lines = path.read_text().splitlines()
    names = tuple(lines[1].split()) if len(lines) > 1 else ()
    rows = {}
    for number, line in enumerate(lines[2:], start=3):
        name, *values = line.split()
        if len(values) != len(names) or not set(values) <= {"-1", "1"}:
            raise ValueError(
                f"Line {number} of {path} must hold a file name and {len(names)} values of -1 or "
                f"1. Received: {line[:60]!r}"
            )
        rows[name] = np.array([value == "1" for value in values], np.int32)
    return names, rows


def _read_prepared(split, data_dir, download, look, value_range):
    features = {"image": True, "attributes": True}
    prepared = tfds_sets.open_prepared("celeb_a", split, features, data_dir, download)
    if prepared is None:
        return None
    names = tuple(sorted(prepared.element_spec["attributes"]))

    def chunks():
        for images, attributes in tfds_sets.chunks_of(prepared, features):
            pixels = [look.apply(Image.fromarray(image)) for image in images]
            columns = [attributes[name] for name in names]
            yield np.stack(pixels), np.stack(columns, axis=1).astype(np.int32)

    key = f"celeb_a-tfds-{split}-{look.crop[0]}-{look.size[0]}x{look.size[1]}"
    shape = (*look.size, 3)
    pixels, factors = gather(key, tfds_sets.count_of(prepared), shape, chunks)
    return hold(pixels, value_range), factors, names
