"""Reading an `ObliqueTree` with plain loops: the walks that the properties are stated in."""

import numpy as np

# Scores are sums of d products; another order of summation moves them by a few units in
# the last place of the sum of absolute values.
ROUNDING = 1e-13


def internal_nodes(tree):
    return np.flatnonzero(tree.children_left >= 0)


def leaves(tree):
    return np.flatnonzero(tree.children_left < 0)


def parents(tree):
    """The parent of each node, -1 for the root."""
    parent = np.full(tree.node_count, -1)
    for node in internal_nodes(tree):
        parent[tree.children_left[node]] = parent[tree.children_right[node]] = node
    return parent


def ancestors(tree, node):
    """The nodes above, the root first."""
    parent, path = parents(tree), []
    while parent[node] >= 0:
        node = parent[node]
        path.insert(0, int(node))
    return path


def walk(tree, x):
    """(leaf, close): where a sample goes by `coef @ x <= threshold`, and whether some
    comparison on its way was within rounding of equality."""
    node, close = 0, False
    while tree.children_left[node] >= 0:
        products = tree.coef[node] * x
        score, threshold = products.sum(), tree.threshold[node]
        size = np.abs(products).sum() + abs(threshold)
        close |= abs(score - threshold) <= ROUNDING * size
        node = tree.children_left[node] if score <= threshold else tree.children_right[node]
    return node, close


def membership(tree, X):
    """(n_samples, n_nodes) bool: which samples pass through which nodes, from the leaves up."""
    inside = np.zeros((len(X), tree.node_count), dtype=bool)
    inside[np.arange(len(X)), tree.apply(X)] = True
    for node in internal_nodes(tree)[::-1]:  # parents have lower numbers than children
        inside[:, node] = (inside[:, tree.children_left[node]]
                           | inside[:, tree.children_right[node]])
    return inside
