"""Curvature trees of wide tables: which features they take, alone and in ensembles."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier, CurvatureBoostingRegressor, CurvatureForestRegressor,
    CurvatureTreeClassifier, CurvatureTreeRegressor)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 30))


def features_of_trees(model):
    """For each tree, which features it has in a split or a leaf."""
    trees = model.trees_
    return [
        set(np.flatnonzero(
            np.any(trees.coef[nodes] != 0, axis=0) | np.any(trees.leaf_coef[leaves] != 0, axis=(0, 1))))
        for nodes, leaves in zip(
            map(slice, trees.node_offsets[:-1], trees.node_offsets[1:]),
            map(slice, trees.leaf_offsets[:-1], trees.leaf_offsets[1:]), strict=True)
    ]


def fit(y, kind=CurvatureBoostingRegressor, **options):
    return kind(**{"max_iter": 10, "step_depth": None, "random_state": 0, **options}).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_most_features_of_a_tree(n_classes):
    """Eight, and one more for each score after the first."""
    signal = X[:, 3] - X[:, 7] + 2 * RNG.standard_normal(400)
    labels = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    model = fit(labels, CurvatureBoostingClassifier)
    found = features_of_trees(model)
    assert max(map(len, found)) == 7 + (1 if n_classes == 2 else n_classes)
    assert all({3, 7} <= features for features in found[:5:2])  # every second one has half of them


def test_all_features_where_all_are_needed():
    assert features_of_trees(fit(X.sum(axis=1)))[0] == set(range(30))


@pytest.mark.parametrize("y", [X[:, 4] * X[:, 9], X[:, 4] ** 2 + 2 * np.abs(X[:, 9])], ids=["product", "squares"])
def test_features_without_linear_effect(y):
    for features in features_of_trees(fit(y + RNG.standard_normal(400)))[:5]:
        assert {4, 9} <= features
        assert 8 <= len(features) < 14


def test_all_features_that_bend_the_target():
    rng = np.random.default_rng(3)
    wide = rng.standard_normal((4000, 20))
    y = np.abs(wide @ rng.standard_normal((20, 8))).sum(axis=1) + 3 * rng.standard_normal(4000)
    model = CurvatureBoostingRegressor(max_iter=1, step_depth=None, random_state=0).fit(wide, y)
    assert len(features_of_trees(model)[0]) > 15


@pytest.mark.parametrize("few", [True, False], ids=["few explain it", "all do"])
def test_fewer_samples_than_features(few):
    y = X[:28, 0] if few else X[:28].sum(axis=1)
    model = CurvatureBoostingRegressor(max_iter=3, step_depth=None, subsample=1.0).fit(X[:28], y)
    features = features_of_trees(model)[0]
    assert 0 in features and len(features) == (8 if few else 30)


@pytest.mark.parametrize("n_samples", [200, 520])
@pytest.mark.parametrize("kind", [CurvatureTreeRegressor, CurvatureForestRegressor, CurvatureBoostingRegressor])
def test_more_than_500_features_of_fewer_samples(kind, n_samples):
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((n_samples, 700))
    model = kind() if kind is CurvatureTreeRegressor else kind(n_estimators=4, step_trees=False, random_state=3) if kind is CurvatureForestRegressor \
        else kind(max_iter=4, step_depth=None, random_state=0)
    model.fit(wide, wide[:, 600] + 0.5 * wide[:, 650] + 0.1 * rng.standard_normal(n_samples))
    found = [features_of_tree(model)] if kind is CurvatureTreeRegressor else features_of_trees(model)
    assert all({600, 650} <= features and len(features) < 14 for features in found)


@pytest.mark.parametrize("n_samples, n_features", [(150, 300), (300, 250), (300, 600)])
@pytest.mark.parametrize("weight", [1.1, 2.0, "uneven", "copies"])
def test_weights_and_copies_are_no_more_samples(n_samples, n_features, weight):
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((n_samples, n_features))
    y = 2 * wide[:, 0] + np.abs(wide[:, 1]) + 0.3 * rng.standard_normal(n_samples)
    if weight == "copies":
        model = CurvatureTreeRegressor().fit(np.vstack([wide, wide]), np.append(y, y))
    else:
        model = CurvatureTreeRegressor().fit(
            wide, y, sample_weight=rng.uniform(0.5, 1.5, n_samples) if weight == "uneven" else np.full(n_samples, weight))
    assert len(features_of_tree(model)) < 14


def test_all_of_more_than_500_features():
    wide = np.random.default_rng(0).standard_normal((200, 600))
    assert features_of_tree(CurvatureTreeRegressor().fit(wide, wide.sum(axis=1))) == set(range(600))


def test_screening_of_overflowing_squares():
    wide = np.random.default_rng(0).standard_normal((60, 600))
    wide[:, 7] *= 1e200
    wide[:, 8] = 1e-300 * wide[:, 0]
    wide[:, 9] = 1.0
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="too large"):
        CurvatureTreeRegressor().fit(wide, wide[:, 0])
    wide[:, 7] *= 1e-100
    assert np.isfinite(CurvatureTreeRegressor().fit(wide, wide[:, 0]).predict(wide)).all()


def test_weights_are_repetitions():
    y = X[:, 2] + np.abs(X[:, 5]) + RNG.standard_normal(400)
    counts = RNG.integers(1, 4, 400)
    rows = np.repeat(np.arange(400), counts)
    options = {"max_iter": 10, "step_depth": None, "random_state": 0, "min_samples_leaf": 1}
    weighted = CurvatureBoostingRegressor(**options).fit(X, y, sample_weight=counts)
    repeated = CurvatureBoostingRegressor(**options).fit(X[rows], y[rows])
    assert features_of_trees(weighted) == features_of_trees(repeated)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_and_copied_columns(value):
    hard = np.hstack([X[:, :3], X[:, :3], np.full((400, 20), value)])
    model = CurvatureBoostingRegressor(max_iter=5, random_state=0).fit(hard, X[:, 0] + X[:, 1] ** 2)
    assert np.isfinite(model.predict(hard)).all()
    assert model.score(hard, X[:, 0] + X[:, 1] ** 2) > 0.2


def test_going_on_is_the_same_bytes():
    y = X[:, 2] * X[:, 5] + RNG.standard_normal(400)
    whole = fit(y, max_iter=8)
    parts = CurvatureBoostingRegressor(max_iter=4, step_depth=None, random_state=0, warm_start=True).fit(X, y)
    parts.set_params(max_iter=8).fit(X, y)
    assert np.array_equal(whole.trees_.coef, parts.trees_.coef)
    assert np.array_equal(whole.trees_.leaf_coef, parts.trees_.leaf_coef)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_the_same_bytes_for_any_number_of_threads(n_jobs):
    wide = np.random.default_rng(1).standard_normal((6000, 24))
    y = wide[:, 0] * wide[:, 1] + wide[:, 2] + np.random.default_rng(2).standard_normal(6000)
    one, more = (CurvatureBoostingRegressor(max_iter=4, random_state=0, n_jobs=n).fit(wide, y) for n in (1, n_jobs))
    assert one.trees_.coef.tobytes() == more.trees_.coef.tobytes()


def features_of_tree(model):
    tree = model.tree_
    return set(np.flatnonzero(np.any(tree.coef != 0, axis=0) | np.any(tree.leaf_coef != 0, axis=(0, 1))))


@pytest.mark.parametrize("y", [X[:, 4] * X[:, 9], X[:, 4] + np.abs(X[:, 9])], ids=["product", "sum"])
def test_one_tree(y):
    model = CurvatureTreeRegressor().fit(X, y + RNG.standard_normal(400))
    assert {4, 9} <= features_of_tree(model)
    assert 8 <= len(features_of_tree(model)) < 14
    assert np.flatnonzero(model.feature_importances_).size < 14
    assert features_of_tree(CurvatureTreeClassifier().fit(X, y > 0)) >= {4, 9}


@pytest.mark.parametrize("kind", [CurvatureTreeRegressor, CurvatureForestRegressor, CurvatureBoostingRegressor])
def test_all_features_as_they_are(kind):
    """Without standardising."""
    plain = CurvatureTreeRegressor(max_depth=2, standardize=False)
    model = plain if kind is CurvatureTreeRegressor else kind(tree=plain, random_state=0)
    model.fit(X, X[:, 4] + RNG.standard_normal(400))
    features = features_of_tree(model) if kind is CurvatureTreeRegressor else features_of_trees(model)[0]
    assert features == set(range(30))


def test_trees_of_constant_leaves_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1300, 200))
    y = X[:, 0] + 2.0 * np.abs(X[:, 1])
    tree = CurvatureTreeRegressor(leaf_model="constant").fit(X[:300], y[:300])
    assert np.any(tree.tree_.coef != 0.0, axis=0).sum() <= 20
    assert tree.score(X[300:], y[300:]) > 0.5


@pytest.mark.parametrize("bootstrap", [True, False])
def test_trees_of_a_forest(bootstrap):
    """Samples drawn twice are no news: they don't make noise clear."""
    y = X[:, 4] + np.abs(X[:, 9]) + RNG.standard_normal(400)
    forest = CurvatureForestRegressor(
        n_estimators=20, bootstrap=bootstrap, max_samples=1.0 if bootstrap else 0.7, step_trees=False,
        random_state=0)
    found = features_of_trees(forest.fit(X, y))
    assert all({4, 9} <= features for features in found)
    assert np.mean([len(features) for features in found]) < 10
    assert len(set().union(*found)) > 10  # they differ


def test_features_of_a_node_are_drawn_from_the_tree_s():
    y = X[:, 4] + np.abs(X[:, 9]) + RNG.standard_normal(400)
    options = {"n_estimators": 10, "max_samples": 1.0, "bootstrap": False, "random_state": 0}
    all_features, one = (CurvatureForestRegressor(max_features=n, **options).fit(X, y) for n in (1.0, 3))
    for tree in range(10):  # of three of 30 there is one of eight
        nodes = slice(*one.trees_.node_offsets[tree:tree + 2])
        splits = one.trees_.coef[nodes][one.trees_.children_left[nodes] >= 0]
        assert np.count_nonzero(splits, axis=1).max(initial=0) <= 1
    assert np.count_nonzero(all_features.trees_.coef, axis=1).max() > 1
