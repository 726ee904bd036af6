"""Validation of X and y: rejected with scikit-learn's messages, or accepted unchanged."""

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SoftTreeClassifier,
)
from fctree.inspection import variable_importance
from reference.tree_comparison import smooth_table
from scipy import sparse
from sklearn.base import clone
from table_cases import CLASSIFIERS, REGRESSORS

ESTIMATORS = [FCODTRegressor, FCODTClassifier]


@pytest.fixture(params=ESTIMATORS)
def problem(request):
    X, y = smooth_table(60, 4, seed=90)
    classes = (y > np.median(y)).astype(int)
    return request.param, X, y if request.param is FCODTRegressor else classes


@pytest.mark.parametrize("bad, message", [
    (np.inf, "Input X contains infinity"), (-np.inf, "Input X contains infinity"),
    ({}, "column 'x1' holds values of type dict"),
])
def test_infinite_features_are_refused(problem, bad, message):
    kind, X, y = problem
    X_bad = X.astype(object if isinstance(bad, dict) else float)
    X_bad[3, 1] = bad
    with pytest.raises((ValueError, TypeError), match=message):
        kind().fit(X_bad, y)
    model = kind().fit(X, y)
    for method in ("predict", "apply", "decision_path", "predict_proba", "decision_function"):
        if hasattr(model, method):
            with pytest.raises((ValueError, TypeError), match=message):
                getattr(model, method)(X_bad)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_missing_and_infinite_targets_are_refused(bad, n_outputs):
    X, Y = smooth_table(60, 4, n_outputs, seed=91)
    Y.flat[5] = bad
    with pytest.raises(ValueError, match="Input y contains (NaN|infinity)"):
        FCODTRegressor().fit(X, Y)


@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
@pytest.mark.parametrize("y, kind", [
    (pd.Series(pd.date_range("2020", periods=60)).where(np.arange(60) != 7), "datetime64"),
    (np.arange(60).astype("timedelta64[h]"), "timedelta64"),
    (np.full((60, 2), np.datetime64("2020-01-01")), "datetime64"),
])
def test_dates_and_durations_as_targets_are_refused(model, y, kind):
    X, _ = smooth_table(60, 2, seed=91)
    model = clone(model)
    with pytest.raises(TypeError, match=f"y is of type {kind}.*days since a date"):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_features_are_refused(problem, make):
    kind, X, y = problem
    with pytest.raises(TypeError, match="Sparse data was passed.*sparse_output=False.*sparse_threshold=0"):
        kind().fit(make(X), y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        kind().fit(X, y).predict(make(X))


@pytest.mark.parametrize("shape, message", [
    ((0, 4), "0 sample"), ((60, 0), "0 feature"), ((60,), "Expected 2D array"),
    ((60, 2, 2), "dim 3|3D"), ((59, 4), "inconsistent numbers of samples"),
])
def test_shapes_that_do_not_fit_are_refused(problem, shape, message):
    kind, _, y = problem
    with pytest.raises(ValueError, match=message):
        kind().fit(np.zeros(shape), y[: shape[0]] if shape[0] == 0 else y)


def test_a_missing_target_is_refused(problem):
    kind, X, _ = problem
    with pytest.raises(ValueError, match="requires y to be passed"):
        kind().fit(X, None)


def test_predicting_needs_a_fit_and_the_same_features(problem):
    kind, X, y = problem
    for method in ("predict", "apply", "decision_path", "get_depth", "get_n_leaves"):
        arguments = () if method.startswith("get") else (X,)
        with pytest.raises(ValueError, match="not fitted yet"):  # NotFittedError
            getattr(kind(), method)(*arguments)
    with pytest.raises(AttributeError):  # as hasattr and scikit-learn expect
        kind().feature_importances_
    model = kind().fit(X, y)
    message = re.escape("X has 3 features") + ".*expecting 4 features"
    with pytest.raises(ValueError, match=message):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])


def views(X):
    """The same numbers in memory laid out otherwise."""
    read_only = X.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.float64, offset=1).reshape(X.shape)
    return {
        "fortran": np.asfortranarray(X),
        "read-only": read_only,
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "reversed": X[::-1].copy()[::-1],
        "every second column": np.repeat(X, 2, axis=1)[:, ::2],
        "object": X.astype(object),
        "nested lists": X.tolist(),
        "frame": pd.DataFrame(X).to_numpy(),
        "swapped bytes": X.astype(X.dtype.newbyteorder()),
        "unaligned": unaligned,
    }


def test_layouts_and_containers_give_the_same_bytes(problem):
    kind, X, y = problem
    reference = kind().fit(X, y)
    for name, same in views(X).items():
        model = kind().fit(same, y)
        np.testing.assert_array_equal(model.tree_.coef, reference.tree_.coef, err_msg=name)
        np.testing.assert_array_equal(model.predict(same), reference.predict(X), err_msg=name)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.float32, bool])
def test_number_types_are_converted(problem, dtype):
    kind, X, y = problem
    small = (X * 3).astype(dtype)
    reference = kind().fit(small.astype(np.float64), y)
    model = kind().fit(small, y)
    np.testing.assert_array_equal(model.predict(small), reference.predict(small.astype(float)))
    assert model.predict(small).dtype == reference.predict(small.astype(float)).dtype


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float16, bool])
def test_target_types_are_converted(dtype):
    X, y = smooth_table(60, 3, seed=92)
    target = (y * 3).astype(dtype)
    prediction = FCODTRegressor().fit(X, target).predict(X)
    assert prediction.dtype == np.float64
    reference = FCODTRegressor().fit(X, target.astype(float)).predict(X)
    np.testing.assert_array_equal(prediction, reference)


def test_targets_in_other_layouts():
    X, Y = smooth_table(60, 3, 2, seed=93)
    reference = FCODTRegressor().fit(X, Y).predict(X)
    read_only = Y.copy()
    read_only.flags.writeable = False
    for same in (np.asfortranarray(Y), read_only, Y.tolist(), pd.DataFrame(Y), Y.astype(object)):
        np.testing.assert_array_equal(FCODTRegressor().fit(X, same).predict(X), reference)


def test_inputs_are_left_alone(problem):
    kind, X, y = problem
    weight = np.random.default_rng(0).uniform(1, 2, len(X))
    before = X.copy(), y.copy(), weight.copy()
    model = kind().fit(X, y, sample_weight=weight)
    model.predict(X)
    for array, copy in zip((X, y, weight), before):
        np.testing.assert_array_equal(array, copy)
    arrays = {name: value.copy() for name, value in vars(model.tree_).items()
              if isinstance(value, np.ndarray)}
    X[:] = 0  # the model keeps nothing of the data
    for name, value in arrays.items():
        np.testing.assert_array_equal(getattr(model.tree_, name), value)


def test_text_and_complex_numbers_are_refused(problem):
    kind, X, y = problem
    with pytest.raises(ValueError, match="column 'x0' holds text"):
        kind(categorical_features=None).fit(np.full(X.shape, "tall"), y)
    with pytest.raises(ValueError, match="Complex data not supported"):
        kind().fit(X + 1j, y)


def test_targets_without_an_output_are_said_to_be_in_y(problem):
    kind, X, y = problem
    with pytest.raises(ValueError, match=r"y has the shape \(\d+, 0\)"):
        kind().fit(X, np.empty((len(X), 0)))


def test_classes_must_be_classes():
    X, y = smooth_table(60, 3, seed=94)
    with pytest.raises(ValueError, match="Unknown label type"):
        FCODTClassifier().fit(X, y)
    with pytest.raises(ValueError):
        FCODTClassifier().fit(X, np.column_stack([y > 0, y > 1]))


@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("labels, kinds", [
    ([1, "a"], "int, str"), (["a", 1], "int, str"), (["a", None], "NoneType, str"), ([None, None], "NoneType")])
def test_labels_that_do_not_mix_are_named(model, labels, kinds):
    X = smooth_table(60, 3, seed=94)[0]
    with pytest.raises((TypeError, ValueError), match=f"y holds labels of type {kinds}:"):
        clone(model).fit(X, np.array(labels * 30, dtype=object))


@pytest.mark.parametrize("missing", [np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_missing_labels_are_said_to_be_in_y(model, missing):
    X = smooth_table(60, 3, seed=94)[0]
    labels = np.array(["a", missing] * 30, dtype=object)
    frame = pd.DataFrame({"number": X[:, 0], "text": ["u", "v"] * 30})
    for features, y in ((X, labels), (frame, pd.Series(labels).astype("category"))):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            clone(model).fit(features, y)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        variable_importance(CLASSIFIERS["boosting"], X, labels)


def test_classes_that_do_not_mix_are_named():
    X = smooth_table(60, 3, seed=94)[0]
    with pytest.raises(TypeError, match="classes holds labels of several types"):
        SoftTreeClassifier().partial_fit(X, np.repeat(["a", "b"], 30), classes=["a", None])


def test_a_column_of_targets_is_one_target():
    X, y = smooth_table(60, 3, seed=95)
    column = FCODTRegressor().fit(X, y[:, None])
    vector = FCODTRegressor().fit(X, y)
    np.testing.assert_array_equal(np.ravel(column.predict(X)), vector.predict(X))
    with pytest.warns(match="column-vector y was passed"):
        FCODTClassifier().fit(X, (y > 1)[:, None])


@pytest.mark.parametrize("model", [
    CurvatureBoostingRegressor(max_iter=2), CurvatureForestRegressor(n_estimators=2), CurvatureTreeRegressor()])
def test_a_large_table_is_never_converted_as_a_whole(model, tmp_path):
    features = np.memmap(tmp_path / "table", dtype=np.float32, mode="w+", shape=(600_000, 16))
    features[:] = np.random.default_rng(0).normal(size=16).astype(np.float32)
    features[::3, 1] = np.arange(200_000)
    few = np.array(features[:300])
    model = clone(model).fit(few, few[:, 1])
    tracemalloc.start()
    predicted = model.predict(features)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.1 * 2**25 + 3 * predicted.nbytes  # a part as float64, and its answers
    assert np.array_equal(predicted, model.predict(np.array(features, dtype=float)))
    features[-1, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(features)
