"""fctree without Dask, and models that leave Dask."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fctree import CurvatureTreeRegressor, SymmetricBoostingRegressor, TreeNTKRegressor, load_model, save_model


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_fctree_does_not_import_dask():
    found = run("import sys, fctree; print('dask' in sys.modules, 'distributed' in sys.modules)")
    assert found.stdout.split() == ["False", "False"], found.stderr


def test_without_dask_the_error_names_the_extra():
    found = run("import sys; sys.modules['distributed'] = None; import fctree.dask")
    assert "ImportError" in found.stderr
    assert '.[dask]' in found.stderr


def test_a_local_model_has_the_plain_attributes_and_can_be_saved(tmp_path):
    pytest.importorskip("distributed")
    from distributed import Client

    from fctree.dask import DaskSymmetricBoostingRegressor

    X = np.random.default_rng(0).normal(size=(100, 3))
    params = {"max_iter": 2, "max_depth": 2, "random_state": 0}
    plain = SymmetricBoostingRegressor(**params).fit(X, X[:, 0])
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        model = DaskSymmetricBoostingRegressor(**params).fit(X, X[:, 0])
    with pytest.raises(TypeError, match=r"save_model\(model.to_local\(\), path\)"):
        save_model(model, tmp_path / "model.fctree")
    local = model.to_local()
    assert set(vars(local)) == set(vars(plain))
    save_model(local, tmp_path / "model.fctree")
    loaded = load_model(tmp_path / "model.fctree")
    np.testing.assert_array_equal(loaded.predict(X), plain.predict(X))


@pytest.mark.parametrize("model", [SymmetricBoostingRegressor(max_iter=2, random_state=0), CurvatureTreeRegressor(), TreeNTKRegressor()])
def test_plain_estimators_compute_collections_of_dask(model):
    dd = pytest.importorskip("dask.dataframe")
    import dask.array as da
    import pandas as pd

    X = pd.DataFrame({"size": np.arange(60.0), "kind": list("abc") * 20})
    y = X["size"].to_numpy()
    for table, collection in ((X, dd.from_pandas(X, npartitions=2)), (X[["size"]].to_numpy(), da.from_array(X[["size"]].to_numpy()))):
        expected = clone(model).fit(table, y).predict(table)
        np.testing.assert_array_equal(clone(model).fit(collection, y).predict(collection), expected)


def test_estimators_that_are_not_fitted_say_so():
    pytest.importorskip("distributed")
    import dask.array as da

    import fctree.dask

    X = np.zeros((4, 2))
    estimators = [getattr(fctree.dask, name)() for name in fctree.dask.__all__ if name[:4] == "Dask"]
    assert len(estimators) == 8
    for estimator in estimators:
        calls = [("to_local",), ("score", X, X[:, 0])]
        for name in ("predict", "predict_proba", "predict_log_proba", "decision_function", "predict_interval"):
            calls += [(name, X), (name, da.from_array(X))] if hasattr(estimator, name) else []
        for name, *arguments in calls:
            with pytest.raises(NotFittedError, match=type(estimator).__name__):
                getattr(estimator, name)(*arguments)
