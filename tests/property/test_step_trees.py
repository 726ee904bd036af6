"""Boosting sorts each feature once and parts the order with the nodes, of many rows counts what is in each bin, and of
many values sorts every node, as a single tree does. Trees along axes with constant leaves have to be the same all ways,
where each value can have a bin."""

import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, CurvatureForestRegressor
from free_tree import FreeTreeRegressor
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

ALONG_AXES = {"directions": "axis", "leaf_model": "constant", "feature_concatenation": False}
COUNTS = ("children_left", "children_right", "n_node_samples")


@given(seed=st.integers(0, 2**32 - 1), n_values=st.sampled_from([2, 5, 1000]),
       depth=st.integers(1, 6), min_samples_leaf=st.integers(1, 4))
def test_sorting_once_and_sorting_each_node_give_one_tree(seed, n_values, depth, min_samples_leaf):
    """With many equal values, and with samples of weight 0."""
    random = np.random.default_rng(seed)
    X = random.integers(n_values, size=(60, 3)).astype(float)
    y = random.normal(size=60) + (X[:, 0] > n_values / 2)
    weight = random.choice([0.0, 1.0, 2.5], size=60, p=[0.2, 0.5, 0.3])
    weight[:2] = 1.0
    shape = {**ALONG_AXES, "max_depth": depth, "min_samples_leaf": min_samples_leaf}
    assert_one_tree(shape, X, y, weight)


def assert_one_tree(shape, X, y, weight):
    single = FreeTreeRegressor(**shape)
    single._fixed = {**single._fixed, "scales_scores": True}  # as in boosting
    tree = single.fit(X, y, sample_weight=weight).tree_
    boosting = CurvatureBoostingRegressor(tree=FreeTreeRegressor(**shape), max_iter=1, subsample=1.0)
    round_ = boosting.fit(X, y, sample_weight=weight).trees_[0]
    for field in COUNTS:
        np.testing.assert_array_equal(getattr(round_, field), getattr(tree, field))
    np.testing.assert_allclose(round_.threshold, tree.threshold)
    np.testing.assert_allclose(round_.coef, tree.coef)
    np.testing.assert_allclose(round_.feature_gain, tree.feature_gain, atol=1e-12)


@pytest.mark.parametrize("model", [
    CurvatureBoostingRegressor(max_iter=3, max_depth=1, max_coef=1, step_depth=3, random_state=0),
    CurvatureForestRegressor(n_estimators=16, max_depth=1, max_coef=1, random_state=0),
], ids=["boosting", "forest"])
def test_tables_of_too_many_values_to_be_sorted_once(model):
    """10 million values are sorted once; 20 samples of weight 0 more and each node sorts its own."""
    random = np.random.default_rng(0)
    n_used, n_features = 9_990, 1_001
    X = random.normal(size=(n_used + 20, n_features))
    assert n_used * n_features < 10_000_000 < X.size
    y = np.sign(X[:, 0]) + (X[:, 1] > 0.3) * X[:, 2]
    weight = (np.arange(len(X)) < n_used) * 1.0
    sorted_once = clone(model).fit(X[:n_used], y[:n_used])
    assert np.any(sorted_once.trees_.split_kind == 2)
    each_node = model.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(each_node.predict(X[:500]), sorted_once.predict(X[:500]))


def draw_many(n_values, n_outputs=1, weights=(0.0, 1.0, 2.5)):
    """More rows than boosting sorts."""
    random = np.random.default_rng(n_values)
    X = random.integers(n_values, size=(70_000, 10)) * 0.25
    y = random.normal(size=(70_000, n_outputs)) + (X[:, :1] > 20) + 0.1 * X[:, 8:9]
    return X, np.squeeze(y), random.choice(weights, size=70_000)


@pytest.mark.parametrize("weights", [(0.0, 1.0, 2.5), (0.0, 0.3)])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n_values", [2, 256])
def test_counting_in_bins_gives_the_tree_of_sorting(n_values, n_outputs, weights):
    """Sums leave out equal weights."""
    X, y, weight = draw_many(n_values, n_outputs, weights)
    shape = {**ALONG_AXES, "max_depth": 9, "min_samples_leaf": 3}
    assert_one_tree(shape, X, y, weight)


def test_many_values_share_bins():
    """Thresholds are at quantiles: a cut misses the best one by a hundredth of the rows at most."""
    X = np.random.default_rng(1).normal(size=(70_000, 9))
    y = (X[:, 3] > 0.7).astype(float)
    shape = FreeTreeRegressor(**ALONG_AXES, max_depth=1)
    model = CurvatureBoostingRegressor(max_iter=1, random_state=0, tree=shape)
    tree = model.fit(X, y).trees_[0]
    np.testing.assert_array_equal(tree.coef[0] != 0.0, np.arange(9) == 3)
    cut = tree.threshold[0] / tree.coef[0, 3]
    assert 0 < abs(np.mean(X[:, 3] <= cut) - np.mean(X[:, 3] <= 0.7)) < 0.01


def test_threads_do_not_matter_to_bins():
    X, _, weight = draw_many(1000)
    y = np.random.default_rng(0).normal(size=(40, 40))[tuple(X[:, :2].astype(int).T // 7)]
    one, two = (CurvatureBoostingRegressor(max_iter=3, random_state=0, n_jobs=n_jobs)
                .fit(X, y, sample_weight=weight) for n_jobs in (1, 2))
    assert 1 in one.tree_kinds_
    for name, array in vars(one.trees_).items():
        assert array.tobytes() == getattr(two.trees_, name).tobytes(), name


def test_a_tree_that_left_rows_judge_uses_the_order_of_its_own_rows():
    """Steps win on a target made of steps, and every node of the chosen trees holds its samples."""
    random = np.random.default_rng(0)
    X = np.round(random.uniform(size=(400, 4)), 1)
    table = random.normal(size=(11, 11))
    y = table[(10 * X[:, 0]).astype(int), (10 * X[:, 1]).astype(int)]
    model = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=20, random_state=0).fit(X, y)
    kinds = [set(tree.split_kind[tree.split_kind >= 0]) for tree in model.trees_]
    assert sum(kind == {2} for kind in kinds) >= 10
    for tree in model.trees_:
        inner = tree.children_left >= 0
        left, right = tree.children_left[inner], tree.children_right[inner]
        sizes = tree.n_node_samples
        np.testing.assert_array_equal(sizes[left] + sizes[right], sizes[inner])
        assert sizes[0] < 400 and sizes[tree.children_left < 0].min() >= 1
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_few_rows_and_many_go_down_alike(n_outputs):
    """Many rows read one feature a level where a tree's splits are along axes."""
    random = np.random.default_rng(3)
    X = np.round(random.uniform(size=(1000, 6)), 1)
    y = np.squeeze(random.normal(size=(11, 11, n_outputs))[tuple((10 * X[:, :2]).astype(int).T)])
    y = (y.T + 4 * np.abs(X[:, 2] - X[:, 3])).T
    model = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=15, random_state=0).fit(X, y)
    assert set(model.tree_kinds_) == {0, 1}
    new = random.uniform(-0.5, 1.5, size=(1000, 6))
    for answer in (model.predict, model.apply):
        few = np.concatenate([answer(new[begin : begin + 100]) for begin in range(0, 1000, 100)])
        assert answer(new).tobytes() == few.tobytes()
    tree = FreeTreeRegressor(**ALONG_AXES, max_depth=7).fit(X, y)
    few = np.concatenate([tree.apply(new[begin : begin + 100]) for begin in range(0, 1000, 100)])
    np.testing.assert_array_equal(tree.apply(new), few)
