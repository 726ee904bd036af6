"""Corners of the method where scikit-learn has the same estimator."""

import numpy as np
import pytest
from fctree import FCODTClassifier, FCODTRegressor
from reference.tree_comparison import random_weights, smooth_table
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.mark.parametrize("n_samples, n_features", [(100, 5), (30, 45), (1, 3), (2, 1)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_root_alone_is_ridge(alpha, n_outputs, weighted, fit_intercept, n_samples, n_features):
    X, Y = smooth_table(n_samples, n_features, n_outputs, seed=20)
    weight = random_weights(n_samples, seed=21) if weighted else None
    tree = FCODTRegressor(alpha=alpha, max_depth=0, fit_intercept=fit_intercept)
    tree.fit(X, Y, sample_weight=weight)
    ridge = Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, Y, sample_weight=weight)
    # 1e-9: two solvers of one system with a condition number below 1e4.
    np.testing.assert_allclose(tree.predict(X), ridge.predict(X), rtol=1e-9, atol=1e-9)
    coef = np.reshape(ridge.coef_, (n_outputs, n_features))
    np.testing.assert_allclose(tree.tree_.leaf_coef[0], coef, rtol=1e-9, atol=1e-9)
    if n_outputs == 1:
        np.testing.assert_allclose(tree.tree_.coef[0], coef[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(tree.tree_.intercept[0], ridge.intercept_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_samples", [63, 64, 65, 1000])
@pytest.mark.parametrize("n_features", [1, 2, 7, 8, 9, 15, 16, 17, 33, 70])
def test_widths_of_vectors(n_features, n_samples):
    X, y = smooth_table(n_samples, n_features, seed=150)
    weight = random_weights(n_samples, seed=150)
    tree = FCODTRegressor(max_depth=0).fit(X, y, weight)
    ridge = Ridge(alpha=1.0).fit(X, y, weight)
    np.testing.assert_allclose(tree.tree_.leaf_coef[0, 0], ridge.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_samples, n_features", [(80, 6), (20, 30)])
def test_root_alone_without_penalty_is_least_squares(n_samples, n_features):
    X, y = smooth_table(n_samples, n_features, seed=22)
    tree = FCODTRegressor(alpha=0.0, max_depth=0).fit(X, y)
    reference = LinearRegression().fit(X, y)
    # Both name the solution of least norm; 1e-8 allows for normal equations, which square
    # the condition number (below 1e3 here).
    np.testing.assert_allclose(tree.predict(X), reference.predict(X), rtol=0, atol=1e-8)
    np.testing.assert_allclose(tree.tree_.coef[0], reference.coef_, rtol=0, atol=1e-8)


def quarters(n_samples, seed):
    """One feature whose values are exact in float32, to which scikit-learn's trees round."""
    rng = np.random.default_rng(seed)
    return rng.choice(4 * n_samples, n_samples, replace=False)[:, None] / 4.0


def cuts(tree):
    """The cuts of an oblique tree of one feature, in units of the feature."""
    inner = tree.children_left >= 0
    return np.sort(tree.threshold[inner] / tree.coef[inner, 0])


@pytest.mark.parametrize("max_depth", [1, 3, None])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_one_feature_is_a_regression_tree(slope, weighted, max_depth):
    x = quarters(200, seed=23)
    rng = np.random.default_rng(24)
    y = np.sin(x[:, 0] / 60) + 0.01 * slope * x[:, 0] + 0.1 * rng.standard_normal(len(x))
    weight = random_weights(len(x), seed=25) if weighted else None
    stopping = {"max_depth": max_depth, "min_samples_leaf": 4}
    ours = FCODTRegressor(leaf_model="constant", **stopping).fit(x, y, sample_weight=weight)
    theirs = DecisionTreeRegressor(**stopping).fit(x, y, sample_weight=weight)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_depth() == theirs.get_depth()
    inner = theirs.tree_.children_left >= 0
    # A cut passes through coef * x and back: a few roundings.
    np.testing.assert_allclose(cuts(ours.tree_), np.sort(theirs.tree_.threshold[inner]), rtol=1e-10)
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("max_depth", [1, 4, None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_feature_is_a_classification_tree(n_classes, max_depth):
    x = quarters(300, seed=26)
    rng = np.random.default_rng(27)
    level = (x[:, 0] / 300 + 0.3 * rng.standard_normal(len(x))) % n_classes
    y = np.clip(level.astype(int), 0, n_classes - 1)
    # Random weights: Gini decreases of counts tie, and ties are cut by each in its own way.
    weight = random_weights(len(x), seed=28)
    # With weights scikit-learn may split a pure node, whose Gini index is a rounding above 0.
    stopping = {"max_depth": max_depth, "min_samples_leaf": 3, "min_impurity_decrease": 1e-9}
    ours = FCODTClassifier(leaf_model="constant", **stopping).fit(x, y, sample_weight=weight)
    theirs = DecisionTreeClassifier(**stopping).fit(x, y, sample_weight=weight)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    inner = theirs.tree_.children_left >= 0
    np.testing.assert_allclose(cuts(ours.tree_), np.sort(theirs.tree_.threshold[inner]), rtol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-12)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))
    np.testing.assert_allclose(
        np.sort(ours.tree_.impurity), np.sort(theirs.tree_.impurity), atol=1e-12)


def test_one_feature_importance_is_the_whole_decrease():
    x = quarters(100, seed=29)
    y = np.sin(x[:, 0] / 20)
    stopping = {"max_depth": 4, "min_samples_leaf": 4}
    ours = FCODTRegressor(leaf_model="constant", **stopping).fit(x, y)
    assert ours.feature_importances_ == pytest.approx([1.0])
