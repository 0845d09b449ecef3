"""The stopping criterion on trajectories written by hand."""

import keras
import numpy as np
import pytest

from keras_vaezoo.callbacks import StoppingCriterion
from tests.models.methods import build, images


class Trajectory(keras.callbacks.Callback):
    """Sets alpha and beta at the end of each epoch, as controllers would have left them."""

    def __init__(self, **values):
        super().__init__()
        self.values = values

    def on_epoch_end(self, epoch, logs=None):
        coefficients = self.model.loss_coefficients
        array = keras.ops.convert_to_numpy(coefficients.values).copy()
        for name, values in self.values.items():
            array[coefficients.index(name)] = values[epoch]
        coefficients.values.assign(array)
        logs["elbo"] = -float(epoch % 3)


def model():
    """A GCVAE that learns nothing, with its three controllers."""
    built = build("GCVAE")
    built.compile(keras.optimizers.SGD(0.0), jit_compile=False)
    return built


@pytest.fixture(scope="module")
def trained():
    return model()


def stopped_epoch(trained, criterion, alpha, beta):
    trajectory = Trajectory(alpha=alpha, beta=beta)
    trained.fit(
        images(4), epochs=len(alpha), verbose=0, callbacks=[trajectory, criterion], batch_size=4
    )
    return criterion.stopped_epoch


MOVING = [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"),
    [
        # Both settle from epoch 2 to epoch 3.
        ([0.0, 0.1, 0.2, 0.2, 0.2], [0.5, 0.4, 0.3, 0.3, 0.3], 3),
        # One alone does not stop it.
        ([0.2] * 5, MOVING, None),
        (MOVING, [0.2] * 5, None),
        # Changes just below and just above the tolerances 1e-5 and 1e-4.
        ([0.2, 0.2 + 0.9e-5, 0.2], [0.3, 0.3 + 0.9e-4, 0.3], 1),
        ([0.2, 0.2 + 1.2e-5, 0.2], [0.3] * 3, None),
        ([0.2] * 3, [0.3, 0.3 + 1.2e-4, 0.3], None),
        # Saturated at the start: nothing counts before one has been inside its limits.
        ([0.0] * 5, [0.0] * 5, None),
        ([0.99] * 5, [0.0] * 5, None),
        ([0.0] * 5, [0.0, 0.0, 0.5, 0.5, 0.6], 3),
        # Back at a limit later on is an end like another.
        ([0.0] * 5, [0.0, 0.5, 0.0, 0.0, 0.0], 3),
    ],
)
def test_stops_at_the_first_epoch_in_which_both_have_settled(trained, alpha, beta, expected):
    assert stopped_epoch(trained, StoppingCriterion(verbose=0), alpha, beta) == expected


def test_one_of_them_alone(trained):
    beta_only = StoppingCriterion(alpha_tolerance=None, verbose=0)
    assert stopped_epoch(trained, beta_only, MOVING, [0.2] * 5) == 1
    alpha_only = StoppingCriterion(beta_tolerance=None, verbose=0)
    assert stopped_epoch(trained, alpha_only, [0.2] * 5, MOVING) == 1


def test_patience_asks_for_epochs_in_a_row(trained):
    alpha, beta = [0.2] * 8, [0.3, 0.3, 0.3, 0.4, 0.4, 0.4, 0.4, 0.4]
    assert stopped_epoch(trained, StoppingCriterion(patience=2, verbose=0), alpha, beta) == 2
    assert stopped_epoch(trained, StoppingCriterion(patience=3, verbose=0), alpha, beta) == 6


def test_smoothing_sees_a_drift_that_repeats_values_hide(trained):
    # The last two values agree by chance; their moving average still moves.
    alpha, beta = [0.2] * 4, [0.3, 0.4, 0.5, 0.5]
    assert stopped_epoch(trained, StoppingCriterion(verbose=0), alpha, beta) == 3
    assert stopped_epoch(trained, StoppingCriterion(smoothing=0.9, verbose=0), alpha, beta) is None
    noisy = [0.5 + 2e-4 * (-1) ** n for n in range(30)]
    alpha = [0.2] * 30
    assert stopped_epoch(trained, StoppingCriterion(verbose=0), alpha, noisy) is None
    smooth = StoppingCriterion(smoothing=0.9, verbose=0)
    assert stopped_epoch(trained, smooth, alpha, noisy) is not None


def test_message_gives_the_epoch_and_both_differences(trained, capsys):
    criterion = StoppingCriterion()
    stopped_epoch(trained, criterion, [0.2] * 3, [0.3, 0.30005, 0.3])
    expected = "Epoch 2: training stopped, alpha changed by 0.00e+00 < 1e-05 and beta changed by 5"
    assert criterion.message.startswith(expected) and criterion.message in capsys.readouterr().out


def test_restores_the_weights_of_the_best_epoch():
    trained = model()
    # The best "elbo" that the trajectory writes is 0, of epochs 0 and 3.
    alpha, beta = [0.1, 0.2, 0.3, 0.4, 0.5, 0.5], [0.2, 0.3, 0.3, 0.3, 0.3, 0.3]
    criterion = StoppingCriterion(restore_best_weights=True, verbose=0)
    assert stopped_epoch(trained, criterion, alpha, beta) == 5
    assert trained.coefficients["alpha"] == pytest.approx(0.1)
    assert trained.loss_coefficients.slot("alpha")["updates"] == 1.0
    assert "best elbo" in criterion.message
    with pytest.raises(ValueError, match="no 'val_elbo' to restore by; the logs have"):
        criterion = StoppingCriterion(restore_best_weights=True, monitor="val_elbo", verbose=0)
        stopped_epoch(trained, criterion, alpha, beta)


def test_values_are_those_at_the_end_of_the_epoch():
    trained = model()
    seen = []
    criterion = StoppingCriterion(alpha_tolerance=None, beta_tolerance=1e-9, verbose=0)
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append((criterion._smooth["beta"], logs))
    )
    trained.fit(images(), epochs=2, batch_size=11, verbose=0, callbacks=[criterion, watch])
    for value, logs in seen:
        np.testing.assert_allclose(value, logs["beta_value"], rtol=1e-6)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("cannot both be None", {"alpha_tolerance": None, "beta_tolerance": None}),
        ("alpha_tolerance must be positive", {"alpha_tolerance": 0.0}),
        ("patience must be an integer of at least 1", {"patience": 0}),
        (r"smoothing must lie in \[0, 1\)", {"smoothing": 1.0}),
        ("mode must be 'max' or 'min'", {"mode": "auto"}),
    ],
)
def test_impossible_arguments_are_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        StoppingCriterion(**arguments)


def test_models_it_cannot_watch_are_refused_before_training():
    other = build("VAE")
    other.compile("sgd")
    with pytest.raises(ValueError, match=r"coefficients \['reconstruction', 'kl'\]"):
        other.fit(images(), verbose=0, callbacks=[StoppingCriterion()])
    fixed = build("GCVAE", alpha=-1.0, beta=1.0)
    fixed.compile("sgd")
    with pytest.raises(ValueError, match="No controller holds any of"):
        fixed.fit(images(), verbose=0, callbacks=[StoppingCriterion()])
    assert int(keras.ops.convert_to_numpy(fixed.loss_coefficients.step)) == 0
