"""Constant columns are no features: trees and ensembles predict what they predict without them.

Tolerance 1e-10: dot products of longer rows are added up in another order; 1e-6 where L-BFGS takes some 150 steps by them.
"""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SoftTreeRegressor,
)
from sklearn.base import clone

N, NEW = 150, 40
TABLE = np.random.default_rng(0).normal(size=(N + NEW, 14))
SMOOTH = np.sin(2 * TABLE[:N, 0]) + np.maximum(TABLE[:N, 1] + TABLE[:N, 2], 0.0)
STEPS = (TABLE[:N, 0] > 0.0) + 2.0 * ((TABLE[:N, 1] > 0.3) & (TABLE[:N, 2] > 0.0))
CLASSES = np.searchsorted(np.quantile(SMOOTH, [0.4, 0.7]), SMOOTH)
WEIGHT = np.random.default_rng(1).integers(0, 3, size=N).astype(np.float64)
WEIGHT[0] = 0.0
UNSCALED = CurvatureTreeRegressor(standardize=False)
MODELS = {
    **{f"tree, {setting}": (CurvatureTreeRegressor(**setting), SMOOTH)
       for setting in ({}, {"standardize": False}, {"alpha": "loo"}, {"max_coef": 2}, {"leaf_model": "constant"},
                       {"leaf_model": "soft"})},
    "FC-ODT": (FCODTRegressor(min_samples_leaf=20), SMOOTH),
    "tree of classes": (CurvatureTreeClassifier(), CLASSES),
    "tree of two classes": (CurvatureTreeClassifier(), CLASSES > 0),
    "FC-ODT of classes": (FCODTClassifier(), CLASSES),
    "forest": (CurvatureForestRegressor(n_estimators=20, max_features=0.4, random_state=0), SMOOTH),
    "forest, sqrt": (CurvatureForestRegressor(n_estimators=5, max_features="sqrt", step_trees=False, random_state=0), SMOOTH),
    "forest of steps": (CurvatureForestRegressor(n_estimators=20, max_features=2, random_state=0), STEPS),
    "forest of unscaled trees": (CurvatureForestRegressor(n_estimators=5, tree=UNSCALED, random_state=0), SMOOTH),
    "forest of classes": (CurvatureForestClassifier(n_estimators=16, random_state=0), CLASSES),
    "boosting": (CurvatureBoostingRegressor(max_iter=10, colsample=0.5, random_state=0), SMOOTH),
    "boosting of steps": (CurvatureBoostingRegressor(max_iter=10, random_state=0), STEPS),
    "boosting of unscaled trees": (CurvatureBoostingRegressor(max_iter=5, tree=UNSCALED, random_state=0), SMOOTH),
    "boosting of classes": (CurvatureBoostingClassifier(max_iter=5, random_state=0), CLASSES),
}  # fmt: skip


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def between_constants(X, n_constant):
    """The table with its columns among others that are constant, and their places."""
    places = np.sort(np.random.default_rng(2).permutation(X.shape[1] + n_constant)[: X.shape[1]])
    wide = np.full((len(X), X.shape[1] + n_constant), 0.1)  # whose mean is rounded
    wide[:, places] = X
    return wide, places


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [4, 14])
@pytest.mark.parametrize("name", MODELS)
def test_constant_columns_are_no_features(name, d, weighted):
    """Neither few nor more than there are samples, of few features or of many; nor what samples of weight 0 have there."""
    model, y = MODELS[name]
    X, weight = TABLE[:N, :d].copy(), WEIGHT if weighted else None
    if weighted:
        X[weight == 0.0] = 1e3
    narrow = clone(model).fit(X, y, weight)
    for n_constant in (1, N + 50):
        wide, places = between_constants(X, n_constant)
        if weighted:
            wide[weight == 0.0] = 1e3
        fitted = clone(model).fit(wide, y, weight)
        new = between_constants(TABLE[N:, :d], n_constant)[0]
        tolerance = 1e-6 if "soft" in name else 1e-10
        np.testing.assert_allclose(answers(fitted, new), answers(narrow, TABLE[N:, :d]), rtol=0, atol=tolerance)
        assert fitted.n_features_in_ == wide.shape[1]
        importances = np.zeros(wide.shape[1])
        importances[places] = narrow.feature_importances_
        np.testing.assert_allclose(fitted.feature_importances_, importances, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["tree, {}", "tree, {'standardize': False}", "boosting"])
def test_constant_columns_keep_their_places_in_the_arrays(name):
    model, y = MODELS[name]
    wide, places = between_constants(TABLE[:N, :4], N)
    fitted, narrow = clone(model).fit(wide, y), clone(model).fit(TABLE[:N, :4], y)
    trees, of_narrow = (getattr(m, "trees_", None) or m.tree_ for m in (fitted, narrow))
    assert trees.leaf_coef.shape[-1] == trees.coef.shape[-1] == wide.shape[1]
    np.testing.assert_allclose(trees.coef[:, places], of_narrow.coef, rtol=0, atol=1e-10)
    assert np.count_nonzero(np.delete(trees.coef, places, axis=1)) == 0


@pytest.mark.parametrize("name", ["tree, {}", "FC-ODT", "forest", "boosting"])
def test_a_table_of_constants_has_one_leaf(name):
    model, y = MODELS[name]
    fitted = clone(model).fit(np.full((N, 3), 0.1), y)
    np.testing.assert_allclose(fitted.predict(np.full((2, 3), 7.0)), y.mean(), rtol=0.2)


@pytest.mark.parametrize("model", [CurvatureForestRegressor(n_estimators=20, random_state=0),
                                   CurvatureBoostingRegressor(max_iter=30, random_state=0)], ids=str)
def test_a_column_whose_squares_underflow_is_not_constant(model):
    X = TABLE[:N, :3].copy()
    X[:, 0] *= 1e-200
    assert clone(model).fit(X, STEPS).feature_importances_[0] > 0.0


def test_a_model_without_intercept_takes_a_constant_column_for_one():
    """The reference: an intercept, but penalised."""
    x = TABLE[:N, :1]
    line = FCODTRegressor(max_depth=0, alpha=1e-8, fit_intercept=False).fit(np.c_[x, np.ones(N)], 3.0 + x[:, 0])
    np.testing.assert_allclose(line.predict([[0.0, 1.0]]), 3.0, atol=1e-6)


def test_large_tables_have_bins_of_the_columns_that_vary():
    """Beyond 65,536 samples cuts along axes are between bins, and rounds see some of them."""
    X = np.random.default_rng(0).normal(size=(66_000, 3)).astype(np.float32)
    y = (X[:, 0] > 0.0) + 2.0 * (X[:, 1] > 0.5)
    wide, places = between_constants(X, 4)
    model = CurvatureBoostingRegressor(max_iter=3, colsample=0.7, random_state=0)
    wide = wide.astype(np.float32)
    expected = clone(model).fit(X, y).predict(X[:100])
    np.testing.assert_allclose(model.fit(wide, y).predict(wide[:100]), expected, rtol=0, atol=1e-10)
    assert set(np.flatnonzero(model.feature_importances_)) <= set(places)


def test_a_constant_column_gives_categories_no_mean_effect():
    """It would be the target mean again. A warm start keeps the features of the first fit."""
    rng = np.random.default_rng(0)
    city = rng.choice(list("abcdefghij"), 400).astype(object)
    y = (city == "a") + rng.standard_normal(400)
    constant, varying = (np.column_stack([city, number]).astype(object) for number in (np.ones(400), y.round(1)))
    for first, then, n_features in ((constant, varying, 2), (varying, constant, 3)):
        model = SoftTreeRegressor(max_epochs=1, warm_start=True, categorical_features=[0], random_state=0).fit(first, y)
        assert len(model.encoder_.layout()) == n_features
        assert np.all(np.isfinite(model.set_params(max_epochs=2).fit(then, y).predict(then)))
