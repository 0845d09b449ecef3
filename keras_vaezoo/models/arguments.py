"""The arguments of a method's constructor."""

import inspect

from keras_vaezoo.close_names import did_you_mean

# What every method takes, beside arguments of its own.
_COMMON = ("encoder", "decoder", "likelihood", "seed", "samples", "controllers", "name")


def no_such_argument(method, argument):
    """What to say of an argument that a method's constructor does not have."""
    own = list(inspect.signature(method.__init__).parameters.values())[1:]
    own = [parameter.name for parameter in own if parameter.kind != parameter.VAR_KEYWORD]
    names = dict.fromkeys([*own, *_COMMON])
    return (
        f"{method.__name__}() has no argument {argument!r}. {did_you_mean(argument, names)}"
        f"Its arguments: {', '.join(names)}"
    )
