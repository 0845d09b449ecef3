"""from_preset: a model of any class."""

from keras_vaezoo.models.base import BaseVAE


def from_preset(preset, **overrides):
    """Loads a preset of any class.

    Args:
        preset: A name in `presets()`, or a path (a string with a separator, or a
            `pathlib.Path`).
        **overrides: `coefficient=value` pairs that win over the stored ones.

    Returns:
        A model of the preset's own class, not compiled: ready to encode, sample and, once
        compiled, fine-tune.

    Raises:
        ValueError: For an unknown preset, a missing or altered file, or a config that names a
            class of another package.

    Example:

    ```python
    model = keras_vaezoo.from_preset("vae_fashion_mnist_2d")
    images = model.sample(16, seed=0)
    ```
    """
    return BaseVAE.from_preset(preset, **overrides)
