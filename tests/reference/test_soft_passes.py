"""The compiled forward and backward passes against the paper's algorithms, literally."""

import numpy as np
import pytest
from fctree._native import soft as native

from reference import literal_soft_trees as literal
from reference import soft_passes

# Sums of some hundred terms of size 1 in another order.
TOLERANCE = {np.float64: {"rtol": 1e-10, "atol": 1e-11}, np.float32: {"rtol": 2e-4, "atol": 2e-4}}


def literal_passes(X, splits, leaves, gradient, gamma):
    out = np.zeros((len(X), leaves.shape[2]))
    by_split, by_leaf, by_x = np.zeros_like(splits), np.zeros_like(leaves), np.zeros_like(X)
    n_leaves = 0
    for tree, (w, o) in enumerate(zip(splits, leaves, strict=True)):
        for i, x in enumerate(X):
            value, reached, _ = literal.forward(x, w, o, gamma)
            out[i] += value
            n_leaves += len(reached)
            parts = literal.backward(x, w, o, gamma, gradient[i])
            by_split[tree] += parts[0]
            by_leaf[tree] += parts[1]
            by_x[i] += parts[2]
    return (out, by_split, by_leaf, by_x), n_leaves


@pytest.mark.parametrize("kind", ["conditional", "dense", "automatic"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("depth", "p", "gamma"), [(1, 1, 1.0), (2, 3, 0.1), (4, 17, 1.0), (4, 33, 10.0), (6, 7, 0.3)]
)
def test_passes_are_algorithms_1_and_2(kind, dtype, depth, p, gamma):
    X, splits, leaves, gradient = soft_passes.random_ensemble(depth + p, depth=depth, p=p)
    expected, _ = literal_passes(X, splits, leaves, gradient, gamma)
    arrays = [a.astype(dtype) for a in (X, splits, leaves, gradient)]
    found = soft_passes.run(*arrays, kind=kind, gamma=gamma)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, **TOLERANCE[dtype])


@pytest.mark.parametrize("gamma", [1e-4, 0.1, 1.0, 10.0])
def test_reached_leaves_are_those_of_algorithm_1(gamma):
    X, splits, leaves, gradient = soft_passes.random_ensemble(3, depth=5)
    _, n_leaves = literal_passes(X, splits, leaves, gradient, gamma)
    for kind in ("conditional", "dense"):
        assert soft_passes.reached(X, splits, leaves, kind=kind, gamma=gamma)[0] == n_leaves


def worked_example():
    """The tree of appendix C.1: 0.8 to the left of the root, 0.3 below it, the rest hard."""
    gamma = 1.0

    def product_with_share(share):
        low, high = -0.5, 0.5
        for _ in range(200):
            middle = (low + high) / 2
            if literal.smooth_step(middle, gamma) < share:
                low = middle
            else:
                high = middle
        return middle

    splits = np.full((1, 15, 1), 5.0)  # hard to the left
    splits[0, 0] = product_with_share(0.8)
    splits[0, 3] = product_with_share(0.3)  # the root's left child is hard, its child is not
    splits[0, 2] = -5.0  # and the root's right child sends the sample to the right
    leaves = np.zeros((1, 16, 1))
    leaves[0, 0], leaves[0, 2], leaves[0, 12] = 1.5, -2.0, 2.1
    return np.ones((1, 1)), splits, leaves


@pytest.mark.parametrize("kind", ["conditional", "dense"])
def test_worked_example_of_appendix_c_1(kind):
    x, splits, leaves = worked_example()
    value, by_split, by_leaf, _ = soft_passes.run(x, splits, leaves, np.ones((1, 1)), kind=kind)
    assert value[0, 0] == pytest.approx(0.8 * 0.3 * 1.5 + 0.8 * 0.7 * -2.0 + 0.2 * 2.1)
    assert value[0, 0] == pytest.approx(-0.34)
    assert soft_passes.reached(x, splits, leaves, kind=kind)[0] == 3
    np.testing.assert_array_equal(np.flatnonzero(by_leaf), [0, 2, 12])
    np.testing.assert_allclose(by_leaf.ravel()[[0, 2, 12]], [0.24, 0.56, 0.2])
    assert set(np.flatnonzero(by_split)) == {0, 3}  # |F| = U - 1


@pytest.mark.parametrize("routing", ["logistic", "erf"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_routings(routing, dtype):
    settings = {"routing": routing, "gamma": 1.7, "scale": 2.0}
    X, splits, leaves, gradient = soft_passes.random_ensemble(1, depth=5, p=9)
    expected = literal.dense_forward(X, splits, leaves, **settings)
    arrays = [a.astype(dtype) for a in (X, splits, leaves, gradient)]
    found = soft_passes.run(*arrays[:3], **settings)
    np.testing.assert_allclose(found, expected, **TOLERANCE[dtype])


def test_logistic_far_from_its_middle():
    """Shares of 1e-300 on one side and 1 on the other: neither is lost by cancellation."""
    X = np.ones((4, 1))
    splits = np.array([[[-115.0]], [[115.0]], [[-1e6]], [[1e6]]])[:, :, :]
    leaves = np.array([[[1.0], [0.0]]] * 4)
    for tree, expected in enumerate([np.exp(-690.0), 1.0, 0.0, 1.0]):
        found = soft_passes.run(X, splits[tree : tree + 1], leaves[:1], routing="logistic")
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("kind", ["conditional", "dense"])
@pytest.mark.parametrize("routing", ["smooth_step", "logistic", "erf"])
@pytest.mark.parametrize("gamma", [0.5, 1.0, 10.0])
def test_gradients_are_finite_differences(kind, routing, gamma):
    X, splits, leaves, gradient = soft_passes.random_ensemble(5, n=4, p=3, trees=2, depth=3)
    settings = {"kind": kind, "routing": routing, "gamma": gamma, "scale": 1.5}

    def loss():
        return float(np.sum(soft_passes.run(X, splits, leaves, **settings) * gradient))

    _, by_split, by_leaf, by_x = soft_passes.run(X, splits, leaves, gradient, **settings)
    for values, found in [(splits, by_split), (leaves, by_leaf), (X, by_x)]:
        expected = literal.numeric_gradient(loss, values)
        # Central differences: step^2 times third derivatives of 12 / gamma^3, and jumps of the
        # second derivative at the edges of the band.
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 / gamma**2)


@pytest.mark.parametrize("t", [-0.6, -0.5, -0.4999, 0.0, 0.25, 0.5, 0.7])
def test_slope_inside_at_and_outside_the_band(t):
    """The derivative by <w, x>, also at the edges, where it is 0."""
    X, splits = np.ones((1, 1)), np.full((1, 1, 1), t)
    leaves = np.array([[[1.0], [0.0]]])
    value, by_split, *_ = soft_passes.run(X, splits, leaves, np.ones((1, 1)))
    assert value[0, 0] == pytest.approx(literal.smooth_step(t, 1.0), abs=1e-15)
    assert by_split[0, 0, 0] == pytest.approx(literal.smooth_step_slope(t, 1.0), abs=1e-15)


@pytest.mark.parametrize(
    ("depth", "p"), [(1, 1), (1, 1000), (8, 1000), (9, 16), (15, 1), (15, 17)]
)
def test_sizes(depth, p):
    X, splits, leaves, gradient = soft_passes.random_ensemble(
        0, n=3, p=p, trees=1, depth=depth, outputs=1
    )
    (out, by_split, by_leaf, by_x), _ = literal_passes(X, splits, leaves, gradient, 0.3)
    found = soft_passes.run(X, splits, leaves, gradient, gamma=0.3)
    for ours, theirs in zip(found, (out, by_split, by_leaf, by_x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 600])
@pytest.mark.parametrize("trees", [1, 9])
def test_blocks_of_samples(n, trees):
    """A sample's output does not depend on the others, and gradients are sums over samples."""
    X, splits, leaves, gradient = soft_passes.random_ensemble(2, n=n, trees=trees)
    out, by_split, by_leaf, by_x = soft_passes.run(X, splits, leaves, gradient)
    parts = [
        soft_passes.run(X[i : i + 1], splits, leaves, gradient[i : i + 1]) for i in range(n)
    ]
    if n == 0:
        assert not by_split.any() and not by_leaf.any()
        return
    np.testing.assert_array_equal(out, np.concatenate([part[0] for part in parts]))
    np.testing.assert_allclose(by_x, np.concatenate([part[3] for part in parts]), atol=1e-12)
    np.testing.assert_allclose(by_split, sum(part[1] for part in parts), atol=1e-10)
    np.testing.assert_allclose(by_leaf, sum(part[2] for part in parts), atol=1e-10)


@pytest.mark.parametrize("kind", ["conditional", "dense"])
def test_nan_reaches_output_and_gradients(kind):
    X, splits, leaves, gradient = soft_passes.random_ensemble(4, n=5)
    X[2, 1] = np.nan
    out, by_split, _, by_x = soft_passes.run(X, splits, leaves, gradient, kind=kind)
    np.testing.assert_array_equal(np.isnan(out).any(axis=1), np.arange(5) == 2)
    np.testing.assert_array_equal(np.isnan(by_x).any(axis=1), np.arange(5) == 2)
    assert np.isnan(by_split[:, 0]).all()


def test_workspace_follows_reached_leaves():
    X, splits, leaves, _ = soft_passes.random_ensemble(6, n=256, depth=10, trees=8, p=20)
    hard = soft_passes.reached(X, splits, leaves, gamma=1e-3)
    soft = soft_passes.reached(X, splits, leaves, gamma=3.0)
    dense = soft_passes.reached(X, splits, leaves, gamma=1e-3, kind="dense")
    assert hard[0] < 1.1 * 256 * 8 and soft[0] > 50 * hard[0]
    assert hard[1] < soft[1] / 20 and hard[1] < dense[1] / 100


@pytest.mark.parametrize("sizes", [{"trees": 4}, {"depth": 5}, {"p": 6}, {"outputs": 3}, {"n": 38}])
def test_gradients_of_another_pass_are_refused(sizes):
    X, splits, leaves, gradient = soft_passes.random_ensemble(7)
    layer_pass, shape = native.new_pass(X.dtype), soft_passes.shape_of()
    native.forward(layer_pass, X, splits, leaves, np.zeros_like(gradient), shape, 1)
    X, splits, leaves, gradient = soft_passes.random_ensemble(7, **sizes)
    gradients = np.zeros_like(splits), np.zeros_like(leaves), np.zeros_like(X)
    with pytest.raises(ValueError, match="last forward pass"):
        native.backward(layer_pass, splits, leaves, gradient, *gradients, shape, 1)
