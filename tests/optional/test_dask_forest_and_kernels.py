"""Forests and kernel ridge on Dask against the plain estimators."""

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask  # noqa: E402
import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402
from optional.dask_cluster import client  # noqa: E402, F401
from scipy.linalg import LinAlgWarning  # noqa: E402

from fctree import (  # noqa: E402
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    TreeNTKClassifier,
    TreeNTKRegressor,
)
from fctree.dask import (  # noqa: E402
    DaskCurvatureBoostingRegressor,
    DaskCurvatureForestClassifier,
    DaskCurvatureForestRegressor,
    DaskSymmetricBoostingClassifier,
    DaskSymmetricBoostingRegressor,
    DaskTreeNTKClassifier,
    DaskTreeNTKRegressor,
    tree_ntk,
)
from fctree.kernels import tree_ntk as local_tree_ntk  # noqa: E402

LENGTHS = (100, 1, 0, 99)


def draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=200), rng.random(200) + 0.1


def in_chunks(array):
    return da.from_array(array, chunks=(LENGTHS, *array.shape[1:]))


@pytest.mark.parametrize("n_estimators", [5, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_forest_is_the_local_one(weighted, n_estimators):
    X, y, weight = draw()
    y = np.sign(X[:, 0]) + 2.0 * (X[:, 1] > 0.5)
    params = {"n_estimators": n_estimators, "max_depth": 3, "random_state": 0}
    weight = weight if weighted else None
    local = CurvatureForestRegressor(**params).fit(X, y, sample_weight=weight)
    model = DaskCurvatureForestRegressor(**params).fit(
        in_chunks(X), in_chunks(y), sample_weight=None if weight is None else in_chunks(weight)
    )
    for name, array in vars(local.trees_).items():
        assert getattr(model.trees_, name).tobytes() == array.tobytes(), name
    np.testing.assert_array_equal(model.predict(in_chunks(X)).compute(), local.predict(X))
    assert model.step_share_ == local.step_share_ > 0.0 and model.split_margin_ == local.split_margin_
    assert type(model.to_local()) is CurvatureForestRegressor


def test_a_classifying_forest_is_the_local_one():
    X, y, _ = draw()
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    params = {"n_estimators": 3, "max_depth": 2, "random_state": 0}
    local = CurvatureForestClassifier(**params).fit(X, labels)
    model = DaskCurvatureForestClassifier(**params).fit(in_chunks(X), in_chunks(labels))
    for method in ("predict", "predict_proba"):
        found = getattr(model, method)(in_chunks(X)).compute()
        np.testing.assert_array_equal(found, getattr(local, method)(X))


@pytest.mark.parametrize("values", [["no", "yes"], [3, 7], [False, True]])
@pytest.mark.parametrize("model", [
    DaskCurvatureForestClassifier(n_estimators=2, max_depth=1, random_state=0),
    DaskSymmetricBoostingClassifier(max_iter=2, max_depth=2, random_state=0),
    DaskTreeNTKClassifier(n_components=20, alpha=1.0, random_state=0),
], ids=lambda model: type(model).__name__)
def test_empty_chunks_have_the_type_of_the_labels(model, values):
    X, y, _ = draw()
    labels = np.array(values)[(y > 0).astype(int)]
    model.fit(in_chunks(X), in_chunks(labels))
    empty_first = da.from_array(X, chunks=((0, 200), 4))
    found = model.predict(empty_first)
    assert found.dtype == found.blocks[0].compute().dtype == labels.dtype
    np.testing.assert_array_equal(found.compute(), model.to_local().predict(X))
    assert found.compute().dtype == labels.dtype
    for method in {"predict_proba", "predict_log_proba", "decision_function"} & set(vars(type(model))):
        scores = getattr(model, method)(empty_first)
        assert scores.blocks[0].compute().dtype == scores.compute().dtype == np.float64


@pytest.mark.parametrize("kind", [
    DaskCurvatureBoostingRegressor, DaskCurvatureForestRegressor, DaskSymmetricBoostingRegressor,
    DaskTreeNTKRegressor])
def test_bags_and_delayed_objects_are_refused(kind):
    X, y, _ = draw()
    for other in (db.from_sequence(X.tolist()), dask.delayed(X)):
        with pytest.raises(TypeError, match="must be Dask arrays or data frames.*to_dataframe"):
            kind().fit(other, in_chunks(y))
        with pytest.raises(TypeError, match="must be Dask arrays or data frames"):
            kind().fit(in_chunks(X), other)


@pytest.mark.parametrize("model", [
    DaskCurvatureBoostingRegressor(max_iter=1), DaskCurvatureForestRegressor(n_estimators=1),
    DaskSymmetricBoostingRegressor(max_iter=1), DaskTreeNTKRegressor(n_components=5)])
def test_intervals_are_refused_for_what_fits_on_partitions_do_not_give(model):
    X, y, _ = draw()
    model.fit(in_chunks(X), in_chunks(y))
    with pytest.raises(ValueError, match="^Dask.*has no intervals: they need a fit of [CST].* in one process"):
        model.predict_interval(X)


@pytest.mark.parametrize("name", ["warm_start", "oob_score", "verbose"])
def test_what_a_forest_cannot_do_is_refused(name):
    X, y, _ = draw()
    with pytest.raises(ValueError, match=name):
        DaskCurvatureForestRegressor(**{name: True}).fit(in_chunks(X), in_chunks(y))


@pytest.mark.parametrize("solver", ["nystrom", "cg"])
@pytest.mark.parametrize("weighted, unit", [(False, 1.0), (True, 1.0), (False, 1e-200), (False, 1e200)])
def test_kernel_ridge_agrees_with_the_local_one(solver, weighted, unit):
    X, y, weight = draw()
    y = y * unit
    weight = weight if weighted else None
    params = {"solver": solver, "n_components": 40, "alpha": 0.1, "tol": 1e-10, "random_state": 0}
    local = TreeNTKRegressor(**params).fit(X, y, sample_weight=weight)
    model = DaskTreeNTKRegressor(**params).fit(
        in_chunks(X), in_chunks(y), sample_weight=None if weight is None else in_chunks(weight)
    )
    np.testing.assert_array_equal(model.X_fit_, local.X_fit_)
    # Both solve the system to a relative residual of 1e-10; predictions amplify it little.
    found = model.predict(in_chunks(X)).compute()
    np.testing.assert_allclose(found / unit, local.predict(X) / unit, atol=1e-6)
    assert np.corrcoef(found / unit, y / unit)[0, 1] > 0.5


@pytest.mark.parametrize("solver", ["nystrom", "cg"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernel_classification_agrees_with_the_local_one(solver, n_classes):
    X, y, weight = draw()
    labels = np.array(["c", "a", "b"])[np.digitize(y, [0.0, 0.7][: n_classes - 1])]
    labels[LENGTHS[0] :] = np.where(labels[LENGTHS[0] :] == "b", "a", labels[LENGTHS[0] :])
    params = {"solver": solver, "n_components": 40, "alpha": 0.1, "tol": 1e-10, "random_state": 0}
    local = TreeNTKClassifier(**params).fit(X, labels, sample_weight=weight)
    model = DaskTreeNTKClassifier(**params).fit(
        in_chunks(X), in_chunks(labels), sample_weight=in_chunks(weight)
    )
    np.testing.assert_array_equal(model.classes_, local.classes_)
    found = model.decision_function(in_chunks(X)).compute()
    # As for the regressor.
    np.testing.assert_allclose(found, local.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(in_chunks(X)).compute(), local.predict(X))
    plain = model.to_local()
    assert type(plain) is TreeNTKClassifier
    assert set(vars(plain)) == set(vars(local))
    np.testing.assert_array_equal(plain.predict(X), local.predict(X))


def test_equal_samples_warn_without_a_penalty():
    X, y, _ = draw()
    X[100:] = X[:100]
    with pytest.warns(LinAlgWarning, match="alpha=0 on its diagonal is singular"):
        DaskTreeNTKRegressor(alpha=0.0, random_state=0).fit(in_chunks(X), in_chunks(y))


def test_kernel_classification_refuses_what_are_no_classes():
    X, y, _ = draw()
    with pytest.raises(ValueError, match="[Uu]nknown label type|[Cc]lassif"):
        DaskTreeNTKClassifier().fit(in_chunks(X), in_chunks(y))
    with pytest.raises(ValueError, match="1d array"):
        DaskTreeNTKClassifier().fit(in_chunks(X), in_chunks(np.ones((200, 2), dtype=int)))


def test_kernel_ridge_refuses_a_whole_matrix_and_infinite_values():
    X, y, _ = draw()
    with pytest.raises(ValueError, match="cholesky"):
        DaskTreeNTKRegressor(solver="cholesky").fit(in_chunks(X), in_chunks(y))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        DaskTreeNTKRegressor().fit(in_chunks(X), in_chunks(y))


def test_a_gram_matrix_in_blocks():
    X, _, _ = draw()
    K = tree_ntk(da.from_array(X, chunks=(70, 2)), depth=2, scale=1.0)
    assert K.shape == (200, 200)
    # Tiles of another shape add products in another order.
    np.testing.assert_allclose(
        K.compute(), local_tree_ntk(X, depth=2, scale=1.0), rtol=1e-12, atol=1e-12
    )
    with pytest.raises(TypeError, match="Dask"):
        tree_ntk(X)
