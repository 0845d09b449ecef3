"""GCVAE: its identities, its three controllers and the limits between them."""

import dataclasses
import functools

import keras
import numpy as np
import pytest
from keras import ops

import keras_vaezoo as vz
from keras_vaezoo.control import Controller
from tests import divergence_oracles as oracles
from tests.gradients import finite_difference, value_and_grad
from tests.models.digit_runs import networks as digit_networks
from tests.models.digit_runs import run
from tests.models.methods import build, images
from tests.models.steps import made_by_hand

CORRELATIONS = ("mmd", "mahalanobis", "kernel_mahalanobis")
RATE = 0.1


def one_step(model):
    """Logs and the change of every weight in one SGD step on the same data and noise."""
    model.compile(keras.optimizers.SGD(RATE), jit_compile=False)
    before = [ops.convert_to_numpy(v).copy() for v in model.trainable_variables]
    logs = model.train_on_batch(images(11), return_dict=True)
    after = [ops.convert_to_numpy(v) for v in model.trainable_variables]
    changes = [new - old for old, new in zip(before, after, strict=True)]
    return {name: float(value) for name, value in logs.items()}, changes


IDENTITIES = {
    "vae": ({"alpha": -1.0, "beta": 1.0, "gamma": 0.0}, "VAE", {}, 1.0),
    "controlvae": ({"alpha": 0.0, "beta": 0.2, "gamma": 0.0}, "BetaVAE", {"beta": 0.25}, 0.8),
    "infovae": (
        {"alpha": 0.0, "beta": 0.0, "gamma": 7.0},
        "InfoVAE",
        {"alpha": 1.0, "lambda_": 7.0},
        1.0,
    ),
}


@pytest.mark.parametrize("identity", IDENTITIES)
def test_special_cases_in_loss_and_gradient(identity):
    own, other, arguments, scale = IDENTITIES[identity]
    logs, changes = one_step(build("GCVAE", **own))
    other_logs, other_changes = one_step(build(other, **arguments))
    assert logs["loss"] == pytest.approx(scale * other_logs["loss"], rel=1e-5)
    for ours, theirs in zip(changes, other_changes, strict=True):
        assert np.abs(ours).max() > 0.0
        np.testing.assert_allclose(ours, scale * theirs, rtol=1e-4, atol=1e-6)


def test_beta_under_control_is_control_vae_up_to_scale():
    model = build("GCVAE", alpha=0.0, gamma=0.0, beta=Controller(0.01, kp=0.5, maximum=0.9))
    logs, changes = one_step(model)
    beta = logs["beta_value"]
    assert 0.1 < beta < 0.9
    other_logs, other_changes = one_step(build("BetaVAE", beta=beta / (1.0 - beta)))
    assert logs["loss"] == pytest.approx((1.0 - beta) * other_logs["loss"], rel=1e-5)
    for ours, theirs in zip(changes, other_changes, strict=True):
        np.testing.assert_allclose(ours, (1.0 - beta) * theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_correlation_has_its_value_and_gradient_in_the_model(correlation):
    random = np.random.default_rng(0)
    z, prior = random.normal(0.5, 1.0, (7, 3)), random.normal(size=(7, 3))
    model = build("GCVAE", correlation=correlation)
    oracle = {
        "mmd": lambda z: oracles.mmd(z, prior),
        "mahalanobis": oracles.mahalanobis,
        "kernel_mahalanobis": functools.partial(
            oracles.kernel_mahalanobis, prior_z=prior, codes_of_covariance=z
        ),
    }[correlation]

    def term(codes):
        batch = made_by_hand(np.zeros((7, 3)), np.zeros((7, 3)), z=codes)
        drawn = ops.convert_to_tensor(prior, "float32")
        return model.compute_terms(with_prior(batch, drawn))[correlation]

    value, (gradient,) = value_and_grad(term, z)
    assert value == pytest.approx(oracle(z), rel=1e-4)
    assert np.abs(gradient).max() > 1e-3
    np.testing.assert_allclose(gradient, finite_difference(oracle, z)[0], rtol=1e-3, atol=1e-4)


def with_prior(batch, draws):
    return dataclasses.replace(batch, prior=lambda: draws)


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_gamma_pulls_on_the_encoder_alone(correlation):
    fixed = {"alpha": 0.0, "beta": 0.0, "correlation": correlation}
    _, without = one_step(build("GCVAE", gamma=0.0, **fixed))
    model = build("GCVAE", gamma=5.0, **fixed)
    _, changes = one_step(model)
    pull = {
        v.path: np.abs(ours - theirs).max()
        for v, ours, theirs in zip(model.trainable_variables, changes, without, strict=True)
    }
    assert all((amount > 1e-5) == ("encoder" in path) for path, amount in pull.items()), pull


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_batch_of_one_black_image_stays_finite(correlation):
    model = build("GCVAE", correlation=correlation)
    model.compile(keras.optimizers.SGD(0.01))
    logs = model.train_on_batch(np.zeros((1, 6, 5, 1), "float32"), return_dict=True)
    assert all(np.isfinite(float(value)) for value in logs.values()), logs
    assert all(np.isfinite(w).all() for w in model.get_weights())


def test_default_controllers():
    model = build("GCVAE", correlation="mahalanobis")
    common = {"kp": 0.1, "ki": 1e-4, "kd": 0.0, "rule": 0.0, "average": 0.0}
    expected = {
        "alpha": {"start": 10.0, "minimum": 0.0, "maximum": 0.99, "action": -1.0},
        "beta": {"start": 30.0, "minimum": 0.0, "maximum": 1.0, "action": 1.0},
        "gamma": {"start": 0.1, "minimum": 1.0, "maximum": 100.0, "action": 1.0},
    }
    terms = {"alpha": "reconstruction", "beta": "kl", "gamma": "mahalanobis"}
    for name, settings in expected.items():
        slot = model.loss_coefficients.slot(name)
        wanted = {**common, **settings}
        assert {field: slot[field] for field in wanted} == pytest.approx(wanted), name
        assert model.loss_coefficients.measured(name) == terms[name]


def driven(model, measurements):
    """Coefficients after each of many measured `{term: value}`."""
    bank, seen = model.loss_coefficients, []
    for measured in measurements:
        means = ops.convert_to_tensor([measured.get(t, 0.0) for t in bank.measurable], "float32")
        values = bank.update(bank.current(), means, model.limit_coefficients)
        seen.append({name: float(ops.convert_to_numpy(v)) for name, v in values.items()})
    return seen


def test_alpha_acts_in_reverse():
    above, below = ([{"reconstruction": r, "kl": 20.0}] * 30 for r in (2800.0, 2.0))
    assert driven(build("GCVAE"), above)[-1]["alpha"] == 0.0
    alphas = [values["alpha"] for values in driven(build("GCVAE"), below)]
    assert alphas == sorted(alphas) and alphas[-1] > 0.1


def test_the_papers_alpha_is_positive_feedback():
    model = build("GCVAE", alpha_action="paper")
    assert model.loss_coefficients.measured("alpha") == "reconstruction_per_row"
    # 6 rows of an image: 2,400 nats are 400 a row, against a set point of 10.
    seen = driven(model, [{"reconstruction_per_row": 400.0}] * 40)
    assert seen[0]["alpha"] == pytest.approx(0.1 + 0.039) and seen[-1]["alpha"] > 0.98
    logs, _ = one_step(model)
    assert logs["reconstruction_per_row"] == pytest.approx(logs["reconstruction"] / 6, rel=1e-5)


def test_reconstruction_always_keeps_a_hundredth_of_its_weight():
    random = np.random.default_rng(0)
    measured = [
        {"reconstruction": r, "kl": k}
        for r, k in zip(random.choice([1.0, 1e4], 60), random.choice([1.0, 3e3], 60), strict=True)
    ]
    model = build("GCVAE")
    sums = [values["alpha"] + values["beta"] for values in driven(model, measured)]
    assert max(sums) == pytest.approx(0.99, abs=1e-6)
    values = driven(model, [{"reconstruction": 1.0, "kl": 1e5}])[-1]
    assert values["beta"] == 1.0 and values["alpha"] == pytest.approx(-0.01, abs=1e-6)
    fixed = build("GCVAE", alpha=0.3)
    assert driven(fixed, [{"kl": 1e5}])[-1]["beta"] == pytest.approx(0.69, abs=1e-6)


def test_fixed_coefficients_have_no_controller_and_no_limits():
    model = build("GCVAE", alpha=-1.0, beta=1.5, gamma=-2.0)
    assert not any(map(model.loss_coefficients.enabled, model.coefficients))
    logs, _ = one_step(model)
    expected = {"reconstruction_weight": 0.5, "kl_weight": 1.5, "mmd_weight": -2.0}
    assert {name: logs[name] for name in expected} == pytest.approx(expected)
    assert [logs[name] for name in ("alpha", "beta", "gamma")] == pytest.approx([-1.0, 1.5, -2.0])


def test_own_controllers_in_either_way_and_through_the_config():
    beta = Controller(16.0, kp=0.1, ki=1e-4, maximum=1.0)
    for arguments in ({"beta": beta}, {"controllers": {"beta": beta}}):
        model = build("GCVAE", alpha=-0.5, correlation="mahalanobis", **arguments)
        again = type(model).from_config(model.get_config())
        for loaded in (model, again):
            assert loaded.loss_coefficients.slot("beta")["start"] == 16.0
            assert loaded.coefficients["alpha"] == -0.5
            assert loaded.loss_coefficients.enabled("gamma")
            assert loaded.terms == ("reconstruction", "kl", "mahalanobis")


NEGATIVE = [
    {"alpha": 0.5, "beta": 0.6},
    {"alpha": 0.5, "beta": Controller(16.0, maximum=1.0)},
    {"beta": Controller(16.0)},
    {"alpha": Controller(10.0, measured="reconstruction", action=-1, maximum=2.0)},
    {"beta": 2.0},
    {"alpha": 1.5},
]


@pytest.mark.parametrize("arguments", NEGATIVE)
def test_limits_that_allow_a_negative_reconstruction_weight_are_refused(arguments):
    with pytest.raises(ValueError, match=r"1 - alpha - beta, which these limits allow"):
        build("GCVAE", **arguments)


def test_the_callback_is_held_to_the_same_limits():
    model = build("GCVAE")
    model.compile("sgd", jit_compile=False)
    wide = vz.callbacks.PIDController("beta", set_point=16.0)
    with pytest.raises(ValueError, match=r"these limits allow.*beta in \[0, 100\]"):
        model.fit(images(), verbose=0, callbacks=[wide])
    narrow = vz.callbacks.PIDController("beta", set_point=16.0, maximum=1.0)
    history = model.fit(images(), batch_size=11, verbose=0, callbacks=[narrow]).history
    assert history["beta_set_point"] == [16.0]


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (r"correlation must be one of \['mmd', 'mahalanobis'", {"correlation": "rbf"}),
        (r"alpha_action must be one of \['reverse', 'paper'\]", {"alpha_action": "printed"}),
        ("alpha must be a finite number", {"alpha": "0.5"}),
        (r"no coefficient 'kl'; GCVAE has", {"controllers": {"kl": Controller(5.0)}}),
        ("both beta=0.5 and a controller", {"beta": 0.5, "controllers": {"beta": Controller(5.0)}}),
        ("no term 'tc' to measure", {"beta": Controller(5.0, measured="tc", maximum=1.0)}),
    ],
)
def test_what_cannot_be_is_refused(message, arguments):
    with pytest.raises(ValueError, match=message):
        build("GCVAE", **arguments)


def test_holds_its_kl_set_point_on_real_digits():
    beta = Controller(8.0, kp=0.1, ki=2e-3, maximum=1.0)
    model = vz.GCVAE(*digit_networks(), correlation="mahalanobis", beta=beta, seed=0)
    history = run(model, epochs=2)
    assert history["kl"][-1] == pytest.approx(8.0, rel=0.03)
    assert 0.0 < history["beta_value"][-1] < 1.0


def test_learns_sprites_in_three_hundred_steps():
    data = vz.datasets.load("sprites")
    rows = np.random.default_rng(0).permutation(len(data))[:960]
    x = np.asarray(data.images[np.sort(rows)])
    keras.utils.set_random_seed(0)
    pair = [
        make((64, 64, 1), 10, (64,)) for make in (vz.networks.mlp_encoder, vz.networks.mlp_decoder)
    ]
    model = vz.GCVAE(*pair, seed=0)
    model.compile(keras.optimizers.Adam(1e-3))
    first = model.evaluate(x[:64], verbose=0, return_dict=True)["reconstruction"]
    history = model.fit(x, batch_size=64, epochs=20, verbose=0).history
    assert history["reconstruction"][-1] < first / 4
