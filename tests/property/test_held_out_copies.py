"""Copies of a row are held out together: what is measured on samples held out is that of new ones."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    SoftTreeClassifier,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from fctree._tables.copies import different_samples
from fctree._training.samples import Samples, hold_out
from fctree.inspection import variable_importance
from fctree.inspection.partition import partition
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone


def samples_of(n, n_outputs, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, :1] + np.abs(X[:, 1:2]) + rng.normal(size=(n, n_outputs))


def rows_in(part):
    return {row.tobytes() for row in np.ascontiguousarray(part.X)}


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 5), st.booleans())
def test_copies_are_on_one_side(seed, n, most, by_class):
    rng = np.random.default_rng(seed)
    X, y = samples_of(n, 1 if by_class else 2, seed)
    rows = rng.permutation(np.repeat(np.arange(n), rng.integers(1, most + 1, n)))
    y = (y > 0.5).astype(float) if by_class else y
    train, held = hold_out(Samples(X[rows], np.ascontiguousarray(y[rows].T), None, None), by_class, 0.3, seed)
    assert len(train.X) + len(held.X) == len(rows)
    assert len(rows_in(held)) == np.ceil(0.3 * n) and not rows_in(train) & rows_in(held)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 3))
def test_no_class_is_held_out_as_a_whole(seed, n_classes, most):
    """Also with fewer samples held out than there are classes."""
    rng = np.random.default_rng(seed)
    y = np.r_[0, 0, np.repeat(np.arange(n_classes), rng.integers(1, most + 1, n_classes))].astype(float)
    X = rng.normal(size=(len(y), 2))
    train, held = hold_out(Samples(X, y[np.newaxis], None, None), True, 2, seed)
    assert len(held.X) == 2 and set(train.y[0]) == set(y)


@pytest.mark.parametrize("model", [
    SymmetricBoostingRegressor(max_iter=60, early_stopping=True, random_state=0),
    SymmetricBoostingClassifier(max_iter=60, early_stopping=True, random_state=0),
    SoftTreeRegressor(n_trees=5, max_epochs=200, early_stopping=True, batch_size=10_000, random_state=0),
    SoftTreeClassifier(n_trees=5, max_epochs=200, early_stopping=True, batch_size=10_000, random_state=0),
], ids=lambda model: type(model).__name__)
def test_a_fit_that_holds_out_copies_is_that_of_weights(model):
    X, y = samples_of(300, 1, 0)
    y = y[:, 0] > 0.5 if hasattr(model, "predict_proba") else y[:, 0]
    counts = np.random.default_rng(1).integers(1, 5, 300)
    rows = np.repeat(np.arange(300), counts)
    weighted = clone(model).fit(X, y, sample_weight=counts.astype(float))
    copied = clone(model).fit(X[rows], y[rows])
    assert copied.n_iter_ == weighted.n_iter_
    np.testing.assert_allclose(copied.predict(X), weighted.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("cls", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
def test_intervals_of_copies_hold_new_targets(cls):
    X, y = samples_of(400, 1, 2)
    rows = np.random.default_rng(3).integers(400, size=1200)
    model = cls(max_iter=60, calibration_fraction=0.3, random_state=0).fit(X[rows], y[rows, 0])
    X_new, y_new = samples_of(4000, 1, 4)
    low, high = model.predict_interval(X_new, 0.9).T
    assert np.mean((low <= y_new[:, 0]) & (y_new[:, 0] <= high)) > 0.82  # it was near one half


@pytest.mark.parametrize("kind", ["targets", "classes"])
def test_importances_divide_samples_not_copies(kind):
    X, y = samples_of(200, 1, 5)
    y = y[:, 0] if kind == "targets" else np.where(y[:, 0] > 0.5, "yes", "no")
    estimator = SymmetricBoostingRegressor() if kind == "targets" else SymmetricBoostingClassifier()
    rows = np.random.default_rng(6).integers(200, size=700)
    split = partition(estimator, X[rows], y[rows], None, fractions=(0.25, 0.2), seed=0)
    parts = [split.train, split.validation, split.test]
    assert sum(len(part) for part in parts) == 700
    different = [rows_in(part) for part in parts]
    assert not different[0] & different[1] and not different[2] & (different[0] | different[1])
    assert len(different[2]) == np.ceil(0.2 * len(np.unique(rows)))


@pytest.mark.parametrize("n", [2, 5, 6])
def test_equal_samples_alone_are_samples_each(n):
    assert len(different_samples(np.ones((n, 2)), np.ones((1, n)))) == n


def test_importances_of_copies_are_those_of_new_samples():
    X, y = samples_of(400, 1, 7)
    rows = np.random.default_rng(8).integers(400, size=1200)
    model = SymmetricBoostingRegressor(max_iter=300)
    copied = variable_importance(model, X[rows], y[rows, 0], random_state=0).full_score
    assert copied < -0.8  # about minus the variance of the noise, 1, and not the error on known samples
