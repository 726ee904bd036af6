"""Sample weights that cannot be, and some that can."""

import numpy as np
import pytest
from fctree import (
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
    TreeNTKRegressorCV,
)
from reference.tree_comparison import smooth_table


@pytest.fixture(params=[FCODTRegressor, FCODTClassifier])
def problem(request):
    X, y = smooth_table(40, 3, seed=130)
    return request.param(), X, y if request.param is FCODTRegressor else y > np.median(y)


@pytest.mark.parametrize("bad, message", [
    (np.full(39, 1.0), "shape|sample_weight"),
    (np.ones((40, 2)), "1D|2D|shape"),
    (np.where(np.arange(40) == 3, -1.0, 1.0), "[Nn]egative"),
    (np.where(np.arange(40) == 3, np.nan, 1.0), "NaN"),
    (np.where(np.arange(40) == 3, np.inf, 1.0), "infinity"),
    (np.zeros(40), "zero"),
    (np.full(40, "heavy"), "convert|dtype"),
], ids=["short", "matrix", "negative", "nan", "infinite", "all zero", "text"])
def test_bad_weights_are_refused(problem, bad, message):
    estimator, X, y = problem
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, sample_weight=bad)
    assert not hasattr(estimator, "tree_")


@pytest.mark.parametrize("weight", [1, 2.5, np.ones(40, dtype=int), np.ones(40, np.float32),
                                    [1] * 40], ids=["one", "number", "int", "float32", "list"])
def test_weights_of_any_type_are_taken(problem, weight):
    estimator, X, y = problem
    estimator.fit(X, y, sample_weight=weight)
    total = np.sum(np.broadcast_to(weight, 40))
    assert estimator.tree_.weighted_n_node_samples[0] == pytest.approx(total)


def test_weight_one_is_no_weight(problem):
    estimator, X, y = problem
    plain = estimator.fit(X, y).predict(X)
    # Multiplying by one is exact, so even the bytes agree.
    np.testing.assert_array_equal(estimator.fit(X, y, sample_weight=np.ones(40)).predict(X), plain)


def test_only_one_sample_with_weight(problem):
    estimator, X, y = problem
    weight = np.zeros(40)
    weight[7] = 0.5
    estimator.fit(X, y, sample_weight=weight)
    assert estimator.tree_.node_count == 1
    assert estimator.tree_.n_node_samples[0] == 1
    np.testing.assert_array_equal(estimator.predict(X), np.full(40, y[7]))


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_a_weight_for_all_is_finite(weight):
    X = np.arange(20.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        CurvatureTreeRegressor().fit(X, X[:, 0], sample_weight=weight)


def test_a_forest_survives_a_weight_beside_which_others_are_nothing():
    X = np.random.default_rng(0).integers(0, 100, (120, 4)).astype(float)
    y = (X[:, 0] > 50).astype(int) + (X[:, 2] > 70)
    weight = np.where(np.arange(120) == 3, 1e30, 1.0)
    with pytest.warns(UserWarning, match="mean of sample_weight"):
        model = CurvatureForestClassifier(n_estimators=5, random_state=0).fit(X, y, sample_weight=weight)
    assert np.isfinite(model.predict_proba(X)).all()


def test_weights_of_very_different_size():
    X, y = smooth_table(40, 3, seed=131)
    weight = np.logspace(-12, 12, 40)
    model = FCODTRegressor(max_depth=None).fit(X, y, sample_weight=weight)
    assert np.all(np.isfinite(model.predict(X)))
    # The heaviest samples have nearly all the say.
    assert abs(model.predict(X[-1:])[0] - y[-1]) < 1e-3


def test_a_class_without_weight_is_still_a_class():
    X, y = smooth_table(60, 3, seed=132)
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y)
    weight = (classes != 1).astype(float)
    model = FCODTClassifier(leaf_model="constant").fit(X, classes, sample_weight=weight)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0, atol=1e-12)
    assert 1 not in model.predict(X)


def test_fractions_are_of_the_samples_that_count(problem):
    estimator, X, y = problem
    weight = (np.arange(40) % 2).astype(float)
    estimator.set_params(min_samples_leaf=0.2, min_samples_split=0.5)
    expected = estimator.fit(X[weight > 0], y[weight > 0]).predict(X)
    np.testing.assert_array_equal(estimator.fit(X, y, sample_weight=weight).predict(X), expected)
    assert estimator.tree_.n_leaves > 1


@pytest.mark.parametrize("model", [
    CurvatureTreeRegressor(), CurvatureTreeRegressor(leaf_model="soft"), FCODTRegressor(),
    TreeNTKRegressorCV(alphas=[0.01, 1.0], depths=[1, 2]), TreeNTKRegressorCV(alphas=[0.01, 1.0], depths=[1, 2], cv=3),
], ids=["curvature", "soft", "fcodt", "kernel", "kernel, folds"])
def test_any_target_of_a_sample_without_weight_is_ignored(model):
    X, y = smooth_table(80, 3, seed=133)
    weight = np.append(np.ones(80), 0.0)
    predictions = [
        model.fit(np.vstack([X, X[:1]]), np.append(y, target), sample_weight=weight).predict(X)
        for target in (1.0, 1e160, -1e300)
    ]
    np.testing.assert_array_equal(predictions[1], predictions[0])
    np.testing.assert_array_equal(predictions[2], predictions[0])


@pytest.mark.parametrize("kind", [FCODTRegressor, CurvatureTreeRegressor, CurvatureForestRegressor])
def test_features_whose_squares_overflow_are_ignored_without_weight(kind):
    X, y = smooth_table(80, 3, seed=134)
    far, weight = np.vstack([X, np.full((1, 3), 1e160)]), np.append(np.ones(80), 0.0)
    expected = kind(random_state=0).fit(X, y).predict(X)
    found = kind(random_state=0).fit(far, np.append(y, 0.0), sample_weight=weight).predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1e15, 1e20, 1e200])
def test_large_weights_leave_the_calibration_of_forests_as_it_is(size):
    X, y = smooth_table(200, 3, seed=135)
    labels = y + np.random.default_rng(0).normal(size=200) > np.median(y)
    shifts = [
        CurvatureForestClassifier(n_estimators=8, random_state=0).fit(X, labels, sample_weight=np.full(200, w)).class_shifts_
        for w in (1e9, size)
    ]
    np.testing.assert_allclose(shifts[1], shifts[0], atol=1e-6)
