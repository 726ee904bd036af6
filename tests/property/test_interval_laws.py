"""Laws that the intervals of all regressors keep."""

import warnings

import numpy as np
import pytest
from property import strategies
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

MODELS = {
    "curvature tree": CurvatureTreeRegressor(min_samples_leaf=5, split_margin=0.1),
    "paper's tree": FCODTRegressor(),
    "forest": CurvatureForestRegressor(n_estimators=8, max_depth=2, random_state=0),
    "kernel": TreeNTKRegressor(alpha=0.1),
    "chosen kernel": TreeNTKRegressorCV(alphas=[0.1, 1.0], depths=[1, 2], scales=[1.0]),
    "boosting": CurvatureBoostingRegressor(
        max_iter=5, max_depth=1, calibration_fraction=0.3, random_state=0),
    "symmetric boosting": SymmetricBoostingRegressor(
        max_iter=20, max_depth=3, calibration_fraction=0.3, random_state=0),
}
RNG = np.random.default_rng(1)
X = RNG.uniform(-1, 1, (200, 3))
y = np.abs(X[:, 0]) + 0.3 * RNG.standard_normal(200) * (1 + X[:, 1])
EVERY = pytest.mark.parametrize("name", MODELS)


@settings(max_examples=25)
@given(data=st.data(), name=st.sampled_from(["curvature tree", "paper's tree", "forest", "kernel"]))
def test_any_data_have_intervals_around_their_predictions(data, name):
    table = data.draw(strategies.tables())
    model = clone(MODELS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # singular kernel matrices
        model.fit(table.X, table.y, table.sample_weight)
        if name == "forest" and not hasattr(model, "interval_scores_"):
            with pytest.raises(ValueError, match="bootstrap"):
                model.predict_interval(table.X)
            return
        narrow, wide = (model.predict_interval(table.X, level) for level in (0.5, 0.9))
    assert narrow.shape == (*np.shape(table.y), 2)
    prediction = model.predict(table.X)
    assert np.all(wide[..., 0] <= narrow[..., 0]) and np.all(narrow[..., 1] <= wide[..., 1])
    assert np.all(narrow[..., 0] <= prediction) and np.all(prediction <= narrow[..., 1])


@EVERY
def test_levels_are_nested_and_hold_the_prediction(name):
    model = clone(MODELS[name]).fit(X, y)
    before = np.repeat(model.predict(X)[:, None], 2, axis=1)
    for level in (0.01, 0.3, 0.5, 0.8, 0.9, 0.95, 0.97):
        interval = model.predict_interval(X, level)
        assert interval.shape == (len(X), 2)
        assert np.all(interval[:, 0] <= before[:, 0]) and np.all(interval[:, 1] >= before[:, 1])
        before = interval
    assert np.all(np.isinf(model.predict_interval(X, 0.9999)))


# The paper's tree penalises concatenated scores in the unit of the targets; draws of samples depend on where their zero is.
WITHOUT_UNIT = {
    "curvature tree": {},
    "paper's tree": {"feature_concatenation": False},
    "kernel": {},
    "boosting": {"subsample": 1.0},
    "symmetric boosting": {},
}


@pytest.mark.parametrize("name", WITHOUT_UNIT)
def test_targets_may_change_their_unit(name):
    model = clone(MODELS[name]).set_params(**WITHOUT_UNIT[name])
    interval = model.fit(X, y).predict_interval(X)
    scaled = model.fit(X, 4.0 * y).predict_interval(X)
    np.testing.assert_allclose(scaled, 4.0 * interval, rtol=1e-6, atol=1e-9)
    if name != "kernel":  # its regression has no intercept
        shifted = model.fit(X, y + 2.0).predict_interval(X)
        np.testing.assert_allclose(shifted, interval + 2.0, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["curvature tree", "paper's tree", "kernel", "forest"])
def test_the_order_of_samples_does_not_matter(name):
    order = np.random.default_rng(2).permutation(len(X))
    interval = clone(MODELS[name]).fit(X, y).predict_interval(X)
    again = clone(MODELS[name]).fit(X[order], y[order]).predict_interval(X)
    np.testing.assert_allclose(again, interval, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["paper's tree", "kernel"])
def test_weights_have_no_unit(name):
    model = clone(MODELS[name])
    weight = 1.0 + (np.arange(len(X)) % 3 == 0)
    interval = model.fit(X, y, weight).predict_interval(X)
    model.set_params(alpha=4.0 * model.alpha).fit(X, y, 4.0 * weight)
    np.testing.assert_allclose(model.predict_interval(X), interval, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["curvature tree", "paper's tree", "forest"])
def test_samples_of_weight_zero_do_not_count(name):
    weight = (np.arange(len(X)) % 4 > 0).astype(float)
    kept = weight > 0
    ignored = clone(MODELS[name]).fit(X, y, weight).predict_interval(X)
    absent = clone(MODELS[name]).fit(X[kept], y[kept]).predict_interval(X)
    np.testing.assert_allclose(ignored, absent, rtol=1e-9)


@EVERY
def test_constant_targets_have_intervals_without_width(name):
    model = clone(MODELS[name]).fit(X, np.full(len(X), 3.0))
    interval = model.predict_interval(X)
    prediction = model.predict(X)
    np.testing.assert_allclose(interval[:, 0], prediction, atol=0.1 if "kernel" in name else 1e-9)
    np.testing.assert_allclose(interval[:, 1], prediction, atol=0.1 if "kernel" in name else 1e-9)


@EVERY
def test_new_samples_are_inside_as_often_as_the_level_says(name):
    rng = np.random.default_rng(3)

    def sample(n):
        X = rng.uniform(-1, 1, (n, 3))
        return X, np.abs(X[:, 0]) + (0.2 + np.abs(X[:, 1])) * rng.standard_t(3, n)

    model = clone(MODELS[name]).fit(*sample(800))
    X_new, y_new = sample(4000)
    for level in (0.5, 0.9):
        lower, upper = model.predict_interval(X_new, level).T
        # The share of a calibrated interval varies by about sqrt(p (1 - p) / n) with the training
        # samples: .018 at one half for 800, .032 for the 240 of boosting, of which this is three.
        assert abs(np.mean((lower <= y_new) & (y_new <= upper)) - level) < 0.1


def test_errors_need_not_rise_where_predictions_do():
    """Constraints are about predictions: where these rise, the targets' quantiles may fall."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 2))
    y = X[:, 0] + (1 + X[:, 0]) * rng.normal(size=3000)
    model = SymmetricBoostingRegressor(random_state=0, calibration_fraction=0.2, monotonic_cst=[1, 0]).fit(X, y)
    (left, right) = model.predict_interval([[-0.95, 0.0], [0.95, 0.0]], 0.9)
    assert left[1] - left[0] < 1.0 and right[1] - right[0] > 4.5  # in truth .16 and 6.4
    assert np.all(np.diff(model.predict(np.column_stack([np.linspace(-1, 1, 99), np.zeros(99)]))) >= 0.0)


def test_several_outputs_are_intervals_by_themselves():
    both = np.column_stack([y, 10.0 * X[:, 2] + y])
    for name, model in MODELS.items():
        model = clone(model).fit(X, both)
        interval = model.predict_interval(X[:7])
        assert interval.shape == (7, 2, 2), name
        prediction = model.predict(X[:7])
        assert np.all(interval[..., 0] <= prediction) and np.all(prediction <= interval[..., 1])


@pytest.mark.parametrize("n_samples, share", [(6000, 1.0), (8192, 0.5), (12_000, 0.5), (20_000, 0.25)])
def test_errors_of_a_random_part_of_many_samples_are_enough(n_samples, share):
    """Scales are those of all errors in a leaf, and the level is kept."""
    rng = np.random.default_rng(n_samples)

    def draw(n):
        X = rng.uniform(-1, 1, (n, 3))
        return X, X[:, 1] + 10 * (X[:, 0] > 0) + rng.standard_normal(n) * np.where(X[:, 0] > 0, 3, 1)

    X, y = draw(n_samples)
    weight = (rng.random(n_samples) < 0.9).astype(float)
    for sample_weight in (None, weight):
        model = FCODTRegressor(max_depth=1).fit(X, y, sample_weight)
        counted = np.ones(n_samples, dtype=bool) if sample_weight is None else weight > 0
        n_errors = counted.sum() * share
        if n_errors < 4000:
            assert abs(len(model.interval_scores_) - n_errors) < 4 * np.sqrt(n_errors)
        errors = np.abs(y - model.predict(X))[counted]
        leaf = model.tree_.leaf_index[model.apply(X)][counted]
        expected = [errors[leaf == number].mean() for number in range(2)]
        np.testing.assert_allclose(model.interval_scales_[:, 0], expected, rtol=0.08)
        X_test, y_test = draw(20_000)
        low, high = model.predict_interval(X_test, 0.9).T
        assert abs(np.mean((low <= y_test) & (y_test <= high)) - 0.9) < 0.02


# Predictions of a kernel with a penalty are wrong by more than rounding.
@pytest.mark.parametrize("name", [name for name in MODELS if "kernel" not in name])
@pytest.mark.parametrize("value", [0.1, 3.3, -7.7, 1e9 / 7])
def test_a_constant_target_is_inside_of_its_intervals(name, value):
    model = clone(MODELS[name]).fit(X, np.full(len(X), value))
    lower, upper = model.predict_interval(X, 0.5).T
    assert np.all((lower <= value) & (value <= upper))
    assert np.all(upper - lower <= 1e-12 * abs(value))
