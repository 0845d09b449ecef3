"""Streams of batches in `fit`: who shuffles, and where a resumed run begins."""

import inspect

import keras

_POSITIONAL = ("batch_size", "epochs", "verbose", "callbacks", "validation_split")


class StartOfStream(keras.callbacks.Callback):
    """Tells a stream at which epoch training begins, once callbacks have restored the model."""

    def __init__(self, stream, initial_epoch, steps_per_epoch):
        super().__init__()
        self.stream, self.initial_epoch = stream, initial_epoch
        self.steps_per_epoch = steps_per_epoch

    def on_train_begin(self, logs=None):
        epoch = self.model._initial_epoch or self.initial_epoch
        self.stream.starts_at(epoch, self.steps_per_epoch)


def streaming_arguments(x, args, kwargs):
    """Arguments of `fit` by name, with what streams that shuffle themselves need."""
    given = dict(zip(_POSITIONAL, args, strict=False))
    if len(args) > len(_POSITIONAL) or given.keys() & kwargs.keys():
        raise TypeError(
            f"fit takes x, y, {', '.join(_POSITIONAL)} by position and all others by name, each "
            f"once. Received: {len(args)} beside x and y by position, {list(kwargs)} by name"
        )
    kwargs = given | kwargs
    positioned = hasattr(x, "starts_at")
    if positioned or hasattr(x, "element_spec") or inspect.isgenerator(x):
        kwargs.setdefault("shuffle", False)
    if positioned:
        steps = kwargs.get("steps_per_epoch")
        start = StartOfStream(x, kwargs.get("initial_epoch", 0), steps)
        kwargs["callbacks"] = _with(kwargs.get("callbacks"), start)
    return kwargs


def _with(callbacks, last):
    """The user's callbacks and one after them."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks.append(last)
        return callbacks
    if callbacks is None:
        return [last]
    listed = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    return [*listed, last]
