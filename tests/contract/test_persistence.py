"""Copying and storing: a model is plain data, and a copy is the model bit by bit."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, FCODTClassifier, FCODTRegressor, load_model, save_model
from reference.tree_comparison import smooth_table
from sklearn.base import clone


@pytest.fixture(params=["regressor", "outputs", "binary", "multiclass", "constant"])
def model_and_data(request):
    X, Y = smooth_table(150, 5, 2, seed=50)
    y = Y[:, 0]
    classes = np.array(["low", "middle", "high"])[np.searchsorted(np.quantile(y, [0.3, 0.7]), y)]
    model, target = {
        "regressor": (FCODTRegressor(), y),
        "outputs": (FCODTRegressor(max_depth=4), Y),
        "binary": (FCODTClassifier(), y > np.median(y)),
        "multiclass": (FCODTClassifier(alpha=0.1), classes),
        "constant": (FCODTRegressor(leaf_model="constant"), y),
    }[request.param]
    return model.fit(X, target), X


def assert_identical(copied, model, X):
    assert type(copied) is type(model) and copied.get_params() == model.get_params()
    assert vars(copied).keys() == vars(model).keys()
    for name, array in vars(model.tree_).items():
        np.testing.assert_array_equal(getattr(copied.tree_, name), array, err_msg=name)
    for method in ("predict", "predict_proba", "decision_function", "apply"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(copied, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle(model_and_data, protocol):
    model, X = model_and_data
    assert_identical(pickle.loads(pickle.dumps(model, protocol=protocol)), model, X)


def test_deepcopy_and_copy(model_and_data):
    model, X = model_and_data
    deep = copy.deepcopy(model)
    assert_identical(deep, model, X)
    assert not np.shares_memory(deep.tree_.coef, model.tree_.coef)
    assert_identical(copy.copy(model), model, X)


@pytest.mark.parametrize("compress", [0, 3])
def test_joblib_file(model_and_data, compress, tmp_path):
    model, X = model_and_data
    path = tmp_path / "model.joblib"
    joblib.dump(model, path, compress=compress)
    assert_identical(joblib.load(path), model, X)


def test_memory_mapped_model(model_and_data, tmp_path):
    """Arrays mapped read-only, as joblib hands them to worker processes."""
    model, X = model_and_data
    path = tmp_path / "model.joblib"
    joblib.dump(model, path)
    mapped = joblib.load(path, mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict(X), model.predict(X))
    np.testing.assert_array_equal(mapped.apply(X), model.apply(X))


def test_clone_is_unfitted(model_and_data):
    model, _ = model_and_data
    cloned = clone(model)
    assert not hasattr(cloned, "tree_")
    assert cloned.get_params() == model.get_params()


def test_a_tree_alone_can_be_stored(model_and_data):
    model, X = model_and_data
    tree = pickle.loads(pickle.dumps(model.tree_))
    np.testing.assert_array_equal(tree.predict(X), model.tree_.predict(X))


def test_zeros_take_no_space(tmp_path):
    """Trees of few of many features, whose arrays are almost all zeros, one of them negative."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2000))
    model = CurvatureBoostingRegressor(max_iter=30, max_coef=2, random_state=0).fit(X, X[:, 0])
    trees = model.trees_
    trees.coef[0, np.argmin(np.abs(trees.coef[0]))] = -0.0
    size = trees.coef.nbytes + trees.leaf_coef.nbytes
    assert size > 4_000_000
    pickled = pickle.dumps(trees)
    assert len(pickled) < size / 5
    save_model(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < size / 5
    for copied in (pickle.loads(pickled), copy.deepcopy(trees), load_model(tmp_path / "model").trees_):
        for name, array in vars(trees).items():
            assert getattr(copied, name).shape == array.shape
            assert getattr(copied, name).tobytes() == array.tobytes()
