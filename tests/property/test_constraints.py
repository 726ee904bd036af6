"""The parameters that stop a tree are bounds that hold at every node."""

import numpy as np
from fctree import FCODTClassifier, FCODTRegressor
from hypothesis import given
from property.strategies import class_tables, tables, tree_parameters
from property.tree_walks import internal_nodes, leaves


def decreases(tree):
    """Weighted impurity decrease of each internal node, as scikit-learn defines it:
    N_t / N * (impurity - N_L / N_t * impurity_L - N_R / N_t * impurity_R)."""
    inner = internal_nodes(tree)
    mass = tree.weighted_n_node_samples * tree.impurity
    lost = mass[inner] - mass[tree.children_left[inner]] - mass[tree.children_right[inner]]
    return lost / tree.weighted_n_node_samples[0]


def check_bounds(tree, parameters):
    inner, ends = internal_nodes(tree), leaves(tree)
    if parameters["max_depth"] is not None:
        assert tree.max_depth <= parameters["max_depth"]
    assert np.all(tree.n_node_samples[inner] >= parameters["min_samples_split"])
    if len(inner):
        assert np.all(tree.n_node_samples[ends] >= parameters["min_samples_leaf"])
        assert np.all(tree.impurity[inner] > 0)
    assert tree.n_leaves <= tree.n_node_samples[0]
    # The node's decrease is the difference of three impurities, each rounded.
    slack = 1e-10 * tree.impurity[0]
    assert np.all(decreases(tree) >= parameters["min_impurity_decrease"] - slack)


@given(tables(), tree_parameters())
def test_regression_bounds(table, parameters):
    model = FCODTRegressor(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    check_bounds(model.tree_, parameters)


@given(class_tables(), tree_parameters())
def test_classification_bounds(table, parameters):
    model = FCODTClassifier(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    check_bounds(model.tree_, parameters)


@given(tables(), tree_parameters(max_depth=None, min_samples_leaf=1, min_samples_split=2,
                                 min_impurity_decrease=0.0))
def test_a_child_is_never_its_parent(table, parameters):
    """A full tree ends: each child is smaller than its parent, and splits only pay."""
    model = FCODTRegressor(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    tree = model.tree_
    inner = internal_nodes(tree)
    for children in (tree.children_left, tree.children_right):
        assert np.all(tree.n_node_samples[children[inner]] < tree.n_node_samples[inner])
        assert np.all(tree.n_node_samples[children[inner]] >= 1)


@given(tables(), tree_parameters(max_depth=4))
def test_a_stricter_tree_is_a_pruned_one(table, parameters):
    """Depth only cuts off: the first two levels of a deep tree are the tree of depth two."""
    deep, shallow = (
        FCODTRegressor(**{**parameters, "max_depth": depth})
        .fit(table.X, table.y, sample_weight=table.sample_weight).tree_ for depth in (4, 2))
    inner = internal_nodes(shallow)
    for name in ("coef", "threshold", "children_left", "children_right", "split_output"):
        np.testing.assert_array_equal(getattr(deep, name)[inner], getattr(shallow, name)[inner])
    assert shallow.node_count > 1 or deep.node_count == 1


@given(class_tables(), tree_parameters())
def test_pure_nodes_stay_whole(table, parameters):
    model = FCODTClassifier(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    tree = model.tree_
    pure = np.isclose(tree.value[:, 0, :].max(axis=1), 1.0, rtol=0, atol=1e-14)
    assert np.all(tree.children_left[pure] == -1)
