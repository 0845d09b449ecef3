"""Bad input gets a clear error before any work starts."""

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from tests.models.methods import build, images

GOOD = images(8)


@pytest.fixture(scope="module")
def model():
    model = build("VAE")
    model.compile("adam")
    return model


def with_value(value):
    x = GOOD.copy()
    x[3, 2, 1, 0] = value
    return x


BAD = {
    "integers": ((GOOD * 255).astype("uint8"), r"astype\('float32'\) / 255.*dtype=uint8"),
    "booleans": (GOOD > 0.5, "floating point.*dtype=bool"),
    "nan": (with_value(np.nan), "1 values that are NaN or infinite"),
    "infinity": (with_value(np.inf), "NaN or infinite"),
    "0 to 255": (GOOD * 255.0, r"divide by 255.*Received: x in \[0"),
    "-1 to 1": (GOOD * 2.0 - 1.0, r"\(x \+ 1\) / 2"),
    "out of range": (GOOD * 1e6, "rescale the data"),
    "no channel axis": (GOOD[..., 0], r"x\[\.\.\., None\]"),
    "flat": (GOOD.reshape(8, -1), r"must have shape \(batch, 6, 5, 1\)"),
    "other size": (GOOD[:, :5], r"Received: shape=\(8, 5, 5, 1\)"),
    "no batch axis": (GOOD[0], r"Add the batch axis: x\[None\]"),
    "a data set": (vz.datasets.from_arrays(GOOD), r"x.as_tf\(batch_size=64\).*<Dataset"),
    "empty": (GOOD[:0], "x is empty"),
    "a dict": ({"x": GOOD}, "Received: dict"),
    "a list": ([GOOD, GOOD], "Received: list"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_array_is_refused_by_fit_and_evaluate(model, name):
    x, message = BAD[name]
    before = [keras.ops.convert_to_numpy(v).copy() for v in model.weights]
    for use in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match=message):
            use(x, verbose=0)
    for old, new in zip(before, model.weights, strict=True):
        np.testing.assert_array_equal(old, keras.ops.convert_to_numpy(new))


def test_bad_validation_data_is_refused_before_training(model):
    for bad in ((GOOD * 255.0,), (GOOD * 255.0, np.zeros(8)), GOOD * 255.0):
        with pytest.raises(ValueError, match="divide by 255"):
            model.fit(GOOD, validation_data=bad, verbose=0)


def test_validation_data_with_labels_or_alone(model):
    for good in ((GOOD,), GOOD, (GOOD, np.zeros(8)), (GOOD, None, np.ones(8))):
        history = model.fit(GOOD, validation_data=good, verbose=0).history
        assert np.isfinite(history["val_loss"]).all()


def test_encode_and_decode_check_shapes(model):
    with pytest.raises(ValueError, match="must have shape"):
        model.encode(GOOD[..., 0])
    with pytest.raises(ValueError, match=r"z must have shape \(n, 3\)"):
        model.decode(np.zeros((4, 2), "float32"))


def test_stream_is_peeked_at(model):
    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return (GOOD * 255.0,)

    with pytest.raises(ValueError, match="divide by 255"):
        model.fit(Batches(), verbose=0)


def test_generator_of_another_shape_is_refused_while_tracing(model):
    def batches():
        yield (GOOD[:, :4],)

    with pytest.raises(ValueError, match="must have shape"):
        model.fit(batches(), verbose=0)


def test_gaussian_takes_any_finite_value():
    model = build("VAE", likelihood="gaussian")
    model.compile("adam")
    history = model.fit(GOOD * 6.0 - 3.0, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_value(np.nan), verbose=0)


def test_sample_weight_of_another_length(model):
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(8,\)"):
        model.fit(GOOD, sample_weight=np.ones(7), verbose=0)


def test_data_frames_are_checked_too(model):
    class Frame:
        def __init__(self, values):
            self.values, self.shape = values, values.shape

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)

    with pytest.raises(ValueError, match="NaN"):
        model.fit(Frame(with_value(np.nan)), verbose=0)


def test_sample_weight_as_a_list_and_with_a_stream(model):
    history = model.fit(GOOD, sample_weight=[1.0] * 8, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    with pytest.raises(ValueError, match=r"yield \(x, y, sample_weight\)"):
        model.fit(iter([(GOOD,)]), sample_weight=np.ones(8), verbose=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_sample_weights_are_finite_and_not_negative(model, bad):
    weights = np.ones(8, "float32")
    weights[3] = bad
    before = model.get_weights()
    for call in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match="sample_weight must hold finite numbers"):
            call(images(8), sample_weight=weights, verbose=0)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_whole_number_pixels_are_refused_by_predict_and_encode(model):
    pixels = (255 * images(8)).astype("uint8")
    for call in (model.predict, model.encode, lambda x: model.encode(iter([x]))):
        with pytest.raises(ValueError, match="must be floating point"):
            call(pixels)
    with pytest.raises(ValueError, match="batch_size=0"):
        model.decode(np.zeros((2, 3), "float32"), batch_size=0)


def test_class_weight_is_refused(model):
    with pytest.raises(ValueError, match="pass sample_weight"):
        model.fit(GOOD, np.zeros(8), class_weight={0: 1.0}, verbose=0)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0"])
def test_impossible_seed(model, seed):
    for use in (lambda: build("VAE", seed=seed), lambda: model.sample(2, seed=seed)):
        with pytest.raises(ValueError, match="seed must be None or an integer"):
            use()


def test_numpy_numbers_are_numbers(model):
    assert build("VAE", seed=np.int64(3)).seed == 3
    assert model.sample(np.int64(2), seed=np.int64(1)).shape[0] == 2
    with pytest.raises(ValueError, match="batch_size must be"):
        model.encode(GOOD, batch_size=0)
