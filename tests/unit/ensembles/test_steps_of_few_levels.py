"""Step trees of three levels that compete in boosting beside those of `step_depth`."""

import numpy as np
import pytest
from fctree import CurvatureBoostingClassifier, CurvatureBoostingRegressor
from scipy.special import softmax
from sklearn.metrics import log_loss

X = np.random.default_rng(0).uniform(size=(4000, 6))
FEW = 3  # their number in tree_kinds_
TRAIN = slice(0, 1000)


def leaves_of(model, kind):
    """The numbers of leaves of the trees of a kind."""
    return np.diff(model.trees_.leaf_offsets)[model.tree_kinds_ == kind]


def test_steps_of_single_features_are_learned_by_them():
    y = (X[:, :5] > np.linspace(0.3, 0.7, 5)) @ np.arange(1.0, 6.0)
    model = CurvatureBoostingRegressor(random_state=0).fit(X[TRAIN], y[TRAIN])
    assert np.mean(model.tree_kinds_ == FEW) > 0.2
    assert leaves_of(model, FEW).max() <= 8 < leaves_of(model, 1).max()
    both = CurvatureBoostingRegressor(random_state=0).fit(X[TRAIN], np.column_stack([y, y])[TRAIN])
    assert np.mean(both.tree_kinds_ == FEW) > 0.2
    errors = [np.sqrt(np.mean((each - y[1000:]) ** 2)) for each in (model.predict(X[1000:]), both.predict(X[1000:])[:, 0])]
    assert 0.85 * errors[1] < errors[0]  # without them two outputs have a larger error


@pytest.mark.parametrize("options, targets", [
    ({"step_depth": 3}, X[:, 0] > 0.5),
    ({"step_depth": None}, X[:, 0] > 0.5), ({"subsample": 1.0}, X[:, 0] > 0.5),
], ids=["as deep", "none", "no samples left out"])
def test_models_that_have_none(options, targets):
    model = CurvatureBoostingRegressor(max_iter=20, random_state=0, **options).fit(X[TRAIN], 1.0 * targets[TRAIN])
    assert FEW not in model.tree_kinds_


def test_several_classes_have_them_from_500_samples_of_each_on():
    steps = 3.0 * (X[:, :5] > np.linspace(0.3, 0.7, 5)) @ np.random.default_rng(1).standard_normal((5, 3))
    y = (steps + np.random.default_rng(2).gumbel(size=steps.shape)).argmax(axis=1)
    few, enough = (CurvatureBoostingClassifier(random_state=0).fit(X[:n], y[:n]) for n in (1499, 1500))
    assert FEW not in few.tree_kinds_
    assert np.mean(enough.tree_kinds_ == FEW) > 0.2
    truth, *losses = (log_loss(y[2000:], each[2000:])
                      for each in (softmax(steps, axis=1), few.predict_proba(X), enough.predict_proba(X)))
    assert losses[1] - truth < 0.95 * (losses[0] - truth)  # one sample more


def test_their_leaves_may_hold_rare_events_alone():
    y = X[:, 0] > 0.98
    model = CurvatureBoostingClassifier(random_state=0).fit(X[TRAIN], y[TRAIN])
    assert log_loss(y[1000:], model.predict_proba(X[1000:])) < 0.01  # 0.03 where leaves need 1 / 0.02 samples
    fewest = [leaf.n_node_samples[leaf.children_left < 0].min() for leaf in model.estimators_]
    least = np.floor(1.0 / np.mean(y[TRAIN]))
    assert min(np.array(fewest)[model.tree_kinds_ == FEW]) < least <= min(np.array(fewest)[model.tree_kinds_ == 1], default=least)
