"""`max_coef` on functions whose few features are planted, and where there is nothing to drop."""

import warnings

import numpy as np
import pytest
from fctree import export_text
from fctree.datasets import make_ridge_relu
from free_tree import FreeTreeClassifier, FreeTreeRegressor

CURVED = {"directions": "all", "ridge_criterion": True, "min_samples_leaf": 20}


def split_features(tree, node=0):
    return set(np.flatnonzero(tree.coef[node]).tolist())


def inner(tree):
    return np.flatnonzero(tree.children_left >= 0)


@pytest.mark.parametrize("seed", range(4))
def test_a_planted_sparse_hinge_is_found(seed):
    """Two of 20 features carry a bend, among a linear part in others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2000, 20))
    y = np.maximum(X[:, 4] - 2 * X[:, 11], 0) + X[:, 7] + 0.1 * rng.standard_normal(2000)
    tree = FreeTreeRegressor(max_depth=1, max_coef=2, **CURVED).fit(X, y).tree_
    assert split_features(tree) == {4, 11}
    # The error of a ratio of two means of 2,000 products; 0.06 is the largest of 20 seeds.
    assert tree.coef[0, 11] / tree.coef[0, 4] == pytest.approx(-2, abs=0.3)
    dense = FreeTreeRegressor(max_depth=1, **CURVED).fit(X, y).tree_
    assert len(split_features(dense)) > 2


@pytest.mark.parametrize("max_coef", [2, 3])
def test_a_planted_sparse_ridge_is_found(max_coef):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 30))
    y = X[:, 3] + 2 * X[:, 17] + 0.05 * rng.standard_normal(500)
    tree = FreeTreeRegressor(max_depth=1, max_coef=max_coef).fit(X, y).tree_
    assert {3, 17} <= split_features(tree) and len(split_features(tree)) == max_coef
    np.testing.assert_allclose(tree.coef[0, [3, 17]], [1, 2], atol=0.02)  # 0.05 / sqrt(500)


def test_fewer_samples_than_features():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((60, 200))
    y = X[:, 3] + 2 * X[:, 17]
    tree = FreeTreeRegressor(max_depth=1, max_coef=2, alpha=1e-3).fit(X, y).tree_
    assert split_features(tree) == {3, 17}
    np.testing.assert_allclose(tree.coef[0, [3, 17]], [1, 2], atol=1e-3)  # no noise, little ridge


@pytest.mark.parametrize("ridge_criterion", [False, True])
def test_two_features_that_bend_only_together_are_found(ridge_criterion):
    """The saddle x0 x1 bends along x0 + x1 and x0 - x1, and along no axis."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((3000, 6))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(3000)
    tree = FreeTreeRegressor(max_depth=1, max_coef=2, min_samples_leaf=20, directions="curvature",
                          ridge_criterion=ridge_criterion).fit(X, y).tree_
    assert split_features(tree) == {0, 1}
    # The directions of a Hessian of 3,000 products; 0.04 is the largest of ten seeds.
    np.testing.assert_allclose(np.abs(tree.coef[0, :2]), np.sqrt(0.5), atol=0.08)


def test_of_two_equal_columns_one_is_enough():
    """A duplicate halves a coefficient; it must not push the feature out."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((800, 3))
    y = 1.5 * X[:, 0] + X[:, 1] + 0.01 * rng.standard_normal(800)
    doubled = np.column_stack([X[:, 0], X[:, 0], X[:, 1], X[:, 2]])
    for alpha in (0.0, 1e-6):
        tree = FreeTreeRegressor(max_depth=1, max_coef=2, alpha=alpha).fit(doubled, y).tree_
        assert split_features(tree) == {0, 2}  # the later of equal ones leaves
        np.testing.assert_allclose(tree.coef[0, [0, 2]], [1.5, 1], atol=0.01)


@pytest.mark.parametrize("max_coef", [1, 2, 3, 5])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_every_split_of_a_deep_tree_is_short(n_outputs, max_coef):
    X, y = make_ridge_relu(n_samples=1500, random_state=0)
    Y = np.column_stack([y, y**2, -y])[:, :n_outputs]
    for parameters in (CURVED, {"min_samples_leaf": 20}):
        tree = FreeTreeRegressor(max_depth=4, max_coef=max_coef, **parameters).fit(X, Y).tree_
        sizes = np.count_nonzero(tree.coef[inner(tree)], axis=1)
        assert len(sizes) > 3 and sizes.max() == max_coef
        # The models of the leaves are whole.
        assert np.all(np.count_nonzero(tree.leaf_coef, axis=2) == X.shape[1])


def test_classes():
    X, y = make_ridge_relu(n_samples=1500, random_state=0)
    labels = np.searchsorted(np.quantile(y, [0.3, 0.6]), y)
    for target in (labels, labels > 0):
        model = FreeTreeClassifier(max_depth=3, max_coef=2, **CURVED).fit(X, target)
        assert np.count_nonzero(model.tree_.coef[inner(model.tree_)], axis=1).max() == 2
        assert model.score(X, target) > 0.8


def test_the_text_shows_the_short_split():
    X, y = make_ridge_relu(n_samples=1500, random_state=0)
    model = FreeTreeRegressor(max_depth=3, max_coef=3, **CURVED).fit(X, y)
    for line in export_text(model).splitlines():
        if "node" in line:
            split = line[line.index(":") + 1:line.index("<=")]
            assert split.count("*") <= 3 and "more" not in split and "0.000*" not in split


@pytest.mark.parametrize("ridge_criterion", [False, True])
def test_nothing_to_choose_from(ridge_criterion):
    """Constant features, one feature of several that varies, equal targets."""
    parameters = {"max_coef": 1, "ridge_criterion": ridge_criterion, "directions": "all", "max_depth": 2}
    rng = np.random.default_rng(9)
    x = rng.standard_normal(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flat = FreeTreeRegressor(**parameters).fit(np.full((100, 3), 7.0), x)
        one = FreeTreeRegressor(**parameters).fit(np.column_stack([np.ones(100), x, np.ones(100)]),
                                               np.abs(x))
        equal = FreeTreeRegressor(**parameters).fit(rng.standard_normal((100, 3)), np.ones(100))
    assert flat.tree_.node_count == equal.tree_.node_count == 1
    assert all(split_features(one.tree_, node) == {1} for node in inner(one.tree_))
    assert one.tree_.node_count >= 3
