"""Boosting sorts each feature once and parts the order with the nodes; a single tree sorts every
node. Trees along axes with constant leaves have to be the same either way."""

import numpy as np
from fctree import FCODTBoostingRegressor, FCODTRegressor
from hypothesis import given
from hypothesis import strategies as st

ALONG_AXES = {"directions": "axis", "split_criterion": "constant", "leaf_model": "constant",
              "feature_concatenation": False}
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
    tree = FCODTRegressor(**shape).fit(X, y, sample_weight=weight).tree_
    boosting = FCODTBoostingRegressor(**shape, max_iter=1, subsample=1.0, standardize=False)
    round_ = boosting.fit(X, y, sample_weight=weight).trees_[0]
    for field in COUNTS:
        np.testing.assert_array_equal(getattr(round_, field), getattr(tree, field))
    np.testing.assert_allclose(round_.threshold, tree.threshold)
    np.testing.assert_allclose(round_.coef, tree.coef)


def test_a_tree_that_left_rows_judge_uses_the_order_of_its_own_rows():
    """Steps win on a target made of steps, and every node of the chosen trees holds its samples."""
    random = np.random.default_rng(0)
    X = np.round(random.uniform(size=(400, 4)), 1)
    table = random.normal(size=(11, 11))
    y = table[(10 * X[:, 0]).astype(int), (10 * X[:, 1]).astype(int)]
    model = FCODTBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    kinds = [set(tree.split_kind[tree.split_kind >= 0]) for tree in model.trees_]
    assert sum(kind == {2} for kind in kinds) >= 10
    for tree in model.trees_:
        inner = tree.children_left >= 0
        left, right = tree.children_left[inner], tree.children_right[inner]
        sizes = tree.n_node_samples
        np.testing.assert_array_equal(sizes[left] + sizes[right], sizes[inner])
        assert sizes[0] < 400 and sizes[tree.children_left < 0].min() >= 1
    assert model.score(X, y) > 0.6
