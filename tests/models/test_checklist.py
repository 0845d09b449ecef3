"""One contract, run over every exported model."""

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.sampling import evaluation_noise
from tests.models.methods import LATENT_DIM, build, images

METHODS = vz.models.__all__
BATCH = 16  # 33 images: the last batch has one


@pytest.fixture(scope="module", params=METHODS)
def trained(request):
    model = build(request.param)
    model.compile(keras.optimizers.Adam(0.01))
    history = model.fit(images(), epochs=8, batch_size=BATCH, shuffle=False, verbose=0)
    return request.param, model, history.history


def state(model):
    variables = [*model.variables, *model.optimizer.variables]
    return [keras.ops.convert_to_numpy(v).copy() for v in variables]


def test_fit_lowers_a_finite_loss(trained):
    method, _, history = trained
    assert np.isfinite(history["loss"]).all()
    moving_objective = method in ("ControlVAE", "GCVAE", "FactorVAE")
    term = "reconstruction" if moving_objective else "loss"
    assert history[term][-1] < history[term][0]


def test_every_term_and_weight_is_tracked(trained):
    _, model, history = trained
    for term in model.terms:
        assert len(history[term]) == len(history[f"{term}_weight"]) == 8
    assert "regularization" in history
    assert ("elbo" in history) == model.stochastic


def test_evaluate_changes_no_state(trained):
    _, model, _ = trained
    before = state(model)
    model.evaluate(images(), batch_size=BATCH, verbose=0)
    model.predict(images(), verbose=0)
    model.sample(2)
    for old, new in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(old, new)


def test_evaluation_draws_fixed_noise_and_gives_the_true_elbo(trained):
    _, model, _ = trained
    if not model.stochastic:
        pytest.skip("a deterministic encoder has no evidence lower bound")
    x = images()
    mean, log_variance = (np.asarray(t, "float64") for t in model.encode(x))
    z = mean + np.exp(log_variance / 2) * evaluation_noise(2 * LATENT_DIM)[: len(x), :LATENT_DIM]
    output = keras.ops.convert_to_numpy(model.decoder(z.astype("float32"))).astype("float64")
    nll = negative_log_likelihood(model, x, output).sum(axis=(1, 2, 3))
    kl = 0.5 * (mean**2 + np.exp(log_variance) - 1 - log_variance).sum(axis=1)
    for batch_size in (5, BATCH, 33):
        scores = model.evaluate(x, batch_size=batch_size, verbose=0, return_dict=True)
        np.testing.assert_allclose(scores["elbo"], -(nll + kl).mean(), rtol=1e-5)


def negative_log_likelihood(model, x, output):
    likelihood = type(model.likelihood).__name__
    if likelihood == "Bernoulli":
        return np.logaddexp(0.0, output) - x * output
    assert likelihood == "Gaussian"
    sigma = float(model.likelihood.sigma)
    return 0.5 * ((x - output) / sigma) ** 2 + np.log(sigma * np.sqrt(2 * np.pi))


def test_keras_file_gives_the_same_model(trained, tmp_path):
    _, model, _ = trained
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded) is type(model)
    same_model(loaded, model)
    expected = state(model)
    for old, new in zip(expected, state(loaded), strict=True):
        np.testing.assert_array_equal(old, new)


def test_preset_gives_the_same_model(trained, tmp_path):
    method, model, _ = trained
    model.save_to_preset(tmp_path / "preset")
    same_model(vz.from_preset(tmp_path / "preset"), model)
    same_model(getattr(vz, method).from_preset(str(tmp_path / "preset")), model)
    if not getattr(model, "left_out_of_presets", ()):
        same_model(keras.saving.load_model(tmp_path / "preset"), model)


def same_model(loaded, model):
    x = images(5, seed=1)
    np.testing.assert_array_equal(loaded.reconstruct(x), model.reconstruct(x))
    np.testing.assert_array_equal(loaded.sample(3, seed=0), model.sample(3, seed=0))
    assert dict(loaded.coefficients) == dict(model.coefficients)
    ignored = {"name"}
    for key, value in model.get_config().items():
        if key not in ignored and not isinstance(value, dict):
            assert loaded.get_config()[key] == value, key


def test_same_seed_gives_the_same_history_and_labels_are_ignored(trained):
    method, _, history = trained
    model = build(method)
    model.compile(keras.optimizers.Adam(0.01))
    labels = np.arange(33)
    again = model.fit(images(), labels, epochs=2, batch_size=BATCH, shuffle=False, verbose=0)
    for name, values in again.history.items():
        np.testing.assert_allclose(values, history[name][:2], rtol=1e-6, atol=1e-7, err_msg=name)


def test_call_predict_and_reconstruct_use_the_mean(trained):
    _, model, _ = trained
    x = images(4)
    expected = model.decode(model.encode(x).mean)
    assert expected.shape == x.shape
    for result in (model(x), model.predict(x, verbose=0), model.reconstruct(x)):
        np.testing.assert_allclose(keras.ops.convert_to_numpy(result), expected, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_loss_is_the_weighted_sum_of_its_terms(method):
    model = build(method, regularizer=keras.regularizers.L2(0.01))
    model.compile("sgd")
    logs = model.train_on_batch(images(8), return_dict=True)
    logs = {name: float(value) for name, value in logs.items()}
    total = sum(logs[f"{term}_weight"] * logs[term] for term in model.terms)
    assert logs["regularization"] > 0.01
    np.testing.assert_allclose(logs["loss"], total + logs["regularization"], rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_batch_of_one(method):
    model = build(method)
    model.compile("adam")
    logs = model.train_on_batch(images(1), return_dict=True)
    assert all(np.isfinite(float(value)) for value in logs.values()), logs
    assert all(np.isfinite(v).all() for v in state(model) if v.dtype.kind == "f")


@pytest.mark.parametrize("method", METHODS)
def test_coefficients_are_live(method):
    model = build(method)
    free = [name for name in model.coefficients if not model.loss_coefficients.enabled(name)]
    for name in free:
        model.coefficients[name] = 0.25
        assert model.coefficients[name] == 0.25
    with pytest.raises(ValueError, match="this model has"):
        model.coefficients["no_such_name"] = 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_keeps_terms_in_float32(method, policy):
    keras.config.set_dtype_policy(policy)
    try:
        model = build(method)
        model.compile(keras.optimizers.Adam(0.001))
        history = model.fit(images(16), epochs=2, batch_size=8, verbose=0).history
    finally:
        keras.config.set_dtype_policy("float32")
    assert np.isfinite(np.concatenate(list(history.values()))).all()
    assert model.encode(images(2)).mean.dtype == "float32"
    assert model.reconstruct(images(2)).dtype == "float32"


def fitted(method, **arguments):
    model = build(method)
    model.compile(keras.optimizers.SGD(1e-3), **arguments)
    history = model.fit(images(), epochs=2, batch_size=11, shuffle=False, verbose=0).history
    return model, history


@pytest.mark.skipif(keras.backend.backend() == "torch", reason="TensorFlow and JAX only")
@pytest.mark.parametrize("method", METHODS)
def test_steps_per_execution_and_jit_change_nothing(method):
    _, one_by_one = fitted(method, jit_compile=False)
    model, three_at_once = fitted(method, jit_compile=False, steps_per_execution=3)
    for name, values in one_by_one.items():
        np.testing.assert_allclose(three_at_once[name], values, rtol=1e-4, atol=1e-4, err_msg=name)
    # XLA draws other noise on TensorFlow, but evaluation has its own.
    expected = model.evaluate(images(), batch_size=11, verbose=0, return_dict=True)
    model.compile(keras.optimizers.SGD(1e-3), jit_compile=True)
    found = model.evaluate(images(), batch_size=11, verbose=0, return_dict=True)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-4, err_msg=name)
    trained = model.train_on_batch(images(11), return_dict=True)
    assert all(np.isfinite(float(value)) for value in trained.values())


@pytest.mark.parametrize("method", METHODS)
def test_keras_callbacks_compose(method, tmp_path):
    model = build(method)
    model.compile(keras.optimizers.Adam(0.01))
    monitor = "val_loss"
    callbacks = [
        keras.callbacks.EarlyStopping(monitor=monitor, patience=50, restore_best_weights=True),
        keras.callbacks.ModelCheckpoint(
            str(tmp_path / "best.keras"), monitor=monitor, save_best_only=True
        ),
        keras.callbacks.CSVLogger(str(tmp_path / "log.csv")),
        keras.callbacks.TensorBoard(str(tmp_path / "board")),
        keras.callbacks.TerminateOnNaN(),
    ]
    if hasattr(model.optimizer, "learning_rate"):
        callbacks.append(keras.callbacks.ReduceLROnPlateau(monitor=monitor, patience=1))
    x = images()
    model.fit(x, epochs=2, batch_size=16, validation_data=(x,), verbose=0, callbacks=callbacks)
    header = (tmp_path / "log.csv").read_text().splitlines()[0].split(",")
    assert {"loss", "reconstruction", "val_loss", *(f"{t}_weight" for t in model.terms)} <= {
        *header
    }
    assert type(keras.saving.load_model(tmp_path / "best.keras")) is type(model)
