"""Soft trees of any shape: passes and training against literal twins, names against arrays."""

import numpy as np
import pytest
from fctree import SoftTreeClassifier, SoftTreeRegressor, load_model, save_model
from fctree.kernels import empirical_tree_ntk, gradient_flow, leaf_counts, tree_ntk
from fctree.kernels.binary_tree import binary_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import literal_binary_trees as twin
from reference import literal_soft_trees as literal
from reference import soft_passes
from sklearn.base import clone
from sklearn.preprocessing import normalize

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
Y = np.abs(X[:, :2]) + 0.1 * RNG.standard_normal((300, 2))
FEW = {"n_trees": 3, "max_epochs": 4, "batch_size": 64, "learning_rate": 0.05, "random_state": 0}
UNEVEN = [-1, 0, 0, 1, 1, 3, 3, 2, 2, 4, 4, 9, 9]
LIST = [-1, 0, 0, 2, 2, 4, 4, 6, 6]
SHAPES = {
    "list": "decision_list",
    "counts": {1: 1, 3: 2, 4: 4},
    "pairs": ((0, (0, 0)), ((0, (0, (0, 0))), 0)),
    "parents": UNEVEN,
}


@st.composite
def parent_arrays(draw, most=25):
    """A stump of which some leaf is split again and again."""
    parents, leaves = [-1, 0, 0], [1, 2]
    for _ in range(draw(st.integers(0, most))):
        split = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        leaves += [len(parents), len(parents) + 1]
        parents += [split, split]
    return parents


@pytest.mark.parametrize("kind", ["conditional", "dense"])
@pytest.mark.parametrize("routing", ["smooth_step", "logistic", "erf"])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("parents", [LIST, UNEVEN, [-1, 0, 0]], ids=["list", "uneven", "stump"])
def test_passes_are_sums_over_paths(kind, routing, gamma, parents):
    ways = {"routing": routing, "gamma": gamma, "scale": 1.5}
    arrays = soft_passes.random_ensemble(7, n=21, n_splits=len(parents) // 2)
    children = binary_tree(parents, None, most_leaves=100)
    np.testing.assert_array_equal(children, twin.children(parents))
    found = soft_passes.run(*arrays, kind=kind, children=children, **ways)
    expected, n_reached = twin.passes(parents, *arrays, **ways)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)
    if routing == "smooth_step":
        reached = soft_passes.reached(*arrays, kind=kind, children=children, **ways)[0]
        assert reached == n_reached


@pytest.mark.parametrize("kind", ["conditional", "dense"])
@pytest.mark.parametrize("routing", ["smooth_step", "erf"])
def test_gradients_are_finite_differences(kind, routing):
    X, splits, leaves, gradient = soft_passes.random_ensemble(5, n=4, p=3, trees=2, n_splits=6)
    ways = {"kind": kind, "routing": routing, "gamma": 2.0, "children": twin.children(UNEVEN)}

    def loss():
        return float(np.sum(soft_passes.run(X, splits, leaves, **ways) * gradient))

    _, by_split, by_leaf, by_x = soft_passes.run(X, splits, leaves, gradient, **ways)
    for values, found in [(splits, by_split), (leaves, by_leaf), (X, by_x)]:
        expected = literal.numeric_gradient(loss, values)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@given(parents=parent_arrays(), seed=st.integers(0, 2**31), gamma=st.floats(1e-2, 10.0))
def test_random_trees(parents, seed, gamma):
    """Conditional is dense, probabilities sum to 1, and numbers are those of the twin."""
    children = binary_tree(np.array(parents), None, most_leaves=100)
    np.testing.assert_array_equal(children, twin.children(parents))
    arrays = soft_passes.random_ensemble(seed, n=17, n_splits=len(children))
    ways = {"gamma": gamma, "children": children}
    ours = soft_passes.run(*arrays, kind="conditional", **ways)
    theirs = soft_passes.run(*arrays, kind="dense", **ways)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11 / min(gamma, 1.0) ** 2)
    X, splits, leaves, _ = arrays
    ones = soft_passes.run(X, splits, np.ones_like(leaves), **ways)
    np.testing.assert_allclose(ones, len(splits), rtol=1e-12)
    assert leaf_counts(parents) == leaf_counts(np.array(parents))
    lengths = sorted(len(path) for path in twin.numbered(parents))
    assert sorted(d for d, n in leaf_counts(parents).items() for _ in range(n)) == lengths


@settings(max_examples=15)
@given(parents=parent_arrays(most=8), routing=st.sampled_from(["smooth_step", "logistic", "erf"]))
def test_training_is_gradient_descent(parents, routing):
    options = {
        "n_trees": 2, "architecture": parents, "routing": routing, "gamma": 2.0, "scale": 1.0,
        "initialization": "ntk", "optimizer": "gradient_descent", "batch_norm": False,
        "fit_intercept": False, "l2_leaf_reg": 0.0, "random_state": 1,
    }  # fmt: skip
    Z, targets = X[:25], Y[:25]
    model = SoftTreeRegressor(**options, learning_rate=1e-300, max_epochs=1).fit(Z, targets)
    splits, leaves = model.split_weights_.copy(), model.leaf_weights_.copy()
    model.set_params(learning_rate=0.5, max_epochs=5, warm_start=True).fit(Z, targets)
    twin.descend(parents, Z, targets, splits, leaves, learning_rate=0.5, n_steps=4,
                 factor=2**-0.5, routing=routing, gamma=2.0, scale=1.0)
    np.testing.assert_allclose(model.split_weights_, splits, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.leaf_weights_, leaves, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("architecture", [
    [-1, 0, 0, 1, 1, 2, 2], np.array([-1, 0, 0, 2, 2, 1, 1]), (-1, 0, 0, 1, 1, 2, 2), {2: 4},
    ((0, 0), (0, 0)), [["a", "b"], ["c", "d"]]], ids=str)
def test_perfect_trees_by_any_other_name(architecture):
    named = SoftTreeRegressor(**FEW, depth=2).fit(X, Y)
    given = SoftTreeRegressor(**FEW, architecture=architecture).fit(X, Y)
    np.testing.assert_array_equal(named.children_, given.children_)
    np.testing.assert_array_equal(named.predict(X), given.predict(X))


def test_decision_lists():
    model = SoftTreeRegressor(**FEW, architecture="decision_list", depth=20).fit(X, Y)
    assert model.split_weights_.shape == (3, 20, 4) and model.leaf_weights_.shape == (3, 21, 2)
    np.testing.assert_array_equal(model.children_[:-1, 0], 20 + np.arange(19))  # leaves
    np.testing.assert_array_equal(model.children_[:-1, 1], 1 + np.arange(19))
    counts = {**dict.fromkeys(range(1, 20), 1), 20: 2}
    same = SoftTreeRegressor(**FEW, architecture=counts).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert model.reachable_leaves(X).max() <= 21
    logistic = SoftTreeRegressor(**FEW, architecture="decision_list", depth=20, routing="logistic")
    assert np.all(logistic.fit(X, Y).reachable_leaves(X) == 21)


def test_a_long_list():
    model = SoftTreeRegressor(n_trees=1, depth=3000, architecture="decision_list", max_epochs=1)
    assert np.isfinite(model.fit(X, Y).predict(X)).all()


@pytest.mark.parametrize("name", SHAPES)
def test_models_live_on(name, tmp_path):
    """Continued, stored, in float32, in several threads, by parts, with classes."""
    model = SoftTreeRegressor(**FEW, architecture=SHAPES[name], warm_start=True)
    once = clone(model).fit(X, Y)
    save_model(once, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), once.predict(X))
    np.testing.assert_array_equal(loaded.children_, once.children_)
    twice = [
        each.set_params(max_epochs=8, n_jobs=n_jobs).fit(X, Y).predict(X)
        for n_jobs, each in enumerate((loaded, once, clone(model)), 1)
    ]
    assert twice[0].tobytes() == twice[1].tobytes() == twice[2].tobytes()
    with pytest.raises(ValueError, match="trees to continue have"):
        once.set_params(max_epochs=9, architecture="perfect").fit(X, Y)
    single = clone(model).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(single.predict(X), clone(model).fit(X, Y).predict(X), atol=1e-3)
    classes = np.digitize(Y[:, 0], [0.5, 1.0])
    classifier = SoftTreeClassifier(**FEW, architecture=SHAPES[name])
    by_parts = clone(classifier)
    for _ in range(4):
        by_parts.partial_fit(X, classes)
    proba = classifier.fit(X, classes).predict_proba(X)
    np.testing.assert_array_equal(proba, by_parts.predict_proba(X))


def test_another_tree_of_the_same_size_is_not_continued():
    model = SoftTreeRegressor(**FEW, architecture=UNEVEN, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="another architecture"):
        model.set_params(architecture="decision_list", depth=6, max_epochs=5).fit(X, Y)


@pytest.mark.parametrize("architecture, message", [
    ("oblivious", "is not a binary tree"), ("rule_set", "is not a binary tree"),
    ("bush", "must be one of"), ({}, "no leaves"), ({1: 1}, "no binary tree"),
    ({1: 3}, "no binary tree"), ({0: 1}, "single leaf"), ([-1], "single leaf"),
    (np.array([-1]), "single leaf"), ((0, 0, 0), "has two parts"), (((0,), 0), "has two parts"),
    ({20: 2**20}, "more than 32768 leaves"), ([-1, 0, 0, 1], "1 nodes with parent 1"),
    ([-1, 0, 0, 0], "3 nodes with parent 0"), ([-1, 2, 1], "earlier nodes"),
    ([-1, 0, 0, -1, -1], "earlier nodes"), ([-1, 0, 0, 9, 9], "earlier nodes"),
    (np.array([1, 0, 0]), "parents must be"), (np.array([[-1, 0, 0]]), "parents must be"),
    (np.array([-1.0, 0.0, 0.0]), "must be integers"), (np.array([], dtype=int), "must be integers"),
], ids=str)
def test_what_is_no_tree_is_refused(architecture, message):
    for estimator in (SoftTreeRegressor, SoftTreeClassifier):
        with pytest.raises(ValueError, match=message):
            estimator(**FEW, architecture=architecture).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("architecture, depth", [("perfect", 16), ("decision_list", 2**15),
                                                 ("perfect", 10**9)])
def test_trees_too_large(architecture, depth):
    with pytest.raises(ValueError, match="more than 32768 leaves"):
        SoftTreeRegressor(**FEW, architecture=architecture, depth=depth).fit(X, Y)


def test_trees_without_an_end_are_refused():
    endless = [0]
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        SoftTreeRegressor(**FEW, architecture=endless).fit(X, Y)


def test_kernels_take_parents():
    K = tree_ntk(X[:5], architecture=leaf_counts(UNEVEN))
    many = empirical_tree_ntk(X[:5], n_trees=200_000, architecture=UNEVEN, random_state=2)
    np.testing.assert_allclose(many, K, rtol=0.1)


def flow_error(architecture, depth, n_trees, epochs=60, learning_rate=0.2):
    """The distance of a trained ensemble's predictions from the kernel's flow, relative to it."""
    points = normalize(np.random.default_rng(0).standard_normal((12, 3)))
    train, y = points[:8], np.sin(3 * points[:8, 0])
    model = SoftTreeRegressor(
        n_trees=n_trees, depth=depth, architecture=architecture, routing="erf", scale=2.0,
        initialization="ntk", optimizer="gradient_descent", batch_norm=False, fit_intercept=False,
        l2_leaf_reg=0.0, learning_rate=1e-300, max_epochs=1, random_state=0,
    ).fit(train, y)  # fmt: skip
    at_start = model.predict(points)
    # The mean of the losses instead of half their sum: steps n times as long.
    model.set_params(learning_rate=learning_rate * len(train), max_epochs=epochs + 1,
                     warm_start=True).fit(train, y)
    known = architecture if isinstance(architecture, str) else leaf_counts(architecture)
    kernel = tree_ntk(points, depth=depth, scale=2.0, architecture=known)
    flow = gradient_flow(kernel[:8, :8], kernel[:, :8], y - at_start[:8],
                         learning_rate=learning_rate, times=[epochs])[0]
    return np.linalg.norm(model.predict(points) - at_start - flow) / np.linalg.norm(flow)


@pytest.mark.parametrize("architecture, depth", [("perfect", 2), ("decision_list", 4), (UNEVEN, 4)], ids=["perfect", "list", "uneven"])
def test_wide_ensembles_follow_the_kernel(architecture, depth):
    """Trajectories approach the flow of the kernel of their architecture as trees are added (Kanoh and Sugiyama 2022,
    figure 4, and 2023, theorem 3): the distance falls like 1 / sqrt(n_trees)."""
    few, many = flow_error(architecture, depth, 16), flow_error(architecture, depth, 4096)
    assert many < 0.05
    assert few > 3 * many
