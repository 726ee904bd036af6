"""Dask estimators and what users pass: frames in memory, masks, labels of text, evaluation sets, searches on workers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd
import joblib
from fctree import CurvatureForestRegressor, SymmetricBoostingRegressor
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
