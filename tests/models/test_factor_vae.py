import h5py
import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.sampling import CodePermutation, evaluation_noise
from tests.models.methods import LATENT_DIM, build, images, networks
from tests.models.steps import EAGER, evaluated, given_posteriors, largest_change, trained, weights

TERMS = vz.FactorVAE.terms


@pytest.fixture(scope="module")
def sgd_model():
    """A model whose networks move by their gradients alone."""
    return compiled(build("FactorVAE"))


def compiled(model):
    sgd = keras.optimizers.SGD
    model.compile(sgd(1e-3), discriminator_optimizer=sgd(1e-3), run_eagerly=EAGER)
    return model


def only(terms, model):
    for term in TERMS:
        model.coefficients[term] = float(term in terms)
    return model


def changes_in_one_step(model, rows=8):
    """How far the encoder, the decoder and the discriminator move, and the logs."""
    networks = model.encoder, model.decoder, model.discriminator
    before = [weights(network) for network in networks]
    logs = trained(model, images(rows))
    return [largest_change(*pair) for pair in zip(before, networks, strict=True)], logs


def test_the_models_loss_sends_no_gradient_to_the_discriminator(sgd_model):
    model = only(("reconstruction", "kl", "total_correlation"), sgd_model)
    (encoder, decoder, discriminator), logs = changes_in_one_step(model)
    assert logs["total_correlation"] != 0.0
    assert discriminator == 0.0
    assert encoder > 0.0 and decoder > 0.0


def test_nor_with_several_samples():
    model = only(("reconstruction", "kl", "total_correlation"), build("FactorVAE", samples=2))
    (encoder, _, discriminator), _ = changes_in_one_step(compiled(model))
    assert discriminator == 0.0
    assert encoder > 0.0


def test_the_discriminators_loss_sends_no_gradient_to_the_model(sgd_model):
    model = only(("discriminator",), sgd_model)
    (encoder, decoder, discriminator), _ = changes_in_one_step(model)
    assert encoder == 0.0 and decoder == 0.0
    assert discriminator > 0.0


def test_total_correlation_reaches_the_encoder_alone(sgd_model):
    model = only(("total_correlation",), sgd_model)
    (encoder, decoder, discriminator), _ = changes_in_one_step(model)
    assert decoder == 0.0 and discriminator == 0.0
    assert encoder > 0.0


def test_one_code_teaches_the_discriminator_nothing(sgd_model):
    model = only(TERMS, sgd_model)
    (_, _, discriminator), logs = changes_in_one_step(model, rows=8)
    assert logs["discriminator"] > 0.1 and discriminator > 0.0
    (_, _, discriminator), logs = changes_in_one_step(model, rows=1)
    assert logs["discriminator"] == 0.0
    assert discriminator == 0.0


def test_each_network_moves_at_its_own_rate(sgd_model):
    model = only(TERMS, sgd_model)
    other, own = model.optimizer.optimizers
    for own_rate, other_rate in ((1e-3, 0.0), (0.0, 1e-3)):
        own.learning_rate, other.learning_rate = own_rate, other_rate
        (encoder, decoder, discriminator), _ = changes_in_one_step(model)
        assert (encoder > 0 and decoder > 0) == (own_rate > 0)
        assert (discriminator > 0) == (other_rate > 0)


@pytest.mark.parametrize("rows", [2, 5])
def test_losses_in_evaluation(rows):
    model = build("FactorVAE")
    x = images(rows)
    mean, log_variance = model.encode(x)
    noise = evaluation_noise(2 * LATENT_DIM)[:rows]
    z = mean + np.exp(log_variance / 2) * noise[:, :LATENT_DIM]
    half = (rows + 1) // 2
    order = np.argsort(noise[half:, LATENT_DIM:], axis=0)
    permuted = np.take_along_axis(z[half:], order, axis=0)

    def log_ratio(codes):
        logits = keras.ops.convert_to_numpy(model.discriminator(codes.astype("float32")))
        return logits[:, 0].astype("float64") - logits[:, 1]

    logs = evaluated(model, x)
    expected = 0.5 * np.logaddexp(0, -log_ratio(z[:half])).mean()
    expected += 0.5 * np.logaddexp(0, log_ratio(permuted)).mean()
    np.testing.assert_allclose(logs["discriminator"], expected, rtol=1e-5)
    np.testing.assert_allclose(logs["total_correlation"], log_ratio(z).mean(), rtol=1e-4, atol=1e-6)


def test_permuted_codes_have_the_same_columns():
    z = np.arange(60, dtype="float32").reshape(20, 3)
    permute = CodePermutation(seed=5)
    first, second = (keras.ops.convert_to_numpy(permute(z)) for _ in range(2))
    for permuted in (first, second):
        np.testing.assert_array_equal(np.sort(permuted, axis=0), z)
        rows = (permuted // 3).astype(int)
        assert not np.array_equal(rows[:, 0], rows[:, 1])
    assert not np.array_equal(first, second)


def test_total_correlation_of_a_correlated_gaussian():
    correlation = 0.9
    random = np.random.default_rng(0)
    codes = random.normal(size=(60_000, 2))
    codes[:, 1] = correlation * codes[:, 0] + np.sqrt(1 - correlation**2) * codes[:, 1]
    log_variance = np.full_like(codes, -12.0)
    x = np.concatenate([codes, log_variance], axis=1).astype("float32")
    model = vz.FactorVAE(
        *given_posteriors(2),
        likelihood="gaussian",
        discriminator=vz.networks.discriminator(2, hidden=(32, 32)),
        seed=0,
    )
    for term in ("reconstruction", "kl", "total_correlation"):
        model.coefficients[term] = 0.0
    model.compile(
        discriminator_optimizer=keras.optimizers.Adam(
            keras.optimizers.schedules.CosineDecay(0.01, decay_steps=200)
        ),
        jit_compile=not EAGER,
    )
    model.fit(x[:40_000], batch_size=2000, epochs=10, verbose=0)
    estimate = model.evaluate(x[40_000:], batch_size=5000, verbose=0, return_dict=True)
    known = -0.5 * np.log(1 - correlation**2)
    assert abs(estimate["total_correlation"] / known - 1) < 0.1


def test_one_optimizer_leaves_the_discriminator_its_own():
    model = build("FactorVAE")
    model.compile(keras.optimizers.SGD(0.5))
    model.optimizer.build(model.trainable_variables)
    second, first = model.optimizer.optimizers
    assert isinstance(first, keras.optimizers.SGD) and isinstance(second, keras.optimizers.Adam)
    assert (float(second.learning_rate), second.beta_1, second.beta_2) == (
        pytest.approx(1e-4),
        0.5,
        0.9,
    )
    assert len(second._trainable_variables) == len(model.discriminator.trainable_variables)
    with pytest.raises(AttributeError, match="sub-optimizers"):
        _ = model.optimizer.learning_rate


def test_a_file_goes_on_bit_for_bit(tmp_path):
    model = build("FactorVAE")
    rates = [keras.optimizers.Adam(0.02), keras.optimizers.RMSprop(0.003)]
    model.compile(rates[0], discriminator_optimizer=rates[1], target="input")
    trained(model, images(9))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert [type(o) for o in loaded.optimizer.optimizers] == [type(o) for o in rates[::-1]]
    for _ in range(2):
        assert trained(loaded, images(9)) == trained(model, images(9))
    for new, old in zip(weights(loaded), weights(model), strict=True):
        np.testing.assert_array_equal(new, old)


def test_a_preset_has_no_discriminator(tmp_path):
    model = build("FactorVAE", gamma=3.0)
    model.compile("adam")
    model.save_to_preset(tmp_path / "preset")
    with h5py.File(tmp_path / "preset" / "model.weights.h5") as file:
        names = []
        file.visit(names.append)
    assert names and not any("discriminator" in name for name in names)
    loaded = vz.FactorVAE.from_preset(tmp_path / "preset")
    np.testing.assert_array_equal(loaded.reconstruct(images(3)), model.reconstruct(images(3)))
    assert loaded.coefficients["total_correlation"] == 3.0
    fresh, old = weights(loaded.discriminator), weights(model.discriminator)
    assert [w.shape for w in fresh] == [w.shape for w in old]


def test_loss_scaling_goes_around_both_optimizers():
    model = build("FactorVAE")
    own, other = keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.2)
    model.compile(
        keras.optimizers.LossScaleOptimizer(own, initial_scale=8.0),
        discriminator_optimizer=keras.optimizers.LossScaleOptimizer(other),
    )
    assert isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
    assert model.optimizer.initial_scale == 8.0
    assert model.optimizer.inner_optimizer.optimizers == [other, own]


def test_shared_variable_names_are_refused():
    encoder, decoder = networks()
    inputs = keras.Input((LATENT_DIM,))
    hidden = keras.layers.Dense(4, name="decoder_hidden")(inputs)
    logits = keras.layers.Dense(2, name="logits")(hidden)
    model = vz.FactorVAE(encoder, decoder, discriminator=keras.Model(inputs, logits))
    with pytest.raises(ValueError, match=r"rename the layers.*decoder_hidden/kernel"):
        model.compile("adam")
    with pytest.raises(ValueError, match="two optimizers"):
        build("FactorVAE").compile(
            keras.optimizers.MultiOptimizer(keras.optimizers.OptimizerMap(keras.optimizers.SGD()))
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gamma": -1.0}, "Received: gamma=-1.0"),
        ({"discriminator": "mlp"}, "discriminator must be a built keras.Model.*str"),
        ({"discriminator": networks()[1]}, r"two logits \(batch, 2\)"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        build("FactorVAE", **arguments)


def test_the_default_discriminator_is_the_papers():
    network = vz.networks.discriminator(10)
    widths = [layer.units for layer in network.layers if isinstance(layer, keras.layers.Dense)]
    assert widths == [1000] * 6 + [2]
    assert vz.FactorVAE(*networks()).discriminator.count_params() == 5_005_000 + 1000 * 4 + 2002
