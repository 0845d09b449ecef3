"""Exported encoders and decoders against the models they come from."""

import itertools
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from tests.models.methods import build, images, networks
from tests.test_readme import block_with

BACKEND = keras.backend.backend()
FORMATS = {"tensorflow": ("onnx", "saved_model"), "torch": ("onnx",)}.get(BACKEND, ())
SUFFIX = {"onnx": ".onnx", "saved_model": ""}
CLIP = 0.1
ONE_DRAW = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1])
x = numpy.zeros((1, *session.get_inputs()[0].shape[1:]), "float32")
print(session.run(["z"], {"x": x})[0].tolist())
"""
exports = pytest.mark.skipif(not FORMATS, reason="nothing can be exported on this backend")


def conv_model():
    """Every kind of layer of the networks, an odd size, and clipped means."""
    encoder = vz.networks.conv_encoder((9, 11, 2), 3, filters=(4, 6), hidden=(8,))
    decoder = vz.networks.conv_decoder(
        (9, 11, 2), 3, filters=(6, 4), hidden=(8,), batch_normalization=True
    )
    return vz.MuVAE(encoder, decoder, likelihood="bernoulli", clip=CLIP)


def mlp_model():
    """A table, with a decoder that gives a location and a scale."""
    encoder, decoder = vz.networks.autoencoder((5,), 3, hidden=(8,), parameters_per_value=2)
    return vz.VAE(encoder, decoder, likelihood=vz.likelihoods.Gaussian(sigma="decoder"))


MODELS = {"conv": conv_model, "mlp": mlp_model}


def trained_looking(model):
    """Moves every weight, so that biases and moving averages count; log-variances near 4."""
    random = np.random.default_rng(0)
    for variable in (*model.encoder.variables, *model.decoder.variables):
        moved = variable + random.normal(0.0, 0.1, variable.shape)
        variable.assign(np.abs(moved) if variable.name == "moving_variance" else moved)
    bias = model.encoder.get_layer("encoder_log_variance").bias
    bias.assign(np.full(bias.shape, 4.0))
    return model


def data(model, count):
    random = np.random.default_rng(1)
    return random.random((count, *model.input_shape[1:]), dtype="float32")


def load(directory, name, format):
    """`function(array) -> {output: array}` of an exported network, in the order it gives."""
    path = str(directory / (name + SUFFIX[format]))
    input_name = {"encoder": "x", "decoder": "z"}[name]
    if format == "onnx":
        import onnxruntime

        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        outputs = [output.name for output in session.get_outputs()]
        return lambda array: dict(zip(outputs, session.run(None, {input_name: array}), strict=True))
    import tensorflow as tf

    loaded = tf.saved_model.load(path)

    def served(array):
        outputs = loaded.signatures["serving_default"](**{input_name: tf.constant(array)})
        return {name: value.numpy() for name, value in outputs.items()}

    return served


@pytest.fixture(scope="module", params=itertools.product(FORMATS, MODELS), ids="-".join)
def exported(request, tmp_path_factory):
    """`(model, format, directory)` of a written model."""
    format, kind = request.param
    keras.utils.set_random_seed(7)  # must not end up in the files
    model = trained_looking(MODELS[kind]())
    directory = tmp_path_factory.mktemp(kind) / "new" / "folder"
    vz.export_networks(model, directory, format)
    return model, format, directory


@exports
def test_only_the_two_networks_are_written(exported):
    _, format, directory = exported
    suffix = SUFFIX[format]
    assert {path.name for path in directory.iterdir()} == {"encoder" + suffix, "decoder" + suffix}


@exports
@pytest.mark.parametrize("count", [1, 5])
def test_values_are_those_of_encode_and_decode(exported, count):
    model, format, directory = exported
    x = data(model, count)
    found = load(directory, "encoder", format)(x)
    names = ["mean", "log_variance", "z"]
    assert (list(found) if format == "onnx" else sorted(found, key=names.index)) == names
    for name, expected in model.encode(x)._asdict().items():
        assert found[name].dtype == "float32"
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-5)
    if isinstance(model, vz.MuVAE):
        np.testing.assert_allclose(np.linalg.norm(found["mean"], axis=1), CLIP * 3**0.5, rtol=1e-4)
    z = np.random.default_rng(2).standard_normal((count, 3)).astype("float32")
    decoded = load(directory, "decoder", format)(z)
    assert list(decoded) == ["reconstruction"]
    np.testing.assert_allclose(decoded["reconstruction"], model.decode(z), rtol=0, atol=1e-5)
    assert decoded["reconstruction"].shape == x.shape


@exports
def test_z_is_a_new_draw_from_the_posterior(exported):
    model, format, directory = exported
    x = np.repeat(data(model, 1), 4000, axis=0)
    encoder = load(directory, "encoder", format)
    first, second = encoder(x), encoder(x)
    np.testing.assert_array_equal(first["mean"], second["mean"])
    assert (first["z"] != second["z"]).mean() > 0.99
    assert first["log_variance"].min() > 1.0  # far from where its factor 1/2 does not matter
    noise = [(d["z"] - d["mean"]) / np.exp(d["log_variance"] / 2) for d in (first, second)]
    noise = np.concatenate(noise, axis=1)
    np.testing.assert_allclose(noise.mean(axis=0), 0.0, atol=5 / 4000**0.5)
    np.testing.assert_allclose(np.cov(noise.T), np.eye(6), atol=5 * (2 / 4000) ** 0.5)


@exports
def test_no_seed_is_stored(exported):
    model, format, directory = exported
    if format == "saved_model":
        x = data(model, 1)
        draws = [load(directory, "encoder", format)(x)["z"].tolist() for _ in range(2)]
    else:
        # onnxruntime starts every session of one process with the same noise.
        command = [sys.executable, "-c", ONE_DRAW, str(directory / "encoder.onnx")]
        draws = [subprocess.check_output(command, text=True) for _ in range(2)]
    assert draws[0] != draws[1]


@exports
def test_a_deterministic_encoder_and_a_model_that_goes_on(tmp_path):
    encoder, decoder = networks()
    encoder.get_layer("encoder_hidden").activity_regularizer = keras.regularizers.L2(0.1)
    model = vz.WAE(encoder, decoder, seed=0)
    model.compile("adam")
    model.fit(images(8), verbose=0)
    x = images(5)
    before = state(model)
    vz.export_networks(model, tmp_path, FORMATS[0])
    for now, kept in zip(state(model), before, strict=True):
        np.testing.assert_array_equal(now, kept)
    assert not model.losses  # no symbol is left behind
    model(x)
    assert len(model.losses) == 1
    found = load(tmp_path, "encoder", FORMATS[0])(x)
    np.testing.assert_allclose(found["mean"], model.encode(x).mean, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found["z"], found["mean"])
    assert (found["log_variance"] == -np.inf).all()
    model.fit(images(8), verbose=0)


def state(model):
    """All weights, noise states and optimizer variables."""
    return [np.copy(keras.ops.convert_to_numpy(variable)) for variable in model.variables]


@exports
def test_a_failure_leaves_nothing(tmp_path, monkeypatch):
    model = build("VAE")
    monkeypatch.setattr(model.decoder, "call", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        vz.export_networks(model, tmp_path, FORMATS[-1])
    assert not list(tmp_path.iterdir())


@exports
def test_readme(tmp_path, monkeypatch):
    model = vz.from_preset(pathlib.Path(__file__).parent / "data" / "committed_preset")
    names = {"vz": vz, "model": model, "images": data(model, 4)}
    monkeypatch.chdir(tmp_path)
    exec(block_with("export_networks"), names)
    np.testing.assert_allclose(names["mean"], model.encode(names["images"]).mean, atol=1e-5)


def refused(kind, match, directory, *arguments, model=None):
    with pytest.raises(kind, match=match):
        vz.export_networks(model or build("VAE"), directory, *arguments)


@exports
def test_files_that_are_there_are_kept(tmp_path):
    kept = tmp_path / ("decoder" + SUFFIX[FORMATS[0]])
    kept.write_text("mine")
    refused(ValueError, "is there already", tmp_path, FORMATS[0])
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]
    assert kept.read_text() == "mine"
    refused(ValueError, "must be a directory", kept, FORMATS[0])


@exports
def test_what_cannot_be_exported_is_refused_before_any_work(tmp_path, monkeypatch):
    refused(ValueError, r"one of \['onnx', 'saved_model'\]", tmp_path / "a", "tflite")
    refused(ValueError, "Received: Functional", tmp_path / "a", model=networks()[0])
    converter = {"tensorflow": "tf2onnx", "torch": "onnxscript"}[BACKEND]
    monkeypatch.setitem(sys.modules, converter, None)
    refused(ImportError, rf"{converter}.*keras-vaezoo\[onnx\]", tmp_path / "a", "onnx")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("format", sorted({"onnx", "saved_model"} - set(FORMATS)))
def test_formats_of_other_backends_are_refused(tmp_path, format):
    refused(ValueError, "KERAS_BACKEND to tensorflow.*start Python", tmp_path / "a", format)
    assert not (tmp_path / "a").exists()
