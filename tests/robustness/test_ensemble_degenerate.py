"""Ensembles of oblique trees on data that hardly say anything, or say it in odd numbers."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
)
from loss_cases import ORDER_LOSSES, REGRESSION_LOSSES, loss_parameters
from sklearn.base import clone

BOOSTING = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=5, random_state=0)
FOREST = CurvatureForestRegressor(n_estimators=5, random_state=0)
REGRESSORS = pytest.mark.parametrize("model", [BOOSTING, FOREST], ids=["boosting", "forest"])
RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3))
y = np.abs(X[:, 0]) + X[:, 1]


@REGRESSORS
def test_a_constant_target_is_the_answer(model):
    model = clone(model).fit(X, np.full(200, 3.5))
    np.testing.assert_allclose(model.predict(100 * X), 3.5, rtol=1e-12)  # a mean of 200
    assert np.all(model.feature_importances_ == 0)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_a_constant_target_under_other_losses(loss):
    model = clone(BOOSTING).set_params(**loss_parameters(loss)).fit(X, np.full(200, 3.5))
    np.testing.assert_allclose(model.predict(X), 3.5, rtol=1e-9)  # an exponential's logarithm


@pytest.mark.parametrize("loss", ORDER_LOSSES)
def test_most_targets_equal(loss):
    """Residuals of exactly 0 weigh on a round as small ones do.

    The start, their median, is all but the best answer; a parabola's step may leave it by little.
    """
    targets = np.where(np.arange(200) % 5 == 0, y, 1.0)
    model = clone(BOOSTING).set_params(
        **loss_parameters(loss, quantile=0.5), max_iter=20).fit(X, targets)
    assert np.median(np.abs(model.predict(X) - 1.0)) < 0.2
    assert model.train_score_[-1] >= 1.01 * model.train_score_[0]


@REGRESSORS
@pytest.mark.parametrize("rows", [1, 2, 3, 49, 51])
def test_few_samples(model, rows):
    predicted = clone(model).fit(X[:rows], y[:rows]).predict(X)
    assert np.all(np.isfinite(predicted))
    assert np.all(np.abs(predicted) <= 3 * np.abs(y[:rows]).max() + 1e-9)


@REGRESSORS
def test_one_feature_and_more_features_than_samples(model):
    bent = np.abs(X[:, 0])
    assert clone(model).set_params(min_samples_leaf=10).fit(X[:, :1], bent).score(
        X[:, :1], bent) > 0.3
    wide = RNG.standard_normal((30, 60))
    assert np.all(np.isfinite(clone(model).fit(wide, wide[:, 0]).predict(wide)))
    constant = np.column_stack([X, np.ones(200), np.full(200, 1e9)])
    other = np.column_stack([X, np.zeros(200), np.zeros(200)])
    first, second = (clone(model).set_params(**EVERY(model)).fit(Z, y) for Z in (constant, other))
    np.testing.assert_allclose(first.predict(constant), second.predict(other), atol=1e-7)


def EVERY(model):
    """All samples in every tree: draws see constant columns as well."""
    return {"subsample": 1.0} if hasattr(model, "subsample") else {"bootstrap": False}


@REGRESSORS
@pytest.mark.parametrize("scale, shift", [(1e-8, 1.0), (1.0, 1e6), (1e100, 0.0), (1e-100, 0.0)])
def test_columns_of_odd_units(model, scale, shift):
    """A column that varies in its ninth digit keeps seven digits fewer than others."""
    expected = clone(model).set_params(**EVERY(model)).fit(X, y).predict(X)
    Z = X * scale + shift
    found = clone(model).set_params(**EVERY(model)).fit(Z, y).predict(Z)
    tolerance = 1e-6 if shift == 0 else 0.05
    np.testing.assert_allclose(found, expected, atol=tolerance)


@REGRESSORS
@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_targets_of_odd_units(model, scale):
    expected = clone(model).set_params(**EVERY(model)).fit(X, y).predict(X)
    found = clone(model).set_params(**EVERY(model)).fit(X, y * scale).predict(X) / scale
    np.testing.assert_allclose(found, expected, atol=1e-6)


@REGRESSORS
def test_numbers_whose_squares_overflow_are_refused(model):
    with pytest.raises(ValueError, match="too large"):
        clone(model).fit(X * 1e200, y)


def test_a_loss_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="training loss is not finite"):
        clone(BOOSTING).fit(X, y, init_score=np.full(200, 1e200))


@pytest.mark.parametrize("kind", [CurvatureBoostingClassifier, CurvatureForestClassifier])
def test_classes_that_are_easy_or_alone(kind):
    size = {"max_iter": 60} if kind is CurvatureBoostingClassifier else {"n_estimators": 10}
    apart = kind(random_state=0, **size).fit(X, X[:, 0] > 0)
    assert apart.score(X, X[:, 0] > 0) > 0.95
    assert np.all(np.isfinite(apart.predict_proba(1000 * X)))
    one = kind(random_state=0, **size).fit(X, np.zeros(200))
    np.testing.assert_array_equal(one.predict_proba(X), np.ones((200, 1)))
    lonely = np.zeros(200, dtype=int)
    lonely[0], lonely[1] = 1, 2
    rare = kind(random_state=0, **size).fit(X, lonely)
    np.testing.assert_allclose(rare.predict_proba(X).sum(axis=1), 1.0)


@REGRESSORS
def test_layouts_are_the_same_to_it(model):
    expected = clone(model).fit(X, y).predict(X)
    read_only = X.copy()
    read_only.setflags(write=False)
    for same in (np.asfortranarray(X), read_only, X[::-1][::-1], X.tolist()):
        np.testing.assert_array_equal(clone(model).fit(same, y).predict(same), expected)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e9])
def test_many_rows_of_features_with_little_to_cut(scale):
    """So many that step trees are grown from bins: constant, of two values, and in the last digits."""
    rng = np.random.default_rng(0)
    steps = rng.integers(2, size=66_000)
    X = scale * np.column_stack([np.ones(66_000), steps, 1.0 + 1e-15 * steps])
    # All samples: the two that differ are drawn as wholes.
    alone = CurvatureBoostingRegressor(max_iter=3, subsample=1.0).fit(X[:, :1], steps)
    np.testing.assert_allclose(alone.predict(X[:5, :1]), steps.mean(), rtol=1e-9)
    model = CurvatureBoostingRegressor(max_iter=30, learning_rate=0.5, random_state=0).fit(X, steps)
    assert model.score(X, steps) > 0.999
    constant = CurvatureBoostingRegressor(max_iter=3, random_state=0).fit(X, np.full(66_000, 7.0))
    np.testing.assert_array_equal(constant.predict(X[:5]), 7.0)
