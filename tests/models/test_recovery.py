"""After a step that failed the model is as it was before it, and can be used."""

import keras
import numpy as np
import pytest

from tests.models.methods import build, images


def failing(batches):
    """Good batches, then one of a wrong shape."""
    for _ in range(batches):
        yield (images(4),)
    yield (np.zeros((4, 3, 3, 1), "float32"),)


@pytest.fixture(params=["VAE", "FactorVAE"])
def model(request):
    model = build(request.param)
    model.compile(keras.optimizers.Adam(0.01))
    return model


@pytest.mark.parametrize("call", ["fit", "evaluate", "predict"])
def test_a_first_step_that_fails_changes_nothing(model, call):
    before = model.get_weights()
    with pytest.raises(ValueError):
        getattr(model, call)(failing(0), verbose=0)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    model.fit(images(8), verbose=0)
    assert np.isfinite(model.evaluate(images(8), verbose=0)).all()


def test_steps_before_the_one_that_fails_are_kept(model):
    before = model.get_weights()
    with pytest.raises(Exception, match="shape"):
        model.fit(failing(2), steps_per_epoch=3, verbose=0)
    after = model.get_weights()
    assert any((old != new).any() for old, new in zip(before, after, strict=True))
    assert all(np.isfinite(weights).all() for weights in after)


def test_an_interrupt_while_predicting(model):
    class Interrupt(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    expected = model.reconstruct(images(4))
    with pytest.raises(KeyboardInterrupt):
        model.predict(images(8), batch_size=4, callbacks=[Interrupt()], verbose=0)
    np.testing.assert_array_equal(model.reconstruct(images(4)), expected)
