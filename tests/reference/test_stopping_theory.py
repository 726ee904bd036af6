"""Kernels of boosted models and the stopping threshold against their definitions."""

import numpy as np
import pytest

from fctree import SymmetricBoostingRegressor
from fctree.kernels import symmetric_tree_kernel


@pytest.fixture
def theory(benchmark_module):
    return benchmark_module("stopping_theory")


def make_model(n=80, depth=2, rounds=12):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = X[:, 0] + rng.standard_normal(n)
    model = SymmetricBoostingRegressor(
        max_iter=rounds, max_depth=depth, max_bins=4, random_state=0
    )
    return model.fit(X, y), X, y


def kernel_by_definition(model, X, Y):
    K = np.zeros((len(Y), len(X)))
    for of_x, of_y in zip(model.apply(X).T, model.apply(Y).T, strict=True):
        for i, leaf in enumerate(of_y):
            same = of_x == leaf
            K[i, same] += len(X) / max(same.sum(), 1)
    return K / model.n_iter_


def test_boosting_kernel_is_its_definition(theory):
    model, X, _ = make_model()
    np.testing.assert_allclose(theory.boosting_kernel(model, X), kernel_by_definition(model, X, X))
    Y = np.random.default_rng(1).standard_normal((20, 3))
    np.testing.assert_allclose(theory.boosting_kernel(model, X, Y), kernel_by_definition(model, X, Y))


def test_spectrum_of_the_kernel(theory):
    model, X, _ = make_model()
    for stationary in (False, True):
        K = theory.boosting_kernel(model, X, stationary=stationary, random_state=0) / len(X)
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[-1] == pytest.approx(1.0)
        assert np.trace(K) <= 2**model.max_depth + 1e-9
        assert eigenvalues[0] > -1e-12


def test_one_tree_has_an_eigenvalue_one_for_each_leaf(theory):
    model, X, _ = make_model(rounds=1)
    eigenvalues = np.linalg.eigvalsh(theory.boosting_kernel(model, X) / len(X))
    n_leaves = len(np.unique(model.apply(X)))
    np.testing.assert_allclose(eigenvalues[-n_leaves:], 1.0)
    np.testing.assert_allclose(eigenvalues[:-n_leaves], 0.0, atol=1e-12)


def test_stationary_kernel_is_that_of_the_thresholds(theory):
    model, X, _ = make_model()
    expected = symmetric_tree_kernel(X, bin_thresholds=model.bin_thresholds_, depth=2)
    found = theory.boosting_kernel(model, X, stationary=True)
    np.testing.assert_array_equal(found, expected)


def threshold_by_definition(K, residual, variance, step, most=100000):
    n = len(K)
    eigenvalues = np.linalg.eigvalsh(K / n)
    eigenvalues = eigenvalues[eigenvalues > 1e-12 * eigenvalues.max()]
    distance = residual @ np.linalg.pinv(K, hermitian=True) @ residual
    for t in range(1, most):
        left = np.minimum(eigenvalues, 1 / (step * t)).sum()
        if left > n * distance / (4 * np.e**2 * variance * step**2 * t**2):
            return t - 1
    return most


@pytest.mark.parametrize("variance", [0.01, 1.0, 25.0])
@pytest.mark.parametrize("step", [0.01, 0.1])
def test_stopping_threshold_is_its_definition(variance, step, theory):
    model, X, y = make_model()
    K = theory.boosting_kernel(model, X)
    residual = np.sin(X[:, 0])
    expected = threshold_by_definition(K, residual, variance, step)
    assert theory.stopping_threshold(K, residual, variance, step=step) == expected


def test_thresholds_move_as_they_should(theory):
    model, X, _ = make_model()
    K, residual = theory.boosting_kernel(model, X), np.sin(X[:, 0])
    near, far = (
        theory.stopping_threshold(K, scale * residual, 1.0, step=0.01) for scale in (0.1, 10.0)
    )
    assert near < far  # a warm start nearer to the target stops sooner
    quiet, loud = (theory.stopping_threshold(K, residual, v, step=0.01) for v in (0.01, 100.0))
    assert loud < quiet
    assert theory.stopping_threshold(K, 0.0 * residual, 1.0, step=0.01) == 0
    assert theory.stopping_threshold(K, residual, 1e-9, step=1e-6, max_rounds=50) == 50


def test_local_complexity(theory):
    K = np.diag([8.0, 4.0, 0.0, 0.0])
    assert theory.local_complexity(K, 10.0) == pytest.approx(np.sqrt((2.0 + 1.0) / 4))
    assert theory.local_complexity(K, 0.5) == pytest.approx(np.sqrt((0.25 + 0.25) / 4))
