"""`to_sql`: what SQLite computes from the expression is what `predict` says."""

import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
from export_cases import CATEGORICAL, CLASSES, CLASSIFIERS, REGRESSORS, categories, on_edges, regression
from fctree import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTRegressor,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
)
from fctree.export import to_sql
from fctree.export.sql_text import literal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

HARD = [name for name in REGRESSORS if not name.startswith("soft")]


def computed(expression, X, names):
    """The expression's values for the rows of a table."""
    with sqlite3.connect(":memory:") as base:
        base.create_function("EXP", 1, np.exp, deterministic=True)  # SQLite may be built without
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        base.execute(f"CREATE TABLE rows ({columns})")
        rows = np.where(pd.isna(X), None, X.astype(object)).tolist()
        base.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", rows)
        found = base.execute(f"SELECT {expression} FROM rows ORDER BY rowid").fetchall()
    return np.array([value for (value,) in found], dtype=float)


def assert_close(actual, expected):
    """1e-12, but for rows on a threshold: sums of products in another order."""
    near = np.abs(actual - expected) <= 1e-12 * np.maximum(np.abs(expected), 1.0)
    assert near.mean() > 0.99 and len(actual) == len(expected)


@pytest.mark.parametrize("name", HARD)
def test_regressors(name):
    X, y = regression()
    model = clone(REGRESSORS[name]).fit(X, np.abs(y))
    names = [f"x{j}" for j in range(X.shape[1])]
    assert_close(computed(to_sql(model), X, names), model.predict(X))


@pytest.mark.parametrize("classes", ["one class", "two classes"])
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "soft"])
def test_probabilities_of_the_second_class(name, classes):
    X, y = CLASSES[classes]()
    model = clone(CLASSIFIERS[name]).fit(X, y)
    names = [f"column {j}" for j in range(X.shape[1])]
    assert_close(computed(to_sql(model, columns=names), X, names), model.predict_proba(X)[:, -1])


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_null_is_missing(share):
    """Also where training has none, and where it is all that counts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)).round(1)
    X[rng.random(X.shape) < share] = np.nan
    y = np.where(np.isnan(X[:, 0]), 5.0, X[:, 1]) + np.isnan(X[:, 2])
    model = SymmetricBoostingRegressor(max_iter=5, max_depth=4, random_state=0).fit(X, np.nan_to_num(y))
    new = np.where(rng.random(X.shape) < 0.4, np.nan, X)
    names = ["x0", "x1", "x2"]
    assert_close(computed(to_sql(model), new, names), model.predict(new))
    tree = CurvatureTreeRegressor(min_samples_leaf=5).fit(X, np.nan_to_num(y))
    assert_close(computed(to_sql(tree), new, names), tree.predict(new))


def test_infinite_values():
    X = np.repeat([-np.inf, 0.0, 1.0, np.inf], 100)[:, np.newaxis]
    y = np.repeat([-7.0, 0.0, 0.5, 1.0], 100)
    model = SymmetricBoostingRegressor(max_iter=4, max_depth=3, random_state=0).fit(X, y)
    assert -np.inf in model.trees_.split_threshold
    assert_close(computed(to_sql(model), X, ["x0"]), model.predict(X))


@pytest.mark.parametrize("name", ["tree", "fcodt", "boosting, no bounds", "symmetric, log link"])
def test_numbers_are_doubles(name):
    """In the SQL standard those with an exponent are; others are decimals, whose products databases round or refuse."""
    frame, y = categories()
    model = clone(REGRESSORS[name]).set_params(categorical_features=CATEGORICAL).fit(frame, np.abs(y))
    assert not re.findall(r"\d\.\d+(?![\de])", re.sub(r"THEN 1\.0 ELSE 0\.0 END", "", to_sql(model)))


@pytest.mark.parametrize("name", ["tree", "fcodt", "boosting, no bounds", "symmetric, log link"])
def test_categories(name):
    """Of text, of numbers, missing and new ones, alone and in pairs."""
    frame, y = categories()
    model = clone(REGRESSORS[name]).set_params(categorical_features=CATEGORICAL).fit(frame, np.abs(y))
    assert len(model.encoder_.pairs)
    new, _ = categories(seed=1, strange=True)
    assert_close(computed(to_sql(model), new.to_numpy(), list(frame)), model.predict(new))


def test_numbers_on_the_edges_of_pairs():
    frame, y = on_edges()
    model = SymmetricBoostingRegressor(max_iter=5, random_state=0).fit(frame, y)
    edges = model.encoder_.edges[1]
    assert len(model.encoder_.pairs) and np.isin(edges, frame["x"]).all()
    levels = (edges <= frame["x"].to_numpy()[:, np.newaxis]).sum(axis=1)
    np.testing.assert_array_equal(model.encoder_.levels(frame[["x", "x"]].to_numpy(), (1,)), levels)
    assert_close(computed(to_sql(model), frame.to_numpy(), list(frame)), model.predict(frame))
    model.encoder_.pair_statistics[0][::2] = model.encoder_.priors  # of cells that training had not
    assert_close(computed(to_sql(model), frame.to_numpy(), list(frame)), model.predict(frame))


def test_quotes_in_categories():
    city = np.array(["l'Aquila", 'a "b"', "''", "Orléans; --"] * 50, dtype=object)
    y = np.arange(200) % 4 == 0
    tree = CurvatureTreeClassifier(max_depth=1).fit(city[:, np.newaxis], y)
    found = computed(to_sql(tree, columns=["city"]), city[:4, np.newaxis], ["city"])
    assert_close(found, tree.predict_proba(city[:4, np.newaxis])[:, 1])


@pytest.mark.parametrize(
    "ids", [np.array([1729000000000000001, 1729000000000000002, -(2**63), 2**63 - 1]), np.array([-1.0, 0.0, 0.5, 1e30])]
)
def test_numbers_as_categories_stay_apart(ids):
    number = np.arange(120) % 4
    frame = pd.DataFrame({"id": ids[number], "x": np.linspace(0.0, 1.0, 120)})
    tree = CurvatureTreeRegressor(categorical_features=["id"]).fit(frame, 3.0 * number + frame["x"])
    assert_close(computed(to_sql(tree), frame.astype(object).to_numpy(), list(frame)), tree.predict(frame))


@pytest.mark.parametrize(
    ("odd", "message"),
    [("a\0", "which SQL cannot hold"), ("\ud800", "which SQL cannot hold"), (10**400, "which SQL cannot hold"),
     (2**70 + 1, "equal in float64")],
)  # fmt: skip
def test_categories_without_a_literal_are_refused(odd, message):
    others = ["a", "b"] if isinstance(odd, str) else [1, 2**70]
    values = np.array([odd, *others] * 40, dtype=object)[:, np.newaxis]
    tree = CurvatureTreeRegressor(categorical_features=[0]).fit(values, np.arange(120) % 3)
    with pytest.raises(ValueError, match=f"column 'x0' .*{message}"):
        to_sql(tree)


def test_integers_are_written_whole_where_databases_have_them():
    written = [literal(value) for value in (-(2**63) - 1, -(2**63), 2**63 - 1, 2**63)]
    assert written == ["(-9.223372036854776e+18)", "(-9223372036854775808)", "9223372036854775807", "9.223372036854776e+18"]


def test_names_of_columns():
    X, y = regression()
    awkward = ['a"b', "select", "ä ß", "x;--", *(f"c{j}" for j in range(X.shape[1] - 4))]
    model = CurvatureTreeRegressor(max_coef=2).fit(pd.DataFrame(X, columns=awkward), y)
    assert_close(computed(to_sql(model), X, awkward), model.predict(pd.DataFrame(X, columns=awkward)))
    with pytest.raises(ValueError, match="columns has 1 names, the model 10 columns"):
        to_sql(model, columns=["a"])
    two = CurvatureTreeRegressor().fit(X[:, :2], y)
    for columns in ("ab", [0, 1], ["a", None]):
        with pytest.raises(TypeError, match="columns must be a sequence of strings"):
            to_sql(two, columns=columns)
    for columns in (["a", "a"], ["a", ""]):
        with pytest.raises(ValueError, match="columns must be names that differ, and not empty"):
            to_sql(two, columns=columns)
    assert to_sql(two, columns=np.array(["a", "b"])) == to_sql(two, columns=("a", "b"))


def test_unused_columns_are_not_named():
    X, y = regression()
    X[:, 3] = 7.0
    assert '"x3"' not in to_sql(CurvatureTreeRegressor(directions="axis").fit(X, y))
    assert '"x' not in to_sql(CurvatureTreeRegressor(max_depth=0, leaf_model="constant").fit(X, y))


def test_trees_of_a_thousand_levels_are_refused():
    X = np.arange(2500.0)[:, np.newaxis]
    y = np.where(X[:, 0] < 2400, 1.5 ** (-X[:, 0] / 10), 0.0)
    deep = FCODTRegressor(max_depth=None, leaf_model="constant").fit(X, y)
    assert deep.get_depth() > 1000
    with pytest.raises(ValueError, match="some hundred levels"):
        to_sql(deep)


def test_other_models_are_refused():
    X, y = regression()
    with pytest.raises(TypeError, match="soft ones"):
        to_sql(SoftTreeRegressor(max_epochs=1).fit(X, y))
    with pytest.raises(TypeError, match="TreeNTKRegressor"):
        to_sql(TreeNTKRegressor().fit(X, y))
    with pytest.raises(NotFittedError):
        to_sql(CurvatureTreeRegressor())
    with pytest.raises(ValueError, match="one output or at most two classes"):
        to_sql(CurvatureTreeRegressor().fit(X, np.column_stack([y, -y])))
    with pytest.raises(ValueError, match="one output or at most two classes"):
        to_sql(CurvatureTreeClassifier().fit(X, np.digitize(y, [100, 200])))
    mixed = pd.DataFrame({"city": ["a", 1, "c", "a"] * 10, "age": np.arange(40.0)})
    with pytest.raises(ValueError, match="'city' holds text and numbers"):
        to_sql(SymmetricBoostingClassifier(max_iter=2).fit(mixed, np.arange(40) > 20))


def test_a_constant_that_is_not_finite_is_refused():
    X, y = regression()
    model = SymmetricBoostingRegressor(max_iter=2).fit(X, y)
    model.baseline_ = np.array([np.inf])
    with pytest.raises(ValueError, match="the constant of this SymmetricBoostingRegressor is not finite"):
        to_sql(model)
