"""Changes of the data that do not change an ensemble of oblique trees, or in a known way.

Tables are continuous and fixed, so that no cut is a close call. Tolerance 1e-7 relative to the
targets: two roundings of rounds of ridge systems with condition numbers below 1e5.
"""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_cases import REGRESSION_LOSSES, given_parameter, loss_parameters, targets_for
from reference.literal_losses import make_loss
from reference.tree_comparison import random_weights, smooth_table
from sklearn.base import clone

X = smooth_table(150, 4, seed=21)[0]
y = np.abs(X @ [1.0, 2.0, 0.0, -1.0]) + X[:, 2]
LABELS = np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
NEW = np.random.default_rng(1).uniform(-1.5, 1.5, (50, 4))
BOOSTING = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=5, random_state=1)
FOREST = CurvatureForestRegressor(n_estimators=5, max_depth=3, max_features=0.5, random_state=1)
CLASSES = CurvatureBoostingClassifier(learning_rate=0.1, max_iter=5, random_state=1)
FOREST_CLASSES = CurvatureForestClassifier(n_estimators=5, max_depth=3, random_state=1)
MODELS = {"boosting": (BOOSTING, y), "forest": (FOREST, y), "classes": (CLASSES, LABELS),
          "forest of classes": (FOREST_CLASSES, LABELS)}


def scores(model, points):
    if hasattr(model, "exponent_"):  # in whose choice the number of samples counts
        return model._raw_predict(points)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(points)
    return model.predict(points)


def assert_same(first, second, scale=1.0):
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-7 * scale)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(order=st.permutations(range(len(X))))
def test_the_order_of_samples_does_not_matter(name, order):
    model, targets = MODELS[name]
    first = clone(model).fit(X, targets)
    second = clone(model).fit(X[order], targets[order])
    assert_same(scores(second, NEW), scores(first, NEW), np.abs(y).max())


@pytest.mark.parametrize("model", [
    CurvatureForestRegressor(n_estimators=10, random_state=0), CurvatureBoostingRegressor(max_iter=30, random_state=0),
    CurvatureForestClassifier(n_estimators=10, random_state=0), CurvatureBoostingClassifier(max_iter=30, random_state=0),
], ids=lambda model: type(model).__name__)
def test_rounding_does_not_take_sides(model):
    """Samples that a tree was grown without lie in the middle between others, where axes are cut."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rounded = np.round(rng.normal(size=(500, 4)), 1)
        targets = np.abs(rounded[:, 3]) + rounded[:, 0] * rounded[:, 1] + 0.3 * rng.normal(size=500)
        if hasattr(model, "predict_proba"):
            targets = targets > np.median(targets)
        order = rng.permutation(500)
        first = clone(model).fit(rounded, targets)
        second = clone(model).fit(rounded[order], targets[order])
        assert_same(scores(second, rounded), scores(first, rounded))


@pytest.mark.parametrize("step_depth", [None, 4])
@settings(max_examples=8)
@given(unit=st.sampled_from([1e-12, 1e-3, 0.1, 1e3, 1e9]), margin=st.sampled_from([0.0, 0.5, 1.0]))
def test_the_unit_of_a_loss_does_not_matter(step_depth, unit, margin):
    """If the penalties are in the same unit. Samples are counted where splits are judged, not second derivatives."""
    counts = np.round(np.exp(y / y.std()))

    def scaled_poisson(unit):
        return lambda target, score: (unit * (np.exp(score) - target), unit * np.exp(score))

    def fitted(unit):
        tree = CurvatureTreeRegressor(alpha=unit, split_margin=margin, min_samples_leaf=10)
        return CurvatureBoostingRegressor(
            loss=scaled_poisson(unit), max_iter=5, step_depth=step_depth, l2_leaf_reg=unit, tree=tree, random_state=1
        ).fit(X, counts)

    assert_same(fitted(unit).predict(NEW), fitted(1.0).predict(NEW), 3.0)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_are_numbers_of_samples(name, seed):
    """Draws too: equal samples are drawn together. Limits on numbers of samples count rows.

    Uneven weights besides, or the quantiles of a first round of classes fall on ties.
    """
    model, targets = MODELS[name]
    free = {"min_samples_leaf": 1}
    rng = np.random.default_rng(seed)
    times, each = rng.integers(0, 4, len(X)), rng.uniform(0.5, 1.5, len(X))
    weighted, repeated = clone(model).set_params(**free), clone(model).set_params(**free)
    weighted.fit(X, targets, sample_weight=times * each)
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(targets, times),
                 sample_weight=np.repeat(each, times))
    assert_same(scores(repeated, NEW), scores(weighted, NEW), np.abs(y).max())


@pytest.mark.parametrize("model", [BOOSTING, FOREST], ids=["boosting", "forest"])
@settings(max_examples=8)
@given(shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_units_of_features_do_not_matter(model, shift, scale):
    """With all samples: draws see the numbers."""
    every = {"subsample": 1.0} if model is BOOSTING else {"bootstrap": False}
    first = clone(model).set_params(**every).fit(X, y)
    units = scale ** np.arange(4)
    second = clone(model).set_params(**every).fit(X * units + shift, y)
    assert_same(second.predict(NEW * units + shift), first.predict(NEW), np.abs(y).max())


@settings(max_examples=8)
@given(shift=st.floats(-10, 10), scale=st.floats(0.1, 10))
def test_predictions_follow_the_targets(shift, scale):
    model = clone(BOOSTING).set_params(subsample=1.0)
    first = clone(model).fit(X, y).predict(NEW)
    second = clone(model).fit(X, scale * y + shift).predict(NEW)
    assert_same(second, scale * first + shift, scale * np.abs(y).max() + abs(shift))


@pytest.mark.parametrize("extrapolation", [0.0, 0.5])
def test_leaves_stay_in_their_bounds(extrapolation):
    forest = clone(FOREST).set_params(extrapolation=extrapolation, max_depth=0).fit(X, y)
    far = forest.predict(100.0 * NEW)
    low, high = forest.trees_.leaf_lower.mean(), forest.trees_.leaf_upper.mean()
    assert np.all((far >= low) & (far <= high))
    # 0.5 makes the interval twice as long.
    tight = clone(FOREST).set_params(extrapolation=0.0, max_depth=0).fit(X, y).trees_
    length = (tight.leaf_upper - tight.leaf_lower) * (1 + 2 * extrapolation)
    np.testing.assert_allclose(forest.trees_.leaf_upper - forest.trees_.leaf_lower, length)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_a_small_step_goes_down_the_loss_as_its_gradient_says(loss):
    """The mean loss along a round's step, differentiated numerically, is the gradient's.

    Rates of 1e-5: the second derivative adds about that much, rounding 1e-16 / 1e-5.
    """
    parameters = loss_parameters(loss)
    targets = targets_for(loss, y)
    weight = random_weights(len(X), seed=3)
    rate = 1e-5
    model = clone(BOOSTING).set_params(**parameters, max_iter=1,
                                       learning_rate=rate, subsample=1.0)
    model.fit(X, targets, sample_weight=weight)
    literal = make_loss(loss, given_parameter(parameters))
    start = np.tile(model.baseline_, (len(X), 1))
    if loss == "huber":
        literal.prepare(targets[:, np.newaxis], start, weight)
    step = (model._raw_predict(X) - start) / rate
    gradient = literal.gradient(targets[:, np.newaxis], start)
    if loss == "squared_error":
        gradient = 2.0 * gradient  # the loss's own, not that of its half
    # Between residuals that change sign on the way the slope is not defined.
    crossing = np.abs(targets - start[:, 0]) < 2 * rate * np.abs(step[:, 0])
    keep = ~crossing if loss in ("absolute_error", "quantile") else np.full(len(X), True)
    moved = literal.value(targets[:, np.newaxis], start + rate * step)
    change = (moved - literal.value(targets[:, np.newaxis], start))[keep, 0] @ weight[keep]
    slope = np.sum((gradient * step)[keep, 0] * weight[keep])
    np.testing.assert_allclose(change / rate, slope, rtol=1e-3)
    assert slope < 0
    assert model.train_score_[1] > model.train_score_[0]


@pytest.mark.parametrize("model", [CurvatureTreeRegressor(min_samples_leaf=1, split_margin=0.0),
                                   CurvatureTreeRegressor(min_samples_leaf=1, split_margin=0.0, standardize=False),
                                   CurvatureBoostingRegressor(max_iter=5, min_samples_leaf=1, random_state=1),
                                   CurvatureForestRegressor(n_estimators=5, min_samples_leaf=1, random_state=1)])
@pytest.mark.parametrize("seed", range(3))
def test_fewer_rows_than_features_may_be_enough_by_their_weights(model, seed):
    rng = np.random.default_rng(seed)
    wide = rng.normal(size=(28, 30))
    targets, times = 3 * np.abs(wide[:, 0]) + wide[:, 1], rng.integers(1, 5, 28)
    weighted = clone(model).fit(wide, targets, sample_weight=times)
    repeated = clone(model).fit(np.repeat(wide, times, axis=0), np.repeat(targets, times))
    points = rng.normal(size=(50, 30))
    assert_same(repeated.predict(points), weighted.predict(points), np.abs(targets).max())
