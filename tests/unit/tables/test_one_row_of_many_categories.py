"""A row of a table with many categories: what it costs does not grow with them, what it gets is the same."""

import warnings

import numpy as np
import pandas as pd
import pytest

from fctree import SymmetricBoostingRegressor
from fctree._tables import columns


class Categories(list):
    """A list that is searched, not gone through."""

    def __iter__(self):
        raise AssertionError("all categories are gone through for one row")


def _values(kind, n):
    text, numbers, fractions = [f"v{i}" for i in range(n)], list(range(-3, n - 3)), [i + 0.1 for i in range(n)]
    return {"text": text, "numbers": numbers, "mixed": [*text[: n // 3], *numbers[: n // 3], *fractions[: n // 3]]}[kind]


@pytest.mark.parametrize("kind", ["text", "numbers", "mixed"])
def test_rows_are_searched_among_the_categories(kind):
    values = _values(kind, 300)
    column = pd.Series(np.array(values * 3 + [None] * 3, dtype=object))
    X = pd.DataFrame({"number": np.linspace(0.0, 1.0, len(column)), "column": column})
    y = np.random.default_rng(0).normal(size=len(X))
    model = SymmetricBoostingRegressor(max_iter=5, categorical_features=["column"], random_state=0).fit(X, y)
    known = model.encoder_.categories[1]
    rows = pd.DataFrame({"number": 0.3, "column": np.array([*values, "none", 7777, None], dtype=object)})
    expected = model.predict(rows)
    assert len(np.unique(expected)) > 3
    model.encoder_.categories[1] = Categories(known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows of another type alone
        found = [model.predict(rows.iloc[i : i + 1])[0] for i in range(len(rows))]
    np.testing.assert_array_equal(found, expected)


def test_a_fraction_of_the_other_width_is_found_from_one_row():
    values = np.arange(100) + 0.1
    X = pd.DataFrame({"column": np.repeat(values, 3)})
    y = values.repeat(3) + np.random.default_rng(0).uniform(size=300)  # copies would be one sample each, that tells nothing
    model = SymmetricBoostingRegressor(max_iter=5, categorical_features=["column"], random_state=0).fit(X, y)
    narrow = X.astype(np.float32)
    expected = model.predict(X)
    assert len(np.unique(expected)) > 10
    found = [model.predict(narrow.iloc[i : i + 1])[0] for i in range(0, len(X), 30)]
    np.testing.assert_array_equal(found, expected[::30])


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_row_of_a_categorical_column_has_its_own_categories_alone(library, monkeypatch):
    values = np.array([f"v{i}" for i in np.arange(400) % 97])
    y = np.arange(400) % 97 + np.random.default_rng(0).uniform(size=400)  # no copies
    X = pd.DataFrame({"column": pd.Categorical(np.where(np.arange(400) == 5, None, values))})
    if library == "pyarrow":
        X = pytest.importorskip("pyarrow").Table.from_pandas(X)
    model = SymmetricBoostingRegressor(max_iter=50, random_state=0).fit(X, y)
    expected = model.predict(X)
    assert len(np.unique(expected[:20])) > 10 and expected[0] == expected[:20].min()
    seen = []
    canonical = columns._canonical
    monkeypatch.setattr(columns, "_canonical", lambda values, name: (seen.append(len(values)), canonical(values, name))[1])
    rows = [X.slice(i, 1) if library == "pyarrow" else X.iloc[i : i + 1] for i in range(20)]
    np.testing.assert_array_equal([model.predict(row)[0] for row in rows], expected[:20])
    assert max(seen) <= 1
