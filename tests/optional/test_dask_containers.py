"""Dask estimators and what users pass: frames in memory, masks, labels of text, evaluation sets, searches on workers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd
import joblib
from fctree import CurvatureForestRegressor, SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree.dask import (
    DaskCurvatureBoostingClassifier,
    DaskCurvatureForestClassifier,
    DaskCurvatureForestRegressor,
    DaskSymmetricBoostingClassifier,
    DaskSymmetricBoostingRegressor,
    DaskTreeNTKClassifier,
)
from optional.dask_cluster import client  # noqa: F401

pytestmark = pytest.mark.usefixtures("client")
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(240, 3)), columns=list("abc"))
Y = 3.0 * X.a + X.b
CLASSIFIERS = [
    DaskSymmetricBoostingClassifier(max_iter=3, random_state=0),
    DaskCurvatureBoostingClassifier(max_iter=3, random_state=0),
    DaskCurvatureForestClassifier(n_estimators=3, random_state=0),
    DaskTreeNTKClassifier(n_components=20, random_state=0),
]


def parts(frame):
    return dd.from_pandas(frame, npartitions=2)


def test_evaluation_sets_have_the_columns_of_the_training_samples():
    model = DaskSymmetricBoostingRegressor(max_iter=3, random_state=0)
    for columns in (list("cba"), list("ab"), list("abcd")):
        other = X.reindex(columns=columns, fill_value=0.0)
        with pytest.raises(ValueError, match=r"eval_set\[0\]: .*feature names"):
            model.fit(parts(X), parts(Y), eval_set=(parts(other), parts(Y)))
    with pytest.raises(ValueError, match=r"eval_set\[0\]: X has the shape"):
        model.fit(parts(X), parts(Y), eval_set=(da.ones((240, 2), chunks=120), parts(Y)))


@pytest.mark.parametrize("found, message", [(-1.0, "y >= 0"), (np.nan, "NaN")])
def test_faults_of_an_evaluation_set_are_said_to_be_its(found, message):
    model = DaskSymmetricBoostingRegressor(max_iter=3, loss="poisson", random_state=0)
    with pytest.raises(ValueError, match=rf"eval_set\[0\]: .*{message}"):
        model.fit(parts(X), parts(Y**2), eval_set=(parts(X), parts((Y**2).where(Y > -1.0, found))))


def warnings_of(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return sorted((each.category.__name__, str(each.message)[:40]) for each in caught if each.filename == __file__)


@pytest.mark.parametrize("parameters, weight, n_expected", [
    ({"learning_rate": 300.0}, None, 1),
    ({"early_stopping": True, "n_iter_no_change": 1, "max_iter": 50}, None, 1),
    ({}, 50.0, 1),
    ({}, 2.0, 0),
], ids=["diverges", "no round", "large weights", "weights"])
@pytest.mark.parametrize("classes", [False, True])
def test_a_fit_warns_as_the_local_one(classes, parameters, weight, n_expected):
    local, model = (SymmetricBoostingClassifier, DaskSymmetricBoostingClassifier) if classes else (
        SymmetricBoostingRegressor, DaskSymmetricBoostingRegressor)
    parameters = {"max_iter": 3, "random_state": 0, **parameters}
    y, opposite = (Y > 0.0, Y < 0.0) if classes else (Y, -Y)
    weight = None if weight is None else pd.Series(weight, index=X.index)
    expected = warnings_of(lambda: local(**parameters).fit(X, y, weight, eval_set=(X, opposite)))
    assert len(expected) == n_expected
    weight = None if weight is None else parts(weight)
    eval_set = parts(X), parts(opposite)
    assert warnings_of(lambda: model(**parameters).fit(parts(X), parts(y), weight, eval_set=eval_set)) == expected


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_classes_of_weight_zero_are_known(model):
    """As to the plain estimators, which give them a column of the probabilities."""
    labels = pd.Series(np.where(X.a > 0, "lo", "hi"))
    labels[150:] = np.where(X.a[150:] > 0, "lo", "mid")
    weight = (labels != "mid").astype(float)
    for first in (X.index, X.index[labels != "lo"]):  # of the latter, a partition without weight
        rows, of_rows, weights = X.loc[first], labels[first], weight[first]
        fitted = model.fit(parts(rows), parts(of_rows), parts(weights))
        local = model._local_class(**model.get_params()).fit(rows, of_rows, weights)
        np.testing.assert_array_equal(fitted.classes_, local.classes_)
        np.testing.assert_allclose(fitted.to_local().decision_function(X), local.decision_function(X), rtol=1e-6, atol=1e-6)


def test_targets_of_weight_zero_are_in_the_domain_of_the_loss():
    model = DaskSymmetricBoostingRegressor(max_iter=3, loss="poisson", random_state=0)
    with pytest.raises(ValueError, match="y >= 0"):
        model.fit(parts(X), parts(Y), parts((Y >= 0.0).astype(float)))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_labels_of_text_can_be_written(model, tmp_path):
    labels = pd.Series(np.where(X.a > 0, "lo", "hi"))
    found = model.fit(parts(X), parts(labels.to_frame())).predict(parts(X))  # y may be a column
    assert found.dtype == found.compute().dtype
    found.to_frame("p").to_parquet(tmp_path)
    assert len(parts(X).assign(p=found).set_index("p").compute()) == len(X)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_and_leaves_are_lazy(model, n_classes):
    labels = pd.Series(np.digitize(X.a, [0.0, 1.0][: n_classes - 1]))
    model.fit(parts(X), parts(labels))
    local = model.to_local()
    scores = model.decision_function(parts(X))
    assert hasattr(scores, "dask")
    np.testing.assert_allclose(scores.compute(), local.decision_function(X), rtol=1e-12)
    if hasattr(model, "apply"):
        leaves = model.apply(da.from_array(X.to_numpy(), (100, 3)))
        assert leaves.shape == (240, 3 if hasattr(model, "max_iter") else model.n_estimators)
        np.testing.assert_array_equal(leaves.compute(), local.apply(X.to_numpy()))
    if hasattr(model, "staged_predict"):
        with pytest.raises(TypeError, match=r"to_local\(\)"):
            next(model.staged_predict(parts(X)))


@pytest.mark.parametrize("local, distributed", [
    (SymmetricBoostingRegressor(max_iter=5, random_state=0), DaskSymmetricBoostingRegressor(max_iter=5, random_state=0)),
    (CurvatureForestRegressor(n_estimators=3, random_state=0), DaskCurvatureForestRegressor(n_estimators=3, random_state=0)),
], ids=["boosting", "forest"])
def test_frames_in_memory_are_read_as_the_plain_estimators_do(local, distributed):
    numbers = (RNG.integers(0, 40, 240) * 7) % 41
    frame = pd.DataFrame({"x": X.a, "c": pd.Categorical(numbers), "i": pd.array([None, 1] * 120, dtype="Int64")})
    expected = local.fit(frame, numbers % 2).predict(frame)
    np.testing.assert_allclose(distributed.fit(frame, numbers % 2).predict(frame), expected, rtol=1e-12)


def test_hidden_values_are_missing():
    values = X.to_numpy()
    masked = np.ma.masked_array(np.where(abs(values) > 1.5, 1e6, values), abs(values) > 1.5)
    expected = SymmetricBoostingRegressor(max_iter=5, random_state=0).fit(masked, Y).predict(masked)
    for given in (masked, da.from_array(masked, (80, 3))):
        model = DaskSymmetricBoostingRegressor(max_iter=5, random_state=0).fit(given, Y.to_numpy())
        np.testing.assert_array_equal(model.to_local().predict(masked), expected)


def test_a_search_may_run_on_the_workers():
    with joblib.parallel_config(backend="dask"):
        search = GridSearchCV(DaskSymmetricBoostingRegressor(random_state=0), {"max_iter": [1, 20]}, cv=2)
        assert search.fit(X.to_numpy(), Y.to_numpy()).best_params_ == {"max_iter": 20}
