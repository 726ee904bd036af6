"""Penalties are in the unit of the weights: weights far below 1, such as those that sum to 1, are scaled.

So are weights whose products overflow.
"""

import warnings
from math import fsum

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor

import fctree
from fctree._training.weight_scale import WeightScale, rescale_small_weights
from fctree.inspection import variable_importance

FAMILIES = {
    "CurvatureTree": {},
    "FCODT": {},
    "CurvatureForest": {"n_estimators": 20, "random_state": 0},
    "CurvatureBoosting": {"max_iter": 8, "random_state": 0},
    "SymmetricBoosting": {"max_iter": 8, "random_state": 0},
    "SoftTree": {"max_epochs": 4, "random_state": 0},
    "TreeNTK": {"alpha": 0.1},
    "TreeNTK CV": {"alphas": (0.1, 1.0), "depths": (2, 3), "cv": 3},
}
OPTIONS = [
    *(pytest.param(name, {}, id=name) for name in FAMILIES),
    pytest.param("CurvatureTree", {"leaf_model": "soft"}, id="soft leaves"),
    pytest.param("CurvatureTree", {"alpha": "loo"}, id="chosen penalty"),
    pytest.param("CurvatureForest", {"oob_score": True}, id="out of bag"),
    pytest.param("SymmetricBoosting", {"early_stopping": True}, id="early stopping"),
    pytest.param("SoftTree", {"early_stopping": True}, id="soft early stopping"),
    pytest.param("TreeNTK", {"solver": "nystrom", "random_state": 0}, id="landmarks"),
]


def estimator(name, kind, **options):
    family, *cv = name.split()
    return getattr(fctree, f"{family}{kind}{''.join(cv)}")(**{**FAMILIES[name], **options})


def problem(kind, n=256):
    if kind == "Regressor":
        return make_friedman1(n, noise=1.0, random_state=0)
    return make_classification(n, 10, n_informative=5, n_classes=3, random_state=6)


def weights(n=256):
    """With a mean near 1, and some of 0."""
    weight = np.random.default_rng(5).uniform(0.2, 1.8, n)
    weight[::9] = 0.0
    return weight


def outputs(model, X):
    return getattr(model, "predict_proba", model.predict)(X)


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
@pytest.mark.parametrize("name, options", OPTIONS)
def test_small_weights_are_those_with_a_mean_near_1(name, options, kind):
    X, y = problem(kind)
    model = estimator(name, kind, **options)
    expected = outputs(model.fit(X, y, sample_weight=weights()), X)
    small = np.ldexp(weights(), -10)
    np.testing.assert_array_equal(outputs(model.fit(X, y, sample_weight=small), X), expected)


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
@pytest.mark.parametrize("name", FAMILIES)
def test_weights_of_one_nth_are_no_weights(name, kind):
    # Of a power of two of samples they become 1, and multiplying by one is exact.
    X, y = problem(kind)
    model = estimator(name, kind)
    plain = outputs(model.fit(X, y), X)
    np.testing.assert_array_equal(outputs(model.fit(X, y, sample_weight=np.full(256, 1 / 256)), X), plain)


@pytest.mark.filterwarnings("ignore:The kernel matrix with alpha")  # which such weights leave nothing of
@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
@pytest.mark.parametrize("name", FAMILIES)
def test_huge_weights_are_those_that_penalties_do_not_count_beside(name, kind):
    # Sums of products of weights of 1e102 overflowed, and trees were constants.
    X, y = problem(kind)
    model = estimator(name, kind)
    expected = outputs(model.fit(X, y, sample_weight=np.ldexp(weights(), 256)), X)
    huge = outputs(model.fit(X, y, sample_weight=np.ldexp(weights(), 1020)), X)
    np.testing.assert_array_equal(huge, expected)


@pytest.mark.parametrize("mean", [0.72, 1.0, 1.5, 300.0, 1e76])
def test_weights_that_are_large_enough_are_as_they_were(mean):
    weight = weights() * (mean * np.count_nonzero(weights()) / weights().sum())
    assert rescale_small_weights(weight) is weight
    assert rescale_small_weights(None) is None


@pytest.mark.parametrize("median", [1e-300, 1e-40, 1e-5])
def test_the_factor_is_the_power_of_two_that_brings_the_mean_closest_to_1(median):
    weight = median * np.random.default_rng(2).lognormal(sigma=3.0, size=1001)
    weight[::5] = 0.0
    scaled = rescale_small_weights(weight)
    assert np.sqrt(0.5) <= scaled[weight > 0.0].mean() <= np.sqrt(2.0)
    (factor,) = np.unique(scaled[weight > 0.0] / weight[weight > 0.0])
    assert np.frexp(factor)[0] == 0.5


def test_the_least_and_the_largest_weights():
    assert np.all(rescale_small_weights(np.full(7, 5e-324)) == 1.0)
    largest = rescale_small_weights(np.full(7, 1e308))
    assert np.all((largest >= 2.0**255.5) & (largest <= 2.0**256.5))


def test_the_factor_does_not_depend_on_the_order_or_the_places_of_the_rows():
    weight = np.random.default_rng(3).lognormal(mean=-9.0, sigma=8.0, size=3000)
    scale = WeightScale(weight.max(), len(weight))
    whole = scale.words(weight)
    np.testing.assert_array_equal(scale.words(weight[::-1]), whole)
    parts = [scale.words(part) for part in np.split(weight, [1, 700, 700, 2999])]
    np.testing.assert_array_equal(sum(parts), whole)
    assert scale.total(whole) == pytest.approx(fsum(rescale_small_weights(weight)), rel=1e-15)


@pytest.mark.parametrize("name", ["CurvatureForest", "CurvatureBoosting", "SymmetricBoosting", "SoftTree"])
def test_small_weights_of_classes_are_scaled_too(name):
    X, y = problem("Classifier")
    given = {label: weight for label, weight in enumerate((0.5, 1.0, 1.5))}
    small = {label: weight / 1024 for label, weight in given.items()}
    expected = outputs(estimator(name, "Classifier", class_weight=given).fit(X, y), X)
    found = estimator(name, "Classifier", class_weight=small).fit(X, y)
    np.testing.assert_array_equal(outputs(found, X), expected)


def test_parts_of_the_data_are_scaled_by_their_own_weights():
    X, y = problem("Regressor")
    ours, theirs = (estimator("SoftTree", "Regressor") for _ in range(2))
    for rows, power in ((slice(0, 128), -9), (slice(128, None), -3)):
        theirs.partial_fit(X[rows], y[rows], weights()[rows])
        ours.partial_fit(X[rows], y[rows], np.ldexp(weights()[rows], power))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["SymmetricBoosting", "TreeNTK"])
def test_importances_are_those_of_larger_weights(name):
    X, y = problem("Regressor")
    found = [
        variable_importance(estimator(name, "Regressor"), X, y, sample_weight=weights() * factor,
                            random_state=0).importances
        for factor in (1.0, 2.0**-10)
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", ["CurvatureTree", "CurvatureBoosting", "SymmetricBoosting", "SoftTree"])
def test_adaboost_of_classifiers(name):
    # Its weights sum to 1: not scaled, they gave scores of .32 to .54. One estimator without weights has .73 to .76.
    X, y = problem("Classifier", 1500)
    boosted = AdaBoostClassifier(estimator(name, "Classifier"), n_estimators=5, random_state=0)
    assert boosted.fit(X[:750], y[:750]).score(X[750:], y[750:]) > 0.73


def test_adaboost_of_regressors():
    X, y = problem("Regressor", 1500)
    boosted = AdaBoostRegressor(estimator("CurvatureTree", "Regressor"), n_estimators=5, random_state=0)
    assert boosted.fit(X[:750], y[:750]).score(X[750:], y[750:]) > 0.9


@pytest.mark.parametrize("name", FAMILIES)
def test_large_weights_give_a_warning(name):
    X, y = make_friedman1(n_samples=120, random_state=0)
    weight = np.linspace(5.0, 20.0, 120)
    weight[:20] = 0.0
    for large, mean in ((weight, "13"), (weight.round(), "13"), (weight / 4, "3")):
        with pytest.warns(UserWarning, match=rf"sample_weight is {mean}\.\d+: .* sample_weight / sample_weight\.mean\(\)"):
            estimator(name, "Regressor").fit(X, y, sample_weight=large)
    for small in (weight // 2, weight / 6):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="the mean of sample_weight")
            estimator(name, "Regressor").fit(X, y, sample_weight=small)
