"""load: every data set by its name."""

import functools
import inspect
import re

from keras_vaezoo.close_names import did_you_mean
from keras_vaezoo.datasets import tfds_sets
from keras_vaezoo.datasets.celeb_a import load_celeb_a
from keras_vaezoo.datasets.digits_and_fashion import load_digits, load_fashion_mnist, load_mnist
from keras_vaezoo.datasets.dsprites import load_dsprites
from keras_vaezoo.datasets.shapes3d import load_shapes3d
from keras_vaezoo.datasets.sine_waves import load_sine_waves
from keras_vaezoo.datasets.sprites import load_sprites
from keras_vaezoo.datasets.tfds_images import load_tfds_images

_LOADERS = {
    "celeb_a": load_celeb_a,
    "digits": load_digits,
    "dsprites": load_dsprites,
    "fashion_mnist": load_fashion_mnist,
    "mnist": load_mnist,
    "shapes3d": load_shapes3d,
    "sine_waves": load_sine_waves,
    "sprites": load_sprites,
}

# name, name/config, name:version: how tensorflow_datasets spells its sets.
_TFDS_NAME = re.compile(r"[a-z][a-z0-9_]*(/[\w.\-]+)?(:[\d.]+)?")


def names():
    """Names that `load` knows by itself, sorted."""
    return sorted(_LOADERS)


def load(name, split="train", data_dir=None, **options):
    """Loads a data set by its name.

    | Name | Examples | Splits | Known of each | Needs |
    | --- | --- | --- | --- | --- |
    | `"celeb_a"` | 202,599 faces, 64x64x3 | train, validation, test | 40 attributes | files |
    | `"digits"` | 1,797 digits, 8x8x1 | train, test, all | label | scikit-learn |
    | `"dsprites"` | 737,280 shapes, 64x64x1 | train, test, all, gcvae | 5 factors | a file |
    | `"fashion_mnist"` | 70,000 clothes, 28x28x1 | train, test | label | files |
    | `"mnist"` | 70,000 digits, 28x28x1 | train, test | label | files |
    | `"shapes3d"` | 480,000 rooms, 64x64x3 | train, test, all | 6 factors | a file |
    | `"sine_waves"` | 200,000 signals, 256x1 | train, test | 3 real factors | nothing |
    | `"sprites"` | 737,280 shapes, 64x64x1 | train, test, all, gcvae | 5 factors | nothing |

    Any other name is looked up among the image sets of tensorflow_datasets ("kmnist",
    "cifar10", "emnist/letters", ...), with the splits that they have.

    Where files are needed they are looked for in `data_dir` and its sub-folder `name`; without
    `data_dir`, among the prepared sets of tensorflow_datasets, in the sub-folder `name` of the
    folder that the environment variable KERAS_VAEZOO_DATA names, and where Debian's package
    dataset-fashion-mnist puts its files. Nothing is downloaded unless `download=True`.

    "sprites" resembles dSprites: the same factors in the same order, drawn by formulas when
    they are asked for; see `sprites.render_sprites`.

    Args:
        name: One of the names above, or an image set of tensorflow_datasets.
        split: Part of the set. Sets with "all" have no test split of their own: "train" is
            everything, unless `test_fraction` is given. "gcvae" are the 737 images that GCVAE
            is trained on.
        data_dir: Folder of the files, or of sets prepared by tensorflow_datasets.
        **options: What else the set takes:
            value_range: `(low, high)` that the pixels are scaled to, `(0.0, 1.0)` by default
                (all but "sine_waves").
            download: True fetches a missing set with tensorflow_datasets (sets with files).
            verify: False accepts files whose checksum is not the known one ("mnist",
                "fashion_mnist", "dsprites", "shapes3d").
            path: The file itself ("dsprites": .hdf5 or .npz; "shapes3d").
            test_fraction, seed: Share of the rows that form "test", and the seed that picks
                them (sets with "all").
            crop, size: Pixels of the middle square that is kept, and `(height, width)` of the
                result ("celeb_a"); `size` also for other sets of tensorflow_datasets.
            n, samples, amplitude, frequency, phase, noise, seed: See
                `sine_waves.load_sine_waves`.

    Returns:
        A `Dataset`.

    Raises:
        ValueError: If the name, the split or an option is unknown, or a file is damaged, only
            partly there, or that of another set.
        FileNotFoundError: If the set is not on this machine; the message lists the ways to
            get it.
        ConnectionError: If `download=True` and there is no network.

    Example:

    >>> data = keras_vaezoo.datasets.load("sprites")
    >>> len(data), data.shape, data.factor_sizes
    (737280, (64, 64, 1), (3, 6, 40, 32, 32))
    """
    loader = _LOADERS.get(name) or _tfds_loader(name)
    if data_dir is not None:
        options["data_dir"] = data_dir
    accepted = list(inspect.signature(loader).parameters)[1:]
    for option in options:
        if option not in accepted:
            raise ValueError(
                f"load('{name}') has no option '{option}'. Its options: {', '.join(accepted)}"
            )
    return loader(split, **options)


def _tfds_loader(name):
    if isinstance(name, str) and _TFDS_NAME.fullmatch(name):
        builder = tfds_sets.builder_of(name)
        if builder is not None:
            return functools.partial(load_tfds_images, name, builder)
    raise ValueError(
        f"Unknown data set. Received: name={name!r}. {did_you_mean(name, _LOADERS)}"
        f"Valid names: {', '.join(names())}, and the image sets of tensorflow_datasets. Your own "
        "files: datasets.from_folder, datasets.from_arrays, datasets.from_csv."
    )
