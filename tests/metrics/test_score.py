"""Score is a float everywhere, and keeps its detail."""

import copy
import json
import pickle

import numpy as np
import pytest

from keras_vaezoo import metrics


@pytest.fixture
def score(perfect):
    return metrics.modularity(perfect.codes, perfect.factors)


def test_is_a_float(score):
    assert isinstance(score, float)
    assert score + 1 == 2.0 and f"{score:.2f}" == "1.00" and str(score) == str(float(score))
    assert np.asarray([score]).dtype == np.float64


def test_goes_to_json_as_a_float(score):
    assert json.loads(json.dumps({"modularity": score})) == {"modularity": float(score)}


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_keep_the_detail(score, copied):
    twin = copied(score)
    assert type(twin) is metrics.Score and twin == score
    np.testing.assert_array_equal(twin.matrix, score.matrix)
    np.testing.assert_array_equal(twin.per_factor, score.per_factor)
    np.testing.assert_array_equal(twin.per_code, score.per_code)
    assert twin.settings == score.settings and twin.train is None


def test_repr_names_the_settings():
    score = metrics.Score(0.25, per_factor=[0.0, 0.5], train=0.75, settings={"bins": 20})
    assert repr(score) == "Score(0.25, per_factor=[0.  0.5], train=0.75, bins=20)"
    assert repr(metrics.Score(0.5)) == "Score(0.5)"


def test_named_tuple_of_dci_pickles(entangled):
    scores = metrics.dci(*entangled, n_estimators=2, max_rows=300)
    twin = pickle.loads(pickle.dumps(scores))
    assert twin == scores and twin.completeness.settings["n_estimators"] == 2
    assert scores.informativeness.matrix.shape == (4, 3)
