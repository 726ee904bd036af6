"""Importances on designs whose truth is known, small versions of the benchmark's."""

import numpy as np
import pytest

from fctree import SymmetricBoostingRegressor, TreeNTKRegressor
from fctree.datasets import make_correlated_linear
from fctree.inspection import shapley_importance, variable_importance

BOOSTING = SymmetricBoostingRegressor(max_iter=1000, max_depth=3)
KERNEL = TreeNTKRegressor(alpha=1e-3, scale=0.1, depth=2)


def first_importances(model, rho, n, seeds, **options):
    """(importance, truth, whether the interval has it) of the first feature, by seed."""
    found = []
    for seed in seeds:
        X, y, truth = make_correlated_linear(
            n, rho=rho, random_state=seed, return_importances=True
        )
        result = variable_importance(model, X, y, groups=[0], random_state=seed, **options)
        low, high = result.confidence_interval[0]
        found.append((result.importances[0], truth[0], low <= truth[0] <= high))
    return np.array(found, dtype=float)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_early_stopping_on_the_correlated_design(rho):
    found = first_importances(BOOSTING, rho, 2000, range(20))
    # The mean of 20 has an error of 3 %, and with 1,125 samples a bias of about 2 %.
    assert found[:, 0].mean() == pytest.approx(found[0, 1], rel=0.1)


def test_dropout_knows_nothing_of_correlation():
    for rho in (0.0, 0.8):
        found = first_importances(BOOSTING, rho, 2000, range(10), method="dropout")
        assert found[:, 0].mean() == pytest.approx(2.25, rel=0.15)


def test_intervals_cover_with_a_learner_of_the_theory():
    """Of 60 intervals at 95 % fewer than 52 have the truth with probability 0.3 %."""
    found = first_importances(KERNEL, 0.5, 800, range(60))
    assert found[:, 2].sum() >= 52


def test_intervals_cover_with_boosting():
    found = first_importances(BOOSTING, 0.5, 2000, range(40))
    assert found[:, 2].mean() >= 0.8


def test_an_absent_importance_is_rarely_found():
    """At rho = 1 the second feature has all of the first: the one-sided test with halves."""
    p_values = []
    for seed in range(40):
        X, y = make_correlated_linear(800, rho=1.0, random_state=seed)
        result = variable_importance(
            BOOSTING, X, y, groups=[0], sample_splitting=True, random_state=seed
        )
        p_values.append(result.p_values[0])
    # Of 40 tests at 5 %, seven or more reject with probability 0.4 %.
    assert np.sum(np.array(p_values) < 0.05) <= 6


def test_shapley_values_of_a_linear_model():
    """With independent features coef^2 each; the correlated pair by its regressions."""
    rho, coef = 0.5, np.array([1.5, 1.2, 1.0])
    X, y = make_correlated_linear(4000, rho=rho, coef=coef, random_state=0)
    result = shapley_importance(KERNEL, X[:2000], y[:2000], random_state=0)
    alone = [(coef[0] + rho * coef[1]) ** 2, (coef[1] + rho * coef[0]) ** 2]
    last = (coef[:2] ** 2) * (1 - rho**2)
    expected = [(alone[0] + last[0]) / 2, (alone[1] + last[1]) / 2, 1.0]
    np.testing.assert_allclose(result.importances, expected, atol=4 * result.stderr.max())


def test_early_stopping_is_near_retraining_for_shapley_values():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5))
    y = 1 / (1 + np.exp(-X @ [0.0, 10, 20, 30, 40])) + 0.1 * rng.standard_normal(3000)
    early, again = (
        shapley_importance(BOOSTING, X, y, method=method, random_state=0)
        for method in ("early_stopping", "retrain")
    )
    np.testing.assert_allclose(early.importances, again.importances, atol=0.003)
    assert early.n_iter.sum() < again.n_iter.sum()


def p_values(design, n, seeds, method):
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 6))
        model = SymmetricBoostingRegressor(max_iter=200, max_depth=3, learning_rate=0.1)
        result = variable_importance(model, X, design(X, rng.standard_normal(n)), method=method, random_state=seed)
        found.append(result.p_values)
    return np.array(found)


@pytest.mark.parametrize("method", ["early_stopping", "retrain"])
def test_the_test_finds_an_importance_of_a_quarter_of_the_noise(method):
    p = p_values(lambda X, noise: X[:, 0] + 0.5 * X[:, 1] + noise, 1000, 20, method)
    assert np.mean(p[:, :2] < 0.05, axis=0).min() > 0.6
    assert np.mean(p[:, 2:] < 0.05) < 0.05


@pytest.mark.parametrize("method", ["early_stopping", "retrain"])
def test_the_test_keeps_its_level_where_models_err_more_than_noise_does(method):
    """The test of the same samples alone would say yes in .08 and .18 of these."""
    p = p_values(lambda X, noise: np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * noise, 500, 40, method)
    assert np.mean(p[:, 3:] < 0.05) <= 0.06
    assert np.mean(p[:, :3] < 0.05) > 0.8
