import warnings

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.sampling import evaluation_noise
from tests.models.methods import INPUT_SHAPE, LATENT_DIM, build, images, networks
from tests.models.squared_discrepancy import inverse_multiquadratic, mmd
from tests.models.steps import EAGER, evaluated, trained


def test_loss_is_the_papers_up_to_a_constant():
    model = build("WAE", lambda_=7.0)
    x = images(8)
    codes = model.encode(x).mean.astype("float64")
    logs = evaluated(model, x)
    prior = evaluation_noise(2 * LATENT_DIM)[:8, LATENT_DIM:].astype("float64")
    discrepancy = mmd(codes, prior, inverse_multiquadratic, unbiased=True)
    np.testing.assert_allclose(logs["mmd"], discrepancy, rtol=1e-4, atol=1e-5)
    squared_error = np.sum((x - model.reconstruct(x)) ** 2, axis=(1, 2, 3)).mean()
    constant = 0.1 * 0.5 * np.log(2 * np.pi) * x[0].size
    np.testing.assert_allclose(
        logs["loss"] - constant, 0.05 * squared_error + 7.0 * discrepancy, rtol=1e-4
    )
    assert {"elbo", "kl"}.isdisjoint(logs)


def test_deterministic_encoder_has_no_variance():
    posterior = build("WAE").encode(images(3))
    assert np.isneginf(posterior.log_variance).all()
    assert posterior.mean.shape == posterior.log_variance.shape


def test_stochastic_encoder_has_both():
    model = build("WAE", stochastic=True)
    logs = evaluated(model, images(3))
    np.testing.assert_allclose(logs["elbo"], -logs["reconstruction"] - logs["kl"], rtol=1e-5)
    assert np.isfinite(model.encode(images(3)).log_variance).all()
    assert model.encoder.get_layer("encoder_log_variance").trainable


def test_only_what_the_log_variance_alone_uses_is_frozen():
    model = build("WAE")
    model.compile(keras.optimizers.AdamW(0.1, weight_decay=0.5))
    head = model.encoder.get_layer("encoder_log_variance")
    before = keras.ops.convert_to_numpy(head.kernel).copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)
        trained(model, images(4))
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(head.kernel), before)
    assert [layer.name for layer in model.encoder.layers if not layer.trainable] == [head.name]


def test_the_mean_of_a_dict_is_found():
    encoder, decoder = networks()
    mean, log_variance = encoder.outputs
    encoder = keras.Model(encoder.inputs[0], {"mean": mean, "log_variance": log_variance})
    vz.WAE(encoder, decoder, seed=0)
    frozen = [layer.name for layer in encoder.layers if not layer.trainable]
    assert frozen == ["encoder_log_variance"]


def test_an_encoder_that_gives_the_mean_alone(tmp_path):
    encoder, decoder = networks()
    encoder = keras.Model(encoder.inputs[0], encoder.outputs[0])
    model = vz.WAE(encoder, decoder, seed=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.encode(images(3)).mean, model.encode(images(3)).mean)
    assert np.isneginf(loaded.encode(images(3)).log_variance).all()
    with pytest.raises(ValueError, match="mean, log_variance"):
        vz.WAE(encoder, decoder, stochastic=True)


def test_a_subclassed_encoder_trains():
    class Encoder(keras.Model):
        def __init__(self):
            super().__init__()
            self.flatten = keras.layers.Flatten()
            self.heads = [keras.layers.Dense(LATENT_DIM) for _ in range(2)]

        def call(self, inputs):
            flat = self.flatten(inputs)
            return [head(flat) for head in self.heads]

    encoder = Encoder()
    encoder(np.zeros((1, *INPUT_SHAPE), "float32"))
    model = vz.WAE(encoder, networks()[1], seed=0)
    model.compile("adam", run_eagerly=EAGER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the missing gradients that cannot be seen
        assert np.isfinite(trained(model, images(4))["loss"])


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"lambda_": -1.0}, "at least 0. Received: lambda_=-1.0"),
        ({"samples": 2}, "pass stochastic=True.*samples=2"),
    ],
)
def test_wrong_arguments(argument, message):
    with pytest.raises(ValueError, match=message):
        vz.WAE(None, None, **argument)
