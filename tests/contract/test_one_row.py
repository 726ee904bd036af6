"""One row takes a short way through validation and the trees: to the same bytes and errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fctree
from fctree._native import core

FAMILIES = {
    "CurvatureTree": {},
    "FCODT": {},
    "CurvatureForest": {"n_estimators": 70, "random_state": 0},
    "CurvatureBoosting": {"max_iter": 70, "random_state": 0},
    "SymmetricBoosting": {"max_iter": 20, "random_state": 0},
    "SoftTree": {"max_epochs": 2, "random_state": 0},
    "TreeNTK": {},
}


def data(n_classes):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 5))
    y = X[:, 0] + np.maximum(X[:, 1], 0.0)
    return X, np.digitize(y, np.linspace(-0.5, 0.5, n_classes - 1)) if n_classes else y


def fitted(name, n_classes=0):
    X, y = data(n_classes)
    cls = getattr(fctree, name + ("Classifier" if n_classes else "Regressor"))
    return cls(**FAMILIES[name]).fit(X, y), X


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "TreeNTK"])
def test_rows_one_by_one_are_the_bytes_of_all_at_once(name, n_classes):
    model, X = fitted(name, n_classes)
    for method in ("predict", "predict_proba") if n_classes else ("predict",):
        predict = getattr(model, method)
        one_by_one = np.concatenate([predict(X[i : i + 1]) for i in range(40)])
        np.testing.assert_array_equal(one_by_one, predict(X)[:40])


@pytest.mark.parametrize("name", FAMILIES)
def test_other_layouts_of_a_row_predict_the_same(name):
    model, X = fitted(name)
    row = X[:1].astype(np.float32).astype(np.float64)
    expected = model.predict(row)
    frozen = row.copy()
    frozen.flags.writeable = False
    apart = np.repeat(row, 2, axis=1)[:, ::2]
    for other in (frozen, apart, row.tolist(), row.astype(">f8"), row.view(np.ndarray)):
        np.testing.assert_array_equal(model.predict(other), expected)
    np.testing.assert_allclose(model.predict(row.astype(np.float32)), expected, rtol=1e-5)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(row), expected)


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_wrong_with_a_row_is_said(name):
    model, X = fitted(name)
    row = X[:1].copy()
    with pytest.raises(ValueError, match="X has 4 features"):
        model.predict(row[:, :4])
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        model.predict(row[:0])
    with pytest.raises(ValueError, match="n_jobs"):
        model.set_params(n_jobs=0).predict(row)
    model.set_params(n_jobs=None)
    if name != "SymmetricBoosting":
        row[0, 2] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            model.predict(row)
    with pytest.raises(NotFittedError):
        clone(model).predict(row)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_model_with_names_warns_of_an_array(name):
    X, y = data(0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = clone(fitted(name)[0]).fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X[:1])


@pytest.mark.parametrize("size", [1, 100, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_not_finite_is_found(size, dtype, value):
    array = np.full(size, np.finfo(dtype).max)  # the sum of more is infinite
    assert core.is_finite(array)
    array[size // 2] = value
    assert not core.is_finite(array)


def test_tables_are_told_from_what_is_none():
    X = np.zeros((3, 4))
    assert core.is_matrix(X, 4) and core.is_matrix(X.astype(np.float32), 4, True)
    for other in (X.astype(np.float32), X.T, X[:, :3], X[0], X.astype(">f8"), X.tolist(), X[::2]):
        assert not core.is_matrix(other, 4)
    assert not core.is_matrix(X, 3)


def test_trees_of_another_type_or_layout_are_refused():
    model, X = fitted("CurvatureTree")
    vars(model.tree_)["threshold"] = model.tree_.threshold.astype(np.float32)
    with pytest.raises(ValueError, match="C-contiguous array of 1 axes"):
        model.predict(X[:1])
