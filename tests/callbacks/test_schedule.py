"""CoefficientSchedule by step and by epoch."""

import keras
import numpy as np
import pytest

from keras_vaezoo.callbacks import CoefficientSchedule, PIDController
from keras_vaezoo.control import Schedule
from tests.models.methods import build, images


def fit(model, *callbacks, epochs=1, **arguments):
    return model.fit(
        images(),
        batch_size=11,
        epochs=epochs,
        verbose=0,
        callbacks=list(callbacks),
        **arguments,
    ).history


def compiled(model, jit_compile=False):
    model.compile(keras.optimizers.SGD(0.01), jit_compile=jit_compile)
    return model


# Three steps an epoch; the last column is the mean of the weight over the steps of the epoch.
BY_STEP = {
    "linear": (Schedule("linear", 0.0, 1.0, length=6), [1 / 6, 4 / 6, 1.0]),
    "cosine": (
        Schedule("cosine", 0.0, 1.0, length=6),
        [np.mean([(1 - np.cos(np.pi * n / 6)) / 2 for n in range(m, m + 3)]) for m in (0, 3)] + [1],
    ),
    "cyclic": (Schedule("cyclic", 0.0, 1.0, length=6), [1 / 3, 1.0, 1 / 3]),
    "staircase": (Schedule("staircase", 0.0, 1.0, 3, increment=0.4), [0.0, 0.4, 0.8]),
}


@pytest.mark.parametrize("kind", BY_STEP)
def test_by_step_counts_over_fits(kind):
    schedule, expected = BY_STEP[kind]
    model = compiled(build("VAE"))
    first = fit(model, CoefficientSchedule("kl", schedule), epochs=2)["kl_weight"]
    # The slot goes on following it without the callback.
    second = fit(model)["kl_weight"]
    np.testing.assert_allclose(first + second, expected, rtol=1e-5, atol=1e-6)


def test_by_step_after_a_first_fit_of_a_compiled_model():
    model = compiled(build("BetaVAE", capacity=1.0), jit_compile="auto")
    fit(model)
    schedule = Schedule("linear", 0.0, 4.0, length=4, first_step=3)
    history = fit(model, CoefficientSchedule("capacity", schedule))
    np.testing.assert_allclose(history["capacity"], [1.0], rtol=1e-6)
    assert model.coefficients["capacity"] == pytest.approx(2.0)
    model.release("capacity")
    assert fit(model)["capacity"] == pytest.approx([2.0])


@pytest.mark.parametrize("schedule", [lambda n: 0.5 * n, Schedule("linear", 0.0, 2.0, length=4)])
def test_by_epoch_writes_at_its_beginning(schedule):
    callback = CoefficientSchedule("kl", schedule, by="epoch")
    history = fit(compiled(build("VAE")), callback, epochs=5, initial_epoch=2)
    np.testing.assert_allclose(history["kl_weight"], [1.0, 1.5, 2.0], rtol=1e-6)


def test_resumed_run_goes_on_with_the_schedule(tmp_path):
    schedule = Schedule("linear", 0.0, 1.0, length=12)
    model = compiled(build("VAE"))
    fit(model, CoefficientSchedule("kl", schedule), epochs=2)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    history = fit(loaded, CoefficientSchedule("kl", schedule))
    assert history["kl_weight"] == pytest.approx([7 / 12], rel=1e-5)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"control\.Schedule, or a function of the epoch"):
        CoefficientSchedule("kl", 0.5)
    with pytest.raises(ValueError, match="by='epoch'"):
        CoefficientSchedule("kl", lambda epoch: 1.0, by="step")
    with pytest.raises(ValueError, match=r"by must be one of \['step', 'epoch'\]"):
        CoefficientSchedule("kl", lambda epoch: 1.0, by="batch")


@pytest.mark.parametrize("schedule", [lambda epoch: 1.0, Schedule("linear", 0.0, 1.0)])
def test_refused_before_training_where_it_cannot_set(schedule):
    model = compiled(build("VAE"))
    with pytest.raises(ValueError, match="no coefficient 'beta'"):
        fit(model, CoefficientSchedule("beta", schedule))
    with pytest.raises(ValueError, match=r"Two callbacks set coefficient 'kl'"):
        fit(model, CoefficientSchedule("kl", schedule), CoefficientSchedule("kl", schedule))
    assert model.coefficients["kl"] == 1.0
    model.coefficients["kl"] = 1.0  # nothing holds it
    model.control("kl", PIDController("kl", set_point=5.0).controller)
    with pytest.raises(ValueError, match=r"coefficient 'kl': a controller.*release\('kl'\)"):
        fit(model, CoefficientSchedule("kl", schedule))
    assert int(keras.ops.convert_to_numpy(model.loss_coefficients.step)) == 0


def test_an_evaluation_with_the_callback_holds_nothing():
    model = compiled(build("VAE"))
    for _ in range(2):
        schedule = CoefficientSchedule("kl", Schedule("linear", 0.0, 1.0, length=6))
        model.evaluate(images(), verbose=0, callbacks=[schedule])
        model.predict(images(), verbose=0, callbacks=[schedule])
