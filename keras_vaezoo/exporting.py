"""Encoder and decoder of a model as SavedModel or ONNX files that run without this package."""

import contextlib
import importlib
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import keras
from keras import ops

from keras_vaezoo.models.base import BaseVAE

ONNX_OPSET = 18


def export_networks(model, directory, format="onnx"):
    """Writes a model's encoder and decoder as two files for inference elsewhere.

    `encoder`: `x (batch, *input_shape)` -> `mean`, `log_variance`, `z`, each
    `(batch, latent_dim)`. `mean` and `log_variance` are those of `model.encode`, and
    `z = mean + exp(log_variance / 2) eps` is a draw from q(z|x), a new one in every call.
    `decoder`: `z (batch, latent_dim)` -> `reconstruction (batch, *input_shape)`, the mean of
    p(x|z) that `model.decode` gives. All are float32, the batch may have any size. Values agree
    with the model's to 1e-5, under a dtype policy of float16 to that type's precision.

    `"onnx"` writes `encoder.onnx` and `decoder.onnx` (opset 18), with the outputs in the order
    above. `"saved_model"` writes the folders `encoder` and `decoder`; `serve` and the signature
    `"serving_default"` give a dict with the names above, which has no order of its own.

    A deterministic `WAE` has `log_variance = -inf` and `z = mean`. No seed is stored: other
    processes draw other z (but onnxruntime starts every session of one process with the same
    noise). Keras's own `model.export` writes something else, the map from x to reconstructions.

    Args:
        model: A model of this package, from a preset or trained; it is not changed.
        directory: Path; it may exist, but must not hold files of these names.
        format: `"onnx"` (default; TensorFlow and torch) or `"saved_model"` (TensorFlow).

    Raises:
        ValueError: For another kind of model, an unknown format, one that this backend cannot
            write, or files that are there already.
        ImportError: If a package that writes ONNX is missing.

    Example:

    ```python
    model = keras_vaezoo.from_preset("vae_fashion_mnist_2d")
    keras_vaezoo.export_networks(model, "exported")
    encoder = onnxruntime.InferenceSession("exported/encoder.onnx")
    mean, log_variance, z = encoder.run(None, {"x": images})
    ```
    """
    write, suffix = _writer(format)
    if not isinstance(model, BaseVAE):
        raise ValueError(
            "model must be a model of this package, such as keras_vaezoo.from_preset(name). "
            f"Received: {type(model).__name__}"
        )
    directory = pathlib.Path(directory)
    _refuse_existing(directory, suffix)
    directory.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=directory, prefix=".writing_") as aside,
        _without_activity_losses(model),
    ):
        networks = {network.name + suffix: network for network in _networks(model)}
        for name, network in networks.items():
            write(model, network, os.path.join(aside, name))
        for name in networks:
            os.rename(os.path.join(aside, name), directory / name)


class _Network(NamedTuple):
    """One network to write: `function` maps a tensor to `{output name: tensor}`."""

    name: str
    input_name: str
    input_shape: tuple
    outputs: tuple
    function: Callable


def _networks(model):
    def encode(x):
        mean, log_variance = model._posterior(model.encoder(x, training=False))
        z = mean + ops.exp(0.5 * log_variance) * _fresh_noise(mean)
        return {"mean": mean, "log_variance": log_variance, "z": z}

    def decode(z):
        return {"reconstruction": model.likelihood(model.decoder(z, training=False))}

    input_shape = tuple(model.input_shape[1:])
    return (
        _Network("encoder", "x", input_shape, ("mean", "log_variance", "z"), encode),
        _Network("decoder", "z", (model.latent_dim,), ("reconstruction",), decode),
    )


@contextlib.contextmanager
def _without_activity_losses(model):
    """Inference needs none; Keras would keep them as symbols and, on torch, fix the batch size."""
    held = [layer for layer in model._flatten_layers() if layer.activity_regularizer is not None]
    regularizers = [layer.activity_regularizer for layer in held]
    try:
        for layer in held:
            layer.activity_regularizer = None
        yield
    finally:
        for layer, regularizer in zip(held, regularizers, strict=True):
            layer.activity_regularizer = regularizer


def _fresh_noise(mean):
    """Normal noise that no seed fixes: Keras's own needs a state, which ONNX does not have."""
    if keras.backend.backend() == "torch":
        import torch

        return torch.randn_like(mean)
    import tensorflow as tf

    # tf.random.normal would write the seed of keras.utils.set_random_seed into the graph.
    return tf.raw_ops.RandomStandardNormal(shape=tf.shape(mean), dtype=tf.float32, seed=0, seed2=0)


def _write_saved_model(model, network, path):
    import tensorflow as tf

    module = tf.Module()
    module.serve = _tensorflow_function(network)
    module.used = module.serve.get_concrete_function().graph.variables
    tf.saved_model.save(module, path, signatures=module.serve)


def _write_onnx_from_tensorflow(model, network, path):
    import onnx
    import tf2onnx

    function = _tensorflow_function(network)
    proto, _ = tf2onnx.convert.from_function(function, function.input_signature, opset=ONNX_OPSET)
    graph = proto.graph
    graph.output.sort(key=lambda output: network.outputs.index(output.name))
    for end in (*graph.input, *graph.output):
        end.type.tensor_type.shape.dim[0].dim_param = "batch"
    for node in graph.node:
        if node.op_type == "RandomNormalLike":  # tf2onnx's seed would repeat z in every session
            kept = [attribute for attribute in node.attribute if attribute.name != "seed"]
            node.ClearField("attribute")
            node.attribute.extend(kept)
    onnx.checker.check_model(proto)  # tf2onnx goes on where it cannot convert an operation
    onnx.save(proto, path)


def _write_onnx_from_torch(model, network, path):
    import torch

    class Served(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model  # registers the weights
            self.training = False  # of this wrapper alone: eval() would switch the model's too

        def forward(self, tensor):
            return tuple(network.function(tensor).values())

    # torch.onnx.export alone would write a fixed batch size where this raises.
    program = torch.export.export(
        Served(),
        (ops.zeros((2, *network.input_shape), "float32"),),
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        strict=False,
    )
    torch.onnx.export(
        program,
        f=path,
        input_names=[network.input_name],
        output_names=list(network.outputs),
        opset_version=ONNX_OPSET,
        external_data=False,
        verbose=False,
    )


def _tensorflow_function(network):
    import tensorflow as tf

    signature = tf.TensorSpec((None, *network.input_shape), tf.float32, network.input_name)
    return tf.function(network.function, input_signature=[signature], autograph=False)


# {format: (suffix of its files, {backend: (writer, packages it needs)})}
_FORMATS = {
    "onnx": (
        ".onnx",
        {
            "tensorflow": (_write_onnx_from_tensorflow, ("onnx", "tf2onnx")),
            "torch": (_write_onnx_from_torch, ("onnx", "onnxscript")),
        },
    ),
    "saved_model": ("", {"tensorflow": (_write_saved_model, ())}),
}


def _writer(format):
    """`(function, suffix)` for a format on this backend; errors say what else to do."""
    if format not in _FORMATS:
        raise ValueError(f"format must be one of {list(_FORMATS)}. Received: format={format!r}")
    suffix, writers = _FORMATS[format]
    backend = keras.backend.backend()
    if backend not in writers:
        raise ValueError(
            f"format={format!r} cannot be written on this backend. Save the model with "
            f"model.save_to_preset('./mine'), set KERAS_BACKEND to {' or '.join(writers)}, start "
            "Python again and export keras_vaezoo.from_preset('./mine') there. "
            f"Received: backend={backend!r}"
        )
    write, packages = writers[backend]
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise ImportError(
                f"format={format!r} needs the package {package}. Install it with: "
                "pip install 'keras-vaezoo[onnx]'"
            ) from error
    return write, suffix


def _refuse_existing(directory, suffix):
    if directory.exists() and not directory.is_dir():
        raise ValueError(f"directory must be a directory. Received: the file {str(directory)!r}")
    for name in ("encoder", "decoder"):
        if (directory / (name + suffix)).exists():
            raise ValueError(
                f"{str(directory / (name + suffix))!r} is there already: delete it or choose "
                f"another directory. Received: directory={str(directory)!r}"
            )
