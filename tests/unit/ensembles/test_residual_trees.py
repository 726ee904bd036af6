"""Curvature trees of what a linear model of all features leaves, with that model in their leaves."""

import numpy as np
import pytest
from boosters import bytes_of
from fctree import (
    CurvatureBoostingClassifier, CurvatureBoostingRegressor, CurvatureForestRegressor, CurvatureTreeRegressor, load_model,
    save_model)
from sklearn.base import clone

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 30))
BENT = X.sum(axis=1) + 3.0 * (np.abs(X[:, 0]) + np.sin(2.0 * X[:, 1]) + X[:, 2] * X[:, 3]) + RNG.normal(size=1000)


@pytest.fixture(scope="module")
def model():
    return CurvatureBoostingRegressor(max_iter=30, random_state=0, n_jobs=2).fit(X, BENT)


def test_where_all_of_many_features_matter_and_few_bend_the_target(model):
    assert np.count_nonzero(model.tree_kinds_ == 2) > 5
    assert not np.any(clone(model).fit(X[:, :8], BENT).tree_kinds_ == 2)
    assert not np.any(clone(model).set_params(subsample=1.0).fit(X, BENT).tree_kinds_)
    constants = CurvatureTreeRegressor(leaf_model="constant", standardize=True)
    assert not np.any(clone(model).set_params(tree=constants).fit(X, BENT).tree_kinds_ == 2)
    labels = np.digitize(BENT, np.quantile(BENT, [0.3, 0.6]))
    assert np.any(CurvatureBoostingClassifier(max_iter=20, random_state=0).fit(X, labels).tree_kinds_ == 2)


def test_they_are_the_same_by_any_number_of_threads_and_parts_of_a_fit(model):
    assert bytes_of(model) == bytes_of(clone(model).set_params(n_jobs=1).fit(X, BENT))
    parts = clone(model).set_params(max_iter=12, warm_start=True).fit(X, BENT)
    assert bytes_of(model) == bytes_of(parts.set_params(max_iter=30).fit(X, BENT))


def test_files_have_them(model, tmp_path):
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.tree_kinds_, model.tree_kinds_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_splits_have_few_features_and_leaves_all(model):
    for tree in np.array(model.estimators_)[model.tree_kinds_ == 2]:
        inner = np.flatnonzero(tree.children_left >= 0)
        assert np.count_nonzero(tree.coef[inner], axis=1).max(initial=0) < 15
        assert np.all(np.count_nonzero(tree.leaf_coef.reshape(-1, 30), axis=1) == 30)


def test_values_are_means_of_the_targets(model):
    for tree in np.array(model.estimators_)[model.tree_kinds_ == 2]:
        weight, inner = tree.weighted_n_node_samples, np.flatnonzero(tree.children_left >= 0)
        value = tree.value.reshape(len(weight))
        sums = sum(weight[side] * value[side] for side in (tree.children_left[inner], tree.children_right[inner]))
        np.testing.assert_allclose(value[inner], sums / weight[inner], atol=1e-9)


@pytest.mark.parametrize("kind", [CurvatureBoostingRegressor, CurvatureBoostingClassifier])
def test_a_weight_of_two_is_two_samples(kind):
    y = BENT[:300] if kind is CurvatureBoostingRegressor else BENT[:300] > 0.0
    weight = np.random.default_rng(1).integers(0, 3, 300)
    copies = np.random.default_rng(2).permutation(np.repeat(np.arange(300), weight))
    model = kind(max_iter=15, min_samples_leaf=1, step_depth=None, random_state=0)  # leaves of step trees count rows
    weighted = clone(model).fit(X[:300], y, sample_weight=weight)
    copied = clone(weighted).fit(X[copies], y[copies])
    assert 2 in weighted.tree_kinds_
    np.testing.assert_array_equal(weighted.tree_kinds_, copied.tree_kinds_)
    np.testing.assert_allclose(weighted._raw_predict(X), copied._raw_predict(X), atol=1e-9)


def test_forests_of_them(tmp_path):
    """By out-of-bag errors, and also in parts, by any number of threads and from files."""
    forest = CurvatureForestRegressor(n_estimators=20, random_state=0, n_jobs=2).fit(X, BENT)
    assert forest.residual_trees_ and bytes_of(forest) == bytes_of(clone(forest).set_params(n_jobs=1).fit(X, BENT))
    parts = clone(forest).set_params(n_estimators=18, warm_start=True).fit(X, BENT)
    save_model(parts, tmp_path / "forest")
    assert bytes_of(forest) == bytes_of(load_model(tmp_path / "forest").set_params(n_estimators=20).fit(X, BENT))
    for tree in forest.estimators_:
        inner = np.flatnonzero(tree.children_left >= 0)
        assert np.count_nonzero(tree.coef[inner], axis=1).max(initial=0) < 15
        assert np.all(np.count_nonzero(tree.leaf_coef.reshape(-1, 30), axis=1) == 30)
    plain = CurvatureForestRegressor(n_estimators=20, random_state=0, tree=forest._default_tree).fit(X, BENT)
    new = np.random.default_rng(5).normal(size=(1000, 30))
    truth = new.sum(axis=1) + 3.0 * (np.abs(new[:, 0]) + np.sin(2.0 * new[:, 1]) + new[:, 2] * new[:, 3])
    errors = [np.mean((model.predict(new) - truth) ** 2) for model in (forest, plain)]
    assert not plain.residual_trees_ and errors[0] < 0.8 * errors[1]


def test_forests_of_few_features_or_bends_in_all_have_none():
    forest = CurvatureForestRegressor(n_estimators=16, random_state=0)
    assert not clone(forest).fit(X[:, :8], BENT).residual_trees_
    assert not clone(forest).fit(X, (X[:, :15] * X[:, 15:]).sum(axis=1) + X.sum(axis=1)).residual_trees_


def test_linear_models_compete_in_the_same_rounds():
    """Of few samples of several classes: the trees that are grown in between take few of the features."""
    few = np.random.default_rng(1)
    features = few.normal(size=(480, 30))
    score = features.sum(axis=1) + 3.0 * (np.abs(features[:, 0]) + np.sin(2.0 * features[:, 1])) + few.normal(size=480)
    labels = np.digitize(score, np.quantile(score, [0.33, 0.66]))
    model = CurvatureBoostingClassifier(max_iter=8, random_state=0).fit(features, labels)
    assert {0, 4} <= {*model.tree_kinds_}
