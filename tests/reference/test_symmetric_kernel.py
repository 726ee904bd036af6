"""The stationary kernel against its definition, its spectrum, and boosting's limit."""

import numpy as np
import pytest
from fctree import SymmetricBoostingRegressor
from fctree._training.samples import Samples
from fctree.kernels import symmetric_tree_kernel
from fctree.symmetric.posterior import boost_shrunk
from reference.literal_symmetric_kernel import stationary_kernel


def data(n=25, d=2, seed=0, n_cuts=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    cuts = [np.sort(rng.choice(X[:, f], n_cuts, replace=False)) for f in range(d)]
    return X, cuts, rng


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_enumeration_is_the_definition(d, depth):
    X, cuts, rng = data(12, d, seed=d)
    Y, X_train = rng.standard_normal((5, d)), rng.standard_normal((9, d))
    for given, arguments in (((X, X, X), {}), ((X, Y, Y), {"Y": Y}),
                             ((X, X, X_train), {"X_train": X_train}),
                             ((X, Y, X_train), {"Y": Y, "X_train": X_train})):
        kernel = symmetric_tree_kernel(X, **arguments, bin_thresholds=cuts, depth=depth)
        assert kernel.shape == (len(given[0]), len(given[1]))
        np.testing.assert_allclose(kernel, stationary_kernel(*given, cuts, depth), rtol=1e-12)


def test_missing_values_and_infinities():
    X, cuts, _ = data(15, 2, seed=4)
    X[:3, 0], X[3:5, 1], X[5, 0] = np.nan, np.inf, -np.inf
    kernel = symmetric_tree_kernel(X, bin_thresholds=cuts, depth=2)
    np.testing.assert_allclose(kernel, stationary_kernel(X, X, X, cuts, 2), rtol=1e-12)
    # The threshold infinity parts missing values from all others.
    alone = symmetric_tree_kernel([[np.nan], [np.inf], [0.0]], bin_thresholds=[[np.inf]], depth=1)
    np.testing.assert_array_equal(alone, [[3, 0, 0], [0, 1.5, 1.5], [0, 1.5, 1.5]])


def test_more_levels_than_candidates_take_all():
    X, cuts, _ = data(10, 1, seed=5, n_cuts=3)
    kernel = symmetric_tree_kernel(X, bin_thresholds=cuts, depth=9)
    np.testing.assert_allclose(kernel, stationary_kernel(X, X, X, cuts, 9), rtol=1e-12)


@pytest.mark.parametrize("n_trees", [50, 10_000])  # drawn, and all of them
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_spectrum(depth, n_trees):
    X, cuts, _ = data(80, 3, seed=6, n_cuts=5)
    kernel = symmetric_tree_kernel(X, bin_thresholds=cuts, depth=depth, n_trees=n_trees,
                                   random_state=0)
    np.testing.assert_array_equal(kernel, kernel.T)
    values, vectors = np.linalg.eigh(kernel / len(X))
    assert values[0] >= -1e-12
    assert values.sum() <= 2**depth * (1 + 1e-12)
    # Every weak kernel over n projects on the leaves' indicators, of which 1 is the sum.
    np.testing.assert_allclose(values[-1], 1, rtol=1e-12)
    np.testing.assert_allclose(kernel.sum(axis=1), len(X), rtol=1e-12)
    assert values[-2] < 1 - 1e-3
    np.testing.assert_allclose(np.abs(vectors[:, -1]), len(X) ** -0.5, rtol=1e-8)


def test_draws_tend_to_the_mean_of_all_sets():
    X, cuts, _ = data(20, 3, seed=7, n_cuts=7)
    exact = symmetric_tree_kernel(X, bin_thresholds=cuts, depth=3, n_trees=1330)  # 21 over 3
    errors = []
    for n_trees in (20, 1300):
        drawn = [symmetric_tree_kernel(X, bin_thresholds=cuts, depth=3, n_trees=n_trees,
                                       random_state=seed) for seed in range(20)]
        errors.append(np.sqrt(np.mean((np.array(drawn) - exact) ** 2)))
        # Unbiased: the mean of twenty is closer by the square root of twenty.
        mean_error = np.sqrt(np.mean((np.mean(drawn, axis=0) - exact) ** 2))
        assert mean_error < 2 * errors[-1] / np.sqrt(20)
    np.testing.assert_allclose(errors[0] / errors[1], np.sqrt(1300 / 20), rtol=0.25)


def test_draws_repeat_and_threads_do_not_matter():
    X, cuts, _ = data(200, 4, seed=8, n_cuts=20)
    options = {"bin_thresholds": cuts, "depth": 6, "n_trees": 700}
    first = symmetric_tree_kernel(X, random_state=1, **options)
    for n_jobs in (1, 2, 4):
        again = symmetric_tree_kernel(X, random_state=1, n_jobs=n_jobs, **options)
        assert again.tobytes() == first.tobytes()
        across = symmetric_tree_kernel(X[:50], X, random_state=1, n_jobs=n_jobs, **options)
        np.testing.assert_allclose(across, first[:50], rtol=1e-12, atol=1e-12)
    assert not np.array_equal(symmetric_tree_kernel(X, random_state=2, **options), first)


@pytest.mark.parametrize("change, message", [
    ({"bin_thresholds": [[0.0]]}, "X has 2 features, but bin_thresholds has 1"),
    ({"bin_thresholds": [[], []]}, "no threshold"),
    ({"bin_thresholds": [0.0, 0.0]}, "bin_thresholds must be a list of the thresholds of each feature"),
    ({"bin_thresholds": [[0.0], [[0.0, 1.0]]]}, "bin_thresholds must be a list of the thresholds of each feature"),
    ({"Y": np.zeros((3, 3))}, "Y has 3 features"),
    ({"X_train": np.zeros((3, 1))}, "X_train has 1 features"),
    ({"depth": 0}, "'depth' parameter"), ({"depth": 17}, "'depth' parameter"),
    ({"n_trees": 0}, "'n_trees' parameter"), ({"X": np.zeros(4)}, "Expected 2D array"),
    ({"X": np.zeros((0, 2))}, "0 sample"), ({"random_state": "seed"}, "'random_state' parameter"),
])
def test_bad_input_is_refused(change, message):
    X, cuts, _ = data()
    arguments = {"X": X, "bin_thresholds": cuts, "depth": 2, **change}
    with pytest.raises(ValueError, match=message):
        symmetric_tree_kernel(arguments.pop("X"), **arguments)


def test_boosting_with_strong_noise_is_kernel_ridge_regression():
    """Predictions tend to K(x, X) (K + lambda)^-1 y as steps get small and rounds many."""
    rng = np.random.default_rng(0)
    n, penalty = 60, 1.0
    X = rng.uniform(-1, 1, (n, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(n)
    Z = rng.uniform(-1, 1, (40, 2))
    limit = {"random_strength": 1e9, "max_depth": 2, "max_bins": 6}
    binned = SymmetricBoostingRegressor(**limit, max_iter=1).fit(X, y)
    samples = Samples(X, np.ascontiguousarray(y[np.newaxis]), None, None)

    def boosted(learning_rate, seed):
        binned.set_params(learning_rate=learning_rate)
        scores = np.zeros((len(Z), 1))
        trees = boost_shrunk(binned, samples, penalty, n_rounds=int(300 / learning_rate), seed=seed)
        trees.add_to(Z, scores)
        return scores[:, 0]

    options = {"bin_thresholds": binned.bin_thresholds_, "depth": 2, "X_train": X}
    kernel = symmetric_tree_kernel(X, **options)
    across = symmetric_tree_kernel(Z, X, **options)
    expected = across @ np.linalg.solve(kernel + penalty * np.eye(n), y)
    assert np.abs(expected).max() > 1

    def error(learning_rate, n_seeds):
        """Root mean square of what a single model is off by."""
        off = [boosted(learning_rate, seed) - expected for seed in range(n_seeds)]
        return np.sqrt(np.mean(np.square(off)))

    coarse, fine = error(0.5, 10), error(0.02, 5)
    # The trees drawn last count most: the error is that of a mean of 1 / learning_rate trees.
    np.testing.assert_allclose(coarse / fine, 5, rtol=0.4)
    assert error(0.004, 1) < 0.004
