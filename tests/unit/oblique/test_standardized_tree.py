"""A tree that standardises inside is the one behind a StandardScaler, in the features as they came."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    export_text,
)
from reference.tree_comparison import random_weights, smooth_table
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

UNITS = np.array([1e-3, 1.0, 50.0, 1e6])
SHIFT = np.array([0.0, -3.0, 1000.0, 1e6])


def table(n_samples=400, n_outputs=1, seed=0):
    X, Y = smooth_table(n_samples, 4, n_outputs, seed=seed)
    return X * UNITS + SHIFT, Y[:, 0] if n_outputs == 1 and Y.ndim == 2 else Y


def both(kind, X, y, weight=None, **parameters):
    inside = kind(**parameters).fit(X, y, sample_weight=weight)
    scaler = StandardScaler().fit(X, sample_weight=weight)
    behind = kind(standardize=False, **parameters).fit(scaler.transform(X), y, sample_weight=weight)
    return inside, behind, scaler


@pytest.mark.parametrize("parameters", [
    {}, {"max_depth": 6, "min_samples_leaf": 8, "split_margin": 0.0}, {"alpha": "loo"},
    {"max_coef": 2}, {"leaf_model": "constant", "split_margin": 0.1}, {"directions": "axis"},
    {"directions": "ridge", "feature_concatenation": False, "split_margin": 0.0}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_predictions_are_those_behind_a_scaler(parameters, weighted, n_outputs):
    X, y = table(n_outputs=n_outputs)
    weight = random_weights(len(X), seed=1, zeros=True) if weighted else None
    inside, behind, scaler = both(CurvatureTreeRegressor, X, y, weight, **parameters)
    assert inside.tree_.node_count == behind.tree_.node_count
    np.testing.assert_array_equal(inside.tree_.split_kind, behind.tree_.split_kind)
    # Coefficients are sums over units that differ by 1e9.
    np.testing.assert_allclose(inside.predict(X), behind.predict(scaler.transform(X)), atol=1e-7)
    np.testing.assert_allclose(inside.alpha_, behind.alpha_)
    np.testing.assert_allclose(inside.feature_importances_, behind.feature_importances_, atol=1e-7)


@pytest.mark.parametrize("parameters", [
    {}, {"max_depth": 6, "min_samples_leaf": 8, "split_margin": 0.0}, {"max_coef": 2},
    {"leaf_model": "constant", "split_margin": 0.1}, {"leaf_model": "soft"},
    {"standardize": False, "alpha": 10.0}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_unit_of_targets_does_not_matter(parameters, weighted):
    X, y = smooth_table(400, 4, seed=0)
    weight = random_weights(len(X), seed=1, zeros=True) if weighted else None
    model = CurvatureTreeRegressor(**parameters).fit(X, y, sample_weight=weight)
    expected = model.predict(X)
    assert model.tree_.max_depth > 1  # or nothing is passed on
    for unit in (2.0**-20, 2.0, 1024.0):
        np.testing.assert_array_equal(model.fit(X, unit * y, sample_weight=weight).predict(X), unit * expected)
    # Rounding of another unit: optimisation amplifies it.
    atol = 1e-3 if model.leaf_model == "soft" else 1e-9
    for unit in (3.0, 1e-5):
        found = model.fit(X, unit * y, sample_weight=weight).predict(X) / unit
        np.testing.assert_allclose(found, expected, atol=atol)


def test_classes():
    X, y = table()
    labels = np.searchsorted(np.quantile(y, [0.3, 0.6]), y)
    inside, behind, scaler = both(CurvatureTreeClassifier, X, labels)
    Z = scaler.transform(X)
    np.testing.assert_array_equal(inside.predict(X), behind.predict(Z))
    np.testing.assert_allclose(inside.predict_proba(X), behind.predict_proba(Z), atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_every_sample_goes_where_the_arrays_say(seed):
    """Rounding included: columns far from zero, nearly equal values."""
    rng = np.random.default_rng(seed)
    X, y = table(300, seed=seed)
    X[:, 1] = 1e9 + np.round(X[:, 1], 6)
    X[:, 2] = rng.choice([0.1, 0.1 + 1e-9, 0.3], 300)
    model = CurvatureTreeRegressor(max_depth=None, min_samples_leaf=5, split_margin=0.0).fit(X, y)
    tree = model.tree_
    inside = {0: np.arange(300)}
    for node in range(tree.node_count):
        rows = inside[node]
        assert len(rows) == tree.n_node_samples[node]
        if tree.children_left[node] < 0:
            continue
        left = X[rows] @ tree.coef[node] <= tree.threshold[node]
        inside[tree.children_left[node]], inside[tree.children_right[node]] = rows[left], rows[~left]
        if tree.split_kind[node] == 2:
            np.testing.assert_array_equal(np.unique(tree.coef[node]), [0.0, 1.0])


def test_constant_columns_and_units():
    X, y = table()
    wide = np.column_stack([X, np.full(len(X), 7.0)])
    model = CurvatureTreeRegressor().fit(wide, y)
    assert np.all(model.tree_.coef[:, 4] == 0)
    np.testing.assert_allclose(model.tree_.feature_scale[:4], X.std(axis=0))
    assert model.tree_.feature_scale[4] == 1.0
    np.testing.assert_allclose(model.predict(wide), CurvatureTreeRegressor().fit(X, y).predict(X),
                               atol=1e-7)


@pytest.mark.parametrize("model", [
    CurvatureTreeRegressor(), CurvatureForestRegressor(n_estimators=3, random_state=0),
    CurvatureBoostingRegressor(max_iter=3, random_state=0)], ids=lambda model: type(model).__name__)
def test_the_first_sample_may_lie_far_away_and_weigh_nothing(model):
    X, y = smooth_table(500, 3)
    X[0], y[0] = [1e8, -1e8, 1e8], 0.0
    weight = np.where(np.arange(500) == 0, 1e-15, 1.0)
    last = np.roll(np.arange(500), -1)
    expected = clone(model).fit(X[last], y[last], sample_weight=weight[last]).predict(X[1:])
    predicted = clone(model).fit(X, y, sample_weight=weight).predict(X[1:])
    np.testing.assert_allclose(predicted, expected, atol=1e-9)


def test_text_lists_what_moves_a_sum_most():
    """Not what has the largest coefficient: a feature in millimetres beside one in kilometres."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2)) * [1e-3, 1e3]
    y = X @ [10.0, 1.0]
    text = export_text(CurvatureTreeRegressor(max_depth=0).fit(X, y), max_coef=1)
    assert "*x1 + ... (1 more)" in text
    raw = CurvatureTreeRegressor(max_depth=0, standardize=False, alpha=0.0).fit(X, y)
    assert "*x1 + ... (1 more)" in export_text(raw, max_coef=1)
