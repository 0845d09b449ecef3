"""TrainingDoctor: each fault is found, where it is, once; a healthy run gets no word."""

import re

import keras
import numpy as np
import pytest

import keras_vaezoo as vz
from keras_vaezoo.callbacks import CoefficientSchedule, TrainingDoctor
from keras_vaezoo.control import Schedule
from tests.callbacks.small_runs import IMAGES, Steps, alone, everything, trained
from tests.models.methods import build
from tests.models.steps import given_posteriors

ON_TORCH = keras.backend.backend() == "torch"


def examined(model, images=IMAGES, epochs=1, **settings):
    """The doctor's findings on a model that stands still."""
    doctor = TrainingDoctor(images, **settings)
    doctor.set_model(model)
    doctor.on_train_begin()
    for epoch in range(epochs):
        doctor.on_epoch_end(epoch, {})
    return doctor.findings


def kinds(findings):
    return [finding.kind for finding in findings]


def posteriors(mean=(2.0, 2.0, 2.0), log_variance=(-1.0, -1.0, -1.0)):
    """A VAE with these posteriors for the 40 images that come with it.

    Means are plus or minus `mean`: their KL divergence is `(m^2 + v - 1 - log v) / 2`.
    """
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(40, 3))
    rows = np.concatenate([signs * mean, np.tile(log_variance, (40, 1))], axis=1)
    return vz.VAE(*given_posteriors(3), "gaussian", seed=0), rows.astype("float32")


# Nothing is wrong -----------------------------------------------------------------------------


def healthy():
    model = build("VAE", likelihood=vz.likelihoods.Gaussian(0.1))
    model.compile(keras.optimizers.Adam(1e-2))
    return model


def test_a_healthy_run_gets_no_word(capsys):
    doctor = TrainingDoctor(IMAGES)
    healthy().fit(IMAGES, epochs=6, batch_size=16, verbose=0, callbacks=[doctor])
    assert doctor.findings == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("method", vz.models.__all__)
def test_no_method_as_it_comes_gets_a_word(method):
    assert examined(build(method)) == []


def test_a_deterministic_encoder_gets_no_word():
    assert examined(build("WAE", stochastic=False), epochs=4) == []


def test_the_run_is_the_same_bit_for_bit_with_and_without():
    model, history = trained([TrainingDoctor(IMAGES, verbose=0)])
    assert (everything(model), history) == alone()


# Collapse -------------------------------------------------------------------------------------


def test_collapsed_dimensions_are_named_once_after_some_epochs(capsys):
    just_below, just_above = np.sqrt(2 * 0.0099), np.sqrt(2 * 0.0101)
    model, images = posteriors((just_below, 2.0, just_above), (0.0, -1.0, 0.0))
    assert examined(model, images, epochs=2) == []
    (finding,) = examined(model, images, epochs=6)
    assert finding.kind == "collapse" and finding.epoch == 3
    assert "latent dimensions [0] carry less than 0.01 nats each (1 of 3 do)" in finding.message
    assert "smaller latent_dim" in finding.message
    assert capsys.readouterr().out.count("TrainingDoctor, after epoch 3: Collapsed") == 1


def test_a_second_dimension_is_told_later():
    model, images = posteriors((0.01, 2.0, 2.0), (0.0, -1.0, -1.0))
    doctor = TrainingDoctor(images, patience=1, verbose=0)
    doctor.set_model(model)
    doctor.on_train_begin()
    doctor.on_epoch_end(0)
    doctor._images = posteriors((0.01, 2.0, 0.01), (0.0, -1.0, 0.0))[1]
    doctor.on_epoch_end(1)
    assert [finding.epoch for finding in doctor.findings] == [1, 2]
    assert "dimensions [2] carry" in doctor.findings[1].message
    assert "2 of 3 do" in doctor.findings[1].message


def test_a_collapse_of_all_dimensions_says_what_to_do():
    nothing = np.zeros(3), np.zeros(3)
    model, _ = posteriors()
    _, images = posteriors(*nothing)
    images[:, 0] = np.random.default_rng(1).normal(0.0, 1e-3, 40)
    findings = examined(model, images, epochs=3)
    assert kinds(findings) == ["scale", "collapse"]
    assert "ControlVAE" in findings[1].message
    model = vz.BetaVAE(*given_posteriors(3), "gaussian", beta=4.0, seed=0)
    assert "KL weight is 4: lower it" in examined(model, images, epochs=3)[1].message


# Log-variance ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (10.5, r"dimensions \[1\] explodes: up to 10.5, limit 10\b.*clip"),
        (-20.5, r"dimensions \[1\] falls to -20.5, limit -20: .*deterministic"),
    ],
)
def test_log_variances_out_of_bounds_are_named(value, words):
    model, images = posteriors()
    images[17, 4] = value
    (finding,) = examined(model, images, epochs=3)
    assert (finding.kind, finding.epoch) == ("log_variance", 1)
    assert re.search(words, finding.message)
    images[17, 4] -= np.sign(value)
    assert examined(model, images) == []


# NaN ------------------------------------------------------------------------------------------


def stream(bad, value, column):
    """Endless pairs of batches (x, y), one value of one of them spoilt in batch `bad`."""
    _, images = posteriors()
    count = 0
    while True:
        pair = images.copy(), images.copy()
        if count == bad:
            pair[column][0, 3] = value
        count += 1
        yield pair


def fit_on_stream(bad, value, column, **compiled):
    model, images = posteriors()
    model.compile(keras.optimizers.SGD(1e-6), target="y", **compiled)
    doctor = TrainingDoctor(images, verbose=0)
    data = stream(bad, value, column)
    model.fit(data, steps_per_epoch=4, epochs=3, verbose=0, callbacks=[doctor])
    return doctor.findings


def test_the_term_and_the_step_of_the_first_nan_are_named():
    (finding,) = fit_on_stream(6, np.nan, column=1)
    assert (finding.kind, finding.epoch) == ("not_finite", 2)
    assert finding.message.startswith("reconstruction = nan in step 3 of epoch 2: ")
    assert "kl =" not in finding.message and "learning rate" in finding.message


def test_a_divergence_that_overflows_is_named():
    finding = fit_on_stream(1, 200.0, column=0)[0]
    assert finding.kind == "not_finite"
    assert finding.message.startswith("kl = inf")
    assert " in step 2 of epoch 1: " in finding.message


@pytest.mark.skipif(ON_TORCH, reason="steps_per_execution needs TensorFlow or JAX")
def test_with_steps_per_execution_the_steps_are_named():
    (finding,) = fit_on_stream(6, np.nan, column=1, steps_per_execution=2)
    assert "reconstruction = nan in steps 3 to 4 of epoch 2" in finding.message


def test_steps_may_be_told_in_any_order():
    model = build("VAE")
    doctor = TrainingDoctor(IMAGES, verbose=0)
    doctor.set_model(model)
    doctor.on_train_begin()
    for batch in (7, 5, 6, 2):
        lost = float("nan") if batch > 4 else 1.0
        doctor.on_train_batch_end(batch, {"kl": lost, "loss": lost, "my_metric": float("nan")})
    doctor.on_epoch_end(0)
    assert doctor.findings[0].message.startswith("kl = nan in step 6 of epoch 1")


def test_codes_that_are_lost_in_the_last_step_are_told():
    model = build("VAE")
    model.encoder.set_weights([weight * np.nan for weight in model.encoder.get_weights()])
    (finding,) = examined(model, epochs=2)
    assert finding.kind == "not_finite" and "codes are NaN" in finding.message


# Range and scale ------------------------------------------------------------------------------


def test_images_out_of_the_likelihoods_range():
    (finding,) = examined(build("VAE"), 255 * IMAGES)
    assert (finding.kind, finding.epoch) == ("range", 0)
    assert "divide by 255" in finding.message and "[0, 1]" in finding.message


@pytest.mark.parametrize(("size", "expected"), [(0.09, ["range"]), (0.12, [])])
def test_images_that_fill_little_of_it(size, expected):
    assert kinds(examined(build("VAE"), size * IMAGES)) == expected


def test_a_scale_that_is_narrow_or_wide_for_the_images():
    flat = IMAGES.reshape(len(IMAGES), -1).astype("float64")
    widest = np.sqrt(np.linalg.eigvalsh(np.cov(flat, rowvar=False, bias=True))[-1])
    cases = [
        (0.99 * flat.std() / 10, 1.0, "the KL divergence hardly counts"),
        (1.01 * flat.std() / 10, 1.0, None),
        (0.99 * widest, 1.0, None),
        (1.01 * widest, 1.0, "it is best to ignore the codes"),
        (0.51 * widest, 4.0, "it is best to ignore the codes"),
    ]
    for sigma, beta, words in cases:
        model = build("BetaVAE", likelihood=vz.likelihoods.Gaussian(float(sigma)), beta=beta)
        findings = examined(model)
        assert kinds(findings) == (["scale"] if words else []), sigma
        assert not words or (words in findings[0].message and "sigma" in findings[0].message)
    laplace = build("VAE", likelihood=vz.likelihoods.Laplace(1e-3))
    assert "b='scalar'" in examined(laplace)[0].message
    learned = build("VAE", likelihood=vz.likelihoods.Gaussian("scalar"))
    assert examined(learned, 255 * IMAGES) == []


def test_more_values_than_images_have_the_same_largest_eigenvalue():
    from keras_vaezoo.callbacks._diagnoses import largest_eigenvalue

    for shape in ((5, 30), (30, 5)):
        values = np.random.default_rng(2).normal(size=shape)
        expected = np.linalg.eigvalsh(np.cov(values, rowvar=False, bias=True))[-1]
        assert largest_eigenvalue(values) == pytest.approx(expected, rel=1e-9)


# KL weight ------------------------------------------------------------------------------------


def test_a_weight_that_left_the_elbos():
    model = build("VAE")
    model.coefficients["reconstruction"] = 1 / 784
    (finding,) = examined(model)
    assert (finding.kind, finding.epoch) == ("kl_weight", 1)
    assert "weighs 784 times" in finding.message and "built with 1" in finding.message
    model.coefficients["kl"] = 1 / 784
    assert examined(model) == []


@pytest.mark.parametrize(
    ("beta", "words"), [(101.0, "codes that say nothing"), (0.0, "samples unlike"), (99.0, None)]
)
def test_a_chosen_weight_far_from_one(beta, words):
    findings = examined(build("BetaVAE", beta=beta))
    assert kinds(findings) == (["kl_weight"] if words else [])
    assert not words or words in findings[0].message


@pytest.mark.parametrize(
    "schedule", [Schedule("linear", start=0.0, end=0.5, length=3), lambda epoch: 0.1]
)
def test_a_weight_that_is_scheduled_or_controlled_is_meant(schedule):
    callbacks = [CoefficientSchedule("kl", schedule), TrainingDoctor(IMAGES)]
    model = healthy()
    model.fit(IMAGES, batch_size=32, verbose=0, callbacks=callbacks)
    assert model.coefficients["kl"] < 0.9
    assert callbacks[1].findings == []
    controlled = build("ControlVAE")
    controlled.loss_coefficients.values.assign([1.0, 0.001])
    assert examined(controlled) == []


def test_a_schedule_of_an_earlier_fit_excuses_nothing():
    model, doctor = healthy(), TrainingDoctor(IMAGES)
    model.fit(IMAGES, verbose=0, callbacks=[CoefficientSchedule("kl", lambda epoch: 0.001)])
    model.fit(IMAGES, verbose=0, callbacks=[doctor])
    assert kinds(doctor.findings) == ["kl_weight"]


# Bad input and repeats ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"collapsed": 0.0}, "collapsed=0.0"),
        ({"patience": 0}, "patience=0"),
        ({"far": 0.5}, "far=0.5"),
        ({"log_variance": (10, -20)}, r"log_variance=\(10, -20\)"),
        ({"log_variance": 10}, "log_variance=10"),
        ({"images": "digits"}, "Received: str"),
    ],
)
def test_bad_arguments_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        TrainingDoctor(**{"images": IMAGES, **settings})


@pytest.mark.parametrize(
    ("images", "words"),
    [(np.zeros((9, 4, 4, 1), "float32"), "4, 4, 1"), (np.nan * IMAGES, "NaN")],
)
def test_images_that_cannot_be_judged_are_named_before_the_first_step(images, words):
    steps = Steps()
    with pytest.raises(ValueError, match=words):
        trained([steps, TrainingDoctor(images)], epochs=1)
    assert steps.done == 0


def test_a_new_training_starts_with_an_empty_sheet(capsys):
    model = build("VAE")
    model.coefficients["kl"] = 0.1
    doctor = TrainingDoctor(IMAGES, verbose=0)
    doctor.set_model(model)
    for _ in range(2):
        doctor.on_train_begin()
        assert doctor.findings == []
        for epoch in range(2):
            doctor.on_epoch_end(epoch)
        assert kinds(doctor.findings) == ["kl_weight"]
    assert capsys.readouterr().out == ""
