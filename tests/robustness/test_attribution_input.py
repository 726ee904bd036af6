"""Attributions: what is refused, ordinary odd cases, and Ctrl-C."""

import os

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)
from fctree.inspection import ShapDisplay, shap_values
from interrupts import assert_interrupted
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 4))
Y = X[:, 0] * X[:, 1] + np.abs(X[:, 2])
SYMMETRIC = SymmetricBoostingRegressor(max_iter=5, random_state=0).fit(X, Y)
OBLIQUE = CurvatureTreeRegressor().fit(X, Y)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="got a SoftTreeRegressor"):
        shap_values(SoftTreeRegressor(max_epochs=1).fit(X, Y), X)
    with pytest.raises(TypeError, match="pass its last step"):
        shap_values(make_pipeline(OBLIQUE), X)
    with pytest.raises(NotFittedError):
        shap_values(SymmetricBoostingRegressor(), X)


def test_attributes_of_users_do_not_matter():
    tree = CurvatureTreeRegressor().fit(X, Y)
    tree.baseline_ = "ridge"
    assert shap_values(tree, X[:3], X).values.tobytes() == shap_values(OBLIQUE, X[:3], X).values.tobytes()


@pytest.mark.parametrize("model, method", [
    (SYMMETRIC, "aumann_shapley"), (OBLIQUE, "path_dependent"), (OBLIQUE, "exact"), (SYMMETRIC, None),
])
def test_methods_that_there_are_not(model, method):
    with pytest.raises(ValueError, match="method must be 'auto', 'interventional' or"):
        shap_values(model, X, method=method)


@pytest.mark.parametrize("model", [SYMMETRIC, OBLIQUE])
def test_tables_that_predict_refuses(model):
    with pytest.raises(ValueError, match="features"):
        shap_values(model, X[:, :3])
    with pytest.raises(ValueError, match="features"):
        shap_values(model, X, X[:, :3])
    with pytest.raises(ValueError, match="0 sample"):
        shap_values(model, X, X[:0])
    with pytest.raises(ValueError, match="n_jobs|0"):
        shap_values(model, X, n_jobs=0)


@pytest.mark.parametrize("model, method", [
    (SYMMETRIC, "auto"), (SYMMETRIC, "path_dependent"), (OBLIQUE, "interventional"), (OBLIQUE, "aumann_shapley"),
])
def test_one_sample_needs_a_background(model, method):
    with pytest.warns(UserWarning, match="one sample.*pass background="):
        assert not np.any(np.round(shap_values(model, X[7:8], method=method).values, 9))
    with pytest.warns(UserWarning, match="pass background="):
        ShapDisplay.from_estimator(model, X[7:8], sample=0, method=method)
    assert np.any(shap_values(model, X[7:8], X, method=method).values)
    assert np.any(shap_values(model, X[7:9], method=method).values)
    assert shap_values(model, X[7:8], X[7:8], method=method).values.shape == (1, 4)


def test_too_many_columns_for_exact_values():
    wide = RNG.standard_normal((300, 40))
    model = CurvatureBoostingRegressor(max_iter=2, random_state=0).fit(wide, wide.sum(axis=1))
    assert shap_values(model, wide[:2]).method == "aumann_shapley"
    with pytest.raises(ValueError, match=r"depends on 40 columns.*aumann_shapley"):
        shap_values(model, wide[:2], method="interventional")


def test_auto_takes_exact_values_of_sparse_trees():
    sparse = CurvatureBoostingRegressor(max_iter=2, max_coef=2, random_state=0).fit(X, Y)
    assert shap_values(sparse, X[:2]).method == "interventional"
    wide = RNG.standard_normal((300, 11))
    dense = CurvatureBoostingRegressor(max_iter=2, step_depth=None, random_state=0)
    dense.fit(wide, np.abs(wide).sum(axis=1))
    assert shap_values(dense, wide[:2]).method == "aumann_shapley"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_and_infinite_values(dtype):
    Z = X.astype(dtype)
    Z[::5, 0], Z[1::5, 1], Z[2::7, 2] = np.nan, np.inf, -np.inf
    model = SymmetricBoostingRegressor(max_iter=10, random_state=0).fit(Z, Y)
    for order in ("C", "F"):
        found = shap_values(model, np.asarray(Z, order=order), Z[::-3])
        assert np.abs(found.base_values + found.values.sum(axis=1) - model.predict(Z)).max() < 1e-10


def test_data_are_as_they_were_passed():
    rows = [[float(i % 7), float(i), "ab"[i % 2]] for i in range(60)]
    model = SymmetricBoostingRegressor(max_iter=3).fit(rows, np.arange(60.0))
    assert shap_values(model, rows).data[1].tolist() == [1.0, 1.0, "b"]
    X = np.ma.masked_greater(np.random.default_rng(0).normal(size=(60, 2)), 1.0)
    model = SymmetricBoostingRegressor(max_iter=3).fit(X, np.arange(60.0))
    np.testing.assert_array_equal(shap_values(model, X).data, X.filled(np.nan))


def test_models_without_a_split():
    for model in (SymmetricBoostingRegressor(max_iter=3), CurvatureTreeRegressor(),
                  CurvatureBoostingRegressor(max_iter=2)):
        model.fit(X, np.full(len(X), 2.0))
        found = shap_values(model, X[:3])
        assert not np.any(found.values)
        assert found.base_values == pytest.approx(2.0)


def test_one_class():
    for model in (SymmetricBoostingClassifier(max_iter=2), CurvatureTreeClassifier()):
        found = shap_values(model.fit(X, np.zeros(len(X))), X[:3])
        assert found.values.shape == (3, 4)
        assert np.abs(found.values).max() < 1e-14  # sums over coalitions of equal worth


def test_several_targets():
    targets = np.column_stack([Y, -Y, X[:, 3]])
    for model in (SymmetricBoostingRegressor(max_iter=3), CurvatureTreeRegressor()):
        found = shap_values(model.fit(X, targets), X[:3], X)
        assert found.values.shape == (3, 4, 3)
        sums = found.base_values + found.values.sum(axis=1)
        assert np.abs(sums - model.predict(X[:3])).max() < 1e-10


def test_leaves_that_the_background_does_not_reach():
    found = shap_values(SYMMETRIC, X, X[:1], method="path_dependent")
    assert np.isfinite(found.values).all()


LONG_CALL = """
import os
import numpy as np
import fctree
from fctree.inspection import shap_values

rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 20))
model = fctree.CurvatureBoostingRegressor(max_iter=50, random_state=0).fit(X, np.abs(X).sum(axis=1))
os.write(1, b"ready\\n")
try:
    shap_values(model, np.tile(X, (50, 1)), X, n_jobs=2)
    os.write(1, b"ended\\n")
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_ctrl_c_ends_a_long_call():
    assert_interrupted(LONG_CALL, wait=0.5)
