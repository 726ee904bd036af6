"""Properties of every tree grown by `ridge_criterion=True`, for any data.

Properties that compare two fits are stated where the literal twin says that no decision
was a close call. Tolerance 1e-7: losses come from systems with 1e-10 of their diagonal
added, and curvature directions from an eigenproblem with gaps of some hundredths.
"""

import numpy as np
from free_tree import FreeTreeClassifier, FreeTreeRegressor
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from property.strategies import class_tables, generic_tables, tables
from property.tree_walks import internal_nodes, leaves, membership
from reference.literal_curvature import LiteralCurvatureTree
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

TOLERANCE = 1e-7
CLOSEST_CALL = 1e-6

DIRECTIONS = st.sampled_from(["all", "ridge", "curvature", "axis", ("ridge", "axis")])
PARAMETERS = st.fixed_dictionaries({
    "alpha": st.sampled_from([0.0, 1e-2, 1.0, 100.0, "loo"]),
    "max_depth": st.sampled_from([0, 1, 3, None]),
    "min_samples_leaf": st.sampled_from([1, 2, 7]),
    "feature_concatenation": st.booleans(),
    "directions": DIRECTIONS,
    "n_curvature": st.integers(1, 4),
    "max_thresholds": st.sampled_from([1, 4, 32]),
    "n_screened": st.sampled_from([None, 1, 3]),
    "parent_weight": st.sampled_from([0.0, 0.5, 3.0]),
    "split_margin": st.sampled_from([0.0, 0.75]),
})
# With the paper's rule for splits.
BY_CONSTANTS = st.fixed_dictionaries({
    "ridge_criterion": st.just(False),
    "leaf_model": st.sampled_from(["ridge", "constant"]),
    "fit_intercept": st.booleans(),
})


def check_structure(model, table, parameters):
    tree = model.tree_
    inner, ends = internal_nodes(tree), leaves(tree)
    # Every sample is in one leaf, and that leaf counted it.
    inside = membership(tree, table.X)
    positive = table.weights > 0
    np.testing.assert_array_equal(inside[:, ends].sum(axis=1), 1)
    np.testing.assert_array_equal(inside[positive].sum(axis=0), tree.n_node_samples)
    # Sums of up to 60 weights, each rounded.
    np.testing.assert_allclose(table.weights @ inside, tree.weighted_n_node_samples, rtol=1e-13)
    if len(inner):
        assert tree.n_node_samples[ends].min() >= parameters["min_samples_leaf"]
        assert tree.impurity[inner].min() > 0
    if parameters["max_depth"] is not None:
        assert tree.max_depth <= parameters["max_depth"]
    assert np.all(np.isfinite(tree.leaf_coef)) and np.all(np.isfinite(tree.leaf_intercept))
    assert np.all(np.isfinite(tree.coef)) and np.all(np.isfinite(tree.threshold[inner]))
    assert np.all(tree.feature_gain >= 0)
    assert model.alpha_ >= 0


def check_kinds(tree, directions):
    inner, ends = internal_nodes(tree), leaves(tree)
    allowed = {"all": {0, 1, 2}, "ridge": {0}, "curvature": {1}, "axis": {2},
               ("ridge", "axis"): {0, 2}}[directions]
    assert np.all(tree.split_kind[ends] == -1)
    assert set(tree.split_kind[inner]) <= allowed
    ridge = tree.split_kind == 0
    assert np.all((tree.split_output >= 0) == ridge)
    assert np.all(tree.split_output < tree.n_outputs)
    axes = tree.coef[tree.split_kind == 2]
    assert np.all((axes == 0) | (axes == 1)) and np.all(axes.sum(axis=1) == 1)
    # Curvature directions have length one (a sum of squares, each rounded).
    lengths = np.linalg.norm(tree.coef[tree.split_kind == 1], axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-14 * tree.n_features + 1e-15)


@settings(max_examples=80)
@given(tables(), PARAMETERS)
def test_any_regression_table(table, parameters):
    model = FreeTreeRegressor(ridge_criterion=True, **parameters)
    model.fit(table.X, table.y, sample_weight=table.sample_weight)
    check_structure(model, table, parameters)
    n_varying = np.count_nonzero(np.ptp(table.X[table.weights > 0], axis=0))
    split = internal_nodes(model.tree_)
    assert np.all(model.tree_.weighted_n_node_samples[split] >= n_varying * (1 - 1e-9))
    check_kinds(model.tree_, parameters["directions"])
    assert np.all(np.isfinite(model.predict(table.X)))


@given(class_tables(), PARAMETERS)
def test_any_classification_table(table, parameters):
    model = FreeTreeClassifier(ridge_criterion=True, **parameters)
    model.fit(table.X, table.y, sample_weight=table.sample_weight)
    check_structure(model, table, parameters)
    check_kinds(model.tree_, parameters["directions"])
    probabilities = model.predict_proba(table.X)
    # A sum of at most four numbers of size one.
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-14)


@given(tables(), PARAMETERS, BY_CONSTANTS)
def test_any_table_by_the_constant_criterion(table, parameters, criterion):
    """All directions may be cut by the paper's rule, too."""
    model = FreeTreeRegressor(**parameters, **criterion)
    model.fit(table.X, table.y, sample_weight=table.sample_weight)
    check_structure(model, table, parameters)
    check_kinds(model.tree_, parameters["directions"])


@given(tables(), PARAMETERS)
def test_a_stricter_tree_is_a_pruned_one(table, parameters):
    deep, shallow = (
        FreeTreeRegressor(ridge_criterion=True, **{**parameters, "max_depth": depth})
        .fit(table.X, table.y, sample_weight=table.sample_weight).tree_ for depth in (3, 1))
    inner = internal_nodes(shallow)
    for name in ("coef", "threshold", "split_kind", "children_left", "split_output"):
        np.testing.assert_array_equal(getattr(deep, name)[inner], getattr(shallow, name)[inner])


# Two fits compared ------------------------------------------------------------------

COMPARED = st.fixed_dictionaries({
    "alpha": st.sampled_from([0.1, 1.0, 10.0]),
    "max_depth": st.just(2),
    "max_thresholds": st.sampled_from([1, 5]),
    "parent_weight": st.sampled_from([0.0, 3.0]),
    "split_margin": st.sampled_from([0.0, 0.3]),
    "feature_concatenation": st.booleans(),
})
# Leaves of one row are all leverage: seven keep the comparisons well conditioned.
ROWS = 7


def decided(X, y, weight, parameters):
    """Discards the example if its tree hangs on a rounding."""
    assume(LiteralCurvatureTree(**parameters).fit(X, y, weight).margin > CLOSEST_CALL)


def grown(X, y, weight, parameters):
    model = FreeTreeRegressor(ridge_criterion=True, directions="all", **parameters)
    return model.fit(X, y, sample_weight=weight)


def assert_same_tree(first, second, X):
    np.testing.assert_array_equal(first.tree_.split_kind, second.tree_.split_kind)
    expected = second.predict(X)
    np.testing.assert_allclose(first.predict(X), expected, rtol=0,
                               atol=TOLERANCE * max(1, np.abs(expected).max()))


@settings(max_examples=25)
@given(generic_tables(min_rows=40, max_features=4, max_outputs=2, weighted=False), COMPARED,
       st.integers(0, 2**32 - 1))
def test_weight_two_is_a_duplicate(table, parameters, seed):
    twice = np.random.default_rng(seed).random(len(table.X)) < 0.5
    weight = np.where(twice, 2.0, 1.0)
    decided(table.X, table.y, weight, parameters)
    rows = np.concatenate([np.arange(len(table.X)), np.flatnonzero(twice)])
    weighted = grown(table.X, table.y, weight, parameters)
    repeated = grown(table.X[rows], table.y[rows], None, parameters)
    assert_same_tree(weighted, repeated, table.X)


@settings(max_examples=25)
@given(generic_tables(min_rows=40, max_features=4, max_outputs=2, weighted=False), COMPARED,
       st.integers(0, 2**32 - 1))
def test_weight_zero_is_absence(table, parameters, seed):
    kept = np.random.default_rng(seed).random(len(table.X)) < 0.8
    parameters = {**parameters, "min_samples_leaf": ROWS}
    assume(kept.sum() >= 2 * ROWS)
    decided(table.X[kept], table.y[kept], None, parameters)
    # What is absent may be anything, even enormous.
    X, y = table.X.copy(), table.y.copy()
    X[~kept] *= 1e3
    y[~kept] += 1e6
    weighted = grown(X, y, kept.astype(float), parameters)
    absent = grown(table.X[kept], table.y[kept], None, parameters)
    assert_same_tree(weighted, absent, table.X)


@settings(max_examples=25)
@given(generic_tables(min_rows=40, max_features=4, max_outputs=2), COMPARED,
       st.integers(0, 2**32 - 1))
def test_the_order_of_samples_does_not_matter(table, parameters, seed):
    parameters = {**parameters, "min_samples_leaf": ROWS}
    decided(table.X, table.y, table.weights, parameters)
    order = np.random.default_rng(seed).permutation(len(table.X))
    weight = None if table.sample_weight is None else table.sample_weight[order]
    first = grown(table.X, table.y, table.sample_weight, parameters)
    second = grown(table.X[order], table.y[order], weight, parameters)
    assert_same_tree(second, first, table.X)


@given(generic_tables(max_outputs=2), COMPARED)
def test_a_huge_margin_leaves_one_ridge(table, parameters):
    model = grown(table.X, table.y, table.sample_weight, {**parameters, "split_margin": 1e6})
    assert model.tree_.node_count == 1
    ridge = Ridge(alpha=parameters["alpha"])
    ridge.fit(table.X, table.y, sample_weight=table.sample_weight)
    # Two solutions of one system whose condition number is below 1e4.
    np.testing.assert_allclose(model.predict(table.X), ridge.predict(table.X), rtol=0, atol=1e-10)


@given(generic_tables(min_rows=40, max_outputs=2), COMPARED)
def test_without_prior_leaves_are_plain_ridges_of_their_samples(table, parameters):
    """And without concatenation scikit-learn's own."""
    parameters = {**parameters, "parent_weight": 0.0, "feature_concatenation": False,
                  "split_margin": 0.0}
    model = grown(table.X, table.y, table.sample_weight, parameters)
    leaf = model.apply(table.X)
    for node in np.unique(leaf):
        rows = leaf == node
        ridge = Ridge(alpha=parameters["alpha"])
        ridge.fit(table.X[rows], table.targets[rows], sample_weight=table.weights[rows])
        expected = ridge.predict(table.X[rows]).reshape(rows.sum(), -1)
        # Differences of the root's moments: rounding of a large node in a small one.
        np.testing.assert_allclose(model.tree_.predict(table.X[rows]), expected, rtol=0, atol=1e-9)


@given(generic_tables(min_rows=30), st.integers(1, 4), st.sampled_from([1, 5]))
def test_axes_with_constant_leaves_are_cart(table, max_depth, min_samples_leaf):
    """The constant criterion along axes is the regression tree of Breiman et al. (1984)."""
    parameters = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    model = FreeTreeRegressor(
        directions="axis", leaf_model="constant", split_margin=0.0, **parameters)
    model.fit(table.X, table.y, sample_weight=table.sample_weight)
    # Two features may part a small node's samples alike: then which is named is arbitrary,
    # and new samples may tell; training samples cannot.
    cart = DecisionTreeRegressor(random_state=0, **parameters)
    cart.fit(table.X, table.y, sample_weight=table.sample_weight)
    np.testing.assert_allclose(model.predict(table.X), cart.predict(table.X), rtol=0, atol=1e-10)
    assert model.get_n_leaves() == cart.get_n_leaves()
