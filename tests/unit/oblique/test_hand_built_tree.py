"""`ObliqueTree` on arrays written by hand: where samples go and what leaves say."""

import numpy as np
import pytest
from fctree import ObliqueTree, export_text


def arrays(**changes):
    """Three leaves in the plane.

            0: x + y <= 1
           /             \\
        1: leaf       2: x - y <= 0
                       /          \\
                    3: leaf     4: leaf
    """
    nan = np.nan
    tree = {
        "children_left": [1, -1, 3, -1, -1],
        "children_right": [2, -1, 4, -1, -1],
        "threshold": [1.0, nan, 0.0, nan, nan],
        "coef": [[1.0, 1.0], [2.0, 0.0], [1.0, -1.0], [0.0, 3.0], [0.0, 0.0]],
        "intercept": [0.5, 1.0, 0.0, -1.0, 7.0],
        "split_output": [0, -1, 0, -1, -1],
        "leaf_coef": [[[2.0, 0.0]], [[0.0, 3.0]], [[0.0, 0.0]]],
        "leaf_intercept": [[1.0], [-1.0], [7.0]],
        "leaf_index": [-1, 0, -1, 1, 2],
        "value": [[[3.0]], [[1.0]], [[5.0]], [[2.0]], [[7.0]]],
        "impurity": [4.0, 1.0, 2.0, 0.5, 0.0],
        "n_node_samples": [10, 4, 6, 3, 3],
        "weighted_n_node_samples": [10.0, 4.0, 6.0, 3.0, 3.0],
        "feature_gain": [3.0, 1.0],
    }
    tree.update(changes)
    return {name: value if value is None else np.asarray(value) for name, value in tree.items()}


X = np.array([
    [0.0, 0.0],    # 0 <= 1: leaf 1
    [0.5, 0.5],    # exactly on the first cut: left
    [0.0, 2.0],    # right, -2 <= 0: leaf 3
    [1.0, 1.0],    # right, exactly on the second cut: leaf 3
    [2.0, 0.0],    # right, right: leaf 4
])
LEAVES = [1, 1, 3, 3, 4]


def test_sizes():
    tree = ObliqueTree(**arrays())
    assert (tree.node_count, tree.n_leaves, tree.max_depth) == (5, 3, 2)
    assert (tree.n_features, tree.n_outputs, tree.n_classes) == (2, 1, None)


def test_samples_go_left_up_to_the_threshold():
    np.testing.assert_array_equal(ObliqueTree(**arrays()).apply(X), LEAVES)


def test_leaves_evaluate_their_models():
    # 2 x + 1, 3 y - 1 and 7.
    expected = [[1.0], [2.0], [5.0], [2.0], [7.0]]
    np.testing.assert_array_equal(ObliqueTree(**arrays()).predict(X), expected)


def test_constant_leaves_have_no_coefficients():
    tree = ObliqueTree(**arrays(leaf_coef=np.zeros((0, 1, 2))))
    np.testing.assert_array_equal(tree.predict(X), [[1.0], [1.0], [-1.0], [-1.0], [7.0]])


def test_numbers_may_be_changed_and_the_given_arrays_too():
    given = arrays()
    tree = ObliqueTree(**given)
    given["children_left"][0] = 10**7
    tree.leaf_intercept += 1.0
    tree.leaf_coef[2] = 0.0
    np.testing.assert_array_equal(tree.predict(X), [[2.0], [3.0], [6.0], [3.0], [8.0]])


def test_several_outputs():
    tree = ObliqueTree(**arrays(
        value=np.zeros((5, 2, 1)),
        leaf_coef=[[[2.0, 0.0], [0.0, 1.0]], [[0.0, 3.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]],
        leaf_intercept=[[1.0, 0.0], [-1.0, 10.0], [7.0, 8.0]]))
    expected = [[1.0, 0.0], [2.0, 0.5], [5.0, 12.0], [2.0, 12.0], [7.0, 8.0]]
    np.testing.assert_array_equal(tree.predict(X), expected)


def test_decision_path():
    path = ObliqueTree(**arrays()).decision_path(X)
    np.testing.assert_array_equal(path.toarray(), [
        [1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 1, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 1]])


def test_importances():
    tree = ObliqueTree(**arrays())
    np.testing.assert_array_equal(tree.compute_feature_importances(), [0.75, 0.25])
    np.testing.assert_array_equal(tree.compute_feature_importances(normalize=False), [3.0, 1.0])
    nothing = ObliqueTree(**arrays(feature_gain=[0.0, 0.0]))
    np.testing.assert_array_equal(nothing.compute_feature_importances(), [0.0, 0.0])


def test_text():
    text = export_text(ObliqueTree(**arrays()), decimals=1, feature_names=["east", "north"])
    assert text.splitlines()[0].startswith("node 0: 1.0*east + 1.0*north <= 1.0")
    assert "node 2: 1.0*east - 1.0*north <= 0.0" in text
    assert [line for line in text.splitlines() if "leaf 4" in line][0].count("7.0") >= 1


def test_text_to_a_depth():
    tree = ObliqueTree(**arrays())
    whole = export_text(tree).splitlines()
    assert export_text(tree, max_depth=2).splitlines() == whole
    cut = export_text(tree, max_depth=1).splitlines()
    assert cut[:3] == whole[:3] and len(cut) == 5
    assert cut[3].startswith("|-- no:  node 2: ") and "<=" not in cut[3]
    assert cut[4] == "|        ... (2 nodes below)"
    assert export_text(tree, max_depth=0).splitlines()[1:] == ["     ... (4 nodes below)"]
    with pytest.raises(ValueError, match="max_depth must be an int of at least 0 or None, got -1"):
        export_text(tree, max_depth=-1)


def test_a_root_alone():
    tree = ObliqueTree(
        children_left=[-1], children_right=[-1], threshold=[np.nan], coef=[[1.0, -1.0]],
        intercept=[2.0], split_output=[-1], leaf_coef=[[[1.0, -1.0]]], leaf_intercept=[[2.0]],
        leaf_index=[0], value=[[[0.5]]], impurity=[1.0], n_node_samples=[3],
        weighted_n_node_samples=[3.0], feature_gain=[1.0, 1.0])
    assert (tree.node_count, tree.max_depth, tree.n_leaves) == (1, 0, 1)
    np.testing.assert_array_equal(tree.apply(X), 0)
    np.testing.assert_array_equal(tree.predict(X)[:, 0], X[:, 0] - X[:, 1] + 2.0)


def test_no_samples_are_no_error():
    tree = ObliqueTree(**arrays())
    assert tree.apply(np.zeros((0, 2))).shape == (0,)
    assert tree.predict(np.zeros((0, 2))).shape == (0, 1)
    assert tree.decision_path(np.zeros((0, 2))).shape == (0, 5)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_many_samples_on_many_threads(n_threads):
    tree = ObliqueTree(**arrays())
    many = np.random.default_rng(0).uniform(-2, 2, (10_001, 2))
    x, y = many.T
    expected = np.where(x + y <= 1, 1, np.where(x - y <= 0, 3, 4))
    np.testing.assert_array_equal(tree.apply(many, n_threads=n_threads), expected)
    value = np.select([expected == 1, expected == 3], [2 * x + 1, 3 * y - 1], 7.0)
    # One fused product may round once where two products round twice.
    np.testing.assert_allclose(tree.predict(many, n_threads=n_threads)[:, 0], value, rtol=1e-14,
                               atol=1e-14)


@pytest.mark.parametrize("changes", [
    {"children_left": [1, -1, 3, -1]},                       # one node too few
    {"children_left": [1, -1, -1, -1, -1]},                  # one child only
    {"children_left": [0, -1, 3, -1, -1]},                   # its own parent
    {"children_left": [1, -1, 9, -1, -1]},                   # no such node
    {"children_right": [2, -1, 3, -1, -1]},                  # two parents
    {"leaf_index": [-1, 0, -1, 1, 1]},                       # a model twice
    {"leaf_index": [-1, 0, -1, 1, 3]},                       # no such model
    {"threshold": [np.nan, np.nan, 0.0, np.nan, np.nan]},    # no cut
    {"coef": np.zeros((5, 3))},                              # widths disagree
    {"leaf_intercept": [[1.0], [2.0]]},
    {"value": np.zeros((5, 2, 1))},
    {"n_node_samples": [10.5, 4.0, 6.0, 3.0, 3.0]},          # no count
], ids=lambda changes: next(iter(changes)))
def test_arrays_that_are_no_tree_are_refused(changes):
    with pytest.raises(ValueError):
        ObliqueTree(**arrays(**changes))


@pytest.mark.parametrize("bad", [
    np.zeros((3, 3)), np.zeros(2), np.zeros((3, 2), dtype=np.float32), [[0.0, 0.0]],
    np.zeros((2, 3)).T, np.zeros((3, 2), dtype=np.int64),
], ids=["width", "vector", "float32", "list", "fortran", "int"])
def test_samples_of_another_kind_are_refused_not_copied(bad):
    tree = ObliqueTree(**arrays())
    for method in (tree.apply, tree.predict, tree.decision_path):
        with pytest.raises(ValueError, match="C-contiguous float64"):
            method(bad)
