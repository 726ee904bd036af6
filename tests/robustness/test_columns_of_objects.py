"""Columns and labels of Python and NumPy objects: what is missing, durations, sparse columns."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)

Y = np.arange(80.0)


@pytest.mark.parametrize("missing", [np.datetime64("NaT"), np.timedelta64("NaT", "D"), Decimal("NaN"), pd.NaT])
def test_missing_values_of_all_types(missing):
    values = np.full((80, 1), "a", dtype=object)
    values[::2, 0] = missing
    model = SymmetricBoostingRegressor(max_iter=2, categorical_features=[0]).fit(values, Y)
    assert model.encoder_.categories == [["a"]] and model.encoder_.has_missing.all()
    assert model.predict(values)[0] == model.predict(np.array([[None]], dtype=object))[0]


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
    np.testing.assert_array_equal(model.predict_proba(X), kind(random_state=0).fit(X, y).predict_proba(X))


def test_labels_of_other_types_are_named():
    with pytest.raises(ValueError, match="labels of type Decimal"):
        CurvatureTreeClassifier().fit(np.arange(4.0).reshape(-1, 1), [Decimal(1), Decimal(2)] * 2)


def test_frames_of_sparse_columns():
    X = pd.get_dummies(pd.DataFrame({"s": list("abca" * 10)}), sparse=True)
    y = np.arange(40.0)
    expected = CurvatureTreeRegressor().fit(X.sparse.to_dense(), y).predict(X.sparse.to_dense())
    np.testing.assert_array_equal(CurvatureTreeRegressor().fit(X, y).predict(X), expected)
