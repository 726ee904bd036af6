"""Files that fctree 0.1 wrote, under the names and parameters of today.

`models_of_0_1/` holds eight models of 80 samples and, in predictions.npz, what 0.1 predicted.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
    load_model,
    save_model,
)
from fctree.persistence import model_file

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
def test_kernel_ridge_is_read_by_its_former_attributes(n_outputs, monkeypatch, tmp_path):
    """No model of 0.1 is kept: one of today with the attributes that it had."""
    model = TreeNTKRegressor(alpha=0.1).fit(X, X[:, 0] if n_outputs == 1 else X)
    former = TreeNTKRegressor(alpha=0.1)
    vars(former).update({name: getattr(model, name) for name in ("X_fit_", "dual_coef_", "n_features_in_", "n_iter_")})
    former._one_output = n_outputs == 1
    with monkeypatch.context() as patch:
        patch.setattr(model_file, "FORMAT_VERSION", 1)
        save_model(former, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    loaded.set_params(depth=5, scale=0.5, architecture="oblivious")  # of the next fit
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.feature_matrix_ is None
    with pytest.raises(ValueError, match="fit"):
        loaded.predict_interval(X)


@pytest.mark.parametrize("name", ["tree", "curvature_tree", "boosting", "forest"])
def test_intervals_need_another_fit(name):
    with pytest.raises(ValueError, match="fit"):
        load(name).predict_interval(X)
