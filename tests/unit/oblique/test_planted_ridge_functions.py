"""Boosting finds the directions of an additive truth: f = g(a'x) + g(b'x)."""

import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, CurvatureTreeRegressor
from fctree.datasets import make_ridge_exp, make_ridge_relu

PLANTED = np.zeros((2, 6))
PLANTED[0, [0, 1]] = 1, 1
PLANTED[1, [3, 4, 5]] = 1, -1, 1
PLANTED /= np.linalg.norm(PLANTED, axis=1, keepdims=True)


def angles(directions):
    """Degrees between each planted direction and the nearest of these, (2,)."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return np.degrees(np.arccos(np.minimum(np.abs(PLANTED @ unit.T).max(axis=1), 1.0)))


@pytest.mark.parametrize("bend", [np.abs, np.square, np.cosh])
def test_the_first_rounds_cut_along_the_planted_directions(bend):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 6))
    scores = X @ PLANTED.T
    y = bend(2 * scores[:, 0]) - bend(2 * scores[:, 1]) + 0.1 * rng.standard_normal(4000)
    tree = CurvatureTreeRegressor(directions="curvature", split_margin=0.0)
    model = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=5, tree=tree, step_depth=None,
                                       random_state=0).fit(X, y)
    trees = model.trees_
    assert np.all(angles(trees.coef[trees.children_left >= 0]) < 10)
    roots = trees.coef[trees.node_offsets[:-1]]
    assert np.all(np.abs(roots[:, 2]) < 0.2 * np.linalg.norm(roots, axis=1))  # takes no part


@pytest.mark.parametrize("truth, most", [(make_ridge_relu, 0.003), (make_ridge_exp, 0.002)],
                         ids=["relu", "exp"])
def test_sums_of_bent_planes(truth, most):
    """A hundred trees of depth 2; a single one of depth 3 has an error of .016."""
    X, y = truth(n_samples=2000, random_state=0)
    X_new, f = truth(n_samples=4000, noise=0.0, random_state=1)
    model = CurvatureBoostingRegressor(
        max_depth=2, max_iter=100, learning_rate=0.1, l2_leaf_reg=3.0, extrapolation=1.0, random_state=0
    ).fit(X, y)
    assert np.mean((model.predict(X_new) - f) ** 2) < most
