"""Any image set of tensorflow_datasets, by its name."""

import numpy as np
from PIL import Image

from keras_vaezoo.datasets import tfds_sets
from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.decoded_files import gather
from keras_vaezoo.datasets.lazy_images import hold
from keras_vaezoo.datasets.pictures import Look
from keras_vaezoo.datasets.scaling import check_value_range
from keras_vaezoo.datasets.sources import download_way, first_found, prepared_way


def load_tfds_images(
    name, builder, split, data_dir=None, value_range=(0.0, 1.0), size=None, download=False
):
    """Images, and labels where there are any, of the set `name`. See `load`."""
    value_range = check_value_range(value_range)
    shape, has_labels = _shape_and_labels(name, builder)
    if size is None and None in shape:
        raise ValueError(
            f"The images of '{name}' have several sizes. Pass size=(height, width) in pixels."
        )
    look = Look(size, channels=shape[2])
    if size is not None:
        shape = (*look.size, shape[2])
    images, labels = first_found(
        name,
        data_dir,
        [],
        lambda: None,
        lambda: _read_prepared(name, split, data_dir, download, look, shape, has_labels),
        ways=(
            download_way(name),
            prepared_way(name),
            "Read files of your own with datasets.from_folder or datasets.from_arrays.",
        ),
    )
    return Dataset(
        hold(images, value_range),
        name,
        labels=labels if has_labels else None,
        label_names=tuple(builder.info.features["label"].names or ()) if has_labels else None,
        value_range=value_range,
    )


def _shape_and_labels(name, builder):
    import tensorflow_datasets as tfds

    features = builder.info.features
    is_dict = isinstance(features, tfds.features.FeaturesDict)
    features = dict(features.items()) if is_dict else {}
    image = features.get("image")
    if not isinstance(image, tfds.features.Image) or image.dtype != np.uint8:
        raise ValueError(
            f"The set '{name}' of tensorflow_datasets has no feature 'image' of 8-bit pixels. "
            f"Its features: {', '.join(features) or builder.info.features}"
        )
    shape = tuple(image.shape)
    if shape[2] not in (1, 3):
        raise ValueError(
            f"The images of '{name}' must have 1 or 3 channels. Received: shape {shape}"
        )
    return shape, isinstance(features.get("label"), tfds.features.ClassLabel)


def _read_prepared(name, split, data_dir, download, look, shape, has_labels):
    features = ("image", "label") if has_labels else ("image",)
    wanted = dict.fromkeys(features, True)
    prepared = tfds_sets.open_prepared(name, split, wanted, data_dir, download)
    if prepared is None:
        return None

    def chunks():
        # One at a time where the sizes differ: such images do not form an array.
        rows = 1024 if look.size is None else 1
        for images, *labels in tfds_sets.chunks_of(prepared, features, rows):
            if look.size is not None:
                images = np.stack([look.apply(_picture(image)) for image in images])
            yield images, labels[0] if labels else np.zeros(len(images), np.int64)

    key = f"{name}-tfds-{split}-{'x'.join(map(str, shape))}".replace("/", "-")
    return gather(key, tfds_sets.count_of(prepared), shape, chunks)


def _picture(image):
    return Image.fromarray(image[..., 0] if image.shape[2] == 1 else image)
