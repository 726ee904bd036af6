"""Categories on Dask: the encoders of the plain estimators, byte for byte, from any partitions."""

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402
from optional.dask_cluster import client  # noqa: E402, F401
from table_cases import as_categorical, as_objects, as_pandas, mixed_columns  # noqa: E402

import fctree  # noqa: E402
import fctree.dask  # noqa: E402

COLUMNS, Y = mixed_columns(400)
FRAME = as_pandas(COLUMNS)
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
WEIGHT = np.random.default_rng(3).integers(0, 4, len(Y)) * 0.25
MODELS = {
    "SymmetricBoostingRegressor": {"max_iter": 4, "max_depth": 3},
    "SymmetricBoostingClassifier": {"max_iter": 4, "max_depth": 3},
    "CurvatureBoostingRegressor": {"max_iter": 2},
    "CurvatureBoostingClassifier": {"max_iter": 2},
    "CurvatureForestRegressor": {"n_estimators": 2},
    "TreeNTKRegressor": {"solver": "cg", "alpha": 30.0, "tol": 1e-9},
    "TreeNTKClassifier": {"solver": "cg", "alpha": 30.0, "tol": 1e-9},
}


def cut(values, ends=(0, 130, 131, 131, 400)):
    """Rows as a Dask collection with these partitions, one of them empty."""
    parts = [values[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
    if isinstance(values, np.ndarray):
        return da.from_array(values, chunks=(tuple(map(len, parts)), *values.shape[1:]))
    return dd.from_map(lambda part: part, parts, meta=values[:0])


def both(name, X, y, weight=None, **params):
    """The plain model and that of partitions."""
    params = {**MODELS[name], "random_state": 0, **params}
    local = getattr(fctree, name)(**params).fit(X, y, sample_weight=weight)
    cuts = [None if values is None else cut(values) for values in (X, pd.Series(y), weight)]
    if isinstance(X, np.ndarray):
        cuts[1] = cut(y)
    elif weight is not None:
        cuts[2] = cut(pd.Series(weight))
    return local, getattr(fctree.dask, f"Dask{name}")(**params).fit(*cuts)


def assert_same_encoder(ours, theirs):
    assert ours.categories == theirs.categories
    for name, value in vars(theirs).items():
        if isinstance(value, np.ndarray):
            assert getattr(ours, name).tobytes() == value.tobytes(), name
        elif name != "categories" and isinstance(value, list):
            assert len(getattr(ours, name)) == len(value)
            for one, other in zip(getattr(ours, name), value, strict=True):
                assert one.tobytes() == other.tobytes(), name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_encoders_are_those_of_the_plain_estimators(name, weighted):
    y = LABELS if name.endswith("Classifier") else Y
    local, on_dask = both(name, FRAME, y, WEIGHT if weighted else None)
    assert_same_encoder(on_dask.encoder_, local.encoder_)
    assert on_dask.feature_names_in_.tolist() == list(FRAME)
    found = on_dask.predict(cut(FRAME)).compute()
    if name.startswith("CurvatureBoosting"):  # equal up to rounding where the trees are
        np.testing.assert_array_equal(found, on_dask.to_local().predict(FRAME))
    elif name.startswith("TreeNTK"):
        scores = getattr(local, "decision_function", local.predict)(FRAME)
        ours = getattr(on_dask, "decision_function", on_dask.predict)(cut(FRAME)).compute()
        np.testing.assert_allclose(ours, scores, atol=1e-6)
    else:
        for array, values in vars(local.trees_).items():
            assert getattr(on_dask.trees_, array).tobytes() == values.tobytes(), array
        np.testing.assert_array_equal(found, local.predict(FRAME))


@pytest.mark.parametrize("name", ["SymmetricBoostingRegressor", "CurvatureBoostingRegressor"])
def test_copies_share_their_folds_over_partitions(name):
    rows = np.tile(np.arange(200), 2)
    local, on_dask = both(name, FRAME[:200].iloc[rows].reset_index(drop=True), Y[rows])
    assert_same_encoder(on_dask.encoder_, local.encoder_)
    once = getattr(fctree, name)(**MODELS[name]).fit(FRAME[:200], Y[:200])
    for found, expected in zip(on_dask.encoder_.strengths, once.encoder_.strengths, strict=True):
        np.testing.assert_allclose(found[: len(once.encoder_.targets)], expected[: len(once.encoder_.targets)], rtol=1e-6)


def interacting(n=400):
    """Two categories of which only the pair says something, and a number."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 6, n), rng.integers(0, 7, n)
    X = pd.DataFrame({"a": [f"a{v}" for v in a], "b": [f"b{v}" for v in b], "x": rng.normal(size=n)})
    return X, 3.0 * rng.normal(size=(6, 7))[a, b] + 0.1 * rng.normal(size=n)


def test_pairs_of_columns_are_the_same():
    X, y = interacting()
    local, on_dask = both("SymmetricBoostingRegressor", X, y)
    assert local.encoder_.pairs.tolist() == [[0, 1]]
    assert_same_encoder(on_dask.encoder_, local.encoder_)
    np.testing.assert_array_equal(on_dask.predict(X), local.predict(X))


def test_categories_without_a_mean_of_their_own_are_indicators_there_too():
    X = pd.DataFrame({"a": [f"a{v % 8}" for v in range(400)], "x": Y})
    y = np.random.default_rng(5).normal(size=400)
    local, on_dask = both("SymmetricBoostingRegressor", X, y)
    assert not local.encoder_.has_statistics(0)
    assert_same_encoder(on_dask.encoder_, local.encoder_)
    np.testing.assert_array_equal(on_dask.predict(X), local.predict(X))


def test_arrays_of_objects_and_categorical_types_are_read():
    X = as_objects(COLUMNS)
    local, on_dask = both("SymmetricBoostingRegressor", X, Y)
    assert_same_encoder(on_dask.encoder_, local.encoder_)
    local, on_dask = both("SymmetricBoostingRegressor", as_categorical(COLUMNS), Y)
    assert_same_encoder(on_dask.encoder_, local.encoder_)


def test_a_column_with_text_in_one_partition_only_holds_categories():
    X = np.empty((400, 2), dtype=object)
    X[:, 0] = np.arange(400) % 5
    X[300:, 0] = "late"
    X[:, 1] = Y
    local, on_dask = both("SymmetricBoostingRegressor", X, Y)
    assert on_dask.encoder_.categories[0] == [0, 1, 2, 3, 4, "late"]
    assert_same_encoder(on_dask.encoder_, local.encoder_)


def test_a_partition_without_values_follows_the_others():
    X = np.full((400, 3), None, dtype=object)
    X[200:, 0] = np.arange(200) % 7
    X[200:, 1] = "late"
    local, on_dask = both("SymmetricBoostingRegressor", X, Y)
    assert on_dask.encoder_.categories == [None, ["late"], []]
    assert_same_encoder(on_dask.encoder_, local.encoder_)


def test_missing_numbers_are_means_without_categories_too():
    X = FRAME[["age", "member"]].astype(float).to_numpy()
    local, on_dask = both("CurvatureBoostingRegressor", X, Y)
    assert_same_encoder(on_dask.encoder_, local.encoder_)
    np.testing.assert_allclose(on_dask.predict(X), local.predict(X), rtol=1e-6)


@pytest.mark.parametrize("name", ["CurvatureBoostingRegressor", "TreeNTKRegressor"])
def test_means_are_not_rounded_to_the_type_of_the_numbers(name):
    X = FRAME[["age", "member"]].to_numpy(dtype=np.float32)
    _, single = both(name, X, Y)
    _, double = both(name, X.astype(np.float64), Y)
    np.testing.assert_array_equal(single.predict(X), double.predict(X))


@pytest.mark.parametrize("name", ["SymmetricBoostingRegressor", "CurvatureBoostingRegressor"])
def test_evaluation_sets_are_encoded_by_the_model(name):
    new = FRAME[:60].assign(city="elsewhere")
    params = {**MODELS[name], "random_state": 0}
    local = getattr(fctree, name)(**params).fit(FRAME, Y, eval_set=(new, Y[:60]))
    evaluation = dd.from_pandas(new, npartitions=2), dd.from_pandas(pd.Series(Y[:60]), npartitions=2)
    on_dask = getattr(fctree.dask, f"Dask{name}")(**params)
    on_dask.fit(cut(FRAME), cut(pd.Series(Y)), eval_set=evaluation)
    np.testing.assert_allclose(on_dask.validation_score_, local.validation_score_, rtol=1e-6)


@pytest.mark.parametrize("name", ["SymmetricBoostingRegressor", "CurvatureBoostingRegressor"])
def test_categories_of_evaluation_sets_may_be_rounded_to_float32(name):
    zone = np.random.default_rng(0).choice([0.1, 0.2, 0.3, 0.7, 0.9], 400)
    X, y = pd.DataFrame({"zone": zone, "x": Y}), np.where(zone == 0.3, 3.0, 0.0)
    params = {**MODELS[name], "random_state": 0, "categorical_features": ["zone"]}
    rounded = X.astype({"zone": np.float32})
    local = getattr(fctree, name)(**params).fit(X, y, eval_set=(rounded, y))
    assert local.validation_score_[-1] > local.validation_score_[0] + 0.1
    y = cut(pd.Series(y))
    on_dask = getattr(fctree.dask, f"Dask{name}")(**params).fit(cut(X), y, eval_set=(cut(rounded), y))
    np.testing.assert_allclose(on_dask.validation_score_, local.validation_score_, rtol=1e-6)


def test_categories_can_be_named_and_text_refused():
    zones = pd.DataFrame({"zone": np.arange(400) % 9, "x": Y})
    local, on_dask = both("SymmetricBoostingRegressor", zones, Y, categorical_features=["zone"])
    assert on_dask.encoder_.categories == [list(range(9)), None]
    assert_same_encoder(on_dask.encoder_, local.encoder_)
    with pytest.raises(ValueError, match="holds text"):
        both("SymmetricBoostingRegressor", FRAME, Y, categorical_features=[0])[1]
    model = fctree.dask.DaskSymmetricBoostingRegressor(categorical_features=None)
    with pytest.raises(ValueError, match="text"):
        model.fit(cut(FRAME), cut(pd.Series(Y)))


def test_other_columns_are_refused_where_predict_is_called():
    _, partitioned = both("SymmetricBoostingRegressor", FRAME, Y)
    for bad, message in ((FRAME[FRAME.columns[::-1]], "same order"), (FRAME[["city"]], "missing")):
        with pytest.raises(ValueError, match=message):
            partitioned.predict(cut(bad))


@pytest.mark.parametrize(("name", "seed"), [
    ("SymmetricBoostingRegressor", {"random_state": 0}), ("CurvatureForestRegressor", {"random_state": 0}), ("TreeNTKRegressor", {})])
def test_partitions_with_other_columns_than_the_collection(name, seed):
    """Those in another order are read by name, as Dask does; other names are refused."""
    parts = [FRAME[:200], FRAME[200:][FRAME.columns[::-1]]]
    X = dd.from_map(lambda part: part, parts, meta=FRAME[:0])
    y = cut(pd.Series(Y), (0, 200, 400))
    model = getattr(fctree.dask, f"Dask{name}")(**MODELS[name], **seed)
    found = model.fit(X, y).predict(X).compute()
    np.testing.assert_allclose(found, model.predict(FRAME), rtol=1e-12)
    straight = dd.from_map(lambda part: part[FRAME.columns], parts, meta=FRAME[:0])
    np.testing.assert_allclose(found, model.fit(straight, y).predict(FRAME), rtol=1e-12)
    other = dd.from_map(lambda part: part, [parts[0], parts[1].rename(columns={"city": "town"})], meta=FRAME[:0])
    with pytest.raises(ValueError, match="a partition of X has the columns .*town"):
        model.fit(other, y)
    with pytest.raises(ValueError, match="a partition of X has the columns .*town"):
        model.predict(other).compute()


@pytest.mark.parametrize("name", ["SymmetricBoostingClassifier", "CurvatureForestClassifier"])
def test_labels_of_nullable_types_stay_integers(name):
    labels = pd.Series(np.where(LABELS > 0, 2**53 + 1, 2**53)).astype("Int64")
    model = getattr(fctree.dask, f"Dask{name}")(random_state=0).fit(cut(FRAME), cut(labels))
    assert model.classes_.tolist() == [2**53, 2**53 + 1]
