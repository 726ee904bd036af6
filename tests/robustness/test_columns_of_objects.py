"""Columns of Python and NumPy objects: what is missing, and durations."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from fctree import CurvatureTreeRegressor, SymmetricBoostingRegressor

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
