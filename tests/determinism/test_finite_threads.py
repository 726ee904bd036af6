"""A number that is not finite is found wherever it is, by any number of threads."""

import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, SymmetricBoostingRegressor
from fctree._native.core import is_finite


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_in_any_block(n_threads, dtype):
    array = np.zeros(100_003, dtype=dtype)  # several blocks, and a rest
    assert is_finite(array, n_threads)
    for place in (0, 32_767, 32_768, 70_000, 98_304, 100_002):
        for value in (np.nan, np.inf, -np.inf):
            array[place] = value
            assert not is_finite(array, n_threads)
        array[place] = 0.0


def samples(n_rows):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 5))
    return X, X[:, 0] + np.maximum(X[:, 1], 0.0), np.resize(X, (n_rows, 5))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_in_a_table_to_predict(n_jobs):
    X, y, rows = samples(60_000)
    model = CurvatureBoostingRegressor(max_iter=2, n_jobs=n_jobs).fit(X, y)
    model.predict(rows)
    for place in (0, 31_234, 59_999):
        wrong = rows.copy()
        wrong[place, 3] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            model.predict(wrong)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("n_rows", [20, 5_000])  # one by one, and by blocks
def test_in_predictions(n_rows, n_jobs):
    X, y, rows = samples(n_rows)
    model = SymmetricBoostingRegressor(max_iter=2, n_jobs=n_jobs).fit(X, y)
    model.trees_.leaf_values[:] = 1e308
    with pytest.warns(RuntimeWarning, match=f"{n_rows} of {n_rows}"):
        model.predict(rows)
