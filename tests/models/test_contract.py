"""Networks of the user's own, and the errors for those that do not fit."""

import keras
import numpy as np
import pytest
from keras import layers

import keras_vaezoo as vz
from tests.models.methods import INPUT_SHAPE, images, networks


def encoder_with(outputs):
    inputs = keras.Input(INPUT_SHAPE)
    flat = layers.Flatten()(inputs)
    return keras.Model(inputs, outputs(flat))


def decoder_ending_in(*tail, latent_dim=3, units=30):
    return keras.Sequential([keras.Input((latent_dim,)), layers.Dense(units), *tail])


def train(encoder, decoder, **arguments):
    model = vz.VAE(encoder, decoder, **arguments)
    model.compile("adam")
    history = model.fit(images(8), verbose=0).history
    assert np.isfinite(history["loss"]).all()
    return model


def test_dict_of_outputs_and_sequential_decoder():
    encoder = encoder_with(
        lambda h: {"log_variance": layers.Dense(3)(h), "mean": layers.Dense(3, name="m")(h)}
    )
    model = train(encoder, decoder_ending_in(layers.Reshape(INPUT_SHAPE)))
    expected = keras.ops.convert_to_numpy(encoder(images(2))["mean"])
    np.testing.assert_allclose(model.encode(images(2)).mean, expected, rtol=1e-6)


@keras.saving.register_keras_serializable("tests")
class OwnEncoder(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.flatten = layers.Flatten()
        self.mean, self.log_variance = layers.Dense(3), layers.Dense(3)

    def call(self, x):
        h = self.flatten(x)
        return [self.mean(h), self.log_variance(h)]


def test_subclassed_encoder_once_it_was_called(tmp_path):
    encoder = OwnEncoder()
    with pytest.raises(ValueError, match="call it once on data"):
        vz.VAE(encoder, networks()[1])
    encoder(images(1))
    model = train(encoder, networks()[1])
    model.save(tmp_path / "own.keras")
    loaded = keras.saving.load_model(tmp_path / "own.keras")
    np.testing.assert_array_equal(loaded.reconstruct(images(2)), model.reconstruct(images(2)))


@keras.saving.register_keras_serializable("tests")
class OwnDecoder(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense, self.reshape = layers.Dense(30), layers.Reshape(INPUT_SHAPE)

    def call(self, z):
        return self.reshape(self.dense(z))


def test_subclassed_decoder_once_it_was_called(tmp_path):
    decoder = OwnDecoder()
    with pytest.raises(ValueError, match="call it once on data"):
        vz.VAE(networks()[0], decoder)
    decoder(np.zeros((1, 3), "float32"))
    model = train(networks()[0], decoder)
    model.save(tmp_path / "own.keras")
    loaded = keras.saving.load_model(tmp_path / "own.keras")
    np.testing.assert_array_equal(loaded.reconstruct(images(2)), model.reconstruct(images(2)))


class OwnDiscriminator(keras.Model):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, name="own_logits")

    def call(self, z):
        return self.dense(z)


def test_subclassed_discriminator():
    two, three = OwnDiscriminator(2), OwnDiscriminator(3)
    for network in (two, three):
        network(np.zeros((1, 3), "float32"))
    model = vz.FactorVAE(*networks(), discriminator=two)
    model.compile("adam")
    assert np.isfinite(model.fit(images(8), verbose=0).history["loss"]).all()
    with pytest.raises(ValueError, match=r"two logits.*Received: output \(None, 3\)"):
        vz.FactorVAE(*networks(), discriminator=three)


class Incomplete(vz.models.BaseVAE):
    """A method of the user's own; its parts come from the test."""

    def compute_terms(self, batch):
        return {"reconstruction": batch.reconstruction}


@pytest.mark.parametrize(
    ("terms", "coefficients", "message"),
    [
        ((), {}, "Incomplete has no terms: set `terms`"),
        (("reconstruction", "gap"), {"reconstruction": 1.0}, "no coefficient for the term 'gap'"),
    ],
)
def test_a_method_declares_its_terms(terms, coefficients, message):
    with pytest.raises(ValueError, match=message):
        Incomplete(*networks(), terms=terms, coefficients=coefficients)


def test_a_method_computes_its_terms():
    given = {"reconstruction": 1.0, "gap": 2.0}
    model = Incomplete(*networks(), terms=tuple(given), coefficients=given)
    model.compile("sgd", jit_compile=False)
    with pytest.raises(ValueError, match="'gap' is missing"):
        model.fit(images(8), verbose=0)


def test_mismatches_name_both_shapes():
    encoder, decoder = networks()
    with pytest.raises(ValueError, match=r"codes of shape \(3,\), the decoder takes \(2,\)"):
        vz.VAE(encoder, decoder_ending_in(layers.Reshape(INPUT_SHAPE), latent_dim=2))
    with pytest.raises(ValueError, match=r"takes shape \(6, 5, 1\).*\(None, 6, 6, 1\)"):
        vz.VAE(encoder, decoder_ending_in(layers.Reshape((6, 6, 1)), units=36))
    with pytest.raises(ValueError, match=r"Gaussian the decoder must give \(6, 5, 2\)"):
        vz.VAE(encoder, decoder, likelihood=vz.likelihoods.Gaussian("decoder"))
    with pytest.raises(ValueError, match="1 output"):
        vz.VAE(encoder_with(lambda h: layers.Dense(6)(h)), decoder)
    with pytest.raises(ValueError, match=r"Received: \['mean', 'variance'\]"):
        bad = encoder_with(lambda h: {"mean": layers.Dense(3)(h), "variance": layers.Dense(3)(h)})
        vz.VAE(bad, decoder)
    with pytest.raises(ValueError, match="mean and log_variance of shape"):
        vz.VAE(encoder_with(lambda h: [layers.Dense(3)(h), layers.Dense(2)(h)]), decoder)
    with pytest.raises(ValueError, match=r"must be a keras\.Model\. Received: Dense"):
        vz.VAE(layers.Dense(2), decoder)


TAILS = {
    "sigmoid layer": [layers.Dense(30, activation="sigmoid"), layers.Reshape(INPUT_SHAPE)],
    "activation layer": [layers.Reshape(INPUT_SHAPE), layers.Activation("tanh")],
    "softmax": [layers.Dense(30, activation="softmax"), layers.Reshape(INPUT_SHAPE)],
    "cropped": [
        layers.Dense(42, activation="sigmoid"),
        layers.Reshape((7, 6, 1)),
        layers.Cropping2D(((0, 1), (0, 1))),
    ],
    "upsampled": [
        layers.Dense(15, activation="sigmoid"),
        layers.Reshape((3, 5, 1)),
        layers.UpSampling2D((2, 1)),
    ],
}


@pytest.mark.parametrize("name", TAILS)
def test_double_sigmoid_is_refused(name):
    decoder = decoder_ending_in(*TAILS[name])
    with pytest.raises(ValueError, match=r"Bernoulli\(from_logits=False\)"):
        vz.VAE(networks()[0], decoder)


def test_probabilities_and_bounded_means_are_allowed_where_they_make_sense():
    for likelihood in (vz.likelihoods.Bernoulli(from_logits=False), "gaussian"):
        tail = [layers.Dense(30, activation="sigmoid"), layers.Reshape(INPUT_SHAPE)]
        train(networks()[0], decoder_ending_in(*tail), likelihood=likelihood)


@pytest.mark.parametrize("likelihood", ["Gaussian", "Laplace"])
def test_decoder_given_sigma_trains(likelihood):
    decoder = decoder_ending_in(layers.Reshape((6, 5, 2)), units=60)
    model = train(networks()[0], decoder, likelihood=getattr(vz.likelihoods, likelihood)("decoder"))
    assert model.reconstruct(images(2)).shape == (2, *INPUT_SHAPE)
    assert model.sample(2, seed=0, mean=False).shape == (2, *INPUT_SHAPE)


@pytest.mark.parametrize("samples", [0, -1, 1.5, True])
def test_impossible_number_of_monte_carlo_samples(samples):
    with pytest.raises(ValueError, match="samples must be an integer"):
        vz.VAE(*networks(), samples=samples)


def test_learned_scale_of_another_shape_is_refused():
    likelihood = vz.likelihoods.Gaussian("dimension")
    vz.VAE(*networks(), likelihood=likelihood)
    table = vz.networks.autoencoder((4,), 2, architecture="mlp", hidden=(8,))
    with pytest.raises(ValueError, match=r"shape \(6, 5, 1\) in another model"):
        vz.VAE(*table, likelihood=likelihood)


def test_weights_bring_their_controller():
    plain = vz.VAE(*networks())
    controlled = vz.ControlVAE(*networks(), set_point=1.0)
    plain.set_weights(controlled.get_weights())
    assert plain.loss_coefficients.enabled("kl")
