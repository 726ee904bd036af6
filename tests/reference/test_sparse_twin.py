"""`max_coef` against the literal twins, for both split criteria.

Tolerances are those of the twins without `max_coef` (test_literal_twin.py and
test_curvature_twin.py); a case is only compared where the twin says that neither a cut nor a
feature that left was a close call.
"""

import numpy as np
import pytest
from free_tree import FreeTreeRegressor
from reference.literal_curvature import LiteralCurvatureTree
from reference.literal_fcodt import LiteralFCODT
from reference.test_curvature_twin import assert_same_splits
from reference.tree_comparison import assert_close, assert_same_tree, random_weights, smooth_table

CLOSEST_CALL = 1e-6


def compare_constant(X, y, weight=None, **parameters):
    twin = LiteralFCODT(**parameters).fit(X, y, weight)
    assert twin.margin > CLOSEST_CALL, "choose another seed: this tree hangs on a rounding"
    fast = FreeTreeRegressor(split_margin=0.0, **parameters).fit(X, y, sample_weight=weight)
    inner = fast.tree_.children_left >= 0
    assert inner.any(), "the case shows nothing"
    assert np.count_nonzero(fast.tree_.coef[inner], axis=1).max() == parameters["max_coef"]
    assert_same_tree(fast.tree_, twin, 1e-8)
    new = np.random.default_rng(99).uniform(-1, 1, (200, X.shape[1]))
    assert_close(fast.tree_.predict(new), twin.predict(new), 1e-8, "predictions")


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
@pytest.mark.parametrize("max_coef", [1, 2, 4])
def test_constant_criterion(max_coef, leaf_model, feature_concatenation):
    X, y = smooth_table(300, 6, seed=20)
    compare_constant(X, y, max_coef=max_coef, leaf_model=leaf_model, max_depth=3,
                     feature_concatenation=feature_concatenation, min_samples_leaf=10)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_constant_criterion_outputs_weights_intercept(n_outputs, fit_intercept):
    X, Y = smooth_table(300, 5, n_outputs, seed=21)
    compare_constant(X + 0.2, Y, random_weights(len(X), seed=22, zeros=True), max_coef=2,
                     fit_intercept=fit_intercept, max_depth=2, min_samples_leaf=20)


def test_many_features_leave_an_eighth_at_a_time():
    X, y = smooth_table(400, 40, seed=23)
    compare_constant(X, y, max_coef=3, max_depth=2, min_samples_leaf=60)


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("max_coef", [2, 45])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_fewer_samples_than_features(n_outputs, max_coef, feature_concatenation):
    X, Y = smooth_table(40, 60, n_outputs, seed=24)
    compare_constant(X, Y, max_coef=max_coef, max_depth=2, alpha=0.5, min_samples_leaf=8,
                     feature_concatenation=feature_concatenation)


def twin_of(X, y, weight, parameters):
    twin = LiteralCurvatureTree(**parameters).fit(X, y, weight)
    assert twin.margin > CLOSEST_CALL, "choose another seed: this tree hangs on a rounding"
    return twin


def compare_ridge(X, y, weight=None, **parameters):
    parameters = {"max_thresholds": 6, "min_samples_leaf": 15, "max_depth": 2,
                  "split_margin": 0.2, "directions": ("ridge", "curvature"), **parameters}
    twin = twin_of(X, y, weight, parameters)
    fast = FreeTreeRegressor(ridge_criterion=True, n_screened=None, **parameters)
    tree = fast.fit(X, y, sample_weight=weight).tree_
    assert tree.node_count >= 3, "the case shows nothing"
    assert_same_splits(tree, twin)
    assert_close(tree.predict(X), twin.predict(X), 1e-7, "predictions")
    inner = tree.children_left >= 0
    assert np.count_nonzero(tree.coef[inner], axis=1).max() <= parameters["max_coef"]
    return tree


@pytest.mark.parametrize("directions", [("ridge",), ("curvature",), ("ridge", "curvature", "axis")],
                         ids=str)
@pytest.mark.parametrize("max_coef", [1, 2, 3])
def test_ridge_criterion(max_coef, directions):
    X, y = smooth_table(300, 5, seed=25)
    compare_ridge(X, y, max_coef=max_coef, directions=directions)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_ridge_criterion_outputs_weights(n_outputs, weighted):
    X, Y = smooth_table(300, 5, n_outputs, seed=26)
    weight = random_weights(len(X), seed=27, zeros=True) if weighted else None
    compare_ridge(X, Y, weight, max_coef=2)


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("parent_weight", [0.0, 3.0])
def test_ridge_criterion_below_the_root(parent_weight, feature_concatenation):
    """Directions of children come from the samples and the parent's pseudo-samples."""
    X, y = smooth_table(400, 4, seed=28, noise=0.03)
    tree = compare_ridge(X, y, max_coef=2, parent_weight=parent_weight, max_depth=3,
                         feature_concatenation=feature_concatenation)
    assert tree.node_count >= 5
