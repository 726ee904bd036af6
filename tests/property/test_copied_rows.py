"""Copies of rows in tables with categories: they are weights, and tell no sample its own target."""

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from fctree._tables import copies
from fctree._tables.encoder import TableEncoder
from fctree._tables.sums import OnePlace, TablePart
from fctree._tables.statistics import fold_numbers
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import roc_auc_score


def with_noise(n=600, n_levels=200, seed=0):
    """A table whose category says nothing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.normal(size=n), "c": [f"{v:03}" for v in rng.integers(n_levels, size=n)]})
    return X, X["x"].to_numpy() + rng.normal(size=n)


def encoded(X, y, weight, impute):
    """Training samples and new ones encoded, of a category, a number and their pair."""
    encoder = TableEncoder([[f"{v:02}" for v in range(12)], None, None], impute)
    found = encoder.fit_transform(X, y[None], None, weight)[0]
    return found, encoder.transform(X), encoder


@given(st.integers(0, 2**32 - 1), st.integers(20, 300), st.integers(2, 5), st.booleans(), st.booleans())
def test_copies_are_encoded_as_weights_are(seed, n, most, impute, repeats):
    rng = np.random.default_rng(seed)
    codes, x = rng.integers(0, 12, n), rng.normal(size=n)
    codes[:12] = np.arange(12)
    X, y = np.column_stack([codes, x, rng.normal(size=n)]), rng.normal(size=12)[codes] * x + rng.normal(size=n)
    X[rng.random(n) < 0.1, 1] = np.nan
    counts = rng.integers(1, most + 1, n) if repeats else np.full(n, most)
    rows = np.repeat(np.arange(n), counts) if repeats else np.tile(np.arange(n), most)
    expected, expected_new, of_weights = encoded(X, y, counts.astype(float), impute)
    found, found_new, of_copies = encoded(X[rows], y[rows], None, impute)
    assert of_copies.layout() == of_weights.layout()
    for ours, theirs in ((found, expected[rows]), (found_new, expected_new[rows])):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def folds_of(X, y):
    place = OnePlace(TablePart(np.asarray(X, dtype=float), np.asarray(y, dtype=float)[None], None))
    return copies.find_different(place, len(X))


def test_copies_share_the_fold_of_the_first(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.normal(size=500)
    rows = np.concatenate([np.arange(500), rng.integers(500, size=700)])
    found = folds_of(X[rows], y[rows])
    np.testing.assert_array_equal(found.folds, fold_numbers(500)[rows])
    np.testing.assert_array_equal(found.first, np.arange(500))
    monkeypatch.setattr(copies, "_MOST_COMPARED", 300)  # a share decides, all are divided
    np.testing.assert_array_equal(folds_of(X[rows], y[rows]).folds, found.folds)


def test_coincidences_are_samples_by_themselves():
    rng = np.random.default_rng(1)
    X = rng.integers(3, size=(2000, 5))
    assert folds_of(X, rng.integers(2, size=2000)) is None  # equal features, other targets
    few = rng.integers(3, size=(2000, 3))
    assert folds_of(few, few.sum(axis=1)) is None  # few different rows
    assert folds_of(rng.normal(size=(50, 2)), np.zeros(50)) is None  # none are equal


def test_a_few_coincidences_do_not_hide_copies():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 2)), rng.normal(size=400)
    X[:6] = np.nan
    rows = np.tile(np.arange(400), 2)
    np.testing.assert_array_equal(folds_of(X[rows], y[rows]).folds, fold_numbers(400)[rows])
    X[:25] = np.nan
    assert folds_of(X[rows], y[rows]) is None


def test_one_row_may_be_most_of_a_table():
    X, y = with_noise()
    rows = np.concatenate([np.arange(600), np.zeros(2000, dtype=int)])
    model = SymmetricBoostingRegressor(max_iter=5).fit(X.iloc[rows], y[rows])
    assert np.isfinite(model.predict(X)).all()


def test_out_of_bag_scores_are_honest_about_copies():
    X, y = with_noise()
    rows = np.tile(np.arange(600), 4)
    model = CurvatureForestRegressor(n_estimators=30, oob_score=True, random_state=0).fit(X.iloc[rows], y[rows])
    X_new, y_new = with_noise(seed=1)
    assert abs(model.oob_score_ - model.score(X_new, y_new)) < 0.1
    assert model.score(X_new, y_new) > 0.35


@pytest.mark.parametrize("factor", [2, 4])
def test_a_tree_of_copies_is_that_of_weights(factor):
    X, y = with_noise(n_levels=30)
    rows = np.tile(np.arange(600), factor)
    params = {"min_samples_leaf": 1, "max_depth": 2}
    expected = CurvatureTreeRegressor(**params).fit(X, y, np.full(600, float(factor))).predict(X)
    np.testing.assert_allclose(CurvatureTreeRegressor(**params).fit(X.iloc[rows], y[rows]).predict(X), expected, atol=1e-6)


@pytest.mark.parametrize("copied", [False, True])
def test_shares_do_not_tell_the_class_by_its_weight(copied):
    rng = np.random.default_rng(2)
    X, x = with_noise(4000, 400)
    y = (rng.random(4000) < 1 / (1 + np.exp(3 - x))).astype(int)
    counts = np.where(y, 9, 1)
    model = SymmetricBoostingClassifier(max_iter=60, random_state=0)
    without = SymmetricBoostingClassifier(max_iter=60, random_state=0)
    if copied:
        rows = np.repeat(np.arange(4000), counts)
        model.fit(X.iloc[rows], y[rows])
    else:
        model.fit(X, y, sample_weight=counts.astype(float))
    without.fit(X, y)
    X_new, x_new = with_noise(4000, 400, seed=7)
    y_new = (rng.random(4000) < 1 / (1 + np.exp(3 - x_new))).astype(int)
    found, expected = (roc_auc_score(y_new, m.predict_proba(X_new)[:, 1]) for m in (model, without))
    assert found > expected - 0.04


@pytest.mark.parametrize("kind", ["missing numbers", "categories"])
@pytest.mark.parametrize("model", [
    CurvatureTreeRegressor(min_samples_leaf=1, max_depth=2),
    CurvatureForestRegressor(n_estimators=5, min_samples_leaf=1, random_state=0),
    CurvatureBoostingRegressor(max_iter=5, min_samples_leaf=1, random_state=0),
], ids=lambda model: type(model).__name__)
def test_a_table_with_weights_is_one_with_copies(model, kind):
    """Imputed means, target statistics and draws too."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 4)), rng.choice([1, 2, 3], 300)
    y = X[:, 0] + np.maximum(X[:, 1], 0.0) + 0.1 * rng.normal(size=300)
    table = pd.DataFrame(X, columns=list("abcd"))
    if kind == "categories":
        table["d"] = rng.choice(list("pqrstuvwxyz"), 300)
        y += (table["d"] > "s").to_numpy()
    else:
        table = table.mask(rng.random(X.shape) < 0.1)
    rows = np.repeat(np.arange(300), weight)
    weighted = clone(model).fit(table, y, sample_weight=weight).predict(table)
    copied = clone(model).fit(table.iloc[rows].reset_index(drop=True), y[rows]).predict(table)
    np.testing.assert_allclose(weighted, copied, atol=1e-10)
