"""Ensembles of oblique trees as files: what is read is what was written, or an error."""

from dataclasses import fields

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    ObliqueTrees,
    load_model,
    save_model,
)
from fctree.persistence.checks import rebuilds
from reference.tree_comparison import smooth_table
from sklearn.base import clone

X, Y = smooth_table(120, 3, 2, seed=3)
y = Y[:, 0]
WORDS = np.array(["low", "middle", "high"])[np.searchsorted(np.quantile(y, [0.3, 0.7]), y)]
MODELS = {
    "boosting": (CurvatureBoostingRegressor(max_iter=4, early_stopping=True), y),
    "boosting, outputs": (CurvatureBoostingRegressor(max_iter=4, alpha="loo"), Y),
    "boosting, classes": (CurvatureBoostingClassifier(max_iter=4), WORDS),
    "forest": (CurvatureForestRegressor(n_estimators=4, oob_score=True), y),
    "forest, classes": (CurvatureForestClassifier(n_estimators=4, max_features=2), WORDS),
    "forest, two classes": (CurvatureForestClassifier(n_estimators=4), y > 0),
}


@pytest.fixture(params=MODELS)
def fitted(request):
    model, targets = MODELS[request.param]
    return clone(model).set_params(random_state=3).fit(X, targets), targets


def round_trip(model, tmp_path):
    save_model(model, tmp_path / "model")
    return load_model(tmp_path / "model")


def test_everything_is_as_it_was(fitted, tmp_path):
    model, targets = fitted
    loaded = round_trip(model, tmp_path)
    assert vars(loaded).keys() == vars(model).keys()
    for field in fields(ObliqueTrees):
        before, after = getattr(model.trees_, field.name), getattr(loaded.trees_, field.name)
        assert before.tobytes() == after.tobytes() and before.dtype == after.dtype
    for method in ("predict", "predict_proba", "decision_function", "apply"):
        if hasattr(model, method):
            np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    more = "max_iter" if hasattr(model, "max_iter") else "n_estimators"
    for each in (model, loaded):
        each.set_params(warm_start=True, **{more: 7}).fit(X, targets)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def forged(fields_of_trees, name, change):
    arrays = {key: value.copy() for key, value in fields_of_trees.items()}
    arrays[name] = change(arrays[name])
    return arrays


def set_first(value):
    def change(array):
        array.flat[0] = value
        return array
    return change


@pytest.mark.parametrize("name, change", [
    ("children_left", set_first(10**6)), ("children_right", set_first(-7)),
    ("leaf_index", set_first(3)), ("leaf_index", lambda a: np.where(a >= 0, a + 1, a)),
    ("node_offsets", set_first(5)), ("node_offsets", lambda a: a[::-1].copy()),
    ("node_offsets", lambda a: a[:0]), ("leaf_offsets", lambda a: a * 2),
    ("leaf_offsets", lambda a: a[:-1]), ("coef", lambda a: a[:, :0]),
    ("coef", lambda a: a[:-1]), ("leaf_coef", lambda a: a[:-1]),
    ("leaf_coef", lambda a: a[:, :, :2]), ("leaf_intercept", lambda a: a[:, :0]),
    ("leaf_lower", lambda a: a[:-1]), ("leaf_upper", lambda a: a.ravel()),
    ("threshold", set_first(np.nan)), ("threshold", lambda a: a.astype(np.float32)),
    ("split_kind", set_first(3)), ("split_kind", set_first(-1)), ("feature_gain", lambda a: a[:, :1]),
    ("value", lambda a: a[:-1]), ("n_node_samples", lambda a: a.astype(float))])
def test_forged_trees_are_refused(name, change):
    model = CurvatureBoostingRegressor(max_iter=4, random_state=0).fit(X, y)
    arrays = vars(model.trees_)
    assert rebuilds(ObliqueTrees)(arrays).n_trees == 4
    with pytest.raises(ValueError):
        rebuilds(ObliqueTrees)(forged(arrays, name, change))


@pytest.mark.parametrize("name, value", [
    ("n_iter_", 3), ("n_outputs_", 2), ("baseline_", np.zeros(2)), ("trees_", None),
    ("alpha_", "loo"), ("tree_kinds_", np.zeros(1, dtype=np.int64)), ("n_features_in_", 4),
    ("learning_rates_", np.zeros(3)), ("step_sums_", np.zeros((4, 2, 2))), ("step_sums_", np.full((4, 2, 1, 2), np.nan))])
def test_models_that_do_not_fit_together_are_refused(name, value, tmp_path):
    model = CurvatureBoostingRegressor(max_iter=4, random_state=0).fit(X, y)
    setattr(model, name, value)
    with pytest.raises(ValueError):
        round_trip(model, tmp_path)
