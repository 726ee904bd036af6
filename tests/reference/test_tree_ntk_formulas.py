"""The fast kernels against the papers' formulas, in NumPy and with 50 digits."""

import numpy as np
import pytest
from fctree.kernels import relu_ntk, rule_ntk, tree_ntk, tree_ntk_matvec, tree_ntk_path
from reference import literal_tree_ntk as literal

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((70, 6)), RNG.standard_normal((45, 6))
NAMED = ["perfect", "oblivious", "decision_list", "rule_set"]


def close(actual, expected, tolerance):
    """Relative to the largest entry: near its zero an entry has no digits of its own."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("scale", [0.01, 0.5, 2.0, 32.0])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7, 8, 17, 29])
@pytest.mark.parametrize("architecture", NAMED)
def test_named_architectures(architecture, depth, scale):
    counts = literal.counts_of(architecture, depth)
    for other in (None, Y):
        expected = literal.tree(X, X if other is None else other, scale, counts)
        actual = tree_ntk(X, other, depth=depth, scale=scale, architecture=architecture)
        # The twin's Td cancels by scale^2 |x|^2, some 1e4 at scale 32.
        close(actual, expected, 1e-12 * max(1, scale**2))


@pytest.mark.parametrize("scale", [0.5, 2.0, 8.0])
def test_endless_decision_list(scale):
    actual = tree_ntk(X, Y, depth=np.inf, scale=scale, architecture="decision_list")
    close(actual, literal.endless_list(X, Y, scale), 1e-12)


@pytest.mark.parametrize("counts", [
    {1: 2}, {1: 1, 2: 2}, {2: 2, 3: 4}, {3: 8}, {2: 1, 5: 3, 9: 40}, {0: 3}, {0: 1, 2: 1}])
def test_leaf_counts(counts):
    close(tree_ntk(X, Y, architecture=counts), literal.tree(X, Y, 2.0, counts), 1e-13)


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 10, 29])
def test_relu(depth):
    # The twin takes arccos of a rounded cosine near 1.
    close(relu_ntk(X, Y, depth=depth), literal.relu(X, Y, depth), 1e-12)
    close(relu_ntk(X, depth=depth), literal.relu(X, X, depth), 1e-7)


@pytest.mark.parametrize("n_features", [1, 2, 3, 255, 256, 257, 600])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 23, 24, 25, 95, 96, 97, 200])
def test_sizes_around_blocks_tiles_and_chunks(n_rows, n_features):
    rng = np.random.default_rng(n_rows)
    A = rng.standard_normal((n_rows, n_features)) / np.sqrt(n_features)
    B = rng.standard_normal((31, n_features)) / np.sqrt(n_features)
    counts = literal.counts_of("perfect", 3)
    close(tree_ntk(A), literal.tree(A, A, 2.0, counts), 1e-13)
    close(tree_ntk(A, B), literal.tree(A, B, 2.0, counts), 1e-13)
    close(tree_ntk(B, A), literal.tree(B, A, 2.0, counts), 1e-13)
    v = rng.standard_normal((n_rows, 3))
    close(tree_ntk_matvec(B, A, v), literal.tree(B, A, 2.0, counts) @ v, 1e-13)
    close(tree_ntk_matvec(A, None, v[:, 0]), literal.tree(A, A, 2.0, counts) @ v[:, 0], 1e-13)


def test_a_product_of_many_columns_is_summed_in_parts():
    rng = np.random.default_rng(1)
    many, v = rng.standard_normal((20_000, 3)), rng.standard_normal(20_000)
    expected = tree_ntk(X[:5, :3], many) @ v
    np.testing.assert_allclose(tree_ntk_matvec(X[:5, :3], many, v), expected, rtol=1e-11)


@pytest.mark.parametrize("architecture", NAMED)
@pytest.mark.parametrize("other", [None, Y])
def test_path_equals_single_depths(architecture, other):
    depths = [1, 2, 3, 8, 29] + ([np.inf] if architecture == "decision_list" else [])
    path = tree_ntk_path(X, other, depths=depths, architecture=architecture)
    for K, depth in zip(path, depths, strict=True):
        single = tree_ntk(X, other, depth=depth, architecture=architecture)
        # The compiler may fuse other pairs of operations.
        close(K, single, 1e-14)


def pairs():
    """Pairs of samples that are hard: equal, opposite, close, orthogonal, huge, tiny."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(5)
    y = rng.standard_normal(5)
    orthogonal = y - x * (x @ y) / (x @ x)
    return {"equal": (x, x), "opposite": (x, -x), "close": (x, x + 1e-6 * y),
            "nearly opposite": (x, 1e-6 * y - x), "orthogonal": (x, orthogonal),
            "huge": (1e6 * x, 1e6 * y), "huge and equal": (1e6 * x, 1e6 * x),
            "huge and tiny": (1e6 * x, 1e-6 * y), "tiny": (1e-8 * x, 1e-8 * y),
            "zero": (0 * x, y), "zeros": (0 * x, 0 * y)}


@pytest.mark.parametrize("scale", [0.1, 2.0, 1000.0])
@pytest.mark.parametrize("depth", [1, 3, 29, 1000])
@pytest.mark.parametrize("name", pairs())
def test_hard_pairs_against_fifty_digits(name, depth, scale):
    x, y = pairs()[name]
    for architecture in ("perfect", "decision_list"):
        counts = literal.counts_of(architecture, depth)
        exact = literal.exact_tree(x, y, scale, counts)
        actual = tree_ntk(x[None], y[None], depth=depth, scale=scale, architecture=architecture)
        # The product of two samples that are close but not equal is rounded to 1e-16, of
        # which a difference of 1e-6 leaves 1e-4 in 1 - c (the square of the difference),
        # half of that in its root; depth multiplies what t is off.
        inherent = 3e-4 if name in ("close", "nearly opposite") else 1e-11
        scale_of_kernel = float(max(literal.exact_tree(z, z, scale, counts) for z in (x, y)))
        error = abs(float(actual[0, 0] - exact))
        assert error <= inherent * abs(float(exact)) + 1e-14 * depth * scale_of_kernel


@pytest.mark.parametrize("depth", [2, 5, 29])
@pytest.mark.parametrize("name", [n for n in pairs() if not n.startswith("zero")])
def test_hard_pairs_of_the_rectifier(name, depth):
    x, y = pairs()[name]
    exact = float(literal.exact_relu(x, y, depth))
    actual = relu_ntk(x[None], y[None], depth=depth)[0, 0]
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    assert abs(actual - exact) <= (1e-8 if "close" in name or "nearly" in name else 1e-13) \
        * depth * lengths


def test_opposite_samples_keep_their_digits():
    """T is small there: 1/2 + asin(c) / pi would keep none of it."""
    x = np.array([[30.0, 40.0]])
    exact = float(literal.exact_tree(x[0], -x[0], 8.0, {1: 2}))
    np.testing.assert_allclose(tree_ntk(x, -x, depth=1, scale=8.0)[0, 0], exact, rtol=1e-9)


@pytest.mark.parametrize("depth", [1, 3, 10, 29])
@pytest.mark.parametrize("scale", [0.5, 2.0, 8.0])
def test_float32(depth, scale):
    rng = np.random.default_rng(4)
    A = rng.standard_normal((300, 20)).astype(np.float32)
    A[:30] = A[30:60]
    A[60:90] = A[90:120] * np.float32(1.0001)
    single = tree_ntk(A, depth=depth, scale=scale)
    assert single.dtype == np.float32
    double = tree_ntk(A.astype(np.float64), depth=depth, scale=scale)
    # Close but different rows lose digits that equal ones keep: their 1 - c is 1e-7 of rounding.
    apart = np.delete(np.arange(300), np.arange(60, 90))
    close(single[np.ix_(apart, apart)], double[np.ix_(apart, apart)], 1e-4)
    close(single, double, 2e-3)


def test_rule_is_a_share_of_the_perfect_tree():
    np.testing.assert_allclose(tree_ntk(X, depth=6), 2**6 * rule_ntk(X, depth=6), rtol=1e-14)
