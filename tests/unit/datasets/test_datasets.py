"""The simulated data: formulas, noise, truths, reproducibility, refusals."""

import numpy as np
import pytest
from fctree.datasets import make_correlated_linear, make_ridge_exp, make_ridge_relu

RIDGE = [(make_ridge_relu, lambda t: max(t, 0.0)), (make_ridge_exp, np.exp)]


@pytest.mark.parametrize("make, g", RIDGE)
@pytest.mark.parametrize("n_features", [10, 13])
def test_formula_of_the_ridge_sums(make, g, n_features):
    X, y, f = make(50, n_features, random_state=0, return_truth=True)
    assert X.shape == (50, n_features) and y.shape == f.shape == (50,)
    assert X.dtype == y.dtype == f.dtype == np.float64
    for x, value in zip(X, f):
        x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = x[:10]
        expected = (g(x1) + g((x2 + x3) / 2) + g((x4 + x5 + x6) / 3)
                    + g((x7 + x8 + x9 + x10) / 4) + g((x1 + x3 + x5 + x7 + x9) / 5))
        assert value == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("make", [make_ridge_relu, make_ridge_exp])
def test_features_and_noise_of_the_ridge_sums(make):
    X, y, f = make(20_000, noise=0.3, random_state=1, return_truth=True)
    assert np.all(np.abs(X) <= 1)
    # Means of 20,000 draws: five standard errors.
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=5 * np.sqrt(1 / 3 / 20_000))
    np.testing.assert_allclose(X.var(axis=0), 1 / 3, rtol=0.04)
    assert np.std(y - f) == pytest.approx(0.3, rel=0.03)
    assert abs(np.mean(y - f)) < 5 * 0.3 / np.sqrt(20_000)
    X, y, f = make(100, noise=0.0, random_state=1, return_truth=True)
    np.testing.assert_array_equal(y, f)


@pytest.mark.parametrize("make", [make_ridge_relu, make_ridge_exp, make_correlated_linear])
def test_seeds(make):
    for first, second in zip(make(random_state=7), make(random_state=7)):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(make(random_state=7)[0], make(random_state=8)[0])
    state = np.random.RandomState(7)
    np.testing.assert_array_equal(make(random_state=state)[0], make(random_state=7)[0])
    assert not np.array_equal(make(random_state=state)[0], make(random_state=7)[0])


def test_truth_is_returned_on_request_only():
    assert len(make_ridge_relu(10)) == len(make_ridge_exp(10)) == 2
    assert len(make_correlated_linear(10)) == 2
    assert len(make_correlated_linear(10, return_importances=True)) == 3


def test_default_sizes():
    assert make_ridge_relu()[0].shape == make_ridge_exp()[0].shape == (2000, 10)
    assert make_correlated_linear()[0].shape == (5000, 6)


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.8])
def test_correlated_linear(rho):
    coef = np.array([1.5, 1.2, 1.0, 0.0])
    X, y, importances = make_correlated_linear(
        50_000, rho=rho, coef=coef, noise=0.1, random_state=2, return_importances=True)
    expected = np.eye(4)
    expected[0, 1] = expected[1, 0] = rho
    # Five standard errors of a covariance of 50,000 draws.
    np.testing.assert_allclose(np.cov(X.T), expected, atol=5 * np.sqrt(2 / 50_000))
    assert np.std(y - X @ coef) == pytest.approx(0.1, rel=0.02)
    np.testing.assert_allclose(
        importances, coef**2 * np.array([1 - rho**2, 1 - rho**2, 1, 1]), rtol=1e-14)


@pytest.mark.parametrize("feature", range(4))
def test_importances_are_what_is_lost_without_the_feature(feature):
    """The closed form against least squares with and without the feature."""
    X, y, importances = make_correlated_linear(
        50_000, rho=0.7, coef=(2.0, -1.0, 0.5, 0.0), random_state=3, return_importances=True)

    def error(design):
        return np.mean((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2)

    lost = error(np.delete(X, feature, axis=1)) - error(X)
    # The estimate has a relative standard error of sqrt(2 / 50,000), 0.6 %.
    assert lost == pytest.approx(importances[feature], rel=0.035, abs=1e-5)


def test_perfect_correlation_leaves_no_importance():
    X, _, importances = make_correlated_linear(100, rho=1.0, random_state=4,
                                               return_importances=True)
    np.testing.assert_array_equal(X[:, 0], X[:, 1])
    np.testing.assert_array_equal(importances[:2], 0)


@pytest.mark.parametrize("make, arguments, name", [
    (make_ridge_relu, {"n_samples": 0}, "n_samples"),
    (make_ridge_relu, {"n_samples": 2.5}, "n_samples"),
    (make_ridge_relu, {"n_features": 9}, "n_features"),
    (make_ridge_exp, {"noise": -0.1}, "noise"),
    (make_ridge_exp, {"noise": np.nan}, "noise"),
    (make_ridge_exp, {"random_state": "seed"}, "random_state"),
    (make_ridge_exp, {"return_truth": "yes"}, "return_truth"),
    (make_correlated_linear, {"rho": 1.1}, "rho"),
    (make_correlated_linear, {"rho": np.nan}, "rho"),
    (make_correlated_linear, {"coef": [1.0]}, "coef"),
    (make_correlated_linear, {"coef": [1.0, np.nan]}, "coef"),
    (make_correlated_linear, {"coef": [[1.0, 2.0]]}, "coef"),
    (make_correlated_linear, {"coef": 3.0}, "coef"),
    (make_correlated_linear, {"n_samples": -1}, "n_samples"),
])
def test_bad_arguments_are_named(make, arguments, name):
    with pytest.raises(ValueError, match=name):
        make(**arguments)
