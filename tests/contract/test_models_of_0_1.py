"""Files that fctree 0.1 wrote, under the names and parameters of today.

`models_of_0_1/` holds eight models of 80 samples and, in predictions.npz, what 0.1 predicted.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SymmetricBoostingRegressor,
    SoftTreeRegressor,
    SymmetricBoostingClassifier,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
    load_model,
    save_model,
)
from fctree.persistence import model_file
from robustness.forged_model_files import file_of
from sklearn.base import clone

FOLDER = Path(__file__).parent / "models_of_0_1"
X = np.random.default_rng(0).uniform(-1, 1, (80, 2)) * [1.0, 10.0]
KINDS = {
    "tree": FCODTRegressor,
    "curvature_tree": CurvatureTreeRegressor,
    "classes": FCODTClassifier,
    "lost": CurvatureTreeRegressor,
    "boosting": CurvatureBoostingRegressor,
    "boosting_classes": CurvatureBoostingClassifier,
    "forest": CurvatureForestRegressor,
    "symmetric": SymmetricBoostingRegressor,
}
LOST = {"lost": "fit_intercept", "symmetric": "model_shrink_rate, posterior_noise"}


def load(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name in LOST else "error")
        return load_model(FOLDER / f"{name}.fctree")


@pytest.mark.parametrize("name", KINDS)
def test_predictions_are_those_of_0_1(name, tmp_path):
    model = load(name)
    assert type(model) is KINDS[name]
    save_model(model, tmp_path / "again")
    expected = np.load(FOLDER / "predictions.npz")[name]
    for loaded in (model, load_model(tmp_path / "again")):
        scores = loaded.predict(X)
        if hasattr(loaded, "predict_proba"):
            scores = loaded.predict_proba(X)[:, 1]
        # Sums of a few products, in the order of the instruction set at hand.
        np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-14)


def test_parameters_are_where_they_belong_today():
    curved = load("curvature_tree")
    assert (curved.alpha, curved.max_depth, curved.min_samples_leaf) == ("loo", 1, 10)
    assert curved.standardize is False  # as it was
    boosting = load("boosting")
    assert boosting.max_iter == 2 and boosting.max_depth is None
    # No limit of the depth, which None of an ensemble does not say.
    assert boosting.tree.max_depth is None and boosting.tree.max_coef == 1
    assert boosting.tree.standardize and boosting.tree.max_thresholds == 9
    assert type(load("boosting_classes").tree) is FCODTRegressor
    forest = load("forest")
    assert forest.tree.min_samples_leaf == 10
    assert (forest.step_share_, forest.split_margin_, forest.residual_trees_) == (0.0, forest.tree.split_margin, False)


@pytest.mark.parametrize("name", ["boosting", "forest"])
def test_a_new_fit_is_like_the_old_one(name):
    """On the targets that it was fitted to, with draws of today. (Single curvature trees place their cuts more exactly.)"""
    model = load(name)
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, (80, 2)) * [1.0, 10.0]
    y = np.abs(features[:, 0]) + 0.1 * features[:, 1] + 0.05 * rng.standard_normal(80)
    before = model.predict(features)
    # Two rounds and two trees: with other seeds they differ by .0001 and .01 of the variance.
    assert np.mean((model.fit(features, y).predict(features) - before) ** 2) < 0.02 * y.var()


@pytest.mark.parametrize("name, parameters", LOST.items())
def test_what_is_no_more_is_said(name, parameters):
    with pytest.warns(UserWarning, match=f"{parameters} this version does not have"):
        load_model(FOLDER / f"{name}.fctree")


@pytest.mark.parametrize("name", ["forest", "symmetric"])
def test_classifiers_are_read_like_regressors(name, tmp_path):
    """No such file of 0.1 is kept: one of a regressor that says it is of a classifier."""
    with np.load(FOLDER / f"{name}.fctree") as content:
        header = json.loads(content["header.json"])
        arrays = [content[f"arrays/{index}.npy"] for index in range(len(content.files) - 1)]
    header["class"] = header["class"].replace("Regressor", "Classifier")
    lost = "step_min_samples_leaf" if name == "forest" else "model_shrink_rate"
    header["params"] |= {"step_min_samples_leaf": 7} if name == "forest" else {"loss": "log_loss"}
    header["attributes"] |= {"n_classes_": 2, "classes_": {"type": "array", "number": len(arrays)}}
    (tmp_path / "model").write_bytes(file_of(header, [*arrays, np.array([3, 7])]))
    with pytest.warns(UserWarning, match=f"{lost} this version does not have"):
        model = load_model(tmp_path / "model")
    assert type(model) is {"forest": CurvatureForestClassifier, "symmetric": SymmetricBoostingClassifier}[name]
    scores = load(name).predict(X)
    if name == "forest":
        assert model.exponent_ is None and model.class_shifts_ is None
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], scores.clip(0.0, 1.0), rtol=1e-12)
    else:
        np.testing.assert_array_equal(model.decision_function(X), scores)


def test_soft_trees_are_read_without_their_rule_and_children(tmp_path):
    """No model of 0.1 is kept: one of today with the attributes that it had."""
    model = SoftTreeRegressor(n_trees=2, depth=3, routing="logistic", max_epochs=2, random_state=0).fit(X, X[:, 0])
    expected = model.predict(X)
    del model._rule, model._state["children"]
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model").set_params(routing="erf")  # of the next fit
    np.testing.assert_array_equal(loaded.predict(X), expected)
    for name in ("split_weights", "split_first_moment", "split_second_moment"):
        model._state[name] = model._state[name][:, :6].copy()
    for name in ("leaf_weights", "leaf_first_moment", "leaf_second_moment"):
        model._state[name] = model._state[name][:, :7].copy()
    with pytest.raises(ValueError, match="6 splits are not those of a perfect tree"):
        save_model(model, tmp_path / "model")


def test_a_model_that_shrank_goes_on():
    model = load("symmetric")
    assert not hasattr(model, "model_shrink_rate") and len(model.posterior_trees_) == 2
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    y = np.abs(X[:, 0]) + 0.1 * X[:, 1]
    model.set_params(max_iter=9, warm_start=True).fit(X, y)
    assert model.n_iter_ == 9 and np.mean((model.predict(X) - y) ** 2) < np.mean((last - y) ** 2)


@pytest.mark.parametrize("name", ["boosting", "symmetric"])
def test_the_link_is_that_of_the_fit(name):
    model = load(name)
    before = model.predict(X)
    model.set_params(loss="poisson", max_iter=20, warm_start=True)
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="loss='poisson'"):
        model.fit(X, np.abs(X[:, 0]))


def test_probabilities_stay_as_they_were_until_the_next_fit():
    model = load("classes")
    assert model.temperature_ is None
    assert model.predict_proba(X).max() == 1.0
    assert model.fit(X, X[:, 0] > 0).predict_proba(X).max() < 1.0


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("searched", [False, True])
def test_kernel_ridge_is_read_by_its_former_attributes(n_outputs, searched, monkeypatch, tmp_path):
    """No model of 0.1 is kept: one of today with the attributes that it had."""
    former = TreeNTKRegressorCV(alphas=[0.1], depths=[2], scales=[1.0]) if searched else TreeNTKRegressor(alpha=0.1)
    model = clone(former).fit(X, X[:, 0] if n_outputs == 1 else X)
    names = ("alpha_", "depth_", "scale_", "best_score_", "cv_results_") if searched else ("n_iter_",)
    vars(former).update({name: getattr(model, name) for name in ("X_fit_", "dual_coef_", "n_features_in_", *names)})
    former._one_output = n_outputs == 1
    with monkeypatch.context() as patch:
        patch.setattr(model_file, "FORMAT_VERSION", 1)
        save_model(former, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    of_next_fit = {"depths": [5], "scales": [0.5]} if searched else {"depth": 5, "scale": 0.5, "architecture": "oblivious"}
    np.testing.assert_array_equal(loaded.set_params(**of_next_fit).predict(X), model.predict(X))
    assert loaded.feature_matrix_ is None
    with pytest.raises(ValueError, match="fit"):
        loaded.predict_interval(X)


@pytest.mark.parametrize("name", ["tree", "curvature_tree", "boosting", "forest"])
def test_intervals_need_another_fit(name):
    with pytest.raises(ValueError, match="fit"):
        load(name).predict_interval(X)
