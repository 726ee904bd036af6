"""Columns on which moments lose digits: large offsets, far clusters, collinearity, units.

The fast path works with sums of squares and takes the larger child's by subtraction, so it
must shift the data and know when a difference has cancelled. The twin sees the same data
where they are small and centres every node on its own.
"""

import numpy as np
import pytest
from fctree import FCODTRegressor
from reference.literal_fcodt import LiteralFCODT
from reference.tree_comparison import random_weights, smooth_table
from sklearn.linear_model import LinearRegression, Ridge

CLOSEST_CALL = 1e-5


def both(X, y, shift, weight=None, **parameters):
    """Predictions on the shifted samples, of the twin on those left in place."""
    moved = X + shift
    X = moved - shift  # what is left of the digits after the shift
    twin = LiteralFCODT(**parameters).fit(X, y, weight)
    assert twin.margin > CLOSEST_CALL
    fast = FCODTRegressor(**parameters).fit(moved, y, sample_weight=weight)
    return fast.predict(moved), twin.predict(X).reshape(y.shape), fast


@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_a_million_away(weighted, alpha, leaf_model):
    X, y = smooth_table(300, 4, seed=30)
    weight = random_weights(300, seed=31) if weighted else None
    shift = np.array([1e6, -1e6, 1e6, 1e6])
    fast, literal, _ = both(X, y, shift, weight, alpha=alpha, leaf_model=leaf_model, max_depth=4,
                            min_samples_leaf=15)
    # coef * 1e6 + intercept cancels six digits of sixteen; five products of that size.
    np.testing.assert_allclose(fast, literal, rtol=0, atol=1e-8)


def test_columns_on_different_offsets_and_units():
    X, y = smooth_table(300, 4, seed=32)
    scale = np.array([1.0, 1e-3, 1e3, 1.0])
    parameters = {"alpha": 0.0, "max_depth": 3, "min_samples_leaf": 20}
    fast, literal, _ = both(X * scale, y, np.array([1e6, 1.0, 0.0, -1e5]), **parameters)
    # 1e-3 around 1 keeps 13 digits, 1 around 1e6 ten.
    np.testing.assert_allclose(fast, literal, rtol=0, atol=1e-7)
    # Least squares does not see units at all.
    plain = FCODTRegressor(**parameters).fit(X, y).predict(X)
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-7)


@pytest.mark.parametrize("target_shift", [1e6, -1e8])
def test_targets_far_from_zero(target_shift):
    X, y = smooth_table(300, 4, seed=33)
    parameters = {"max_depth": 4, "min_samples_leaf": 10}
    moved = y + target_shift
    literal = LiteralFCODT(**parameters).fit(X, moved - target_shift)
    fast = FCODTRegressor(**parameters).fit(X, moved)
    # y itself is known to 1e-16 * |shift| only.
    np.testing.assert_allclose(fast.predict(X) - target_shift, literal.predict(X)[:, 0],
                               rtol=0, atol=1e-13 * abs(target_shift))
    assert np.all(fast.tree_.impurity >= 0)


@pytest.mark.parametrize("distance", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("alpha, feature_concatenation", [(0.0, True), (0.0, False), (1.0, False)])
def test_clusters_far_apart(alpha, feature_concatenation, distance):
    """The first cut parts the clusters; below it a child's moments, as the parent's minus
    the sibling's, have lost the digits of its own spread: they must be summed again.

    No twin here: the literal design is singular to rounding. The leaves are compared with
    scikit-learn on each cluster alone, brought back to zero.
    """
    X, y = smooth_table(240, 3, seed=34)
    cluster = np.arange(240) % 3 == 0
    X[cluster] += distance
    y = y + 20.0 * cluster
    model = FCODTRegressor(alpha=alpha, feature_concatenation=feature_concatenation, max_depth=1,
                           min_samples_leaf=20).fit(X, y)
    leaf = model.apply(X)
    assert model.get_n_leaves() == 2
    assert len(np.unique(leaf[cluster])) == len(np.unique(leaf[~cluster])) == 1
    for member, shift in ((cluster, distance), (~cluster, 0.0)):
        alone = Ridge(alpha=alpha) if alpha else LinearRegression()
        expected = alone.fit(X[member] - shift, y[member]).predict(X[member] - shift)
        # Coordinates of spread 1 at `distance` are known to 1e-16 * distance.
        np.testing.assert_allclose(model.predict(X[member]), expected, rtol=0,
                                   atol=1e-14 * distance + 1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1e-8, 1.0])
@pytest.mark.parametrize("feature_concatenation", [True, False])
def test_exact_collinearity(feature_concatenation, alpha):
    X, y = smooth_table(200, 3, seed=35)
    X = np.column_stack([X, X[:, 0], X[:, 0] + X[:, 1], np.full(200, 7.0), 2 * X[:, 2] - 1])
    parameters = {"alpha": alpha, "max_depth": 3, "min_samples_leaf": 12,
                  "feature_concatenation": feature_concatenation}
    twin = LiteralFCODT(**parameters).fit(X, y)
    assert twin.margin > CLOSEST_CALL
    fast = FCODTRegressor(**parameters).fit(X, y)
    # At alpha = 1e-8 the system's condition number is 1e10; fitted values feel little of it.
    np.testing.assert_allclose(fast.predict(X), twin.predict(X)[:, 0], rtol=0, atol=1e-6)
    # A constant column carries nothing; copies share the least-norm coefficient.
    coef = fast.tree_.coef[0]
    assert abs(coef[5]) < 1e-9
    assert np.abs(coef).max() < 10


@pytest.mark.parametrize("max_depth", [0, 3])
def test_collinear_columns_a_million_away_without_penalty(max_depth):
    """Everything at once: finite, and as good as least squares on the columns that matter."""
    X, y = smooth_table(300, 3, seed=36)
    far = X + 1e6
    far = np.column_stack([far, far[:, 0], far[:, 0] + far[:, 1], np.full(300, 1e6)])
    model = FCODTRegressor(alpha=0.0, max_depth=max_depth, min_samples_leaf=30).fit(far, y)
    prediction = model.predict(far)
    assert np.all(np.isfinite(model.tree_.coef))
    # Collinear to 1e-10 relative to the spread: which combination is null is a rounding,
    # but its weight must stay small enough for the predictions.
    plain = FCODTRegressor(alpha=0.0, max_depth=max_depth, min_samples_leaf=30).fit(X, y)
    error, reference = np.mean((prediction - y) ** 2), np.mean((plain.predict(X) - y) ** 2)
    assert error <= 1.05 * reference + 1e-6


def test_nearly_collinear_columns_stay_sane():
    rng = np.random.default_rng(37)
    X, y = smooth_table(200, 3, seed=37)
    X = np.column_stack([X, X[:, 0] + 1e-9 * rng.standard_normal(200)])
    for alpha in (0.0, 1e-6, 1.0):
        model = FCODTRegressor(alpha=alpha, max_depth=2, min_samples_leaf=20).fit(X, y)
        reference = FCODTRegressor(alpha=alpha, max_depth=2, min_samples_leaf=20).fit(X[:, :3], y)
        assert np.all(np.isfinite(model.predict(X)))
        assert model.score(X, y) > reference.score(X[:, :3], y) - 0.02


@pytest.mark.parametrize("n_samples, n_features", [(20, 40), (40, 40), (41, 40)])
def test_interpolation_without_penalty(n_samples, n_features):
    """As many features as samples and no penalty: the root passes through every point."""
    rng = np.random.default_rng(38)
    X, y = rng.standard_normal((n_samples, n_features)), rng.standard_normal(n_samples)
    model = FCODTRegressor(alpha=0.0, max_depth=0).fit(X, y)
    # A square Gaussian matrix of size 40 has a condition number of some 1e2; its normal
    # equations the square.
    np.testing.assert_allclose(model.predict(X), y, rtol=0, atol=1e-6)
    reference = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.tree_.coef[0], reference.coef_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("repeats", [1, 4])
def test_singular_square_systems_have_the_least_norm(repeats):
    """d samples of d features have rank d - 1 once they are centred, and so do copies of
    them. Every such system must be seen to be singular, not only most: sixty of them."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 9))
        X = np.repeat(rng.uniform(-1, 1, (d, d)), repeats, axis=0)
        y = rng.standard_normal(len(X))
        values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
        if d > 2 and values[-2] < 1e-2 * values[0]:
            continue  # nearly of rank d - 2: another question
        coef = FCODTRegressor(alpha=0.0, max_depth=0).fit(X, y).tree_.coef[0]
        # Squares of condition numbers below 1e2.
        np.testing.assert_allclose(coef, LinearRegression().fit(X, y).coef_, rtol=0, atol=1e-8,
                                   err_msg=f"seed {seed}")
