"""Properties of every tree with `max_coef`, for any data."""

import numpy as np
import pytest
from free_tree import FreeTreeClassifier, FreeTreeRegressor
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from property.strategies import class_tables, generic_tables, tables
from property.test_ridge_criterion import BY_CONSTANTS, CLOSEST_CALL, TOLERANCE, check_structure
from property.test_ridge_criterion import PARAMETERS as RIDGE_PARAMETERS
from property.tree_walks import internal_nodes
from reference.literal_curvature import LiteralCurvatureTree
from sklearn.linear_model import Ridge

PARAMETERS = st.builds(
    lambda of_tree, criterion, max_coef: {**of_tree, **criterion, "max_coef": max_coef},
    RIDGE_PARAMETERS, BY_CONSTANTS | st.just({"ridge_criterion": True}), st.sampled_from([1, 2, 3, 6]))


def split_sizes(tree):
    """Numbers of features in the splits."""
    return np.count_nonzero(tree.coef[internal_nodes(tree)], axis=1)


def check_splits(tree, max_coef):
    sizes = split_sizes(tree)
    assert np.all(sizes >= 1) and np.all(sizes <= max_coef)


@settings(max_examples=80)
@given(tables(), PARAMETERS)
def test_any_regression_table(table, parameters):
    model = FreeTreeRegressor(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    check_structure(model, table, parameters)
    check_splits(model.tree_, parameters["max_coef"])
    assert np.all(np.isfinite(model.predict(table.X)))


@given(tables())
def test_trees_without_models_have_no_penalty_to_choose(table):
    steps = {"directions": "axis", "leaf_model": "constant"}
    chosen, given_one = (FreeTreeRegressor(**steps, alpha=alpha).fit(table.X, table.y, table.sample_weight).tree_
                         for alpha in ("loo", 1.0))
    for name, values in vars(given_one).items():
        np.testing.assert_array_equal(getattr(chosen, name), values, err_msg=name)


@given(class_tables(), PARAMETERS)
def test_any_classification_table(table, parameters):
    model = FreeTreeClassifier(**parameters).fit(table.X, table.y, sample_weight=table.sample_weight)
    check_structure(model, table, parameters)
    check_splits(model.tree_, parameters["max_coef"])


@given(tables(), PARAMETERS, st.integers(0, 3))
def test_a_limit_that_is_no_limit_changes_no_byte(table, parameters, above):
    trees = [FreeTreeRegressor(**{**parameters, "max_coef": max_coef})
             .fit(table.X, table.y, sample_weight=table.sample_weight).tree_
             for max_coef in (None, table.X.shape[1] + above)]
    for name, values in vars(trees[0]).items():
        np.testing.assert_array_equal(getattr(trees[1], name), values, err_msg=name)


@given(generic_tables(min_rows=40), st.integers(1, 3), st.booleans())
def test_a_ridge_split_is_the_ridge_of_its_features(table, max_coef, ridge_criterion):
    """At the root: which features is the elimination's choice, their coefficients are not."""
    model = FreeTreeRegressor(max_depth=1, max_coef=max_coef, ridge_criterion=ridge_criterion,
                           split_margin=0.0).fit(table.X, table.y, table.sample_weight)
    tree = model.tree_
    assume(tree.node_count == 3)
    features = np.flatnonzero(tree.coef[0])
    expected = Ridge(alpha=1.0).fit(table.X[:, features], table.y, table.sample_weight)
    np.testing.assert_allclose(tree.coef[0, features], expected.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(tree.intercept[0], expected.intercept_, rtol=1e-9, atol=1e-11)


@given(generic_tables(min_rows=40, max_rows=100), st.integers(1, 3), st.floats(0.2, 5.0),
       st.integers(0, 2**32 - 1))
def test_the_order_of_features_does_not_matter(table, max_coef, shift, seed):
    """Nor does the origin of X: features are named and moved, and the same ones stay."""
    assume(table.X.shape[1] > max_coef)
    parameters = {"max_depth": 2, "max_coef": max_coef, "max_thresholds": 5,
                  "min_samples_leaf": 10, "directions": ("ridge", "curvature")}
    twin = LiteralCurvatureTree(**parameters).fit(table.X, table.y, table.weights)
    assume(twin.margin > CLOSEST_CALL)
    order = np.random.default_rng(seed).permutation(table.X.shape[1])
    model = FreeTreeRegressor(ridge_criterion=True, **parameters)
    trees = [model.fit(X, table.y, sample_weight=table.sample_weight).tree_
             for X in (table.X, table.X[:, order] + shift)]
    np.testing.assert_array_equal(trees[1].children_left, trees[0].children_left)
    inner = internal_nodes(trees[0])
    np.testing.assert_allclose(trees[1].coef[inner], trees[0].coef[inner][:, order],
                               atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("ridge_criterion", [False, True])
@given(table=generic_tables(min_rows=40, max_rows=80), max_coef=st.integers(1, 2))
def test_weight_two_is_two_samples(table, max_coef, ridge_criterion):
    weight = 1.0 + (np.arange(len(table.X)) % 3 == 0)
    parameters = {"max_depth": 1, "max_coef": max_coef, "max_thresholds": 5,
                  "directions": ("ridge", "curvature"), "split_margin": 0.0}
    if ridge_criterion:
        twin = LiteralCurvatureTree(**parameters).fit(table.X, table.y, weight)
        assume(twin.margin > CLOSEST_CALL)
    copies = np.repeat(np.arange(len(table.X)), weight.astype(int))
    model = FreeTreeRegressor(ridge_criterion=ridge_criterion, **parameters)
    weighted = model.fit(table.X, table.y, sample_weight=weight).tree_
    copied = model.fit(table.X[copies], table.y[copies]).tree_
    assert copied.node_count == weighted.node_count
    np.testing.assert_allclose(copied.coef[0], weighted.coef[0], rtol=TOLERANCE, atol=TOLERANCE)
