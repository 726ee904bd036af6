"""Boosted steps are taken as far as they hold on the samples left out."""

import numpy as np
import pytest
from fctree import CurvatureBoostingClassifier, CurvatureBoostingRegressor, CurvatureTreeRegressor
from sklearn.metrics import log_loss

RNG = np.random.default_rng(3)
X = RNG.standard_normal((400, 6))
NEW = RNG.standard_normal((2000, 6))


def shares(model):
    """Of each kind of tree, after each round, of the only score."""
    decrease, curvature = np.moveaxis(model.step_sums_[:, :, 0], -1, 0)
    return np.clip(decrease / curvature, 0.0, 1.0)


def taken(model):
    """The share of each tree's step."""
    of_kind = np.array([0, 1, 0, 1])[model.tree_kinds_]  # curvature trees, and step trees
    return shares(model)[np.arange(model.n_iter_), of_kind]


def test_nothing_is_learned_from_noise():
    y, unseen = RNG.integers(0, 2, len(X)), RNG.integers(0, 2, len(NEW))
    model = CurvatureBoostingClassifier(max_iter=200, random_state=0).fit(X, y)
    assert (shares(model)[-1] < 0.1).all()
    # 0.75 where all steps are taken in full.
    assert log_loss(unseen, model.predict_proba(NEW)) < 0.72


def test_steps_on_a_clear_truth_are_taken_nearly_in_full():
    y = X @ np.arange(6.0)
    model = CurvatureBoostingRegressor(max_iter=50, random_state=0).fit(X, y)
    assert taken(model).min() > 0.9


def test_sums_add_up_over_rounds():
    y = (X[:, 0] + 0.5 * RNG.standard_normal(len(X)) > 0).astype(int)
    model = CurvatureBoostingClassifier(max_iter=30, random_state=0).fit(X, y)
    assert model.step_sums_.shape == (30, 2, 1, 2)
    assert np.all(np.diff(model.step_sums_[..., 1], axis=0) > 0.0)  # of a convex loss, and of trees that were not kept too


def test_step_trees_on_a_linear_truth_are_shortened_by_themselves():
    """Curvature trees learn it, here of few splits, so that most of what step trees find is chance."""
    truth = 1.0 / (1.0 + np.exp(-2.0 * (X[:, 0] + X[:, 1])))
    labels = (np.random.default_rng(0).uniform(size=len(X)) < truth).astype(int)
    model = CurvatureBoostingClassifier(random_state=0, tree=CurvatureTreeRegressor(split_margin=0.75)).fit(X, labels)
    curvature, step = shares(model)[-1]
    assert step < 0.5 * curvature
    unseen = 1.0 / (1.0 + np.exp(-2.0 * (NEW[:, 0] + NEW[:, 1])))
    p = model.predict_proba(NEW)[:, 1]
    excess = np.mean(unseen * np.log(unseen / p) + (1.0 - unseen) * np.log((1.0 - unseen) / (1.0 - p)))
    assert excess < 0.02  # .029 with one share for both kinds


def test_a_fit_goes_on_with_the_sums_of_another_kind():
    y = np.sign(X[:, 0]) + 0.3 * X[:, 1]
    model = CurvatureBoostingRegressor(max_iter=5, step_depth=None, warm_start=True, random_state=0).fit(X, y)
    assert not model.step_sums_[:, 1].any()
    before = model.step_sums_[-1, 0, 0]
    model.set_params(max_iter=10, step_depth=8).fit(X, y)
    assert model.step_sums_[-1, 1].all()
    assert model.step_sums_[-1, 0, 0, 1] > before[1]


def test_the_steps_of_a_class_that_nothing_tells_are_shortened_by_themselves():
    """Classes 0 and 1 are noise, class 2 is told apart by a feature."""
    labels = np.where(X[:, 0] > 0.0, 2, np.random.default_rng(0).integers(0, 2, len(X)))
    model = CurvatureBoostingClassifier(random_state=0).fit(X, labels)
    decrease, curvature = np.moveaxis(model.step_sums_[-1], -1, 0)
    for of_kind in decrease / curvature:
        assert of_kind[:2].max() < of_kind[2]


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_little_is_learned_from_noise_without_second_derivatives(loss):
    y = RNG.standard_normal(len(X))
    model = CurvatureBoostingRegressor(loss=loss, random_state=0).fit(X, y)
    assert model.predict(NEW).std() < 0.1  # .34 and more with full steps


@pytest.mark.parametrize("options", [{"subsample": 1.0}, {"loss": "quantile", "quantile": 0.9}])
def test_without_left_out_samples_and_for_outer_quantiles_nothing_is_summed(options):
    model = CurvatureBoostingRegressor(max_iter=5, random_state=0, **options).fit(X, X[:, 0])
    assert not model.step_sums_.any()


def test_a_step_of_zero_leaves_bounds_without_a_limit_alone():
    # In the first rounds trees on noise do harm where they were not grown.
    y = RNG.standard_normal(len(X))
    model = CurvatureBoostingRegressor(max_iter=200, extrapolation=None, random_state=0).fit(X, y)
    assert (taken(model) == 0.0).any()
    assert np.isfinite(model.predict(NEW)).all()
    assert (model.trees_.leaf_lower == -np.inf).all() and (model.trees_.leaf_upper == np.inf).all()


def test_step_trees_leave_others_what_these_learn_better():
    """Waves on parabolas: a step tree lowers the loss most at once, and fits single samples."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 4))
    y = (10.0 * X**2 - 5.0 * np.cos(2.0 * np.pi * X)).sum(axis=1)
    errors = [np.mean((CurvatureBoostingRegressor(step_depth=depth, random_state=0).fit(X[:1500], y[:1500]).predict(X[1500:]) - y[1500:]) ** 2)
              for depth in (8, None)]
    assert errors[0] < 2.0 * errors[1]
