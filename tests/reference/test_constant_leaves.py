"""Curvature trees with constant leaves: splits that suit them, tested by leaving samples out."""

import numpy as np
import pytest
from reference.literal_curvature import limited_decreases
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeRegressor

from fctree import CurvatureTreeClassifier, CurvatureTreeRegressor

LEAF = 5


def leave_one_out(y):
    """Squared errors of each sample's prediction by the mean of the others."""
    return ((y - y.mean()) * len(y) / (len(y) - 1)) ** 2


def literal_predictions(X, y, depth, margin, max_thresholds):
    """Predictions of a regression tree along axes whose splits have to pass the test."""
    best, chosen = 0.0, None
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j])
        for n_left in range(LEAF, len(y) - LEAF + 1):
            left, right = y[order[:n_left]], y[order[n_left:]]
            decrease = len(left) * len(right) * (left.mean() - right.mean()) ** 2
            if decrease > best:
                best, chosen = decrease, order[:n_left]
    means = np.full(len(y), y.mean())
    if depth == 0 or chosen is None:
        return means
    left = np.isin(np.arange(len(y)), chosen)
    decrease = leave_one_out(y)
    for side in (left, ~left):
        decrease[side] -= leave_one_out(y[side])
    decrease = limited_decreases(decrease, np.ones(len(y)), y.var())
    luck = np.sqrt(2 * np.log(X.shape[1] * min(max_thresholds, 256)))
    if not decrease.sum() > margin * luck * np.sqrt(len(y)) * decrease.std():
        return means
    for side in (left, ~left):
        means[side] = literal_predictions(X[side], y[side], depth - 1, margin, max_thresholds)
    return means


@pytest.mark.parametrize("outlier", [0.0, 60.0])
@pytest.mark.parametrize("margin", [0.1, 0.4, 0.75, 2.0])
@pytest.mark.parametrize("seed", range(5))
def test_axes_are_the_literal_tree(seed, margin, outlier):
    X, y = make_friedman1(120, 6, noise=1.0, random_state=seed)
    y[7] += outlier
    model = CurvatureTreeRegressor(
        leaf_model="constant", directions="axis", max_depth=4, min_samples_leaf=LEAF,
        split_margin=margin).fit(X, y)
    expected = literal_predictions(X, y, 4, margin, model.max_thresholds)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-10)


def test_a_larger_margin_grows_no_larger_tree():
    X, y = make_friedman1(300, 8, noise=2.0, random_state=1)
    leaves = [CurvatureTreeRegressor(leaf_model="constant", max_depth=6, split_margin=margin)
              .fit(X, y).get_n_leaves() for margin in (0.0, 0.5, 1.0, 100.0)]
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[2] > 1 and leaves[-1] == 1


@pytest.mark.parametrize("max_coef", [1, 2, None])
def test_trees_are_no_worse_than_cart(max_coef):
    """Of the same depth; with a margin of 0.75 a tree may stop before."""
    X, y = make_friedman1(600, 5, noise=0.5, random_state=0)
    ours = CurvatureTreeRegressor(leaf_model="constant", max_depth=3, max_coef=max_coef)
    cart = DecisionTreeRegressor(max_depth=3, min_samples_leaf=20, random_state=0)
    assert cross_val_score(ours, X, y).mean() > cross_val_score(cart, X, y).mean() - 0.02


def test_a_split_of_steps_is_found():
    """A boundary across two features, constants on its sides: one oblique cut is the tree."""
    X, _ = load_diabetes(return_X_y=True)
    above = X[:, 2] + X[:, 8] > 0.0
    model = CurvatureTreeClassifier(leaf_model="constant", max_depth=1).fit(X, above)
    assert model.score(X, above) > 0.97
