"""The features that the nodes of a forest may split along, and the samples that its trees take."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
)
from reference.tree_comparison import smooth_table

X, y = smooth_table(300, 8, seed=5)
RIDGE = {"tree": FCODTRegressor(), "min_samples_leaf": 20}
ALL = {"tree": CurvatureTreeRegressor(split_margin=0.0), "min_samples_leaf": 20}


def split_coefficients(forest):
    trees = forest.trees_
    return trees.coef[trees.children_left >= 0]


@pytest.mark.parametrize("options", [RIDGE, ALL], ids=["constant", "ridge"])
@pytest.mark.parametrize("max_features, most", [(1, 1), (3, 3), (0.5, 4), ("sqrt", 2), ("log2", 3),
                                                (None, 8), (1.0, 8), (100, 8)])
def test_splits_have_no_more_features_than_drawn(options, max_features, most):
    forest = CurvatureForestRegressor(n_estimators=10, max_depth=3, max_features=max_features,
                                  random_state=0, **options).fit(X, y)
    used = np.count_nonzero(split_coefficients(forest), axis=1)
    assert used.max() == most


@pytest.mark.parametrize("max_features", ["sqrt", "log2", 0.01])
def test_one_feature_is_drawn_at_least(max_features):
    forest = CurvatureForestRegressor(n_estimators=3, max_features=max_features, random_state=0, **ALL).fit(X[:, :1], X[:, 0] > 0)
    assert split_coefficients(forest).any()


def test_nodes_draw_features_of_their_own():
    forest = CurvatureForestRegressor(n_estimators=40, max_depth=2, max_features=2, random_state=0,
                                  **RIDGE).fit(X, y)
    pairs = {tuple(np.flatnonzero(row)) for row in split_coefficients(forest)}
    assert len(pairs) > 20  # of 28
    roots = forest.trees_.coef[forest.trees_.node_offsets[:-1]]
    shares = np.count_nonzero(roots, axis=0) / len(roots)
    assert np.all(shares > 0.05)  # each with probability 1/4, of 40


def test_more_features_than_samples():
    wide = np.random.default_rng(0).standard_normal((60, 90))
    forest = CurvatureForestRegressor(n_estimators=5, max_depth=3, max_features=0.3,
                                  **{**RIDGE, "min_samples_leaf": 5}).fit(wide, wide[:, 0])
    used = np.count_nonzero(split_coefficients(forest), axis=1)
    assert 0 < used.max() <= 27
    assert np.all(np.isfinite(forest.predict(wide)))


@pytest.mark.parametrize("bootstrap, max_samples, share", [
    (True, None, 1 - np.exp(-1.0)), (True, 0.5, 1 - np.exp(-0.5)), (False, 0.4, 0.4),
    (False, 120, 0.4), (False, None, 1.0)])
def test_trees_take_their_share_of_the_samples(bootstrap, max_samples, share):
    forest = CurvatureForestRegressor(n_estimators=50, max_depth=1, bootstrap=bootstrap,
                                  max_samples=max_samples, random_state=0).fit(X, y)
    roots = forest.trees_.n_node_samples[forest.trees_.node_offsets[:-1]] / len(X)
    # Six standard errors of a mean of 50 x 300 draws.
    assert abs(roots.mean() - share) < 6 * np.sqrt(0.25 / (50 * 300))
    assert (roots.std() > 0) == (share < 1)


def test_equal_samples_are_drawn_together():
    twice = np.concatenate([X, X])
    forest = CurvatureForestRegressor(n_estimators=10, max_depth=2, random_state=0).fit(
        twice, np.concatenate([y, y]))
    sizes = forest.trees_.n_node_samples[forest.trees_.node_offsets[:-1]]
    assert np.all(sizes % 2 == 0)


@pytest.mark.parametrize("n_samples", [8, 30, 49, 50, 51, 70, 120])
def test_few_samples_are_drawn_as_many_are(n_samples):
    """There is no number of samples at which bagging begins; boosting leaves out about 24, or half."""
    forest = CurvatureForestRegressor(n_estimators=100, max_depth=0, random_state=0)
    boosting = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=100, max_depth=0, step_depth=None,
                                          random_state=0)
    of_boosting = min(max(1 - 24 / n_samples, 0.5), 0.7)
    for model, share, about in ((forest, 1 - np.exp(-1.0), 0.0), (boosting, of_boosting, 0.03)):
        trees = model.fit(X[:n_samples], y[:n_samples]).trees_
        shares = trees.n_node_samples[trees.node_offsets[:-1]] / n_samples
        # Six standard errors of a mean of 100 n draws; different samples are counted roughly.
        assert abs(shares.mean() - share) < about + 6 * np.sqrt(0.25 / (100 * n_samples))


@pytest.mark.parametrize("n_samples", [1, 2, 3])
def test_a_draw_of_nothing_is_a_draw_of_all(n_samples):
    for kind in (CurvatureForestRegressor, CurvatureBoostingRegressor):
        model = kind(random_state=0).fit(X[:n_samples], y[:n_samples])
        trees = model.trees_
        assert trees.n_node_samples[trees.node_offsets[:-1]].min() >= 1
        assert np.all(np.isfinite(model.predict(X)))


def test_step_trees_join_on_few_samples():
    rng = np.random.default_rng(3)
    features = rng.uniform(size=(45, 3))
    steps = (features[:, 0] > 0.5) * 2.0 + (features[:, 1] > 0.4) + 0.05 * rng.standard_normal(45)
    model = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=50, random_state=0).fit(features, steps)
    assert model.tree_kinds_.mean() > 0.3


def test_step_trees_of_boosting_see_four_fifths_of_the_features():
    codes = np.random.default_rng(0).integers(0, 4, (1500, 8))
    pairs = (codes[:, ::2] == codes[:, 1::2]).sum(axis=1)
    model = CurvatureBoostingClassifier(max_iter=60, random_state=0).fit(codes, pairs)  # deep ones only
    seen = [{*np.flatnonzero(np.any(model.trees_[tree].coef[model.trees_[tree].children_left >= 0], axis=0))}
            for tree in np.flatnonzero(model.tree_kinds_ == 1)]
    assert max(len(columns) for columns in seen) == 7  # of 8
    assert set().union(*seen) == {*range(8)}
