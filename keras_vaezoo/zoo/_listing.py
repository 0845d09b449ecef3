"""presets: what the zoo holds."""

from keras_vaezoo.preset_listing import listing


def presets():
    """The presets there are: every folder of the zoo that holds a config.

    The zoo is the package's folder `zoo_weights` and, behind it, the folder that the environment
    variable KERAS_VAEZOO_HOME names. `BetaVAE.presets` are those of one class.

    Returns:
        A dict from names to metadata (`method`, `recipe`, `training`, `scores`), which prints as a
        table of method, data set, latent dimensions and scores on test data, in nats.

    Example:

    ```python
    print(keras_vaezoo.presets())
    for name in keras_vaezoo.presets():
        model = keras_vaezoo.from_preset(name)
    ```
    """
    return listing()
