"""The gradient flow by Krylov spaces is that by eigenvectors, which is right where samples are equal."""

import numpy as np
import pytest

from fctree import TreeNTKRegressor
from fctree.inspection.kernel_flow import KrylovBasis, TreeKernelFlow, flow_times
from fctree.inspection.warm_start import Samples
from fctree.kernels import gradient_flow, tree_ntk


def flow_by_eigenvectors(K, start, alpha, times):
    """phi_t(K) start for all times, (n, n_times)."""
    values, vectors = np.linalg.eigh(K)
    rates = values + alpha
    scaled = np.outer(rates / rates[-1], times)
    moved = -np.expm1(-scaled) / rates[:, None]
    return vectors @ (moved * (vectors.T @ start)[:, None])


def make_kernel(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, tree_ntk(X, depth=3, scale=0.5), X[:, 0] + rng.standard_normal(n)


@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0])
def test_complete_basis_is_exact(alpha):
    _, K, start = make_kernel()
    times = flow_times()[:-40]
    basis = KrylovBasis(K, start)
    basis.extend(len(K))
    found = basis.vectors[: basis.size].T @ basis.flow(alpha, times)
    expected = flow_by_eigenvectors(K, start, alpha, times)
    # Relative to the flow's own size: directions of tiny eigenvalues carry rounding.
    assert np.abs(K @ (found - expected)).max() < 1e-7 * np.abs(K @ expected).max()


def test_few_vectors_suffice_for_early_times():
    _, K, start = make_kernel()
    times = 10.0 ** np.arange(-2, 2)
    basis = KrylovBasis(K, start)
    basis.extend(24)
    assert basis.size == 24
    found = basis.vectors[:24].T @ basis.flow(0.1, times)
    expected = flow_by_eigenvectors(K, start, 0.1, times)
    # Chebyshev's bound at 24 products and time 10 is below 1e-9 of the start.
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


def test_times_are_those_of_gradient_flow():
    X, K, start = make_kernel()
    times = flow_times()[::17][:-1]
    basis = KrylovBasis(K, start)
    basis.extend(len(K))
    largest = np.linalg.eigvalsh(K)[-1]
    found = K @ basis.vectors[: basis.size].T @ basis.flow(0.0, times)
    expected = gradient_flow(K, K, start, learning_rate=1.0, times=times / largest)
    np.testing.assert_allclose(found.T, expected, atol=1e-6 * np.abs(start).max())


def test_the_end_of_the_flow_is_the_estimator():
    """Noiseless targets: validation asks for the end, kernel ridge with the estimator's alpha."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    train, validation = Samples(X[:200], y[:200]), Samples(X[200:], y[200:])
    estimator = TreeNTKRegressor(alpha=0.5, depth=2, scale=0.5)
    flow = TreeKernelFlow(estimator).fit(train, validation)
    expected = TreeNTKRegressor(alpha=0.5, depth=2, scale=0.5).fit(X[:200], y[:200])
    np.testing.assert_allclose(flow.predict(X), expected.predict(X), atol=1e-3)


def test_weight_two_is_the_sample_twice():
    X, _, y = make_kernel()
    weight = np.ones(len(X))
    weight[:30] = 2.0
    rows = np.concatenate([np.arange(len(X)), np.arange(30)])
    validation = Samples(*make_kernel(seed=1)[::2])
    estimator = TreeNTKRegressor(alpha=1.0, depth=2, scale=0.5)
    weighted = TreeKernelFlow(estimator).fit(Samples(X, y, weight), validation)
    repeated = TreeKernelFlow(estimator).fit(Samples(X[rows], y[rows]), validation)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-6, atol=1e-8)


def test_continuing_starts_from_the_model():
    X, _, y = make_kernel()
    train, validation = Samples(X, y), Samples(*make_kernel(seed=1)[::2])
    flow = TreeKernelFlow(TreeNTKRegressor(alpha=1.0)).fit(train, validation)
    before = np.mean((validation.y - flow.predict(validation.X)) ** 2)
    flow.continue_fit(train, validation)
    assert np.mean((validation.y - flow.predict(validation.X)) ** 2) <= before


def test_basis_doubles_until_the_best_loss_has_settled():
    """A product of two features needs more vectors than the first basis has."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = X[:, 0] * X[:, 1]
    train, validation = Samples(X[:400], y[:400]), Samples(X[400:], y[400:])
    flow = TreeKernelFlow(TreeNTKRegressor(alpha=1e-4, depth=2, scale=0.5)).fit(train, validation)
    K, K_validation = (tree_ntk(part, X[:400], depth=2, scale=0.5) for part in (train.X, validation.X))
    paths = K_validation @ flow_by_eigenvectors(K, train.y, 1e-4, flow_times()[:-1])
    best = np.mean((validation.y[:, None] - paths) ** 2, axis=0).min()
    assert flow.n_iter_ > 24
    np.testing.assert_allclose(np.mean((validation.y - flow.predict(validation.X)) ** 2), best, rtol=1e-3)


def test_learned_features_are_refused():
    """Importances would be those of another kernel."""
    with pytest.raises(ValueError, match="feature_learning=0"):
        TreeKernelFlow(TreeNTKRegressor(feature_learning=2))


def test_gradient_flow_of_equal_samples_is_that_of_their_means():
    """At any time: f of 2 K and the means, for a kernel K of the different samples."""
    X, K, y = make_kernel(n=60)
    K_test = tree_ntk(make_kernel(seed=1)[0], X, depth=3, scale=0.5)
    twice = {"K_train": np.tile(K, (2, 2)), "K_test": np.tile(K_test, 2), "y": np.r_[y - 1.0, y + 1.0]}
    times = [0.0, 1e-3, 1.0, 1e3, 1e6, 1e10, 1e14, np.inf]
    found = gradient_flow(**twice, learning_rate=0.1, times=times)
    expected = gradient_flow(K, K_test, y, learning_rate=0.2, times=times)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
