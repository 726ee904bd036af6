"""The fast curvature trees against the rows of reference/literal_curvature.py.

Tolerance 1e-7: the fast path adds 1e-10 of the diagonal to the systems that its losses and
leverages come from, and its curvature directions come from an eigenproblem whose gaps are
down to some hundredths of its size. Each case first checks that no decision was so close
that such differences could turn it.
"""

import numpy as np
import pytest
from fctree import CurvatureTreeRegressor
from free_tree import FreeTreeClassifier, FreeTreeRegressor
from reference.literal_curvature import KINDS, LiteralCurvatureTree
from reference.tree_comparison import assert_close, random_weights, smooth_table

TOLERANCE = 1e-7
CLOSEST_CALL = 1e-7  # relative; both sides agree on losses to about 1e-9


def assert_same_splits(tree, twin):
    ids = {0: twin.root_}
    for node in range(tree.node_count):
        literal = ids[node]
        assert tree.n_node_samples[node] == len(literal.rows)
        kind = tree.split_kind[node]
        assert (KINDS[kind] if kind >= 0 else "leaf") == literal.kind, f"node {node}"
        if not literal.children:
            continue
        ids[tree.children_left[node]], ids[tree.children_right[node]] = literal.children
        # The length of a direction means nothing: both are brought to length one.
        size, twin_size = np.linalg.norm(tree.coef[node]), np.linalg.norm(literal.direction)
        assert_close(tree.coef[node] / size, literal.direction / twin_size, TOLERANCE, "coef")
        assert_close(tree.threshold[node] / size, literal.threshold / twin_size, TOLERANCE,
                     f"threshold[{node}]")
    assert len(ids) == tree.node_count


def twin_of(X, y, weight, parameters):
    twin = LiteralCurvatureTree(**parameters).fit(X, y, weight)
    assert twin.margin > CLOSEST_CALL, "choose another seed: this tree hangs on a rounding"
    return twin


def compare(X, y, weight=None, *, n_nodes=3, **parameters):
    """Fits both and compares splits and predictions; `n_nodes`: at least so many nodes."""
    parameters = {"max_thresholds": 6, "min_samples_leaf": 10, "max_depth": 2, **parameters}
    twin = twin_of(X, y, weight, parameters)
    fast = FreeTreeRegressor(ridge_criterion=True, n_screened=None,
                          **{"directions": "all", **parameters})
    fast.fit(X, y, sample_weight=weight)
    assert fast.tree_.node_count >= n_nodes, "the case shows nothing"
    assert_same_splits(fast.tree_, twin)
    new = np.random.default_rng(99).uniform(-1, 1, (100, X.shape[1]))
    for rows in (X, new):
        assert_close(fast.tree_.predict(rows), twin.predict(rows), TOLERANCE, "predictions")
    return fast.tree_


@pytest.mark.parametrize("split_margin", [0.0, 0.75])
@pytest.mark.parametrize("parent_weight", [0.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2, 9])
def test_outputs_weights_prior_margin(n_outputs, weighted, parent_weight, split_margin):
    X, Y = smooth_table(240, 3, n_outputs, seed=1)
    weight = random_weights(len(X), seed=2, zeros=True) if weighted else None
    compare(X, Y, weight, parent_weight=parent_weight, split_margin=split_margin, n_nodes=1 if split_margin else 3)


@pytest.mark.parametrize("n_features, n_outputs", [
    (1, 1), (1, 6), (2, 2), (4, 4), (5, 1), (6, 5), (7, 3), (8, 1), (9, 2), (12, 1), (13, 7), (17, 1)])
def test_sizes_around_those_of_tiles_and_vectors(n_features, n_outputs):
    X, Y = smooth_table(260, n_features, n_outputs, seed=5)
    compare(X, Y, max_depth=1, split_margin=0.0, min_samples_leaf=40)


def test_scores_are_passed_on_in_half_deviations():
    X, y = smooth_table(300, 4, seed=3)
    unit = 0.5 * 50.0 * y.std()
    parameters = {"max_thresholds": 6, "min_samples_leaf": 10, "max_depth": 3, "alpha": 30.0, "split_margin": 0.0}
    twin = twin_of(X, 50.0 * y / unit, None, parameters)
    fast = CurvatureTreeRegressor(standardize=False, n_screened=None, **parameters).fit(X, 50.0 * y)
    assert_same_splits(fast.tree_, twin)
    assert_close(fast.predict(X), unit * twin.predict(X)[:, 0], TOLERANCE, "predictions")


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 30.0])
def test_penalty_and_concatenation(alpha, feature_concatenation):
    X, y = smooth_table(300, 4, seed=3)
    compare(X, y, alpha=alpha, feature_concatenation=feature_concatenation, max_depth=3,
            split_margin=0.3, n_nodes=5)


@pytest.mark.parametrize("directions", [
    ("ridge",), ("curvature",), ("axis",), ("ridge", "axis"), ("axis", "curvature")], ids=str)
def test_kinds_of_directions(directions):
    X, y = smooth_table(300, 4, seed=4)
    tree = compare(X, y, directions=directions, split_margin=0.2)
    assert {KINDS[kind] for kind in tree.split_kind if kind >= 0} <= set(directions)


@pytest.mark.parametrize("n_curvature", [1, 3, 9])
@pytest.mark.parametrize("max_thresholds", [1, 5, 400])
def test_numbers_of_directions_and_cuts(max_thresholds, n_curvature):
    X, y = smooth_table(120, 3, seed=5, noise=0.03)
    compare(X, y, max_thresholds=max_thresholds, n_curvature=n_curvature, max_depth=1,
            split_margin=0.2)


def test_repeated_values_and_a_constant_column():
    X, y = smooth_table(300, 3, seed=6, noise=0.03)
    X = np.column_stack([np.round(3 * X) / 3, np.full(len(X), 2.0)])
    y = np.abs(X[:, 0] + X[:, 1]) + y
    compare(X, y, random_weights(len(X), seed=7), split_margin=0.2)


# How values lie in the buckets that many samples are ordered by: a few in each, nearly all in a few, nearly all in one,
# or the same value in each.
SPREADS = {
    "even": lambda x: x,
    "skewed": lambda x: np.exp(6.0 * x),
    "outlying": lambda x: np.where(np.arange(len(x)) == 7, 1e7, x),
    "rounded": lambda x: np.round(40.0 * x) / 40.0,
    "of five values": lambda x: np.round(2.0 * x) / 2.0,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", SPREADS)
def test_quantiles_of_many_samples(spread, weighted):
    X, y = smooth_table(2_000, 3, seed=11)
    y = y + np.abs(X[:, 0] - 0.2)
    X[:, 0] = SPREADS[spread](X[:, 0])
    compare(X, y, random_weights(len(X), seed=12, zeros=True) if weighted else None, split_margin=0.1,
            max_thresholds=9)


def test_far_from_zero():
    # 30 is 50 standard deviations: sums of squares about zero would lose three digits.
    X, y = smooth_table(250, 3, seed=8)
    compare(X + 30, y + 100, split_margin=0.2)


@pytest.mark.parametrize("n_classes, limits", [(2, {}), (3, {}), (10, {}), (2, {"max_coef": 2}), (3, {"max_coef": 2})])
def test_classifier_is_the_tree_of_the_indicators(n_classes, limits):
    X, score = smooth_table(300, 4 if limits else 3, seed=9)
    score = np.abs(X[:, 0] - X[:, 1]) + 0.1 * score
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    targets = (y[:, None] == np.arange(n_classes)).astype(float)
    targets = targets[:, 1:] if n_classes == 2 else targets
    weight = random_weights(len(X), seed=10)
    parameters = {"max_depth": 2, "max_thresholds": 6, "min_samples_leaf": 20, **limits}
    twin = twin_of(X, targets, weight, parameters)
    fast = FreeTreeClassifier(ridge_criterion=True, directions="all", n_screened=None,
                           **parameters).fit(X, y, sample_weight=weight)
    assert fast.tree_.node_count >= 3
    assert_same_splits(fast.tree_, twin)
    assert_close(fast.tree_.predict(X), twin.predict(X), TOLERANCE, "scores")
