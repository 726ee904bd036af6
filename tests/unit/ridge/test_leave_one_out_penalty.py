"""`alpha="loo"` against refits without each sample: the closed form must choose the penalty that
honest refits choose.
"""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor, FCODTClassifier, FCODTRegressor
from reference.tree_comparison import random_weights, smooth_table
from sklearn.base import clone
from sklearn.linear_model import Ridge

GRID = 10.0 ** np.arange(3.0, -4.25, -0.5)  # the largest first


def refit_errors(X, y, counts=None, fit_intercept=True):
    """Leave-one-out error of each penalty of the grid; `counts` are copies of the samples."""
    Y = np.reshape(y, (len(X), -1))
    counts = np.ones(len(X)) if counts is None else counts
    # scikit-learn takes a penalty for each output: all of the grid in one fit.
    model = Ridge(alpha=np.repeat(GRID, Y.shape[1]), fit_intercept=fit_intercept,
                  solver="cholesky")
    repeated = np.tile(Y, (1, len(GRID)))

    errors = np.zeros(len(GRID))
    for i in np.flatnonzero(counts):
        # A unit of weight is left out, or a sample that weighs less.
        weights = counts - np.minimum(counts, 1.0) * (np.arange(len(X)) == i)
        kept = weights > 0
        model.fit(X[kept], repeated[kept], sample_weight=weights[kept])
        residuals = repeated[i] - model.predict(X[i:i + 1])[0]
        errors += counts[i] * np.sum(residuals.reshape(len(GRID), -1) ** 2, axis=1)
    return errors


def assert_chosen(model, errors):
    assert isinstance(model.alpha_, float)
    chosen = np.argmin(np.abs(np.log(GRID / model.alpha_)))
    assert model.alpha_ == pytest.approx(GRID[chosen], rel=1e-14)
    assert chosen == np.argmin(errors)
    # The decision is not one of rounding: errors differ by more than refits round.
    assert np.sort(errors)[1] > errors.min() * (1 + 1e-7)


def noisy_table(n_samples, n_features, n_outputs=1, *, seed=0, noise=1.0):
    """Linear with noise: how much decides which penalty is best."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    Y = X @ rng.standard_normal((n_features, n_outputs)) / np.sqrt(n_features)
    Y = Y + noise * rng.standard_normal(Y.shape) + 3
    return X, Y[:, 0] if n_outputs == 1 else Y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("noise", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_refits_choose_the_same(n_outputs, noise, fit_intercept):
    X, Y = noisy_table(40, 6, n_outputs, noise=noise, seed=1)
    model = FCODTRegressor(alpha="loo", max_depth=0, fit_intercept=fit_intercept).fit(X, Y)
    assert_chosen(model, refit_errors(X, Y, fit_intercept=fit_intercept))


def test_more_noise_asks_for_more_penalty():
    chosen = [FCODTRegressor(alpha="loo").fit(*noisy_table(40, 6, noise=noise, seed=1)).alpha_
              for noise in (0.01, 1.0, 5.0)]
    assert chosen == sorted(chosen)
    assert chosen[0] < chosen[2]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_are_copies(fit_intercept):
    X, y = noisy_table(30, 5, seed=2)
    counts = np.random.default_rng(3).integers(0, 4, len(X)).astype(float)
    parameters = {"alpha": "loo", "max_depth": 0, "fit_intercept": fit_intercept}
    weighted = FCODTRegressor(**parameters).fit(X, y, sample_weight=counts)
    assert_chosen(weighted, refit_errors(X, y, counts, fit_intercept))
    rows = np.repeat(np.arange(len(X)), counts.astype(int))
    assert FCODTRegressor(**parameters).fit(X[rows], y[rows]).alpha_ == weighted.alpha_


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_sample_that_has_a_feature_to_itself(fit_intercept):
    """Its leverage is 1 up to rounding, so that its residual over the rest would be noise."""
    X, y = noisy_table(40, 5, seed=6)
    X[:, 4] = 1e7 * (np.arange(40) == 7)
    model = FCODTRegressor(alpha="loo", max_depth=0, fit_intercept=fit_intercept).fit(X, y)
    assert_chosen(model, refit_errors(X, y, fit_intercept=fit_intercept))


@pytest.mark.parametrize("n_samples, n_features", [(20, 30), (20, 20), (20, 19), (21, 20)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_about_as_many_features_as_samples(n_samples, n_features, fit_intercept):
    X, y = noisy_table(n_samples, n_features, seed=4)
    model = FCODTRegressor(alpha="loo", max_depth=0, fit_intercept=fit_intercept).fit(X, y)
    assert_chosen(model, refit_errors(X, y, fit_intercept=fit_intercept))


@pytest.mark.parametrize("weights", ["ones", "copies", "below one"])
@pytest.mark.parametrize("n_features, scale, noise", [(60, 1, 1), (60, 1, 5), (60, 3, 1),
                                                      (500, 0.1, 1), (400, 1, 3)])
def test_more_features_than_samples(n_features, scale, noise, weights):
    """A model that interpolates: leverages near 1 must not hide how badly it predicts."""
    X, y = noisy_table(30, n_features, seed=10, noise=noise)
    rng = np.random.default_rng(11)
    weight = {"ones": np.ones(30), "copies": rng.integers(1, 4, 30).astype(float),
              "below one": rng.uniform(0.5, 0.99, 30)}[weights]
    model = FCODTRegressor(alpha="loo", max_depth=0).fit(scale * X + 2, y, sample_weight=weight)
    assert_chosen(model, refit_errors(scale * X + 2, y, weight))


def test_classes_are_chosen_for_by_their_indicators():
    X, score = noisy_table(40, 4, seed=5)
    y = score > np.median(score)
    model = FCODTClassifier(alpha="loo", max_depth=0).fit(X, y)
    assert_chosen(model, refit_errors(X, y.astype(float)))


@pytest.mark.parametrize("model", [
    FCODTRegressor(), CurvatureTreeRegressor(), FCODTRegressor(leaf_model="constant")], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_chosen_penalty_is_the_one_that_is_used(weighted, model):
    X, y = smooth_table(400, 5, seed=6)
    weight = random_weights(len(X), seed=7, zeros=True) if weighted else None
    chosen = clone(model).set_params(alpha="loo").fit(X, y, sample_weight=weight)
    given = clone(model).set_params(alpha=chosen.alpha_).fit(X, y, sample_weight=weight)
    assert chosen.tree_.node_count > 1
    for name, value in vars(given.tree_).items():
        np.testing.assert_array_equal(getattr(chosen.tree_, name), value, err_msg=name)


def test_a_given_penalty_is_stored_too():
    X, y = smooth_table(50, 2, seed=8)
    model = FCODTRegressor(alpha=2).fit(X, y)
    assert model.alpha_ == 2.0
    assert isinstance(model.alpha_, float)


def test_equal_errors_choose_the_largest():
    """Equal targets, or features that say nothing: every penalty is as good."""
    X = np.random.default_rng(9).standard_normal((20, 2))
    assert FCODTRegressor(alpha="loo").fit(X, np.full(20, 0.1)).alpha_ == pytest.approx(1e3)
    assert FCODTRegressor(alpha="loo").fit(np.ones((20, 2)), X[:, 0]).alpha_ == pytest.approx(1e3)
    assert FCODTRegressor(alpha="loo").fit(X[:1], X[:1, 0]).alpha_ == pytest.approx(1e3)
