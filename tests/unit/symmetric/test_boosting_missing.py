"""Missing values on data where the answer is plain."""

import numpy as np
import pytest
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor

ONE_TREE = {"max_iter": 1, "learning_rate": 1.0, "l2_leaf_reg": 0.0, "random_strength": 0.0}


@pytest.mark.parametrize("n", [200, 250_000])  # thresholds of large tables go another way
@pytest.mark.parametrize("constant", [True, False])
def test_that_a_value_is_missing_can_be_all_that_counts(n, constant):
    rng = np.random.default_rng(0)
    missing = rng.random(n) < 0.3
    X = np.where(missing, np.nan, 1.0 if constant else rng.integers(0, 4, n))[:, None]
    model = SymmetricBoostingRegressor(**ONE_TREE, max_depth=1).fit(X, np.where(missing, 5.0, 1.0))
    assert model.bin_thresholds_[0][-1] == np.inf
    assert model.trees_.split_threshold[0, 0] == np.inf and model.trees_.missing_right[0, 0]
    rows = np.array([[np.nan], [1.0], [-7.0], [np.inf], [-np.inf]])
    for copies in (1, 100):  # row by row, and in blocks
        np.testing.assert_allclose(model.predict(np.repeat(rows, copies, axis=0)),
                                   np.repeat([5.0, 1.0, 1.0, 1.0, 1.0], copies), rtol=1e-12)


@pytest.mark.parametrize("side", [-2.0, 3.0])
def test_missing_values_go_where_they_belong(side):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (400, 1))
    y = np.where(X[:, 0] > 0.25, 3.0, -2.0)
    X[:50], y[:50] = np.nan, side
    model = SymmetricBoostingRegressor(**ONE_TREE, max_depth=1, max_bins=254).fit(X, y)
    assert model.trees_.missing_right[0, 0] == (side == 3.0)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)


@pytest.mark.parametrize("share_right", [0.2, 0.8])
def test_missing_values_that_training_lacks_go_with_the_majority(share_right):
    """Also in eval_set, and as predictions say afterwards."""
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 1, (500, 1))
    right = X[:, 0] > np.quantile(X[:, 0], 1 - share_right)
    y = np.where(right, 4.0, -1.0)
    Z = np.full((7, 1), np.nan)
    expected = 4.0 if share_right > 0.5 else -1.0
    model = SymmetricBoostingRegressor(**ONE_TREE, max_depth=1).fit(
        X, y, eval_set=(Z, np.full(7, expected)))
    np.testing.assert_allclose(model.predict(Z), expected, rtol=1e-12)
    np.testing.assert_allclose(model.validation_score_[-1], 0, atol=1e-20)


@pytest.mark.parametrize("parameters", [{}, {"subsample": 0.9}, {"random_strength": 0.0}])
def test_the_majority_is_that_of_all_rows(parameters):
    """In every tree, though splits are searched on a part of the rows, and halves of a column differ little."""
    rng = np.random.default_rng(4)
    X = (rng.random((70_000, 4)) < 0.502).astype(float)
    y = X @ np.arange(1, 5) + rng.standard_normal(len(X))
    trees = SymmetricBoostingRegressor(max_iter=20, random_state=0, **parameters).fit(X, y).trees_
    used = trees.split_feature >= 0
    most_are_right = X.mean(axis=0)[trees.split_feature[used]] > 0.5
    np.testing.assert_array_equal(trees.missing_right[used], most_are_right)


def test_missing_values_that_are_not_searched_go_with_the_majority():
    """A few neighbouring rows are in the sample of few trees; other trees do not tear them off."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((131_072, 3))
    y = 3 * X[:, 0] + rng.standard_normal(len(X))
    y[1000:1020] += 4.5 - 3 * X[1000:1020, 0]
    X[1000:1020, 0] = np.nan
    model = SymmetricBoostingRegressor(random_state=0).fit(X, y)
    assert 3.5 < model.predict(np.array([[np.nan, 0.0, 0.0]]))[0] < 5.5


def test_missing_classes():
    X = np.array([[0.0], [1.0], [np.nan]] * 40)
    y = np.array(["low", "high", "none"] * 40)
    model = SymmetricBoostingClassifier(max_iter=30, max_depth=2).fit(X, y)
    assert model.score(X, y) == 1.0


def test_a_column_of_nothing_but_missing_values():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.full(100, np.nan), rng.standard_normal(100)])
    model = SymmetricBoostingRegressor(max_iter=20).fit(X, X[:, 1])
    assert len(model.bin_thresholds_[0]) == 0
    assert not (model.trees_.split_feature == 0).any()
    assert model.feature_importances_[0] == 0
    # What is known of such a column later changes nothing.
    X[:, 0] = 1.0
    Z = X.copy()
    Z[:, 0] = np.nan
    np.testing.assert_array_equal(model.predict(X), model.predict(Z))


def test_missing_values_are_free_of_monotone_constraints():
    """The prediction for missing is what it is; those along the feature still rise."""
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 1, (500, 1))
    y = X[:, 0] + 0.05 * rng.standard_normal(500)
    X[:100], y[:100] = np.nan, 10.0
    falling = SymmetricBoostingRegressor(max_iter=60, max_depth=4, monotonic_cst=[-1]).fit(X, y)
    grid = falling.predict(np.linspace(0, 1, 300)[:, None])
    assert np.all(np.diff(grid) <= 0)
    rising = SymmetricBoostingRegressor(max_iter=60, max_depth=4, monotonic_cst=[1]).fit(X, -y)
    grid = rising.predict(np.linspace(0, 1, 300)[:, None])
    assert np.all(np.diff(grid) >= 0)
    for model, sign in ((falling, 1), (rising, -1)):
        np.testing.assert_allclose(sign * model.predict([[np.nan]]), 10.0, atol=0.5)
