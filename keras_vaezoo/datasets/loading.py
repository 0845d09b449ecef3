"""load: every data set by its name."""

import difflib
import inspect

from keras_vaezoo.datasets.digits_and_fashion import load_digits, load_fashion_mnist, load_mnist
from keras_vaezoo.datasets.sprites import load_sprites

_LOADERS = {
    "digits": load_digits,
    "fashion_mnist": load_fashion_mnist,
    "mnist": load_mnist,
    "sprites": load_sprites,
}


def names():
    """Names that `load` knows by itself, sorted."""
    return sorted(_LOADERS)


def load(name, split="train", data_dir=None, **options):
    """Loads a data set."""
    loader = _LOADERS.get(name)
    if loader is None:
        close = difflib.get_close_matches(str(name), _LOADERS, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise ValueError(
            f"Unknown data set. Received: name={name!r}.{hint} Valid names: {', '.join(names())}"
        )
    if data_dir is not None:
        options["data_dir"] = data_dir
    accepted = list(inspect.signature(loader).parameters)[1:]
    for option in options:
        if option not in accepted:
            raise ValueError(
                f"load('{name}') has no option '{option}'. Its options: {', '.join(accepted)}"
            )
    return loader(split, **options)
