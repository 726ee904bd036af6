"""A tree with constant leaves is an expansion in orthonormal stumps (FC-ODT, section 4).

With <u, v> the weighted mean of u v over the training samples and w = N_t / N the share of
a node, psi_t = (1_L N_R - 1_R N_L) / sqrt(w N_L N_R) has norm one, the stumps of different
nodes are orthogonal, h = mean(y) + sum_t <y, psi_t> psi_t, and <y, psi_t>^2 = w Delta_t
with Delta_t the decrease of the mean squared error at the node.
Tolerance 1e-10: sums of at most 60 products along at most six levels.
"""

import numpy as np
from fctree import FCODTRegressor
from hypothesis import given
from property.strategies import tables, tree_parameters
from property.tree_walks import internal_nodes, membership

constant_leaves = tree_parameters(leaf_model="constant")


def stumps(tree, table):
    """(n_internal, n) the stumps, and (n_internal,) the nodes' shares of the weight."""
    inside, weight = membership(tree, table.X), tree.weighted_n_node_samples
    inner = internal_nodes(tree)
    left, right = tree.children_left[inner], tree.children_right[inner]
    shares = weight[inner] / weight[0]
    psi = inside[:, left] * weight[right] - inside[:, right] * weight[left]
    return (psi / np.sqrt(shares * weight[left] * weight[right])).T, shares


def fitted(table, parameters):
    return FCODTRegressor(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)


@given(tables(), constant_leaves)
def test_stumps_are_orthonormal(table, parameters):
    tree = fitted(table, parameters).tree_
    psi, _ = stumps(tree, table)
    gram = psi * (table.weights / table.weights.sum()) @ psi.T
    np.testing.assert_allclose(gram, np.eye(len(psi)), atol=1e-10)


@given(tables(), constant_leaves)
def test_the_tree_is_the_sum_of_its_stumps(table, parameters):
    model = fitted(table, parameters)
    psi, _ = stumps(model.tree_, table)
    share = table.weights / table.weights.sum()
    coefficients = psi * share @ table.targets
    expansion = share @ table.targets + psi.T @ coefficients
    scale = max(1, np.abs(table.targets).max())
    np.testing.assert_allclose(model.tree_.predict(table.X), expansion, atol=1e-10 * scale)


@given(tables(), constant_leaves)
def test_squared_coefficients_are_the_decreases(table, parameters):
    tree = fitted(table, parameters).tree_
    psi, shares = stumps(tree, table)
    coefficients = psi * (table.weights / table.weights.sum()) @ table.targets
    inner = internal_nodes(tree)
    mass = tree.weighted_n_node_samples * tree.impurity * tree.n_outputs
    lost = mass[inner] - mass[tree.children_left[inner]] - mass[tree.children_right[inner]]
    decrease = lost / tree.weighted_n_node_samples[inner]  # Delta_t, summed over outputs
    scale = max(1, np.abs(table.targets).max()) ** 2
    np.testing.assert_allclose((coefficients**2).sum(axis=1), shares * decrease,
                               atol=1e-10 * scale)


@given(tables(), constant_leaves)
def test_the_training_error_falls_by_the_squared_coefficients(table, parameters):
    """mean (y - h)^2 = var(y) - sum_t <y, psi_t>^2, so no split ever hurts."""
    model = fitted(table, parameters)
    psi, _ = stumps(model.tree_, table)
    share = table.weights / table.weights.sum()
    coefficients = psi * share @ table.targets
    residual = table.targets - model.tree_.predict(table.X)
    variance = share @ (table.targets - share @ table.targets) ** 2
    scale = max(1, np.abs(table.targets).max()) ** 2
    np.testing.assert_allclose(share @ residual**2, variance - (coefficients**2).sum(axis=0),
                               atol=1e-10 * scale)
