"""Oblique trees as comparisons of columns send samples to the same leaves."""

import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, CurvatureForestRegressor
from fctree.export.oblique import _as_axis_trees, _bounds


def leaves_of(splits, X):
    """The leaf of each sample in each tree, by a plain walk."""
    found = np.empty((len(X), splits.n_trees), dtype=np.int64)
    for i, row in enumerate(X):
        for tree, node in enumerate(splits.roots):
            while node >= 0:
                low = row[splits.column[node]] <= splits.threshold[node]
                node = splits.low[node] if low else splits.high[node]
            found[i, tree] = ~node
    return found


@pytest.mark.parametrize("model", [
    CurvatureBoostingRegressor(max_iter=8, random_state=0),
    CurvatureForestRegressor(n_estimators=4, random_state=0),
])
def test_leaves_are_those_of_apply(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    trees = model.fit(X, np.abs(X[:, 0]) + (X[:, 1] > 0) - X[:, 2]).trees_
    splits, directions = _as_axis_trees(trees)
    rows = rng.standard_normal((60, 4))
    columns = np.hstack([rows, rows @ directions.T])
    expected = np.empty((60, trees.n_trees), dtype=np.int64)
    for tree, nodes in enumerate(trees.apply(rows).T):
        expected[:, tree] = trees.leaf_offsets[tree] + trees.leaf_index[trees.node_offsets[tree] + nodes]
    np.testing.assert_array_equal(leaves_of(splits, columns), expected)
    chosen, leaves = splits.choose(np.arange(trees.n_trees) % 2 == 1)
    np.testing.assert_array_equal(leaves[leaves_of(chosen, columns)], expected[:, 1::2])


def test_bounds_of_products_are_exact():
    rng = np.random.default_rng(0)
    c = rng.standard_normal(20_000) * 10.0 ** rng.integers(-8, 8, 20_000)
    t = rng.standard_normal(20_000) * 10.0 ** rng.integers(-8, 8, 20_000)
    bound, exact = _bounds(c, t)
    assert np.all(exact)
    above = np.nextafter(bound, np.inf)
    np.testing.assert_array_equal(c * bound <= t, c > 0)
    np.testing.assert_array_equal(c * above <= t, c < 0)


def test_bounds_that_are_not_found_are_said():
    """Products that underflow are equal for many numbers."""
    _, exact = _bounds(np.array([1e-300, 1.0, 1.0]), np.array([0.0, np.inf, 2.0]))
    np.testing.assert_array_equal(exact, [False, False, True])
