"""Comparing an `ObliqueTree` with the literal twin, node by node, and data to do it on."""

import numpy as np


def smooth_table(n_samples, n_features, n_outputs=1, *, seed=0, noise=0.1):
    """Well-scaled data: x uniform on [-1, 1]^d, each output a sum of two ridge functions.

    All columns have the same scale and no two are nearly collinear, so the ridge systems
    are well conditioned, and continuous noise makes ties between cuts improbable.
    """
    rng = np.random.default_rng(seed)
    # Times 0.9, because uniform draws lie on a grid on which differences are exact.
    X = 0.9 * rng.uniform(-1, 1, (n_samples, n_features))
    directions = rng.standard_normal((2, n_outputs, n_features)) / np.sqrt(n_features)
    Y = np.maximum(X @ directions[0].T, 0) + np.exp(X @ directions[1].T)
    Y = Y + noise * rng.standard_normal(Y.shape)
    return X, Y[:, 0] if n_outputs == 1 else Y


def random_weights(n_samples, *, seed=0, zeros=False):
    """Weights in [0.5, 2]; with `zeros`, about one sample in five has none."""
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 2, n_samples)
    if zeros:
        weight[rng.random(n_samples) < 0.2] = 0
    return weight


def node_pairs(tree, twin):
    """(node id, literal node) of both trees, walked together; fails where shapes differ."""
    queue = [(0, twin.root_)]
    while queue:
        node, literal = queue.pop(0)
        assert (tree.children_left[node] == -1) == literal.is_leaf, f"shape at node {node}"
        yield node, literal
        if not literal.is_leaf:
            queue += [(tree.children_left[node], literal.left),
                      (tree.children_right[node], literal.right)]


def assert_close(actual, expected, tolerance, what):
    """|actual - expected| <= tolerance * max(1, largest |expected|)."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: {actual.shape} != {expected.shape}"
    scale = max(1.0, np.abs(expected).max(initial=0))
    error = np.abs(actual - expected).max(initial=0)
    allowed = tolerance * scale
    assert error <= allowed, f"{what}: off by {error:.3g}, allowed {allowed:.3g}"


def assert_same_tree(tree, twin, tolerance, *, directions=True):
    """Same shape, samples, cuts, values and (unless told not to) effective directions."""
    for node, literal in node_pairs(tree, twin):
        assert tree.n_node_samples[node] == len(literal.samples)
        assert_close(tree.value[node, :, 0], literal.value, tolerance, f"value[{node}]")
        assert_close(tree.impurity[node], literal.impurity, tolerance, f"impurity[{node}]")
        if literal.is_leaf:
            assert tree.split_output[node] == -1
            assert np.isnan(tree.threshold[node])
            if twin.leaf_model == "ridge" and directions:
                row = tree.leaf_index[node]
                assert_close(tree.leaf_coef[row], literal.effective, tolerance, f"leaf {node}")
                assert_close(tree.leaf_intercept[row], literal.intercepts, tolerance,
                             f"leaf intercept {node}")
            continue
        k = literal.split_output
        assert tree.split_output[node] == k
        if directions:
            assert_close(tree.threshold[node], literal.threshold, tolerance, f"threshold[{node}]")
            assert_close(tree.coef[node], literal.cut_effective[k], tolerance, f"coef[{node}]")
            assert_close(tree.intercept[node], literal.cut_intercepts[k], tolerance,
                         f"intercept[{node}]")
