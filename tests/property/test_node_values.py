"""Statistics of nodes: means, impurities, ridge models, and the best cut.

All statements are made about the samples that reach a node by the tree's own arrays, so
they hold whatever ties there are. Tolerances: means are sums of at most 60 numbers, exact
to 1e-12 of their size. A ridge solution is compared through its fitted values, which are
well determined even where its coefficients are not (collinear columns, no penalty).
"""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor, FCODTClassifier, FCODTRegressor
from hypothesis import given
from property.strategies import class_tables, tables, tree_parameters
from property.tree_walks import ancestors, internal_nodes, leaves, membership
from sklearn.linear_model import Ridge


def fitted(table, parameters):
    return FCODTRegressor(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)


@given(tables(), tree_parameters())
def test_values_are_weighted_means_and_impurities_their_variances(table, parameters):
    tree = fitted(table, parameters).tree_
    inside = membership(tree, table.X) * table.weights[:, None]
    Y = table.targets
    scale = np.abs(Y).max()
    for node in range(tree.node_count):
        mean = np.average(Y, axis=0, weights=inside[:, node])
        variance = np.average((Y - mean) ** 2, axis=0, weights=inside[:, node]).mean()
        np.testing.assert_allclose(tree.value[node, :, 0], mean, atol=1e-12 * scale)
        # By subtraction from the parent: rounding of the parent's sum of squares.
        np.testing.assert_allclose(tree.impurity[node], variance, rtol=1e-9,
                                   atol=1e-11 * scale**2)
        assert tree.impurity[node] >= 0


@given(class_tables(), tree_parameters())
def test_class_values_are_fractions_and_impurities_gini(table, parameters):
    model = FCODTClassifier(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    tree = model.tree_
    indicators = (table.y[:, None] == model.classes_).astype(float)
    inside = membership(tree, table.X) * table.weights[:, None]
    fractions = (inside.T @ indicators) / inside.sum(axis=0)[:, None]
    assert tree.value.shape == (tree.node_count, 1, len(model.classes_))
    np.testing.assert_allclose(tree.value[:, 0, :], fractions, atol=1e-12)
    np.testing.assert_allclose(tree.impurity, 1 - (fractions**2).sum(axis=1), atol=1e-10)


@given(tables(), tree_parameters(leaf_model="constant"))
def test_constant_leaves_predict_their_means(table, parameters):
    model = fitted(table, parameters)
    expected = model.tree_.value[model.apply(table.X), :, 0]
    np.testing.assert_array_equal(model.tree_.predict(table.X), expected)
    np.testing.assert_array_equal(np.reshape(model.predict(table.X), expected.shape), expected)


@given(tables(), tree_parameters(leaf_model="ridge"))
def test_leaves_predict_with_their_own_arrays(table, parameters):
    tree = fitted(table, parameters).tree_
    leaf = tree.apply(table.X)
    row = tree.leaf_index[leaf]
    expected = (tree.leaf_coef[row] * table.X[:, None, :]).sum(axis=2) + tree.leaf_intercept[row]
    size = (np.abs(tree.leaf_coef[row] * table.X[:, None, :]).sum(axis=2)
            + np.abs(tree.leaf_intercept[row]))
    assert np.all(np.abs(tree.predict(table.X) - expected) <= 1e-13 * size)
    if tree.n_outputs == 1:
        np.testing.assert_array_equal(tree.coef[leaf], tree.leaf_coef[row, 0])
        np.testing.assert_array_equal(tree.intercept[leaf], tree.leaf_intercept[row, 0])


def concatenated(tree, node, X, parameters):
    """The literal design of a node: the raw features and the scores of its ancestors."""
    if not parameters["feature_concatenation"]:
        return X
    return np.column_stack([X, *(X @ tree.coef[a] for a in ancestors(tree, node))])


def ridge_values(Z, Y, weight, rows, parameters):
    """Fitted values by scikit-learn's Ridge, by least squares where there is no penalty."""
    Z, Y, weight = Z[rows], Y[rows], weight[rows]
    if parameters["alpha"] > 0:
        model = Ridge(alpha=parameters["alpha"], fit_intercept=parameters["fit_intercept"],
                      solver="cholesky" if Z.shape[0] > Z.shape[1] else "svd")
        return model.fit(Z, Y, sample_weight=weight).predict(Z).reshape(Y.shape)
    if parameters["fit_intercept"]:
        Z = np.column_stack([Z - np.average(Z, axis=0, weights=weight), np.ones(len(Z))])
    root = np.sqrt(weight)[:, None]
    return Z @ np.linalg.lstsq(root * Z, root * Y, rcond=1e-12)[0]


@given(tables(), tree_parameters())
def test_every_node_holds_the_ridge_of_its_samples(table, parameters):
    """Leaves: all outputs; inside: the output that won the split. The penalty acts on the
    concatenated columns, whose ancestors' directions are taken from the tree itself."""
    tree = fitted(table, parameters).tree_
    inside = membership(tree, table.X) & (table.weights > 0)[:, None]
    Y = table.targets
    ridge_leaves = parameters["leaf_model"] == "ridge"
    for node in [*internal_nodes(tree), *(leaves(tree) if ridge_leaves else [])]:
        rows = inside[:, node]
        Z = concatenated(tree, node, table.X, parameters)
        expected = ridge_values(Z, Y, table.weights, rows, parameters)
        X = table.X[rows]
        if tree.children_left[node] >= 0:
            actual = (X @ tree.coef[node] + tree.intercept[node])[:, None]
            expected = expected[:, [tree.split_output[node]]]
        else:
            model = tree.leaf_index[node]
            actual = X @ tree.leaf_coef[model].T + tree.leaf_intercept[model]
        # Normal equations at alpha = 0.01 beside columns of size 100: a condition number
        # up to 1e8 in the system, of which fitted values feel the root at most.
        np.testing.assert_allclose(actual, expected, atol=1e-7 * max(1, np.abs(Y).max()))


@given(tables(), tree_parameters())
def test_no_other_cut_of_the_direction_is_better(table, parameters):
    tree = fitted(table, parameters).tree_
    inside = membership(tree, table.X) & (table.weights > 0)[:, None]
    Y, leaf_size = table.targets, parameters["min_samples_leaf"]

    def decrease(rows, left):
        total, w = table.weights[rows].sum(), table.weights
        centre = np.average(Y[rows], axis=0, weights=w[rows])
        part = w[rows & left]
        moved = part @ (Y[rows & left] - centre)
        return np.sum(moved**2) / (part.sum() * (total - part.sum()))

    for node in internal_nodes(tree):
        rows = inside[:, node]
        taken = decrease(rows, inside[:, tree.children_left[node]])
        products = table.X * tree.coef[node]
        scores = products.sum(axis=1)
        # Scores that are equal but for rounding are one score: no cut passes there.
        apart = 1e-11 * (np.abs(products).sum(axis=1).max() + 1e-300)
        ordered = np.sort(scores[rows])
        for i in range(leaf_size - 1, len(ordered) - leaf_size):
            if ordered[i + 1] - ordered[i] > apart:
                other = decrease(rows, scores <= 0.5 * (ordered[i] + ordered[i + 1]))
                assert other <= taken * (1 + 1e-9) + 1e-12 * tree.impurity[0]


def test_importances_of_a_linear_model_are_shares_of_its_variance():
    X = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)] * 4, dtype=float)
    model = CurvatureTreeRegressor(alpha=1e-9).fit(X, X @ [3.0, 1.0, 0.0])
    assert model.get_n_leaves() == 1
    np.testing.assert_allclose(model.feature_importances_, [0.9, 0.1, 0.0], atol=1e-6)


@pytest.mark.parametrize("parent_weight", [0.0, 3.0, 10.0])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_gains_add_up_to_the_explained_variance(parent_weight, n_outputs):
    """Those of splits and leaf models, whatever these are shrunk to."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(200, 3)) + [0.0, 5.0, 0.0], rng.uniform(0.5, 2.0, 200)
    y = np.column_stack([np.where(X[:, 0] > 0, 3.0, -3.0) * X[:, 1] + 0.5 * X[:, 2], X[:, 1] ** 2])[:, :n_outputs]
    y = (y - np.average(y, axis=0, weights=weight)) / np.sqrt(np.cov(y.T, aweights=weight, ddof=0).reshape(n_outputs, -1).diagonal())
    model = CurvatureTreeRegressor(max_depth=4, split_margin=0.0, parent_weight=parent_weight)
    model.fit(X, y.squeeze(), sample_weight=weight)
    assert model.get_n_leaves() > 1
    squares = weight @ (y - model.predict(X).reshape(y.shape)) ** 2
    explained = 1.0 - squares.sum() / (weight @ y**2).sum()
    np.testing.assert_allclose(model.tree_.feature_gain.sum(), explained, rtol=1e-9)


@given(tables(), tree_parameters())
def test_importances_are_shares(table, parameters):
    model = fitted(table, parameters)
    importances = model.feature_importances_
    assert importances.shape == (table.X.shape[1],)
    assert np.all(importances >= 0)
    total = importances.sum()
    # Zero where nothing was gained anywhere: no split, no slope.
    assert total == 0 or abs(total - 1) < 1e-12
    raw = model.tree_.compute_feature_importances(normalize=False)
    np.testing.assert_array_equal(raw, model.tree_.feature_gain)
    constant = np.ptp(table.X, axis=0) == 0
    assert np.all(importances[constant] <= 1e-9)
