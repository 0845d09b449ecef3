"""Compiling, targets, sources of data and sample weights."""

import json

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from tests.models.methods import build, images

BACKEND = keras.backend.backend()
X = images(32)


def compiled(method="VAE", **arguments):
    model = build(method)
    model.compile(keras.optimizers.SGD(0.01), **arguments)
    return model


def weights(model):
    return [keras.ops.convert_to_numpy(w).copy() for w in model.trainable_weights]


def arrays():
    return X


def tf_data():
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices((X, np.arange(32))).batch(16)


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        rows = slice(16 * index, 16 * index + 16)
        return X[rows], np.arange(32)[rows]


def generator():
    return (Batches()[index] for index in range(2))


def data_loader():
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.tensor(X), torch.arange(32))
    return torch.utils.data.DataLoader(data, batch_size=16)


@pytest.mark.parametrize("source", [arrays, tf_data, Batches, generator, data_loader])
def test_every_source_takes_the_same_steps(source):
    model = compiled()
    history = model.fit(source(), batch_size=16, shuffle=False, verbose=0).history
    expected = compiled()
    history_of_arrays = expected.fit(X, batch_size=16, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], history_of_arrays["loss"], rtol=1e-5)
    for one, other in zip(weights(model), weights(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_zero_weights_give_the_step_of_the_kept_rows():
    kept = np.r_[np.ones(16), np.zeros(16)].astype("float32")
    whole, part = compiled("WAE"), compiled("WAE")
    for model in (whole, part):
        model.coefficients["mmd"] = 0.0
    whole.train_on_batch(X, sample_weight=kept)
    part.train_on_batch(X[:16])
    for one, other in zip(weights(whole), weights(part), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
    assert not np.allclose(weights(whole)[0], weights(compiled("WAE"))[0])


def test_sample_weight_reaches_fit_without_y_and_weighs_the_terms():
    model = compiled()
    weight = np.linspace(0.0, 2.0, 32).astype("float32")
    result = model.evaluate(X, sample_weight=weight, batch_size=32, verbose=0, return_dict=True)
    parts = [
        model.evaluate(X[i : i + 1], batch_size=1, verbose=0, return_dict=True)["kl"]
        for i in range(0, 32)
    ]
    np.testing.assert_allclose(result["kl"], np.average(parts, weights=weight), rtol=1e-5)


def test_denoising_reconstructs_y():
    model = build("VAE")
    model.compile(keras.optimizers.SGD(0.0), target="y")
    noisy, clean = X, 1.0 - X
    against_clean = model.evaluate(noisy, clean, verbose=0, return_dict=True)
    model.compile(keras.optimizers.SGD(0.0))
    against_input = model.evaluate(noisy, verbose=0, return_dict=True)
    assert against_clean["kl"] == pytest.approx(against_input["kl"])
    assert against_clean["reconstruction"] != pytest.approx(against_input["reconstruction"])
    model.compile("adam", target="y")
    with pytest.raises(ValueError, match=r"needs x and y: fit\(x, y\), validation_data=\(x, y\)"):
        model.fit(noisy, verbose=0)
    with pytest.raises(ValueError, match="needs x and y"):
        model.fit(noisy, clean, validation_data=noisy, verbose=0)
    with pytest.raises(ValueError, match="y must have shape"):
        model.fit(noisy, clean[:, :3], verbose=0)
    assert np.isfinite(model.fit(noisy, clean, verbose=0).history["loss"]).all()


class Pairs(keras.utils.PyDataset):
    def __init__(self, noisy, clean):
        super().__init__()
        self.pair = (noisy, clean)

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return tuple(part[16 * index : 16 * index + 16] for part in self.pair)


@pytest.mark.parametrize("streamed", [False, True])
def test_the_range_holds_for_what_is_reconstructed(streamed):
    def fit(noisy, clean, **others):
        source = (Pairs(noisy, clean),) if streamed else (noisy, clean)
        return model.fit(*source, verbose=0, **others)

    model = compiled(target="y")
    broken = X.copy()
    broken[0, 0, 0] = np.nan
    noise = np.random.default_rng(0).normal(0, 0.5, X.shape).astype("float32")
    assert np.isfinite(fit(X + noise, X).history["loss"]).all()
    with pytest.raises(ValueError, match=r"in \[0, 1\].*Received: y in"):
        fit(X + noise, 200 * X)
    with pytest.raises(ValueError, match="x has 1 values that are NaN"):
        fit(broken, X)
    with pytest.raises(ValueError, match=r"Received: y in"):
        fit(X + noise, X, validation_data=Pairs(X, 200 * X))
    with pytest.raises(ValueError, match="y must have shape"):
        fit(X, X[:, :3])


def test_ignored_target_warns_once():
    model = compiled()
    with pytest.warns(UserWarning, match="target='y'"):
        model.train_on_batch(X, X)


def test_metrics_see_the_reconstruction():
    model = compiled(metrics=["mse"])
    history = model.fit(X, batch_size=16, validation_data=(X,), verbose=0).history
    expected = np.mean((model.reconstruct(X) - X) ** 2)
    np.testing.assert_allclose(history["val_mse"][-1], expected, rtol=1e-4)
    with pytest.raises(ValueError, match="one Monte-Carlo sample"):
        build("VAE", samples=2).compile("adam", metrics=["mse"])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"loss": "mse"}, "objective is the model's own"),
        ({"target": "label"}, r"one of \['input', 'y'\]"),
    ],
)
def test_impossible_compile_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        build("VAE").compile("adam", **arguments)


def test_monte_carlo_samples_average_to_the_same_objective():
    many, one = build("VAE", samples=60), build("VAE")
    for model in (many, one):
        model.compile(keras.optimizers.SGD(0.0))
    x = np.repeat(X[:1], 64, axis=0)
    logs = many.train_on_batch(x, return_dict=True)
    singles = []
    for _ in range(60):
        one.reset_metrics()
        singles.append(one.train_on_batch(x, return_dict=True))
    reconstruction = [float(single["reconstruction"]) for single in singles]
    standard_error = np.std(reconstruction, ddof=1) * np.sqrt(2 / 60)
    difference = float(logs["reconstruction"]) - np.mean(reconstruction)
    assert abs(difference) < 4 * standard_error
    assert float(logs["kl"]) == pytest.approx(float(singles[0]["kl"]), rel=1e-5)


def test_compile_config_is_portable_and_keeps_the_users_jit_argument(tmp_path):
    model = build("VAE")
    model.compile(keras.optimizers.Adam(0.5), target="y")
    text = json.dumps(model.get_compile_config())
    assert "backend.torch" not in text
    assert model.get_compile_config()["jit_compile"] == "auto"
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.target == "y"
    assert float(keras.ops.convert_to_numpy(loaded.optimizer.learning_rate)) == 0.5


def test_capacity_form_and_its_gradient_sign():
    for capacity, sign in ((0.0, 1.0), (100.0, -1.0)):
        model = build("BetaVAE", beta=3.0, capacity=capacity)
        model.compile(keras.optimizers.SGD(0.0))
        logs = {k: float(v) for k, v in model.train_on_batch(X, return_dict=True).items()}
        assert logs["kl_gap"] == pytest.approx(abs(logs["kl"] - capacity), rel=1e-5)
        expected = logs["reconstruction"] + 3.0 * sign * (logs["kl"] - capacity)
        assert logs["loss"] == pytest.approx(expected, rel=1e-5)


def test_gradient_accumulation_takes_the_step_of_the_whole_batch():
    accumulated, whole = build("WAE"), build("WAE")
    accumulated.compile(keras.optimizers.SGD(0.01, gradient_accumulation_steps=2))
    whole.compile(keras.optimizers.SGD(0.01))
    for model, batch_size in ((accumulated, 16), (whole, 32)):
        model.coefficients["mmd"] = 0.0
        model.fit(X, batch_size=batch_size, shuffle=False, verbose=0)
    for one, other in zip(weights(accumulated), weights(whole), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", vz.models.__all__)
def test_a_mistyped_argument_is_answered_with_the_right_ones(method):
    with pytest.raises(
        TypeError, match=rf"{method}\(\) has no argument 'sampels'. Did you mean 'sa"
    ):
        build(method, sampels=2)


def test_arguments_by_position_and_by_name_are_told_apart():
    model = compiled()
    assert len(model.fit(X, None, 8, 2, 0).epoch) == 2
    for arguments, named in (((None, 8), {"batch_size": 4}), ((None, 8, 1, 0, None, 0.0, 1), {})):
        with pytest.raises(TypeError, match="by position and all others by name"):
            model.fit(X, *arguments, **named)


def test_data_that_shuffles_itself_gives_no_warning(recwarn):
    tf = pytest.importorskip("tensorflow")
    model = build("VAE")
    model.compile("adam")
    model.fit(tf.data.Dataset.from_tensor_slices(images(8)).batch(4), verbose=0)
    assert not [w for w in recwarn if "shuffle" in str(w.message)]
