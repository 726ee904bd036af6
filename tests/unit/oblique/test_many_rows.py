"""Nodes of more than 65,536 rows, which are cut at quantiles of a sample of their scores."""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor

N_ROWS = 70_000


def draw(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, 3))
    if kind == "integers":
        X = np.round(2.0 * X)
    if kind == "recurring":  # the same rows again and again
        X = np.tile(X[:7], (N_ROWS // 7, 1))
    y = np.abs(X[:, 0] + X[:, 1] - 0.5) + 0.1 * rng.normal(size=N_ROWS)
    return X, y


@pytest.mark.parametrize("kind", ["normal", "integers", "recurring"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_row_is_on_its_side(kind, n_jobs):
    """Rows are not sorted, but counted: as many as the threshold says."""
    X, y = draw(kind)
    tree = CurvatureTreeRegressor(max_depth=2, n_jobs=n_jobs).fit(X, y).tree_
    assert tree.n_leaves >= 2
    n_left = np.count_nonzero(X @ tree.coef[0] <= tree.threshold[0])
    assert n_left == tree.n_node_samples[tree.children_left[0]]
    leaves = tree.apply(X)
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=tree.node_count)[tree.children_left < 0],
        tree.n_node_samples[tree.children_left < 0])


def test_the_bend_is_found():
    X, y = draw("normal")
    model = CurvatureTreeRegressor(max_depth=1, max_thresholds=200).fit(X, y)
    tree = model.tree_
    np.testing.assert_allclose(tree.threshold[0] / tree.coef[0, 0], 0.5, atol=0.05)
    assert model.score(X, y) > 0.95


def test_leaves_keep_their_least_size():
    X, y = draw("normal")
    tree = CurvatureTreeRegressor(max_depth=1, min_samples_leaf=30_000).fit(X, y).tree_
    assert tree.n_node_samples.min() >= 30_000


def test_few_distinct_scores_are_cut_between():
    """A rare value of two: the cut is between them, wherever the sample has it."""
    x = np.zeros(N_ROWS)
    x[::50] = 1.0
    rng = np.random.default_rng(0)
    other = rng.normal(size=N_ROWS)
    y = np.where(x > 0.0, other, -other)
    tree = CurvatureTreeRegressor(max_depth=1).fit(np.column_stack([x, other]), y).tree_
    assert sorted(tree.n_node_samples[1:]) == [N_ROWS // 50, N_ROWS - N_ROWS // 50]
