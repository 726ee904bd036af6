"""Moments and ridge directions of all rows against NumPy."""

import numpy as np
import pytest
from fctree._native import oblique
from reference.literal_fcodt import ridge
from reference.tree_comparison import random_weights, smooth_table


def table(n_samples, n_features, n_outputs=2, seed=150):
    X, Y = smooth_table(n_samples, n_features, n_outputs, seed=seed)
    return X, np.ascontiguousarray(Y.reshape(n_samples, -1)), random_weights(n_samples, seed=seed)


def expected_moments(X, Y, weight):
    Z = np.column_stack([X, Y])
    mean = np.average(Z, axis=0, weights=weight)
    centred = Z - mean
    full = (centred * weight[:, None]).T @ centred
    d = X.shape[1]
    return {"weight": weight.sum(), "mean": mean, "diagonal": np.diag(full),
            "scatter": full[:d, :d], "cross": full[:d, d:]}


@pytest.mark.parametrize("n_samples", [1, 2, 63, 64, 65, 1000])
@pytest.mark.parametrize("n_features", [1, 2, 7, 8, 9, 15, 17, 33, 70])
def test_moments(n_samples, n_features):
    X, Y, weight = table(n_samples, n_features)
    actual = oblique.node_moments(X, Y, weight)
    for name, expected in expected_moments(X, Y, weight).items():
        # Sums of n products of numbers of size one.
        np.testing.assert_allclose(actual[name], expected, rtol=0, atol=1e-13 * (10 + n_samples),
                                   err_msg=name)
    np.testing.assert_array_equal(actual["scatter"], actual["scatter"].T)


@pytest.mark.parametrize("n_outputs", [1, 3, 9])
def test_moments_of_several_outputs(n_outputs):
    X, Y, weight = table(200, 5, n_outputs)
    actual, expected = oblique.node_moments(X, Y, weight), expected_moments(X, Y, weight)
    assert actual["cross"].shape == (5, n_outputs)
    np.testing.assert_allclose(actual["cross"], expected["cross"], atol=1e-11)


def test_moments_do_not_depend_on_threads():
    X, Y, weight = table(20_000, 13)
    one = oblique.node_moments(X, Y, weight, n_threads=1)
    for n_threads in (2, 3, 8):
        more = oblique.node_moments(X, Y, weight, n_threads=n_threads)
        for name in ("mean", "diagonal", "scatter", "cross"):
            assert more[name].tobytes() == one[name].tobytes(), name


def test_the_child_is_the_parent_minus_the_sibling():
    """The identity of the fast path, in NumPy on the module's numbers: with the weights W
    and means m, S_parent = S_a + S_b + W_a W_b / W (m_a - m_b)(m_a - m_b)'."""
    X, Y, weight = table(300, 6)
    a = X[:, 0] > 0.3
    parent, left, right = (oblique.node_moments(X[rows].copy(), Y[rows].copy(), weight[rows].copy())
                           for rows in (np.ones(300, bool), a, ~a))
    apart = (left["mean"] - right["mean"])[:6]
    between = left["weight"] * right["weight"] / parent["weight"] * np.outer(apart, apart)
    np.testing.assert_allclose(parent["scatter"] - left["scatter"] - between, right["scatter"],
                               rtol=0, atol=1e-11)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_ancestors", [0, 1, 4])
@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("n_samples, n_features", [(100, 6), (20, 35)])
def test_ridge_with_ancestors(n_samples, n_features, alpha, n_ancestors, fit_intercept, dual):
    """The identity of methods: the literal design [X, X w_1, ..] against (I + W W')^-1."""
    X, Y, weight = table(n_samples, n_features)
    ancestors = np.random.default_rng(1).standard_normal((n_ancestors, n_features))
    literal, intercept = ridge(np.column_stack([X, X @ ancestors.T]), Y, weight, alpha,
                               fit_intercept)
    effective = literal[:, :n_features] + literal[:, n_features:] @ ancestors
    coef, found = oblique.node_ridge(X, Y, weight, ancestors=ancestors, alpha=alpha,
                                     fit_intercept=fit_intercept, dual=dual)
    # Two solvers, and the squares of scores up to 10 in the literal design.
    np.testing.assert_allclose(coef, effective, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found, intercept, rtol=0, atol=1e-9)


def test_primal_and_dual_agree_without_penalty():
    X, Y, weight = table(15, 25)
    none = np.zeros((0, 25))
    primal, dual = (oblique.node_ridge(X, Y, weight, ancestors=none, alpha=0.0, dual=d)[0]
                    for d in (False, True))
    # Least norm from normal equations: the square of a condition number below 1e2.
    np.testing.assert_allclose(primal, dual, rtol=0, atol=1e-8)


def test_other_layouts_are_refused_rather_than_copied():
    X, Y, weight = table(20, 3)
    for bad in (np.asfortranarray(X), X.astype(np.float32), X[:, ::2]):
        with pytest.raises(ValueError, match="contiguous|dtype"):
            oblique.node_moments(bad, Y, weight)
