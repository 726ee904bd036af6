"""Finite soft trees in NumPy: their gradients, their kernel, their training."""

import numpy as np
import pytest
from fctree.kernels import empirical_tree_ntk, gradient_flow, tree_ntk
from fctree.kernels.empirical import leaf_paths
from scipy.special import erf

X = np.random.default_rng(0).standard_normal((6, 3))
X /= np.linalg.norm(X, axis=1, keepdims=True)
SCALE = 2.0


def outputs(X, split, leaf, paths):
    """f of an ensemble, node by node: split (M, P, d), leaf (M, L)."""
    left = 0.5 * erf(SCALE * np.einsum("nd,mpd->nmp", X, split)) + 0.5
    total = np.zeros(len(X))
    for l, path in enumerate(paths):
        probability = np.ones((len(X), len(split)))
        for parameter, goes_left in path:
            probability *= left[:, :, parameter] if goes_left else 1 - left[:, :, parameter]
        total += probability @ leaf[:, l]
    return total / np.sqrt(len(split))


def jacobian(X, split, leaf, paths, step=1e-5):
    """Central differences of the outputs by every weight."""
    weights = np.concatenate([split.ravel(), leaf.ravel()])
    columns = []
    for k in range(len(weights)):
        both = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[k] += sign * step
            both.append(outputs(X, moved[: split.size].reshape(split.shape),
                                moved[split.size :].reshape(leaf.shape), paths))
        columns.append((both[0] - both[1]) / (2 * step))
    return np.column_stack(columns)


def drawn_weights(n_trees, paths, n_features, seed):
    """As the library draws them."""
    random_state = np.random.RandomState(seed)
    n_parameters = 1 + max(p for path in paths for p, _ in path)
    return (random_state.standard_normal((n_trees, n_parameters, n_features)),
            random_state.standard_normal((n_trees, len(paths))))


@pytest.mark.parametrize("architecture", [
    "perfect", "oblivious", "decision_list", "rule_set", {1: 1, 2: 2}, {2: 3}, ((0, (0, 0)), 0)],
    ids=str)
@pytest.mark.parametrize("n_trees", [1, 3])
def test_kernel_is_the_jacobian_squared(architecture, n_trees):
    paths = leaf_paths(architecture, 3)
    J = jacobian(X, *drawn_weights(n_trees, paths, 3, seed=5), paths)
    K = empirical_tree_ntk(X, n_trees=n_trees, depth=3, scale=SCALE, architecture=architecture,
                           random_state=5)
    # Differences of step 1e-5 leave ten digits.
    np.testing.assert_allclose(K, J @ J.T, rtol=0, atol=1e-8 * np.abs(K).max())
    rectangular = empirical_tree_ntk(X[:2], X, n_trees=n_trees, depth=3, scale=SCALE,
                                     architecture=architecture, random_state=5)
    np.testing.assert_allclose(rectangular, K[:2], rtol=1e-12, atol=1e-14)


def test_many_trees_come_in_chunks():
    many = np.random.default_rng(1).standard_normal((300, 3))
    K = empirical_tree_ntk(many, n_trees=3000, random_state=0)
    few = empirical_tree_ntk(many[:5], n_trees=3000, random_state=0)
    np.testing.assert_allclose(K[:5, :5], few, rtol=1e-10)


def trained(X, y, X_test, n_trees, learning_rate, n_steps, seed):
    """Test outputs of an ensemble trained by full-batch gradient descent, shifted to start at
    0, at each step; gradients written out for the perfect tree of depth 2."""
    paths = leaf_paths("perfect", 2)
    split, leaf = drawn_weights(n_trees, paths, X.shape[1], seed)
    start, start_test = outputs(X, split, leaf, paths), outputs(X_test, split, leaf, paths)
    history = []
    for _ in range(n_steps):
        history.append(outputs(X_test, split, leaf, paths) - start_test)
        error = outputs(X, split, leaf, paths) - start - y
        z = np.einsum("nd,mpd->nmp", X, split)
        left = 0.5 * erf(SCALE * z) + 0.5
        slope = SCALE / np.sqrt(np.pi) * np.exp(-((SCALE * z) ** 2))
        by_node = np.zeros_like(z)
        by_leaf = np.zeros_like(leaf)
        for l, path in enumerate(paths):
            steps = [left[:, :, p] if is_left else 1 - left[:, :, p] for p, is_left in path]
            by_leaf[:, l] = error @ np.prod(steps, axis=0)
            for k, (p, is_left) in enumerate(path):
                others = np.prod([s for i, s in enumerate(steps) if i != k], axis=0)
                by_node[:, :, p] += (1 if is_left else -1) * others * slope[:, :, p] * leaf[:, l]
        root = np.sqrt(n_trees)
        split = split - learning_rate / root * np.einsum("n,nmp,nd->mpd", error, by_node, X)
        leaf = leaf - learning_rate / root * by_leaf
    return np.array(history)


def test_training_follows_the_gradient_flow():
    """Figure 4 of the first paper: a large ensemble trained by small steps."""
    rng = np.random.default_rng(3)
    y, X_test = rng.standard_normal(6), rng.standard_normal((4, 3))
    rate, n_steps = 0.02, 200
    K, K_test = tree_ntk(X, depth=2, scale=SCALE), tree_ntk(X_test, X, depth=2, scale=SCALE)
    flow = gradient_flow(K, K_test, y, learning_rate=rate, times=np.arange(n_steps))

    def distance(n_trees):
        return np.mean([np.abs(trained(X, y, X_test, n_trees, rate, n_steps, seed) - flow).mean()
                        for seed in range(3)])

    few, many = distance(50), distance(2000)
    assert many < 0.04
    # Forty times the trees: a sixth of the distance, up to the noise of three draws.
    assert many < 0.3 * few


def test_gradient_flow_ends_in_ridgeless_regression():
    rng = np.random.default_rng(4)
    Y, X_test = rng.standard_normal((6, 2)), rng.standard_normal((4, 3))
    K, K_test = tree_ntk(X), tree_ntk(X_test, X)
    end = gradient_flow(K, K_test, Y, learning_rate=0.1, times=[0.0, 1e9, np.inf])
    assert end.shape == (3, 4, 2)
    assert np.all(end[0] == 0)
    regression = K_test @ np.linalg.solve(K, Y)
    for late in end[1:]:
        np.testing.assert_allclose(late, regression, rtol=1e-8)
    one = gradient_flow(K, K_test, Y[:, 0], learning_rate=0.1, times=[np.inf])
    np.testing.assert_allclose(one[0], regression[:, 0], rtol=1e-8)


def test_gradient_flow_is_the_matrix_exponential():
    from scipy.linalg import expm

    y = np.arange(6.0)
    K = tree_ntk(X)
    for time in (0.3, 2.0, 11.0):
        literal = K @ np.linalg.solve(K, (np.eye(6) - expm(-0.1 * K * time)) @ y)
        flow = gradient_flow(K, K, y, learning_rate=0.1, times=[time])[0]
        np.testing.assert_allclose(flow, literal, rtol=1e-8, atol=1e-10)


def test_gradient_flow_with_a_singular_kernel():
    K = np.ones((3, 3))
    flow = gradient_flow(K, K, np.array([1.0, 2.0, 3.0]), learning_rate=1.0, times=[1.0, np.inf])
    np.testing.assert_allclose(flow[1], 2.0, rtol=1e-12)
    np.testing.assert_allclose(flow[0], 2.0 * (1 - np.exp(-3.0)), rtol=1e-12)
    assert np.all(gradient_flow(np.zeros((2, 2)), np.zeros((1, 2)), [1.0, 2.0], learning_rate=1.0,
                                times=[5.0, np.inf]) == 0)
