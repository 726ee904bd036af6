"""Bad tables are refused with the column and the remedy, odd ones are fitted."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    SoftTreeRegressor,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
)
from fctree.kernels import tree_ntk
from sklearn.base import clone
from table_cases import REGRESSORS, as_arrow, as_objects, as_pandas, as_polars, mixed_columns

COLUMNS, Y = mixed_columns(80, 15)
FRAME = as_pandas(COLUMNS)
each_family = pytest.mark.parametrize("name", REGRESSORS)


@each_family
@pytest.mark.parametrize("frame", [as_pandas, as_polars, as_arrow, as_objects])
def test_text_without_categories_names_the_column_and_the_remedy(name, frame):
    model = clone(REGRESSORS[name]).set_params(categorical_features=None)
    with pytest.raises(ValueError, match=r"column '(city|x1)' holds text.*from_dtype"):
        model.fit(frame(COLUMNS), Y)
    assert not hasattr(model, "n_features_in_")


@each_family
def test_text_in_a_column_of_numbers_is_refused_at_prediction(name):
    fitted = clone(REGRESSORS[name]).fit(FRAME, Y)
    with pytest.raises(ValueError, match="column 'age' holds text.*in fit the column held numbers. If"):
        fitted.predict(FRAME.assign(age="old"))
    with pytest.raises(ValueError, match="features"):
        fitted.predict(as_objects(COLUMNS)[:, :2])


@each_family
def test_one_row_of_text_and_numbers_is_no_table(name):
    fitted = clone(REGRESSORS[name]).fit(FRAME, Y)
    row = FRAME.iloc[0]
    for one_dimensional in (row, row.to_numpy(), list(row)):
        with pytest.raises(ValueError, match=r"got 1D array instead.*df\.iloc\[\[0\]\]"):
            fitted.predict(one_dimensional)
    assert fitted.predict(FRAME.iloc[[0]]).shape == (1,)


@pytest.mark.parametrize(
    "chosen, error",
    [
        (["town"], "'town', which X does not have"),
        ([4], "4, which is no column"),
        ([-1], "-1, which is no column"),
        ([1.5], "1.5, which is no column"),
        ([True, False], "a mask of 2 columns, but X has 4"),
        ([[1]], "must be a list"),
        ({"city"}, "must be a list of names or indices, or a mask, got a set"),
        ("city", "categorical_features"),
    ],
)
def test_columns_that_are_not_there_are_refused(chosen, error):
    with pytest.raises(ValueError, match=error):
        CurvatureTreeRegressor(categorical_features=chosen).fit(FRAME, Y)


def test_names_need_named_columns():
    with pytest.raises(ValueError, match="have no names"):
        CurvatureTreeRegressor(categorical_features=["city"]).fit(as_objects(COLUMNS), Y)


@each_family
def test_infinity_is_refused_as_before(name):
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[3, 1] = np.inf
    if name == "symmetric":
        clone(REGRESSORS[name]).fit(X, X[:, 0])  # the largest value
        return
    with pytest.raises(ValueError, match="Input X contains infinity"):
        clone(REGRESSORS[name]).fit(X, X[:, 0])
    fitted = clone(REGRESSORS[name]).fit(X[4:], X[4:, 0])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        fitted.predict(X)


@pytest.mark.parametrize("frame", [as_pandas, as_polars, as_arrow])
def test_the_column_with_infinity_is_named(frame):
    columns = {**COLUMNS, "age": np.where(np.arange(len(Y)) == 3, np.inf, COLUMNS["age"])}
    with pytest.raises(ValueError, match=r"infinity.*\['age'\]"):
        SoftTreeRegressor(max_epochs=1).fit(frame(columns), Y)


def test_categories_of_another_type_than_in_training_are_told():
    numbers = pd.DataFrame({"code": pd.Categorical([1, 2, 3, 4] * 20)})
    model = CurvatureTreeRegressor().fit(numbers, Y)
    with pytest.warns(UserWarning, match=r"'code'.*another type.*such as '1' where fit has seen 1"):
        model.predict(numbers.astype(str).astype("category"))


QUANTITY = np.random.default_rng(3).normal(size=80).round(3)


@each_family
@pytest.mark.parametrize("frame", [as_pandas, as_polars, as_arrow, as_objects])
def test_numbers_that_were_read_as_text_are_told(name, frame):
    texts = QUANTITY.astype(str).astype(object)
    texts[5] = "?"
    model, table = clone(REGRESSORS[name]), frame({**COLUMNS, "city": texts})
    with pytest.warns(UserWarning, match=r"columns \['(city|x1)'\] .*look like numbers or dates.*to_numeric"):
        model.fit(table, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.predict(table)
        clone(model).set_params(categorical_features=[1, 2]).fit(table, Y)


def test_the_columns_of_numbers_that_were_read_as_text_are_told_at_once():
    frame = pd.DataFrame({"a": QUANTITY.astype(str), "b": QUANTITY, "c": [str(number) for number in range(80)]})
    with pytest.warns(UserWarning, match=r"columns \['a', 'c'\]") as told:
        CurvatureTreeRegressor().fit(frame, Y)
    assert len(told) == 1


def test_fractions_that_were_read_as_text_are_told_though_some_are_equal():
    texts = [str(number) for number in np.arange(80) // 3 / 10]
    with pytest.warns(UserWarning, match="look like numbers"):
        CurvatureTreeRegressor().fit(pd.DataFrame({"a": texts}), Y)


@pytest.mark.parametrize("texts", [
    pd.Categorical(QUANTITY.astype(str)),
    [f"{number:05}" for number in range(1067, 1147)],
    [str(1950 + number // 2) for number in range(80)],
    [str(number / 10) for number in np.arange(80) % 8],
    ["1", "2", "3", "x"] * 20,
    [str(number) if number % 5 else f"v{number}" for number in range(80)],
], ids=["categorical", "leading zeros", "years", "versions", "codes", "some are words"])
def test_codes_are_categories_without_a_warning(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CurvatureTreeRegressor().fit(pd.DataFrame({"code": texts}), Y)


def test_what_is_neither_text_nor_number_is_named():
    table = as_objects(COLUMNS)
    table[3, 0] = {"a": 1}
    with pytest.raises(TypeError, match="column 'x0' holds values of type dict"):
        CurvatureTreeRegressor().fit(table, Y)


@each_family
@pytest.mark.parametrize(
    "column",
    [
        np.full(80, "one", dtype=object),
        np.array([f"level {number}" for number in range(80)], dtype=object),
        np.array([None, "a"] * 40, dtype=object),
        np.array(["", " ", "\u00e9", "\n", "'"] * 16, dtype=object),
    ],
    ids=["constant", "all distinct", "missing or not", "odd text"],
)
def test_odd_columns_are_fitted(name, column):
    table = as_objects(COLUMNS)
    table[:, 2] = column
    model = clone(REGRESSORS[name]).fit(table, Y)
    assert np.all(np.isfinite(model.predict(table)))


@each_family
def test_a_table_of_one_constant_category_is_fitted(name):
    table = np.full((30, 1), "same", dtype=object)
    model = clone(REGRESSORS[name]).fit(table, np.arange(30.0))
    assert np.all(np.isfinite(model.predict(table)))
    assert np.all(np.isfinite(model.predict(np.array([["other"]], dtype=object))))


@each_family
def test_a_column_without_values_is_fitted(name):
    frame = FRAME.assign(age=np.nan)
    model = clone(REGRESSORS[name]).fit(frame, Y)
    predicted = model.predict(frame)
    assert np.all(np.isfinite(predicted))
    if name != "symmetric":  # what training never saw has no effect
        np.testing.assert_array_equal(model.predict(frame.assign(age=3.0)), predicted)


@pytest.mark.parametrize(
    "model", [CurvatureTreeRegressor(), SoftTreeRegressor(max_epochs=2, random_state=0), TreeNTKRegressor(alpha=1.0)]
)
def test_missing_numbers_are_the_mean_and_an_indicator(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + 5.0
    X[rng.random(200) < 0.3, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), 3.0, 0.0) + X[:, 1]
    fitted = clone(model).fit(X, y)
    by_hand = np.column_stack(
        [np.where(np.isnan(X[:, 0]), np.nanmean(X[:, 0]), X[:, 0]), np.isnan(X[:, 0]), X[:, 1]]
    )
    np.testing.assert_allclose(fitted.encoder_.means, np.nanmean(X, axis=0), rtol=1e-13)
    expected = clone(model).fit(by_hand, y).predict(by_hand)
    np.testing.assert_allclose(fitted.predict(X), expected, rtol=1e-6, atol=1e-8)


def test_partial_fit_learns_no_categories():
    with pytest.raises(ValueError, match="partial_fit cannot learn categories"):
        SoftTreeRegressor().partial_fit(FRAME, Y)
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[::5, 0] = np.nan
    model = SoftTreeRegressor(random_state=0).partial_fit(X, X[:, 1])
    model.partial_fit(X, X[:, 1])
    assert np.all(np.isfinite(model.predict(X)))


def test_directions_of_categories_are_refused_and_of_numbers_kept():
    frame = FRAME.fillna({"age": 40.0})
    with pytest.raises(ValueError, match="monotonic_cst must be 0 for categories, got 1 for column 'city'"):
        SymmetricBoostingRegressor(monotonic_cst={"city": 1}).fit(frame, Y)
    model = SymmetricBoostingRegressor(monotonic_cst={"age": 1}, max_iter=20).fit(frame, -Y)
    older = [model.predict(frame.assign(age=float(age))) for age in range(20, 70, 5)]
    assert np.all(np.diff(older, axis=0) >= -1e-12)


def test_integers_of_128_bits_are_numbers():
    polars = pytest.importorskip("polars")
    column = polars.Series([2**70, 1, 2] * 10, dtype=polars.Int128)
    X = polars.DataFrame({"large": column, "small": list(range(30))})
    model = clone(REGRESSORS["tree"]).fit(X, np.arange(30.0))
    assert np.all(np.isfinite(model.predict(X)))


@each_family
@pytest.mark.parametrize("frame", [as_pandas, as_polars, as_arrow, as_objects])
def test_a_column_that_is_empty_in_training_may_hold_text_later(name, frame):
    empty = frame({**COLUMNS, "city": np.full(80, None)})
    fitted = clone(REGRESSORS[name]).fit(empty, Y)
    assert fitted.encoder_.categories[1] == []
    known = fitted.predict(empty)
    np.testing.assert_allclose(fitted.predict(frame(COLUMNS)), known, rtol=1e-9)


@pytest.mark.parametrize("chosen", [None, "from_dtype"])
@pytest.mark.parametrize("dates", [
    np.arange(80).astype("datetime64[ns]"), np.arange(80).astype("timedelta64[D]"),
    np.array([date(2026, 1, 1 + day % 28) for day in range(80)])])
def test_dates_are_no_numbers(chosen, dates):
    X = FRAME[["age"]].assign(day=dates)
    with pytest.raises(TypeError, match="column 'day' holds values of type .* days since a date"):
        CurvatureTreeRegressor(categorical_features=chosen).fit(X, Y)
    with pytest.raises(TypeError, match="make numbers of them"):
        CurvatureTreeRegressor().fit(dates[:, np.newaxis], Y)


@pytest.mark.parametrize("in_fit, later", [
    (pd.Timestamp("2026-01-05"), date(2026, 1, 5)), (pd.Timestamp("2026-01-05"), "2026-01-05"), ("oslo", "OSLO"), ("1", "1.0")])
def test_values_that_are_all_unknown_warn(in_fit, later):
    frame = FRAME[["age"]].assign(c=pd.Series([in_fit, None, "b", "c"] * 20, dtype=object))
    model = SymmetricBoostingRegressor(max_iter=2, categorical_features=["c"]).fit(frame, Y)
    few = pd.Series([later, None] * 9, dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
        model.predict(frame[:18].assign(c=few))
        model.predict(frame.assign(c=None))
        model.predict(frame.assign(c=["b"] + [later] * 79))
    for n in (80, 10):
        with pytest.warns(UserWarning, match=f"'c': all of its {n} values count as unknown categories, because fit has seen none"):
            model.predict(frame[:n].assign(c=later))


def test_complex_numbers_are_refused_by_name():
    for dtype in (np.complex64, complex):
        wave = FRAME.assign(wave=np.full(80, 1j, dtype=dtype))
        for X in (wave, wave[["wave"]].astype("category")):
            with pytest.raises(ValueError, match="Complex data not supported: column 'wave'"):
                CurvatureTreeRegressor().fit(X, Y)


def test_integers_of_arrow_may_be_larger_than_a_double_can_tell():
    pa = pytest.importorskip("pyarrow")
    X = pa.table({"id": pa.array([2**60 + 1, None] * 40), "city": list(COLUMNS["city"])})
    assert np.isfinite(CurvatureTreeRegressor().fit(X, Y).predict(X)).all()


@pytest.mark.parametrize("values, kind", [([[1], [2, 3], None], "list"), ([{"a": 1}, {"a": 2}, None], "dict")])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_lists_are_refused_or_categories(library, values, kind):
    module = pytest.importorskip(library)
    columns = {"x": [float(row) for row in range(30)], "tags": values * 10}
    X = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    X, targets = getattr(module, X)(columns), np.arange(30.0) % 3
    for chosen in ("from_dtype", None, ["x"]):
        model = SymmetricBoostingRegressor(max_iter=3, categorical_features=chosen)
        with pytest.raises(TypeError, match=f"column 'tags' holds values of type {kind}.*a column for each"):
            model.fit(X, targets)
    model = SymmetricBoostingRegressor(max_iter=3, categorical_features=["tags"], random_state=0)
    as_text = {**columns, "tags": [value and str(value) for value in columns["tags"]]}
    expected = clone(model).fit(as_pandas(as_text), targets).predict(as_pandas(as_text))
    np.testing.assert_array_equal(model.fit(X, targets).predict(X), expected)
    assert model.encoder_.categories[1] == sorted(map(str, values[:2]))


@each_family
@pytest.mark.parametrize("scale", [1e150, 1e155, 1e300])
def test_targets_that_are_too_large_for_statistics(name, scale):
    frame = FRAME.assign(city=[f"city {i % 9}" for i in range(len(FRAME))])
    with warnings.catch_warnings(), pytest.raises(ValueError, match="y is too large beside columns of categories"):
        warnings.simplefilter("error")
        clone(REGRESSORS[name]).fit(frame, np.ldexp(Y, 3) * scale)


@pytest.mark.parametrize("ensemble", [CurvatureBoostingRegressor(max_iter=2), CurvatureForestRegressor(n_estimators=2)])
def test_categories_are_named_by_the_ensemble_and_not_by_its_tree(ensemble):
    X = np.random.default_rng(0).integers(0, 9, size=(80, 3)).astype(float)
    ensemble = clone(ensemble)
    for chosen in ([2], None):
        ensemble.tree = CurvatureTreeRegressor(categorical_features=chosen)
        with pytest.raises(ValueError, match=r"Curvature(Boosting|Forest)Regressor\(categorical_features=\.\.\.\)"):
            ensemble.fit(X, Y)
    ensemble.set_params(tree__categorical_features=[2], categorical_features=[2]).fit(X, Y)
    ensemble.set_params(tree__categorical_features="from_dtype").fit(X, Y)


def test_text_that_pandas_cannot_encode(monkeypatch):
    """Half of a surrogate pair, of which some versions of pandas make no table of distinct values."""
    frame = pd.DataFrame({"a": pd.Series(["a\ud800", "b", "c", "d"] * 20, dtype=object), "x": np.arange(80.0)})
    expected = CurvatureTreeRegressor().fit(frame, Y).predict(frame)

    def cannot(self):
        "\ud800".encode()

    monkeypatch.setattr(pd.Series, "factorize", cannot)
    np.testing.assert_array_equal(CurvatureTreeRegressor().fit(frame, Y).predict(frame), expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_without_columns(library):
    module = pytest.importorskip(library)
    if library == "pandas":
        frame = pd.DataFrame(index=range(5))
    else:
        frame = module.DataFrame() if library == "polars" else module.table({})
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=.*\) while a minimum of 1 is required"):
        CurvatureTreeRegressor().fit(frame, np.arange(5.0))


@each_family
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_masked_values_are_missing(name, dtype):
    rng = np.random.default_rng(0)
    X = np.round(10.0 * rng.normal(size=(60, 3))).astype(dtype)
    y = X[:, 0] + rng.normal(size=60)
    masked = np.ma.masked_array(X, mask=rng.uniform(size=X.shape) < 0.2)
    missing = np.where(masked.mask, np.nan, X).astype(np.float32 if dtype == np.float32 else np.float64)
    model = clone(REGRESSORS[name]).set_params(categorical_features=None)
    expected, found = clone(model).fit(missing, y), model.fit(masked, y)
    np.testing.assert_array_equal(found.predict(masked), expected.predict(missing))
    # What is below a mask that hides nothing is the array.
    np.testing.assert_array_equal(found.predict(np.ma.masked_array(X)), expected.predict(X))


def test_masked_values_where_there_can_be_none():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    for hidden in (np.ma.masked_greater(y, 27.0), np.ma.masked_greater(np.stack([y, y], axis=1), 28.5)):
        with pytest.raises(ValueError, match="y is a masked array with 2 masked values"):
            CurvatureTreeRegressor().fit(X, hidden)
    with pytest.raises(ValueError, match="sample_weight is a masked array with 2 masked"):
        TreeNTKRegressor().fit(X, y, np.ma.masked_greater(y, 27.0))
    with pytest.raises(ValueError, match="X is a masked array with"):
        tree_ntk(np.ma.masked_greater(X, 1.0))


def test_missing_values_of_pandas_where_there_can_be_none():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    for weight in (pd.Series([pd.NA, *y[1:]], dtype=object), pd.array([None, *y[1:]], dtype="Float64")):
        with pytest.raises(ValueError, match="Input sample_weight contains NaN"):
            CurvatureTreeRegressor().fit(X, y, weight)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        CurvatureTreeRegressor().fit(X, y).predict(np.array([pd.NA, 1.0], dtype=object))


def test_masked_text_is_a_missing_category():
    text = np.ma.masked_array([["a"], ["b"], ["a"], ["c"]] * 10, mask=[[False], [False], [False], [True]] * 10)
    table = text.astype(object).filled(None)
    y = np.tile([0.0, 1.0, 0.0, 5.0], 10)
    found, expected = (CurvatureTreeRegressor().fit(X, y).predict(X) for X in (text, table))
    np.testing.assert_array_equal(found, expected)
