"""Landmarks by randomly pivoted Cholesky, and the solver of their system, against plain NumPy."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from fctree import TreeNTKClassifier, TreeNTKRegressor
from fctree.kernel_ridge import dense, landmarks
from fctree.kernel_ridge.pivoted_cholesky import pivoted_cholesky
from fctree.kernel_ridge.solvers import TreeKernel
from fctree.kernels import tree_ntk

KERNEL = TreeKernel(3, 1.0, "perfect", "cpu", 1)
RNG = np.random.default_rng(0)


def clumps(n):
    """Most samples close together, a few far apart."""
    X = RNG.standard_normal((n, 4)) * 0.05
    X[: n // 20] += 5 * RNG.standard_normal((n // 20, 4))
    return X


def test_the_factor_is_that_of_the_pivots():
    X = clumps(300)
    pivots, F = pivoted_cholesky(KERNEL, X, None, 40, np.random.RandomState(0), 2)
    assert len(set(pivots)) == 40 and F.shape == (300, 40)
    K = KERNEL.gram(X)
    assert_allclose(F @ F[pivots].T, K[:, pivots], rtol=0, atol=1e-12 * K.max())
    assert np.all(np.triu(F[pivots], 1) == 0.0)
    drawn = np.random.default_rng(1).choice(300, 40, replace=False)
    explained = K[:, drawn] @ np.linalg.solve(K[np.ix_(drawn, drawn)], K[drawn])
    assert (K - F @ F.T).trace() < 0.5 * (K - explained).trace()


@pytest.mark.parametrize("weights", [None, np.array([1.0, 3.0, 0.5, 2.0])])
def test_pivots_have_the_distribution_of_one_draw_after_the_other(weights):
    X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 3.0], [-0.2, 0.1]])
    K = KERNEL.gram(X)
    w = np.ones(4) if weights is None else weights
    first = w * K.diagonal()
    expected = np.zeros((4, 4))
    for i, j in itertools.permutations(range(4), 2):
        left = w * (K.diagonal() - K[:, i] ** 2 / K[i, i]).clip(0)
        expected[i, j] = first[i] / first.sum() * left[j] / left.sum()
    n, found, random_state = 400, np.zeros((4, 4)), np.random.RandomState(0)
    for _ in range(n):
        pivots, _ = pivoted_cholesky(KERNEL, X, weights, 2, random_state, 1)
        found[tuple(pivots)] += 1 / n
    error = np.sqrt(expected * (1 - expected) / n)
    assert np.all(np.abs(found - expected) <= 4.5 * error)


def test_samples_without_weight_are_no_candidates(monkeypatch):
    monkeypatch.setattr(landmarks, "_FEWEST", 30)
    X = RNG.standard_normal((90, 3))
    y, counted = X[:, 0], np.arange(90) % 3 > 0
    plain, weighted = (TreeNTKRegressor(alpha=0.1, solver="nystrom", n_components=9, random_state=0) for _ in range(2))
    plain.fit(X[counted], y[counted])
    weighted.fit(X, y, sample_weight=counted.astype(float))
    assert_allclose(weighted.X_fit_, plain.X_fit_, rtol=0, atol=0)
    assert_allclose(weighted.dual_coef_, plain.dual_coef_, rtol=1e-9)


def test_equal_samples_are_pivots_once():
    X = np.repeat(RNG.standard_normal((7, 3)), 50, axis=0)
    pivots, F = pivoted_cholesky(KERNEL, X, None, 100, np.random.RandomState(0), 1)
    assert len(np.unique(X[pivots], axis=0)) == len(pivots) == 7
    assert_allclose(F @ F.T, KERNEL.gram(X), rtol=0, atol=1e-12)


def normal_equations(model, X, Y, weights):
    K, K_zz = tree_ntk(X, model.X_fit_, depth=2), tree_ntk(model.X_fit_, depth=2)
    left = K.T @ (weights[:, np.newaxis] * K) + model.alpha * K_zz
    return np.linalg.solve(left, K.T @ (weights[:, np.newaxis] * Y))


@pytest.mark.parametrize("spread", [1.0, 1e9])  # beyond the range of float32
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_many_samples_solve_the_normal_equations(monkeypatch, share, spread):
    """With products in float32, kept or computed again."""
    monkeypatch.setattr(landmarks, "_FEWEST", 300)
    monkeypatch.setattr(landmarks, "_KEPT_SHARE", share)
    X = RNG.standard_normal((2000, 4)) * spread
    Y = np.column_stack([np.abs(X[:, 0]), X[:, 1] * X[:, 2] * 1e30, np.zeros(2000)])
    weights = RNG.integers(0, 4, 2000).astype(float)
    model = TreeNTKRegressor(alpha=0.5, depth=2, solver="nystrom", n_components=60, tol=1e-10,
                             random_state=0, n_jobs=2).fit(X, Y, weights)
    assert model.n_iter_ < 60
    expected = normal_equations(model, X, Y, weights)
    scale = np.abs(expected).max(axis=0) + 1e-300
    assert_allclose(model.dual_coef_ / scale, expected / scale, rtol=0, atol=1e-6)


@pytest.mark.parametrize("exponent", [-200, 150])
def test_products_in_single_precision_of_samples_beyond_its_range(monkeypatch, exponent):
    """Units of the samples that the scale undoes cost no iterations."""
    monkeypatch.setattr(landmarks, "_FEWEST", 300)
    X = clumps(2000)
    y = np.abs(X[:, 0]) + X[:, 1]
    one, other = (
        TreeNTKRegressor(alpha=0.1, scale=2.0**-e, solver="nystrom", n_components=60, random_state=0).fit(X * 2.0**e, y)
        for e in (0, exponent)
    )
    assert other.n_iter_ == one.n_iter_
    assert_allclose(other.dual_coef_, one.dual_coef_, rtol=0, atol=1e-6 * np.abs(one.dual_coef_).max())


def test_products_in_single_precision_that_mislead_are_given_up():
    """Rough products that are wrong by half: the exact ones finish."""
    A = np.diag(np.linspace(1.0, 4.0, 30))
    wrong = A + 0.5 * np.ones((30, 30))
    b = RNG.standard_normal((30, 2))
    x, n_iter, converged = landmarks.refined(lambda v: A @ v, lambda v: wrong @ v, b, tol=1e-10,
                                             max_iter=100, verbose=0)
    assert converged and n_iter < 100
    assert_allclose(A @ x, b, rtol=0, atol=1e-8)


def test_iterations_do_not_grow_with_clumps_and_small_penalties(monkeypatch):
    monkeypatch.setattr(landmarks, "_FEWEST", 1000)
    X = clumps(8000)
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2])
    for alpha in (1.0, 1e-3, 1e-6):
        model = TreeNTKRegressor(alpha=alpha, solver="nystrom", n_components=200, random_state=0)
        assert model.fit(X, y).n_iter_ <= 100


def test_the_preconditioner_knows_weights(monkeypatch):
    X, weight = RNG.standard_normal((400, 3)), 10.0 ** RNG.uniform(-4, 4, 400)
    model = TreeNTKRegressor(alpha=1e-3, solver="nystrom", n_components=30, random_state=0)
    assert model.fit(X, X[:, 0], sample_weight=weight / weight.mean()).n_iter_ <= 2  # of all rows it is exact
    monkeypatch.setattr(landmarks, "_FEWEST", 100)
    assert model.fit(X, X[:, 0], sample_weight=weight / weight.mean()).n_iter_ < 28


def test_iterations_that_end_too_soon_warn(monkeypatch):
    monkeypatch.setattr(landmarks, "_FEWEST", 100)
    X = clumps(2000)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = TreeNTKRegressor(solver="nystrom", n_components=50, max_iter=2).fit(X, X[:, 0])
    assert model.n_iter_ == 2


def test_a_kernel_of_zeros_predicts_zero():
    X = RNG.standard_normal((50, 3))
    model = TreeNTKRegressor(depth=10**6, scale=1e-3, alpha=1.0, solver="nystrom").fit(X, X[:, 0])
    assert np.array_equal(model.predict(X), np.zeros(50))


def test_landmarks_of_a_classifier():
    X = clumps(600)
    labels = np.where(X[:, 0] > 0, "a", np.where(X[:, 1] > 0, "b", "c"))
    exact = TreeNTKClassifier(alpha=0.1).fit(X, labels)
    model = TreeNTKClassifier(alpha=0.1, solver="nystrom", n_components=600).fit(X, labels)
    assert_allclose(model.decision_function(X), exact.decision_function(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("n", [1, 511, 512, 513, 1300])
def test_factors_in_tiles(n):
    G = RNG.standard_normal((n + 5, n))
    A = dense.product_with_itself(G, 2)
    assert_allclose(A, G.T @ G, rtol=0, atol=1e-10)
    L = np.tril(dense.jittered_factor(A.copy(), 0.5, 2))
    assert_allclose(L @ L.T, A + 0.5 * np.eye(n), rtol=0, atol=1e-9)


def test_a_singular_matrix_gets_a_jitter():
    v = RNG.standard_normal((700, 3))
    A = v @ v.T
    L = np.tril(dense.jittered_factor(A.copy(), 0.0, 1))
    assert_allclose(L @ L.T, A, rtol=0, atol=1e-7)
    with pytest.raises(ValueError, match="too large for float64"):
        dense.jittered_factor(np.full((2, 2), np.inf), 0.0, 1)


@pytest.mark.parametrize("depth, scale, rows", [(8, 2.0, "cubes"), (50, 1.0, "line")])
def test_what_repeated_rows_leave_to_rounding_is_drawn_once(depth, scale, rows):
    """Deep kernels of few points: the rounding of what the pivots leave is above the limit."""
    X = np.random.default_rng(0).integers(0, 2, (5, 3)) * 1.0 if rows == "cubes" else np.array([[0.0], [1], [1], [1], [0]])
    kernel, n_draws = TreeKernel(depth, scale, "perfect", "cpu", 1), 0

    class Bounded(np.random.RandomState):
        def choice(self, *args, **options):
            nonlocal n_draws
            n_draws += 1
            assert n_draws < 20
            return super().choice(*args, **options)

    pivots, F = pivoted_cholesky(kernel, X, None, 5, Bounded(0), 1)
    assert len(np.unique(X[pivots], axis=0)) == len(pivots) <= len(np.unique(X, axis=0))
    assert_allclose(F @ F.T, kernel.gram(X), rtol=0, atol=1e-12 * kernel.diagonal(X).max())
