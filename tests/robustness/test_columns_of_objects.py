"""Columns and labels of Python and NumPy objects: what is missing, durations, sparse columns."""

import pickle
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from fctree.inspection import variable_importance
from sklearn.model_selection import cross_val_score

Y = np.arange(80.0)


@pytest.mark.parametrize("missing", [np.datetime64("NaT"), np.timedelta64("NaT", "D"), Decimal("NaN"), pd.NaT])
def test_missing_values_of_all_types(missing):
    values = np.full((80, 1), "a", dtype=object)
    values[::2, 0] = missing
    model = SymmetricBoostingRegressor(max_iter=2, categorical_features=[0]).fit(values, Y)
    assert model.encoder_.categories == [["a"]] and model.encoder_.has_missing.all()
    assert model.predict(values)[0] == model.predict(np.array([[None]], dtype=object))[0]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_dates_are_named_at_once(library):
    days = pd.date_range("2026-01-01", periods=30)
    columns = {"day": days, "x": np.arange(30.0), "lists": [[1]] * 30, "at": [day.time() for day in days]}
    X = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    X = getattr(pytest.importorskip(library), X)(columns)
    with pytest.raises(TypeError, match=r"columns \['day', 'lists', 'at'\] hold values of type .*, list, time") as told:
        CurvatureTreeRegressor().fit(X, Y[:30])
    assert "astype(str)" not in str(told.value) and "name them in categorical_features" in str(told.value)
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)


def test_the_advice_for_dates_makes_numbers_of_them():
    pl = pytest.importorskip("polars")
    days = pd.date_range("2026-01-01", periods=30)
    in_pandas, in_polars = "(X[column] - X[column].min()).dt.days", 'X[column].dt.epoch("d")'
    with pytest.raises(TypeError, match=re.escape(f"of pandas {in_pandas}, of polars {in_polars}")):
        CurvatureTreeRegressor().fit(pd.DataFrame({"day": days}), Y[:30])
    np.testing.assert_array_equal(eval(in_pandas, {"X": pd.DataFrame({"day": days}), "column": "day"}), np.arange(30))
    np.testing.assert_array_equal(np.diff(eval(in_polars, {"X": pl.DataFrame({"day": days}), "column": "day"})), 1)


def test_durations_are_no_numbers():
    values = np.empty((80, 1), dtype=object)
    values[:, 0] = [np.timedelta64(1, "D"), np.timedelta64(24, "s")] * 40
    with pytest.raises(TypeError, match="column 'x0' holds values of type timedelta64: make numbers of them"):
        CurvatureTreeRegressor().fit(values, Y)
    model = CurvatureTreeRegressor(categorical_features=[0]).fit(values, Y)
    assert model.encoder_.categories == [["1 days", "24 seconds"]]


@pytest.mark.parametrize("kind", [SymmetricBoostingClassifier, CurvatureTreeClassifier])
@pytest.mark.parametrize("labels", [[0, 1], [False, True], [0.0, 1.0]], ids=["int", "bool", "float"])
def test_labels_that_are_objects_are_what_they_hold(kind, labels):
    X = np.arange(40.0).reshape(-1, 1)
    y = np.array(labels * 20)
    model = kind(random_state=0).fit(X, y.astype(object))
    assert model.classes_.dtype == y.dtype
    assert model.score(X, y.astype(object)) == model.score(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), kind(random_state=0).fit(X, y).predict_proba(X))


def test_labels_of_several_integer_types():
    X = np.arange(40.0).reshape(-1, 1)
    y = np.array([np.int32(0), 1] * 20, dtype=object)
    model = SymmetricBoostingClassifier(max_iter=3).fit(X, y, eval_set=(X, y), eval_metric="accuracy")
    assert model.classes_.dtype == np.int64
    assert model.evals_result_["valid_0"]["accuracy"][-1] == model.score(X, y)
    scores = cross_val_score(CurvatureTreeClassifier(), X, y, cv=2)
    assert np.all(scores == cross_val_score(CurvatureTreeClassifier(), X, y.astype(int), cv=2))
    found = variable_importance(SymmetricBoostingClassifier(max_iter=3), X, y, random_state=0)
    assert found.importances[0] == variable_importance(SymmetricBoostingClassifier(max_iter=3), X, y.astype(int), random_state=0).importances[0]


@pytest.mark.parametrize("kind", [SymmetricBoostingClassifier, CurvatureTreeClassifier])
def test_a_single_class_of_objects_is_predicted_as_one(kind):
    X, y = np.arange(40.0).reshape(-1, 1), np.array(["a"] * 40, dtype=object)
    assert kind().fit(X, y).predict(X).dtype == object


def test_targets_that_are_numbers_as_text():
    X = np.arange(40.0).reshape(-1, 1)
    model = CurvatureBoostingRegressor(max_iter=3, random_state=0)
    text, numbers = (variable_importance(model, X, y, random_state=0).importances for y in (X[:, 0].astype(str), X[:, 0]))
    np.testing.assert_array_equal(text, numbers)


@pytest.mark.parametrize("mask", [[True, False], [False, False], [True, True]])
def test_a_mask_of_objects_is_a_mask(mask):
    X = np.array([[0.0, 1.0], [1.0, 0.0]] * 20)
    model = CurvatureTreeRegressor(categorical_features=np.array(mask, dtype=object)).fit(X, X[:, 0])
    assert [values is not None for values in model.encoder_.categories] == mask
    with pytest.raises(ValueError, match="categorical_features holds True"):
        CurvatureTreeRegressor(categorical_features=[True, 1]).fit(X, X[:, 0])


def test_durations_are_the_same_categories_in_any_library():
    durations = pd.to_timedelta([0, 1, 3601, 90000, -1] * 16, unit="s") + pd.to_timedelta([0, 5] * 40, unit="us")
    as_pandas = np.array([[value] for value in durations], dtype=object)
    as_python = np.array([[value] for value in durations.to_pytimedelta()], dtype=object)
    model = SymmetricBoostingRegressor(max_iter=2, categorical_features=[0], random_state=0)
    expected = model.fit(as_pandas, durations.total_seconds()).predict(as_python)
    assert len(np.unique(expected)) > 1
    np.testing.assert_array_equal(model.predict(as_pandas), expected)


def test_categories_of_the_other_byte_order():
    numbers = np.arange(80) % 5
    frames = [pd.DataFrame({"c": numbers.astype(dtype)}) for dtype in (">i4", "<i4", ">f8")]
    model = CurvatureTreeRegressor(categorical_features=["c"])
    first, *others = [model.fit(frame, Y).predict(frame) for frame in frames]
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("values", [
    pd.date_range("2020", periods=80, tz="UTC"), pd.period_range("2020", periods=80, freq="M"), pd.interval_range(0, 80),
], ids=["dates of a zone", "periods", "intervals"])
def test_types_of_pandas_may_be_categories(values):
    frame = pd.DataFrame({"t": values[np.arange(80) % 3], "x": Y})
    model = CurvatureTreeRegressor(categorical_features=["t"]).fit(frame, Y % 3)
    assert len(model.encoder_.categories[0]) == 3 and model.score(frame, Y % 3) > 0.99
    with pytest.raises(TypeError, match="make numbers of them"):
        CurvatureTreeRegressor().fit(frame, Y)


def test_views_of_pyarrow_are_text():
    pyarrow = pytest.importorskip("pyarrow", minversion="16")
    table = pyarrow.table({"s": pyarrow.array(["a", "b"] * 40, pyarrow.string_view()), "x": Y})
    model = SymmetricBoostingRegressor(max_iter=3, early_stopping=True, random_state=0).fit(table, Y, eval_metric="r2")
    plain = SymmetricBoostingRegressor(max_iter=3, early_stopping=True, random_state=0).fit(table.to_pandas(), Y)
    np.testing.assert_array_equal(model.predict(table), plain.predict(table.to_pandas()))


def test_labels_of_other_types_are_named():
    with pytest.raises(ValueError, match="labels of type Decimal"):
        CurvatureTreeClassifier().fit(np.arange(4.0).reshape(-1, 1), [Decimal(1), Decimal(2)] * 2)


def test_frames_of_sparse_columns():
    X = pd.get_dummies(pd.DataFrame({"s": list("abca" * 10)}), sparse=True)
    y = np.arange(40.0)
    expected = CurvatureTreeRegressor().fit(X.sparse.to_dense(), y).predict(X.sparse.to_dense())
    np.testing.assert_array_equal(CurvatureTreeRegressor().fit(X, y).predict(X), expected)
