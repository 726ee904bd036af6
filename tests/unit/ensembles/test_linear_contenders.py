"""Linear models that compete with the trees where few samples tell several classes apart."""

import numpy as np
import pytest
from fctree import CurvatureBoostingClassifier, CurvatureTreeRegressor
from scipy.special import softmax
from sklearn.metrics import log_loss

LINEAR = 4  # their number in tree_kinds_
rng = np.random.default_rng(0)
X = rng.standard_normal((4000, 8))
TRUTH = X @ rng.standard_normal((8, 3))  # in log-odds
Y = (TRUTH + rng.gumbel(size=TRUTH.shape)).argmax(axis=1)
FEW = slice(0, 600)


def fitted(rows=FEW, labels=Y, **options):
    return CurvatureBoostingClassifier(**options, random_state=0).fit(X[rows], labels[rows])


def test_a_linear_truth_is_learned_by_them():
    model = fitted(slice(0, 300))
    linear = model.tree_kinds_ == LINEAR
    assert np.mean(linear) > 0.2
    assert set(np.diff(model.trees_.leaf_offsets)[linear]) == {1}
    same_trees = CurvatureTreeRegressor(n_screened=4, max_thresholds=8, split_margin=0.5, parent_weight=30.0,
                                        feature_concatenation=False)
    without = fitted(slice(0, 300), tree=same_trees)
    assert LINEAR not in without.tree_kinds_
    probabilities = softmax(TRUTH, axis=1), model.predict_proba(X), without.predict_proba(X)
    least, *losses = [log_loss(Y[600:], each[600:]) for each in probabilities]
    assert losses[0] - least < 0.7 * (losses[1] - least)


@pytest.mark.parametrize("options", [
    {"rows": slice(0, 601)}, {"labels": (Y > 0).astype(int)}, {"subsample": 1.0},
], ids=["many samples", "two classes", "no samples left out"])
def test_models_that_have_none(options):
    assert LINEAR not in fitted(**options, max_iter=10).tree_kinds_


def test_a_warm_start_goes_on_with_them():
    whole = fitted(max_iter=20)
    parts = fitted(max_iter=9, warm_start=True).set_params(max_iter=20).fit(X[FEW], Y[FEW])
    assert LINEAR in whole.tree_kinds_[:9]
    np.testing.assert_array_equal(whole.tree_kinds_, parts.tree_kinds_)
    np.testing.assert_array_equal(whole.predict_proba(X), parts.predict_proba(X))
