"""Frames of all libraries: what is one, and what only looks like one."""

import numpy as np
import pandas as pd
import pytest
from fctree.kernels import tree_ntk
from sklearn.base import clone
from table_cases import CLASSIFIERS, REGRESSORS, as_pandas, as_polars, mixed_columns

COLUMNS, Y = mixed_columns(80, 15)
FRAME = as_pandas(COLUMNS)
each_family = pytest.mark.parametrize("name", REGRESSORS)


@each_family
def test_frames_that_cannot_be_read_say_so(name):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X = np.random.default_rng(0).normal(size=(80, 3))
    lazy, names = polars.DataFrame(X, schema=["a", "b", "c"]).lazy(), ["a", "b", "a"]
    twice = [pd.DataFrame(X, columns=names), pyarrow.table(list(X.T), names=names)]
    model = clone(REGRESSORS[name])
    for call in (lambda X: model.fit(X, Y), model.predict):
        with pytest.raises(TypeError, match=r"LazyFrame of polars: pass X.collect\(\)"):
            call(lazy)
        for table in twice:
            with pytest.raises(ValueError, match=r"same name: \['a'\]"):
                call(table)
        for part in (twice[1].column(0), pyarrow.table({"a": X[:, 0]}).to_reader()):
            with pytest.raises(TypeError, match=r"pyarrow, not a Table; .*read_all\(\)"):
                call(part)
        with pytest.raises(TypeError, match=r"structured array: pandas.DataFrame\(X\)"):
            call(np.zeros(80, dtype=[("a", float), ("b", float)]))
        model.fit(X, Y)


@each_family
def test_subclasses_of_frames_are_frames(name):
    """Such as a GeoDataFrame: text is read, and columns in another order are refused."""
    polars = pytest.importorskip("polars")

    class Table(pd.DataFrame):
        @property
        def _constructor(self):
            return Table

    class PolarsTable(polars.DataFrame):
        pass

    model = clone(REGRESSORS[name])
    expected = model.fit(FRAME, Y).predict(FRAME)
    for table in (Table(FRAME), PolarsTable(as_polars(COLUMNS))):
        np.testing.assert_array_equal(clone(model).fit(table, Y).predict(table), expected)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(Table(FRAME)[FRAME.columns[::-1]])


@each_family
def test_dictionaries_of_pyarrow_in_pandas_are_categories(name):
    pyarrow = pytest.importorskip("pyarrow")
    codes = pyarrow.array([None if i % 17 == 0 else i % 5 for i in range(80)]).dictionary_encode()
    table = pyarrow.table({"a": COLUMNS["age"], "code": codes})
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    model = clone(REGRESSORS[name])
    expected = model.fit(table, Y).predict(table)
    np.testing.assert_array_equal(model.fit(frame, Y).predict(frame), expected)
    assert model.encoder_.categories[1] == list(range(5))


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "boolean", "bool[pyarrow]", "UInt8"])
def test_labels_of_nullable_types_stay_what_they_are(name, kind):
    if "arrow" in kind:
        pytest.importorskip("pyarrow")
    X = np.random.default_rng(0).normal(size=(80, 3))
    labels = X[:, 0] > 0 if kind.startswith("bool") else np.where(X[:, 0] > 0, 2**53 + 1, 2**53) if "64" in kind else (X[:, 0] > 0) + 1
    y = pd.Series(labels).astype(kind)
    model = clone(CLASSIFIERS[name]).fit(X, y)
    assert model.classes_.tolist() == np.unique(labels).tolist()
    assert model.classes_.dtype.kind == np.dtype(labels.dtype if kind != "UInt8" else "u1").kind
    np.testing.assert_array_equal(model.predict(X), clone(CLASSIFIERS[name]).fit(X, labels).predict(X))
    assert clone(CLASSIFIERS[name]).fit(X, y.to_frame()).classes_.tolist() == model.classes_.tolist()
    y[3] = pd.NA
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(X, y)


def test_float32_columns_of_any_frame_are_float32_samples():
    """Soft trees train and kernels are computed in it: as of the array."""
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frames = [frame, frame.astype("Float32"), polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)]
    plain = clone(REGRESSORS["soft"]).fit(X, Y)
    assert plain.split_weights_.dtype == np.float32
    for table in frames:
        model = clone(REGRESSORS["soft"]).fit(table, Y)
        assert model.split_weights_.tobytes() == plain.split_weights_.tobytes(), type(table)
        np.testing.assert_array_equal(model.predict(table), plain.predict(X))
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        gram = tree_ntk(table)
        assert gram.dtype == np.float32
        np.testing.assert_array_equal(gram, tree_ntk(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frames[2].select("b", "a", "c"))
    holes = frames[2].with_columns(polars.when(polars.col("a") > 0).then(polars.col("a")).alias("a"))
    model = clone(REGRESSORS["soft"]).fit(holes, Y)
    np.testing.assert_array_equal(model.predict(holes), model.predict(holes.to_pandas()))
