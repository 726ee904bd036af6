"""`predict_interval` as users meet it: parameters, errors, storage, continued fits, tables."""

import pickle

import fctree
import numpy as np
import pandas as pd
import pytest
from estimators import classifies, public_estimators
from fctree import load_model, save_model
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (150, 3))
y = X[:, 0] + 0.3 * RNG.standard_normal(150)
MODELS = {
    "CurvatureTreeRegressor": {},
    "FCODTRegressor": {},
    "CurvatureForestRegressor": {"n_estimators": 5, "random_state": 0},
    "TreeNTKRegressor": {"alpha": 0.1},
    "TreeNTKRegressorCV": {"alphas": [0.1], "depths": [1], "scales": [1.0]},
    "CurvatureBoostingRegressor": {
        "max_iter": 3, "calibration_fraction": 0.2, "random_state": 0},
    "SymmetricBoostingRegressor": {
        "max_iter": 9, "calibration_fraction": 0.2, "random_state": 0},
}
BOOSTING = [name for name in MODELS if "Boosting" in name]
EVERY = pytest.mark.parametrize("name", MODELS)


def model_of(name):
    return getattr(fctree, name)(**MODELS[name])


@EVERY
@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 90, np.nan])
def test_levels_are_between_0_and_1(name, level):
    with pytest.raises(ValueError, match="confidence_level"):
        model_of(name).fit(X, y).predict_interval(X, level)


@EVERY
def test_levels_are_numbers(name):
    with pytest.raises(TypeError, match="confidence_level"):
        model_of(name).fit(X, y).predict_interval(X, "0.9")


@EVERY
def test_an_unfitted_model_says_so(name):
    with pytest.raises(NotFittedError):
        model_of(name).predict_interval(X)


@EVERY
def test_other_features_are_refused(name):
    model = model_of(name).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict_interval(X[:, :2])


@EVERY
def test_stored_models_have_the_same_intervals(name, tmp_path):
    model = model_of(name).fit(X, y, np.linspace(0.5, 1.5, len(y)))
    early = pickle.loads(pickle.dumps(model))
    save_model(model, tmp_path / "early")
    expected = model.predict_interval(X, 0.8)
    save_model(model, tmp_path / "late")
    others = [early, load_model(tmp_path / "early"), load_model(tmp_path / "late")]
    for other in [*others, pickle.loads(pickle.dumps(model))]:
        assert other.predict_interval(X, 0.8).tobytes() == expected.tobytes()


@EVERY
def test_parameters_set_after_the_fit_do_not_matter(name):
    model = model_of(name).fit(X, y)
    expected = clone(model).fit(X, y).predict_interval(X)
    changes = {"alpha": 7.0, "directions": "ridge", "bootstrap": False, "loss": "poisson",
               "calibration_fraction": None, "solver": "cg", "scale": 5.0, "alphas": [9.0]}
    known = model.get_params(deep=False)
    model.set_params(**{k: v for k, v in changes.items() if k in known})
    assert model.predict_interval(X).tobytes() == expected.tobytes()


@EVERY
def test_another_fit_replaces_the_intervals(name):
    model = model_of(name).fit(X, y)
    model.predict_interval(X)
    again = model.fit(X[::-1], 100.0 * y[::-1] + 1.0).predict_interval(X)
    expected = model_of(name).fit(X[::-1], 100.0 * y[::-1] + 1.0).predict_interval(X)
    assert again.tobytes() == expected.tobytes()


@EVERY
def test_threads_do_not_matter(name):
    model = model_of(name)
    found = [model.set_params(n_jobs=n).fit(X, y).predict_interval(X) for n in (1, 2, 4)]
    assert all(other.tobytes() == found[0].tobytes() for other in found)


@EVERY
def test_tables_with_categories_and_missing_values(name):
    colours = np.array(["red", "green", "blue"])[np.arange(len(X)) % 3]
    frame = pd.DataFrame({"colour": pd.Categorical(colours), "size": X[:, 0], "age": X[:, 1]})
    frame.loc[::7, "size"] = np.nan
    model = model_of(name).fit(frame, y + (colours == "red"))
    interval = model.predict_interval(frame)
    prediction = model.predict(frame)
    assert np.all(np.isfinite(interval))
    assert np.all((interval[:, 0] <= prediction) & (prediction <= interval[:, 1]))


@pytest.mark.parametrize("name", ["CurvatureForestRegressor", *BOOSTING])
def test_a_continued_fit_has_the_intervals_of_one(name):
    count = "n_estimators" if "Forest" in name else "max_iter"
    model = model_of(name).set_params(warm_start=True).fit(X, y)
    model.set_params(**{count: 12}).fit(X, y)
    whole = model_of(name).set_params(**{count: 12}).fit(X, y)
    assert model.predict_interval(X).tobytes() == whole.predict_interval(X).tobytes()


@pytest.mark.parametrize("name", BOOSTING)
def test_boosting_needs_a_calibration_fraction(name):
    model = model_of(name).fit(X, y)
    predictions = model.predict(X)
    model.set_params(calibration_fraction=None).fit(X, y)
    assert model.predict(X).tobytes() == predictions.tobytes()
    with pytest.raises(ValueError, match="calibration_fraction"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="calibration_fraction"):
        model.set_params(calibration_fraction=1.0).fit(X, y)


@pytest.mark.parametrize("name", BOOSTING)
def test_boosting_refuses_what_cannot_be_calibrated(name):
    with pytest.raises(ValueError, match="init_score"):
        model_of(name).fit(X, y, init_score=y)
    with pytest.raises(ValueError, match="calibration_fraction needs at least 2"):
        model_of(name).fit(X[:1], y[:1])


@pytest.mark.parametrize("name", BOOSTING)
@pytest.mark.parametrize("settings", [
    {"loss": "poisson"}, {"loss": "quantile", "quantile": 0.3}, {"loss": "huber"},
    {"loss": ("tweedie", 1.3)}, {"early_stopping": True}, {"subsample": 0.6}])
def test_boosting_has_intervals_for_all_losses(name, settings):
    model = model_of(name).set_params(**settings).fit(X, np.exp(y))
    interval, prediction = model.predict_interval(X), model.predict(X)
    assert np.all((interval[:, 0] <= prediction) & (prediction <= interval[:, 1]))
    least = 0.0 if settings.get("loss") in ("poisson", ("tweedie", 1.3)) else -np.inf
    assert interval.min() >= least


@pytest.mark.parametrize("name", BOOSTING)
def test_intervals_of_counts_do_not_begin_below_0(name):
    model = model_of(name).set_params(loss="poisson").fit(X, np.random.default_rng(0).poisson(0.5, len(X)))
    assert model.predict_interval(X)[:, 0].min() == 0.0


def test_a_forest_whose_trees_have_all_samples_says_so():
    model = fctree.CurvatureForestRegressor(n_estimators=3).fit(X, y)
    model.set_params(bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="bootstrap=True"):
        model.predict_interval(X)


@pytest.mark.parametrize("solver", ["cg", "nystrom"])
def test_kernels_need_the_exact_solution(solver):
    model = fctree.TreeNTKRegressor(alpha=0.1, solver=solver).fit(X, y)
    with pytest.raises(ValueError, match=f"solver='{solver}'.*need solver='cholesky'"):
        model.predict_interval(X)


@EVERY
@pytest.mark.parametrize("n_samples", [2, 3, 5, 12])
def test_few_samples_have_infinite_intervals(name, n_samples):
    # One sample is held out of two by boosting, and none is left out of some forests.
    model = model_of(name).fit(X[:n_samples], y[:n_samples])
    if hasattr(model, "interval_scores_") or "NTK" in name:
        assert np.all(np.isinf(model.predict_interval(X, 0.99)))


@pytest.mark.parametrize("cls", [cls for cls in public_estimators().values() if classifies(cls)])
def test_classifiers_have_none(cls):
    assert not hasattr(cls(), "predict_interval")


def test_a_calibration_part_of_all_samples():
    X = np.random.default_rng(0).standard_normal((9, 2))
    with pytest.raises(ValueError, match="calibration_fraction=0.9 of 9 samples leaves none to train on"):
        fctree.CurvatureBoostingRegressor(calibration_fraction=0.9, max_iter=2).fit(X, X[:, 0])


@pytest.mark.parametrize("name", [name for name in MODELS if name not in BOOSTING])
def test_of_one_row_they_are_infinite(name, tmp_path):
    model = model_of(name).fit(X[:1], y[:1])
    save_model(model, tmp_path / "model")
    for fitted in (model, load_model(tmp_path / "model")):
        with pytest.warns(RuntimeWarning, match="intervals are infinite: .* needs about 9 conformity scores or more, and there are [01]"):
            np.testing.assert_array_equal(fitted.predict_interval(X[:2]), [[-np.inf, np.inf]] * 2)


def test_a_forest_of_trees_of_all_samples_says_what_is_needed():
    forest = fctree.CurvatureForestRegressor(n_estimators=3, bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="trees of all samples: intervals need bootstrap=True or max_samples below 1"):
        forest.predict_interval(X)
