"""Properties of the kernels on any data: the theorems and corollaries of the papers."""

import numpy as np
import pytest
from fctree.kernels import empirical_tree_ntk, leaf_counts, tree_ntk, tree_ntk_path
from hypothesis import given
from hypothesis import strategies as st
from property.strategies import feature_matrices
from reference import literal_tree_ntk as literal

ARCHITECTURES = st.sampled_from(["perfect", "oblivious", "decision_list", "rule_set"])
SCALES = st.sampled_from([0.1, 1.0, 2.0, 8.0, 64.0])


@st.composite
def binary_trees(draw, max_leaves=12):
    """Nested pairs with up to `max_leaves` leaves."""
    leaves = draw(st.integers(2, max_leaves))
    nodes = [0] * leaves
    while len(nodes) > 1:
        i = draw(st.integers(0, len(nodes) - 2))
        nodes[i : i + 2] = [(nodes[i], nodes[i + 1])]
    return nodes[0]


def mirrored(tree):
    return tuple(mirrored(part) for part in reversed(tree)) if isinstance(tree, tuple) else tree


@given(feature_matrices(), ARCHITECTURES, st.integers(1, 40), SCALES)
def test_symmetric_and_positive_semi_definite(X, architecture, depth, scale):
    K = tree_ntk(X, depth=depth, scale=scale, architecture=architecture)
    assert np.array_equal(K, K.T)
    eigenvalues = np.linalg.eigvalsh(K)
    # Rounding of n eigenvalues and, for samples that nearly coincide, of their product.
    assert eigenvalues[0] >= -1e-9 * max(eigenvalues[-1], 1e-300)


@given(feature_matrices(), ARCHITECTURES, st.integers(1, 20), SCALES)
def test_rectangular_equals_symmetric_to_the_last_bit(X, architecture, depth, scale):
    settings = {"depth": depth, "scale": scale, "architecture": architecture}
    K = tree_ntk(X, **settings)
    assert np.array_equal(tree_ntk(X, X.copy(), **settings), K)
    some = np.arange(len(X))[::2]
    assert np.array_equal(tree_ntk(X[some], X, **settings), K[some])


@given(feature_matrices(min_rows=2), SCALES, st.integers(0, 2**32 - 1))
def test_permuting_samples_permutes_the_matrix(X, scale, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    assert np.array_equal(tree_ntk(X[order], scale=scale), tree_ntk(X, scale=scale)[order][:, order])


@given(feature_matrices(), SCALES)
def test_scale_is_a_factor_of_the_samples_in_the_angle(X, scale):
    """K(a x, a x') at scale 1 is K(x, x') at scale a: S Td and T depend on a x alone."""
    np.testing.assert_allclose(tree_ntk(scale * X, scale=1.0), tree_ntk(X, scale=scale), rtol=1e-6)


@pytest.mark.parametrize("architecture", ["perfect", "decision_list"])
@pytest.mark.parametrize("depth", [1, 2, 5, 20])
def test_positive_definite_on_distinct_unit_vectors(architecture, depth):
    """Theorem 2 of the first paper's positive definiteness, on a sphere."""
    X = np.random.default_rng(0).standard_normal((30, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for scale in (0.5, 2.0, 16.0):
        assert np.linalg.eigvalsh(tree_ntk(X, depth=depth, scale=scale,
                                           architecture=architecture))[0] > 1e-5


@given(feature_matrices(), st.integers(1, 12), SCALES)
def test_perfect_oblivious_and_rules_agree(X, depth, scale):
    perfect = tree_ntk(X, depth=depth, scale=scale)
    assert np.array_equal(perfect, tree_ntk(X, depth=depth, scale=scale, architecture="oblivious"))
    counts = tree_ntk(X, scale=scale, architecture={depth: 2**depth})
    atol = 1e-13 * perfect.max()
    np.testing.assert_allclose(counts, perfect, rtol=1e-10, atol=atol)


@given(feature_matrices(), binary_trees(), SCALES)
def test_trees_of_equal_leaf_counts_have_one_kernel(X, tree, scale):
    """Corollary 1: a tree and its mirror image, and the sum over the leaves."""
    counts = leaf_counts(tree)
    assert counts == leaf_counts(mirrored(tree))
    assert sum(n / 2**d for d, n in counts.items()) == 1
    K = tree_ntk(X, scale=scale, architecture=counts)
    parts = sum(n * tree_ntk(X, depth=d, scale=scale, architecture="rule_set")
                for d, n in counts.items())
    np.testing.assert_allclose(K, parts, rtol=1e-9, atol=1e-12 * K.max())


def test_the_two_trees_of_the_paper():
    """Figure 3: not isomorphic, Q(2) = 2, Q(3) = 4 both."""
    left = ((0, (0, 0)), (0, (0, 0)))
    right = ((0, 0), ((0, 0), (0, 0)))
    assert leaf_counts(left) == leaf_counts(right) == {2: 2, 3: 4}


@given(feature_matrices(), SCALES)
def test_depth_one_is_twice_the_two_layer_perceptron(X, scale):
    S, T, Td = literal.parts(X, X, scale)
    K = tree_ntk(X, depth=1, scale=scale)
    np.testing.assert_allclose(K, 2 * (S * Td + T), rtol=0, atol=3e-7 * K.max())


def circle(n=13):
    angle = np.linspace(0, np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def test_decision_lists_converge_and_do_not_degenerate():
    """Proposition 2 and figure 7: deep perfect trees tell nothing but equal samples apart."""
    X = circle()
    lists = tree_ntk_path(X, depths=[5, 10, 40, 200, np.inf], architecture="decision_list")
    distances = [np.abs(K - lists[-1]).max() for K in lists[:-1]]
    assert distances[0] > distances[1] > distances[2]
    np.testing.assert_allclose(lists[3], lists[-1], rtol=1e-13)
    perfect = tree_ntk(X, depth=200)
    ahead, opposite = lists[-1][0, 6], lists[-1][0, -1]
    assert ahead - opposite > 0.05 * lists[-1][0, 0]
    assert perfect[0, 6] - perfect[0, -1] < 1e-6 * perfect[0, 0]


ALL = ["perfect", "oblivious", "decision_list", "rule_set", {2: 2, 3: 4}, {1: 3}, {0: 1, 2: 1},
       ((0, (0, 0)), (0, (0, 0)))]


@pytest.mark.parametrize("architecture", ALL, ids=str)
def test_finite_ensembles_converge_at_the_monte_carlo_rate(architecture):
    """The root mean square error times sqrt(M) is the same constant for M = 64 and 1024."""
    X = circle(5)
    known = leaf_counts(architecture) if isinstance(architecture, tuple) else architecture
    limit = tree_ntk(X, architecture=known)

    def error(n_trees):
        return np.sqrt(np.mean([
            np.mean((empirical_tree_ntk(X, n_trees=n_trees, architecture=architecture,
                                        random_state=seed) - limit) ** 2) for seed in range(40)]))

    few, many = error(64) * 8, error(1024) * 32
    # 40 repetitions of 15 dependent entries: the ratio's standard error is about 0.1.
    assert 0.6 < few / many < 1.6
    assert error(1024) < 0.2 * limit.max()
