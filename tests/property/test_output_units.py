"""Predictions go with the unit of each output, and nothing else changes with it."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import mean_tweedie_deviance

LOSSES = ("squared_error", "absolute_error", "huber", ("quantile", 0.8))
BOOSTERS = (SymmetricBoostingRegressor, CurvatureBoostingRegressor)
PASSES_SCORES_ON = CurvatureTreeRegressor(split_margin=0.0, alpha=10.0)
MODELS = {
    **{
        f"{cls.__name__}, {loss}": cls(loss=loss, max_iter=12, random_state=0)
        for cls in BOOSTERS for loss in LOSSES
    },
    **{f"{cls.__name__}, stopped": cls(max_iter=30, learning_rate=0.5, early_stopping=True, random_state=0)
       for cls in BOOSTERS},
    "forest": CurvatureForestRegressor(n_estimators=20, oob_score=True, random_state=0),
    "boosting of trees that pass scores on": CurvatureBoostingRegressor(max_iter=5, tree=PASSES_SCORES_ON, random_state=0),
    "forest of trees that pass scores on": CurvatureForestRegressor(n_estimators=5, tree=PASSES_SCORES_ON, random_state=0),
    **{f"tree, {leaf}": CurvatureTreeRegressor(leaf_model=leaf) for leaf in ("ridge", "constant", "soft")},
}  # fmt: skip


@pytest.fixture(scope="module")
def samples():
    """X, y of three outputs, and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.stack([np.sin(2 * X[:, 0]) + X[:, 1], np.sin(2 * X[:, 2]) + X[:, 3] + 5.0, abs(X[:, 4])], axis=1)
    return X, y + 0.1 * rng.normal(size=y.shape), rng.uniform(0.5, 2.0, len(X))


@pytest.mark.parametrize("kind", BOOSTERS)
@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_a_logarithm_of_the_mean_only_moves_with_the_unit(samples, kind, loss):
    X, y, weight = samples
    rate = np.exp(y[:, 0])
    model = kind(loss=loss, max_iter=30, random_state=0)
    expected = model.fit(X, rate, weight).predict(X)
    for unit in (1e-200, 2.0**-12, 100.0, 1e4, 1e150):
        np.testing.assert_allclose(model.fit(X, unit * rate, weight).predict(X), unit * expected, rtol=1e-6)


@pytest.mark.parametrize("kind", BOOSTERS)
@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", ("tweedie", 1.1)], ids=str)
@pytest.mark.parametrize("early_stopping", [False, True])
def test_no_unit_of_a_rate_matters_to_the_others_or_to_when_training_stops(samples, kind, loss, early_stopping):
    X, y, weight = samples
    rates = np.exp(y - y.mean(axis=0))
    model = kind(loss=loss, max_iter=100, early_stopping=early_stopping, random_state=0)
    for n_outputs, units in ((1, (1e-7, 1e7)), (3, ([2.0**-20, 1.0, 1.0], [1.0, 1.0, 2.0**12]))):
        expected = model.fit(X, rates[:, :n_outputs], weight).predict(X).reshape(300, -1)
        n_rounds = model.n_iter_
        for unit in units:
            found = model.fit(X, unit * rates[:, :n_outputs], weight).predict(X).reshape(300, -1)
            assert model.n_iter_ == n_rounds
            np.testing.assert_allclose(found, unit * expected, rtol=1e-6)


@pytest.mark.parametrize("kind", BOOSTERS)
def test_claims_of_a_few_policies_are_not_fitted_one_by_one(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 4))
    mean = 0.02 * np.exp(0.6 * X[:, 0] + 0.5 * np.sin(2 * X[:, 1]))
    claims = 1000 * np.array([rng.gamma(1.0, 1.0, n).sum() for n in rng.poisson(mean)])
    model = kind(loss="tweedie", max_iter=100, random_state=0).fit(X[:4000], claims[:4000])
    constant = np.full(4000, claims[:4000].mean())
    assert mean_tweedie_deviance(claims[4000:], model.predict(X[4000:]), power=1.5) < 1.15 * mean_tweedie_deviance(
        claims[4000:], constant, power=1.5)


def fitted(name, X, y, weight):
    model = clone(MODELS[name])
    if "stopped" in name and y.shape[1] == 1:
        model.set_params(tol=0.0)  # which is in the unit of the loss
    return model.fit(X, y, weight)


@pytest.mark.parametrize("unit", [[2.0**9, 1.0, 2.0**-12], [2.0**9], [2.0**-12], [2.0**-490], [2.0**490]], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_powers_of_two_change_no_bit(name, unit, samples):
    X, y, weight = samples
    y, unit = y[:, :len(unit)], np.array(unit)
    plain, scaled = fitted(name, X, y, weight), fitted(name, X, y * unit, weight)
    np.testing.assert_array_equal(scaled.predict(X), plain.predict(X) * unit)
    if hasattr(plain, "interval_scales_"):
        np.testing.assert_array_equal(scaled.predict_interval(X), plain.predict_interval(X) * unit[:, None])
    if hasattr(plain, "oob_prediction_"):
        np.testing.assert_array_equal(scaled.oob_prediction_, plain.oob_prediction_ * unit)
    if hasattr(plain, "baseline_"):
        np.testing.assert_array_equal(scaled.baseline_, plain.baseline_ * unit)
        assert scaled.n_iter_ == plain.n_iter_


@pytest.mark.parametrize("unit", [[1e3, 1.0, 1e-3], [3.0], [1e-3]], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_any_unit_changes_rounding(name, unit, samples):
    X, y, weight = samples
    y, unit = y[:, :len(unit)], np.array(unit)
    plain, scaled = fitted(name, X, y, weight).predict(X), fitted(name, X, y * unit, weight).predict(X)
    # Optimised boundaries amplify it.
    np.testing.assert_allclose(scaled / unit, plain, atol=1e-2 if "soft" in name else 1e-9)


@pytest.mark.parametrize("exponent", [-500, 54, 500])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cls", BOOSTERS)
def test_far_powers_of_two_change_no_bit(cls, loss, exponent, samples):
    X, y, _ = samples
    unit, model = 2.0**exponent, cls(loss=loss, max_iter=5, calibration_fraction=0.3, random_state=0)
    plain, scaled = clone(model).fit(X, y[:, 0]), model.fit(X, y[:, 0] * unit)
    np.testing.assert_array_equal(scaled.predict(X), plain.predict(X) * unit)
    np.testing.assert_array_equal(scaled.predict_interval(X), plain.predict_interval(X) * unit)


@given(st.lists(st.integers(-60, 60), min_size=2, max_size=3), st.integers(0, 2**32 - 1))
def test_every_unit(exponents, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = X[:, :1] * np.arange(1, 1 + len(exponents)) + rng.normal(size=(60, len(exponents)))
    unit = 2.0 ** np.array(exponents)
    for cls in BOOSTERS:
        plain, scaled = (cls(max_iter=3, random_state=0).fit(X, y * u).predict(X) for u in (1.0, unit))
        np.testing.assert_array_equal(scaled, plain * unit)


@pytest.mark.parametrize("exponent", [-500, -300, 260, 500])
@pytest.mark.parametrize("model", [CurvatureTreeRegressor(), FCODTRegressor(), CurvatureForestRegressor(n_estimators=3, random_state=0),
                                   *(cls(max_iter=5, random_state=0) for cls in BOOSTERS)], ids=lambda m: type(m).__name__)
def test_importances_in_any_unit(model, exponent, samples):
    X, y, _ = samples
    plain, scaled = (clone(model).fit(X, y[:, 0] * unit).feature_importances_ for unit in (1.0, 2.0**exponent))
    # The penalty of FC-ODT's nodes does not know the unit of the scores that they inherit.
    np.testing.assert_allclose(scaled, plain, atol=0.01 if isinstance(model, FCODTRegressor) else 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cls", BOOSTERS)
def test_small_targets_do_not_end_training_early(cls, loss, samples):
    X, y, weight = samples
    model = cls(loss=loss, max_iter=40, learning_rate=0.1, early_stopping=True, n_iter_no_change=3, random_state=0)
    n_iter = model.fit(X, y[:, 0], sample_weight=weight).n_iter_
    assert n_iter > 6
    assert model.fit(X, y[:, 0] * 2.0**-30, sample_weight=weight).n_iter_ == n_iter


@pytest.mark.parametrize("cls", BOOSTERS)
def test_losses_are_of_the_targets_as_they_came(cls, samples):
    X, y, _ = samples
    y = y * [1e3, 1.0, 1e-3]
    model = cls(max_iter=5, random_state=0).fit(X, y, eval_set=(X[:50], y[:50]))
    for rows, scores in ((slice(None), model.train_score_), (slice(50), model.validation_score_)):
        errors = [((y[rows] - p) ** 2).sum(axis=1).mean() for p in model.staged_predict(X[rows])]
        np.testing.assert_allclose(-scores[1:], errors)


@pytest.mark.parametrize("cls", BOOSTERS)
def test_a_warm_start_is_one_fit(cls, samples):
    X, y, weight = samples
    y = y * [1e3, 1.0, 1e-3]
    model = cls(max_iter=4, warm_start=True, random_state=0).fit(X, y, weight)
    model.set_params(max_iter=9).fit(X, y, weight)
    at_once = cls(max_iter=9, random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(model.predict(X), at_once.predict(X))


@pytest.mark.parametrize("model", [*(cls(max_iter=5) for cls in BOOSTERS), CurvatureTreeRegressor(),
                                   CurvatureForestRegressor(n_estimators=5)])  # fmt: skip
def test_a_constant_beside_others(model, samples):
    X, y, _ = samples
    predicted = model.fit(X, np.column_stack([y, np.full(len(X), 1e6)])).predict(X)
    np.testing.assert_allclose(predicted[:, -1], 1e6)
    assert np.all(predicted[:, :-1].std(axis=0) > 0.0)


@pytest.mark.parametrize("exponent", [-1000, -600, 260, 531, 900])
@pytest.mark.parametrize("cv", [None, 3])
def test_kernels_choose_alike_in_any_unit(exponent, cv):
    """Squares of targets, and squares of these, overflow or vanish."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=60)
    unit = 2.0**exponent
    search = TreeNTKRegressorCV(alphas=[1e-8, 1.0], depths=[1, 2], scales=[1.0], cv=cv)
    plain, scaled = clone(search).fit(X, y), search.fit(X, unit * y)
    assert scaled.depth_ == plain.depth_ and scaled.alpha_ == plain.alpha_ == 1.0
    np.testing.assert_array_equal(scaled.predict(X), unit * plain.predict(X))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(scaled.cv_results_["score"], plain.cv_results_["score"] * unit * unit)
        assert scaled.best_score_ == plain.best_score_ * unit * unit


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("unit", [[1.0, 2.0**10], [2.0**-600, 1.0]], ids=str)
def test_searches_do_not_go_by_the_units_of_outputs(unit, cv):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = np.column_stack([X[:, 0] + rng.normal(size=60), np.cos(2.0 * X[:, 1]) + 0.01 * rng.normal(size=60)])
    search = TreeNTKRegressorCV(alphas=[1e-8, 0.1, 10.0], depths=[1, 3], scales=[0.5, 2.0], cv=cv)
    plain, scaled = clone(search).fit(X, y), search.fit(X, np.array(unit) * y)
    assert (scaled.alpha_, scaled.depth_, scaled.scale_) == (plain.alpha_, plain.depth_, plain.scale_)
    np.testing.assert_array_equal(scaled.predict(X), np.array(unit) * plain.predict(X))


@pytest.mark.parametrize("exponent", [-1000, -300, 260, 531, 900])
def test_features_are_learned_alike_in_any_unit(exponent):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 6))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=150)
    unit = 2.0**exponent
    model = TreeNTKRegressor(alpha=0.1, depth=2, scale=1.0, feature_learning=1)
    plain, scaled = clone(model).fit(X, y), model.fit(X, unit * y)
    assert plain.feature_matrix_ is not None
    np.testing.assert_array_equal(scaled.feature_matrix_, plain.feature_matrix_)
    np.testing.assert_array_equal(scaled.predict_interval(X), unit * plain.predict_interval(X))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(
            scaled.feature_learning_errors_, plain.feature_learning_errors_ * unit * unit)


@pytest.mark.parametrize("unit", [[1.0, 2.0**17], [2.0**-600, 1.0]], ids=str)
def test_features_of_several_outputs_do_not_go_by_their_units(unit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 6))
    y = np.column_stack([np.sin(2.0 * X[:, 0]), 0.1 * np.cos(2.0 * X[:, 1])]) + 0.01 * rng.normal(size=(150, 2))
    unit = np.array(unit)
    model = TreeNTKRegressor(alpha=0.1, depth=2, scale=1.0, feature_learning=1)
    plain, scaled = clone(model).fit(X, y), model.fit(X, unit * y)
    np.testing.assert_array_equal(scaled.feature_matrix_, plain.feature_matrix_)
    expected = plain.predict_interval(X) * unit[:, np.newaxis]
    # Conformity scores are divided by the largest.
    np.testing.assert_allclose(scaled.predict_interval(X), expected, rtol=1e-12, atol=0.0)
    features = np.diag(plain.feature_matrix_)
    assert features[:2].min() > 2.0 * features[2:].max()
