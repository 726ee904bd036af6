"""Properties of soft trees on any data."""

import numpy as np
from fctree import SoftTreeRegressor
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import soft_passes

SIZES = {"seed": st.integers(0, 2**31), "depth": st.integers(1, 7), "p": st.integers(1, 40),
         "gamma": st.floats(1e-4, 10.0), "kind": st.sampled_from(["conditional", "dense"])}


@given(**SIZES)
def test_leaves_of_ones_give_one(seed, depth, p, gamma, kind):
    """Each sample's probabilities sum to 1, and a constant output asks nothing of the splits."""
    X, splits, leaves, gradient = soft_passes.random_ensemble(seed, n=9, p=p, depth=depth)
    out, by_split, _, by_x = soft_passes.run(
        X, splits, np.ones_like(leaves), gradient, gamma=gamma, kind=kind
    )
    np.testing.assert_allclose(out, len(splits), rtol=1e-12)
    # Differences of equal values: rounding, times slopes of 1.5 / gamma.
    np.testing.assert_allclose(by_split, 0.0, atol=1e-11 / gamma)
    np.testing.assert_allclose(by_x, 0.0, atol=1e-11 / gamma)


@given(**SIZES)
def test_gradient_of_leaves_sums_to_that_of_the_output(seed, depth, p, gamma, kind):
    X, splits, leaves, gradient = soft_passes.random_ensemble(seed, n=9, p=p, depth=depth)
    _, _, by_leaf, _ = soft_passes.run(X, splits, leaves, gradient, gamma=gamma, kind=kind)
    expected = np.tile(gradient.sum(axis=0), (len(leaves), 1))
    np.testing.assert_allclose(by_leaf.sum(axis=1), expected, atol=1e-11)


@given(**{**SIZES, "kind": st.just("conditional")})
def test_conditional_is_dense(seed, depth, p, gamma, kind):
    X, splits, leaves, gradient = soft_passes.random_ensemble(seed, n=17, p=p, depth=depth)
    ours = soft_passes.run(X, splits, leaves, gradient, gamma=gamma, kind=kind)
    theirs = soft_passes.run(X, splits, leaves, gradient, gamma=gamma, kind="dense")
    for a, b in zip(ours, theirs, strict=True):
        # <w, x> is summed in another order; the slope of S is 1.5 / gamma, its own 6 / gamma^2.
        np.testing.assert_allclose(a, b, atol=1e-11 / min(gamma, 1.0) ** 2)


@given(seed=st.integers(0, 2**31), gamma=st.floats(0.05, 5.0))
def test_mirrored_weights_mirror_the_tree(seed, gamma):
    """S(-t) = 1 - S(t): with all splits negated, leaves answer in reverse order."""
    X, splits, leaves, _ = soft_passes.random_ensemble(seed, n=9)
    mirrored = np.ascontiguousarray(leaves[:, ::-1])
    # Level by level, nodes in reverse order too.
    order = [2**level - 1 + i for level in range(4) for i in reversed(range(2**level))]
    negated = np.ascontiguousarray(-splits[:, order])
    np.testing.assert_allclose(
        soft_passes.run(X, splits, leaves, gamma=gamma),
        soft_passes.run(X, negated, mirrored, gamma=gamma),
        atol=1e-11,
    )


@given(weight=arrays(np.int64, 20, elements=st.integers(0, 3)).filter(lambda w: w.sum() > 2),
       seed=st.integers(0, 1000))
def test_weights_are_repetitions(weight, seed):
    """With all samples in one batch."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    settings = {"n_trees": 2, "depth": 2, "max_epochs": 5, "random_state": 0}
    weighted = SoftTreeRegressor(**settings).fit(X, y, sample_weight=weight)
    repeated = SoftTreeRegressor(**settings).fit(np.repeat(X, weight, axis=0),
                                                 np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-8)


@given(seed=st.integers(0, 1000))
def test_order_of_samples_in_a_batch(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    order = rng.permutation(30)
    settings = {"n_trees": 2, "depth": 2, "max_epochs": 5, "random_state": 0}
    one = SoftTreeRegressor(**settings).fit(X, y)
    other = SoftTreeRegressor(**settings).fit(X[order], y[order])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-8)
