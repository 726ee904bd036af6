"""A tree is a partition: its arrays are well formed and every sample has one leaf."""

import numpy as np
from fctree import FCODTClassifier, FCODTRegressor
from hypothesis import given
from hypothesis import strategies as st
from property.strategies import class_tables, tables, tree_parameters
from property.tree_walks import ancestors, internal_nodes, leaves, membership, parents, walk


def fitted(table, parameters):
    return FCODTRegressor(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)


@given(tables(), tree_parameters())
def test_arrays_are_a_binary_tree_in_breadth_first_order(table, parameters):
    tree = fitted(table, parameters).tree_
    inner, ends = internal_nodes(tree), leaves(tree)
    children = np.concatenate([tree.children_left[inner], tree.children_right[inner]])
    np.testing.assert_array_equal(np.sort(children), np.arange(1, tree.node_count))
    np.testing.assert_array_equal(tree.children_right[inner], tree.children_left[inner] + 1)
    assert np.all(np.diff(tree.children_left[inner]) > 0)
    assert len(ends) == len(inner) + 1 == tree.n_leaves
    depth = [len(ancestors(tree, node)) for node in range(tree.node_count)]
    assert depth == sorted(depth)
    assert tree.max_depth == depth[-1]


@given(tables(), tree_parameters())
def test_leaves_carry_no_split_and_nodes_carry_one(table, parameters):
    tree = fitted(table, parameters).tree_
    inner, ends = internal_nodes(tree), leaves(tree)
    assert np.all(tree.children_right[ends] == -1)
    assert np.all(np.isnan(tree.threshold[ends]))
    assert np.all(tree.split_output[ends] == -1)
    assert np.all(np.isfinite(tree.threshold[inner]))
    assert np.all((tree.split_output[inner] >= 0) & (tree.split_output[inner] < tree.n_outputs))
    assert np.all(tree.leaf_index[inner] == -1)
    np.testing.assert_array_equal(np.sort(tree.leaf_index[ends]), np.arange(tree.n_leaves))
    for name in ("coef", "intercept", "leaf_coef", "leaf_intercept", "value", "impurity"):
        assert np.all(np.isfinite(getattr(tree, name))), name


@given(tables(), tree_parameters())
def test_every_training_sample_is_counted_in_exactly_one_leaf(table, parameters):
    tree = fitted(table, parameters).tree_
    leaf = tree.apply(table.X)
    assert np.all(tree.children_left[leaf] == -1)
    inside = membership(tree, table.X)
    np.testing.assert_array_equal(inside[:, leaves(tree)].sum(axis=1), 1)
    # Fitting and predicting must agree on the side of every cut, so counts are exact.
    np.testing.assert_array_equal(tree.n_node_samples, inside[table.weights > 0].sum(axis=0))
    np.testing.assert_allclose(tree.weighted_n_node_samples, table.weights @ inside, rtol=1e-12)


@given(class_tables(), tree_parameters())
def test_every_labelled_sample_is_counted_in_exactly_one_leaf(table, parameters):
    model = FCODTClassifier(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    inside = membership(model.tree_, table.X)
    np.testing.assert_array_equal(
        model.tree_.n_node_samples, inside[table.weights > 0].sum(axis=0))


@given(tables(), tree_parameters(), st.integers(0, 2**32 - 1))
def test_apply_follows_the_arrays(table, parameters, seed):
    model = fitted(table, parameters)
    new = np.random.default_rng(seed).normal(scale=2, size=(20, table.X.shape[1]))
    X = np.concatenate([table.X, new])
    for x, leaf in zip(X, model.apply(X)):
        walked, close = walk(model.tree_, x)
        assert close or walked == leaf


@given(tables(), tree_parameters())
def test_decision_path_is_the_way_from_the_root_to_the_leaf(table, parameters):
    model = fitted(table, parameters)
    tree, path = model.tree_, model.decision_path(table.X)
    assert path.shape == (len(table.X), tree.node_count)
    assert np.all(path.data == 1)
    for row, leaf in zip(path, model.apply(table.X)):
        nodes = np.sort(row.indices)
        np.testing.assert_array_equal(nodes, [*ancestors(tree, leaf), leaf])
    np.testing.assert_array_equal(path.toarray().astype(bool), membership(tree, table.X))


@given(tables(), tree_parameters())
def test_depth_and_leaves_are_those_of_the_arrays(table, parameters):
    model = fitted(table, parameters)
    assert model.get_n_leaves() == model.tree_.n_leaves == len(leaves(model.tree_))
    assert model.get_depth() == model.tree_.max_depth
    assert np.array_equal(np.asarray(model.tree_.parents()), parents(model.tree_))


@given(tables(), tree_parameters())
def test_rows_are_predicted_one_by_one(table, parameters):
    """The prediction of a sample does not depend on which samples stand beside it."""
    model = fitted(table, parameters)
    together = model.predict(table.X)
    alone = np.concatenate([model.predict(row[None, :]) for row in table.X])
    np.testing.assert_array_equal(together, alone)
