"""Boosting and forests of long tables: splits are searched on a sample of the rows, and models are fitted to all of them."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
)

N = 100_000
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3)) @ [[1.0, 0.3, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 2.0]]
Y = np.abs(X[:, 0]) + 0.5 * X[:, 1] * (X[:, 2] > 0) + 0.3 * RNG.standard_normal(N)
ALPHA = 5.0


def fit(kind=CurvatureBoostingRegressor, X=X, y=Y, **options):
    defaults = {"max_iter": 2, "learning_rate": 1.0, "subsample": 1.0, "step_depth": None, "alpha": ALPHA,
                "l2_leaf_reg": 0.0, "max_depth": 2, "random_state": 0}
    return kind(**{**defaults, **options}).fit(X, y)


def leaves_of(tree, X):
    """By the definition: left where the score is at most the threshold."""
    node = np.zeros(len(X), dtype=int)
    while (inner := tree.children_left[node] >= 0).any():
        left = np.einsum("ij,ij->i", X, tree.coef[node]) <= tree.threshold[node]
        node[inner] = np.where(left, tree.children_left[node], tree.children_right[node])[inner]
    return node


def ridge(X, y, scale):
    """Ridge regression on standardised features: coefficients in the units of X, and the intercept."""
    centred = (X - X.mean(axis=0)) / scale
    system = centred.T @ centred + ALPHA * np.eye(X.shape[1])
    coef = np.linalg.solve(system, centred.T @ (y - y.mean())) / scale
    return coef, y.mean() - coef @ X.mean(axis=0)


def test_leaf_models_are_those_of_all_rows():
    alone = CurvatureTreeRegressor(alpha=ALPHA, max_depth=2, parent_weight=0.0, feature_concatenation=False, max_thresholds=8)
    model = fit(tree=alone, alpha=None, max_depth=None, max_iter=1)
    tree, trees = model.estimators_[0], model.trees_
    residual, node = Y - Y.mean(), leaves_of(tree, X)
    leaves = np.flatnonzero(tree.children_left < 0)
    assert len(leaves) == 4
    for leaf in leaves:
        own = node == leaf
        coef, intercept = ridge(X[own], residual[own], X.std(axis=0))
        number = tree.leaf_index[leaf]
        np.testing.assert_allclose(tree.leaf_coef[number, 0], coef, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(tree.leaf_intercept[number, 0], intercept, rtol=1e-7, atol=1e-9)
        scores = X[own] @ coef + intercept
        np.testing.assert_allclose([trees.leaf_lower[number, 0], trees.leaf_upper[number, 0]],
                                   [scores.min(), scores.max()], rtol=1e-7)


def test_nodes_have_all_rows():
    trees = fit(subsample=0.97, max_iter=3)
    for tree in trees.estimators_:
        inner = np.flatnonzero(tree.children_left >= 0)
        of_children = [tree.n_node_samples[side[inner]] for side in (tree.children_left, tree.children_right)]
        np.testing.assert_array_equal(tree.n_node_samples[inner], np.sum(of_children, axis=0))
        assert abs(tree.n_node_samples[0] / N - 0.97) < 0.005
    np.testing.assert_allclose(trees.feature_importances_.sum(), 1.0)


def test_splits_are_as_good_as_those_of_a_search_of_all():
    """50,000 rows are not sampled."""
    assert abs(fit(max_iter=1).score(X, Y) - fit(X=X[:50_000], y=Y[:50_000], max_iter=1).score(X, Y)) < 0.004


def is_sampled(**options):
    """With ``subsample=1`` nothing else is drawn."""
    first, second = (fit(random_state=seed, **options).trees_ for seed in range(2))
    return not np.array_equal(first.coef, second.coef)


def test_samples_belong_to_rounds():
    assert is_sampled()
    of_rounds = fit(max_iter=2, learning_rate=1e-6).estimators_  # the second one has the same targets
    assert not np.array_equal(of_rounds[0].coef, of_rounds[1].coef)


@pytest.mark.parametrize("share, sampled", [(0.5, True), (0.01, False)])
def test_rare_classes_are_searched_in_all_rows(share, sampled):
    events = Y > np.quantile(Y, 1 - share)
    assert is_sampled(kind=CurvatureBoostingClassifier, y=events, max_iter=1, learning_rate=0.5) == sampled


@pytest.mark.parametrize("power, sampled", [(1, True), (9, False)])
def test_few_large_errors_are_searched_in_all_rows(power, sampled):
    assert is_sampled(y=np.sign(Y) * np.abs(Y) ** power, max_iter=1) == sampled


@pytest.mark.parametrize("least", [45_000, 50_000, 51_000])
def test_leaves_of_few_rows_are_parts_of_larger_ones(least):
    """The sample has a share of the fewest rows of a leaf; where all rows say otherwise, the split goes."""
    for tree in fit(min_samples_leaf=least, max_depth=3, max_iter=4, learning_rate=0.3).estimators_:
        assert tree.n_node_samples.min() >= least
        sizes = np.bincount(leaves_of(tree, X), minlength=len(tree.n_node_samples))
        leaves = tree.children_left < 0
        np.testing.assert_array_equal(tree.n_node_samples[leaves], sizes[leaves])


@pytest.mark.parametrize("options", [{}, {"loss": "absolute_error"}, {"step_depth": 3, "subsample": 0.97}])
def test_threads_and_continuing(options):
    options = {"max_iter": 4, **options}
    model = fit(n_jobs=1, **options)
    assert fit(n_jobs=2, **options).predict(X).tobytes() == model.predict(X).tobytes()
    continued = fit(**{**options, "max_iter": 2}, warm_start=True).set_params(max_iter=4).fit(X, Y)
    assert continued.predict(X).tobytes() == model.predict(X).tobytes()


def test_classes_and_many_features():
    wide = np.hstack([X, RNG.standard_normal((N, 12))])
    labels = np.digitize(Y, [0.5, 1.2])
    assert is_sampled(kind=CurvatureBoostingClassifier, X=wide, y=labels, max_iter=1, learning_rate=0.5)
    model = fit(CurvatureBoostingClassifier, wide, labels, learning_rate=0.5, subsample=0.97, max_iter=6)
    assert model.score(wide, labels) > 0.7
    used = np.flatnonzero(np.any(model.estimators_[0].coef != 0, axis=0))
    assert {0, 1, 2} <= set(used) and len(used) <= 10


def test_equal_rows_are_searched_all():
    """These are drawn together: one sample may have none of them, another all."""
    copied = np.repeat(X[:3], 40_000, axis=0)
    y = np.repeat([0.0, 1.0, 3.0], 40_000)
    model = fit(X=copied, y=y, max_iter=20, learning_rate=0.5, alpha=0.1)
    np.testing.assert_allclose(model.predict(copied), y, atol=0.01)


class TestForests:
    OPTIONS = {"n_estimators": 3, "bootstrap": False, "step_trees": False, "max_depth": 2, "random_state": 0}

    def grow(self, kind=CurvatureForestRegressor, X=X, y=Y, **options):
        return kind(**{**self.OPTIONS, **options}).fit(X, y)

    def is_sampled(self, **options):
        """With ``bootstrap=False`` nothing else is drawn."""
        first, second = (self.grow(random_state=seed, **options).trees_ for seed in range(2))
        return not np.array_equal(first.coef, second.coef)

    def test_leaf_models_are_those_of_all_rows(self):
        alone = CurvatureTreeRegressor(alpha=ALPHA, parent_weight=0.0, feature_concatenation=False)
        for tree in self.grow(tree=alone).estimators_:
            node, leaves = leaves_of(tree, X), np.flatnonzero(tree.children_left < 0)
            assert len(leaves) == 4
            for leaf in leaves:
                own, number = node == leaf, tree.leaf_index[leaf]
                coef, intercept = ridge(X[own], Y[own], X.std(axis=0))
                np.testing.assert_allclose(tree.leaf_coef[number, 0], coef, rtol=1e-7, atol=1e-9)
                np.testing.assert_allclose(tree.leaf_intercept[number, 0], intercept, rtol=1e-7, atol=1e-9)
                assert tree.n_node_samples[leaf] == np.count_nonzero(own)

    def test_trees_have_samples_of_their_own(self):
        assert self.is_sampled()
        first, second, _ = self.grow().estimators_
        assert not np.array_equal(first.coef, second.coef)
        assert not self.is_sampled(X=X[:40_000], y=Y[:40_000])

    @pytest.mark.parametrize("share, sampled", [(0.5, True), (0.01, False)])
    def test_rare_classes_are_searched_in_all_rows(self, share, sampled):
        events = Y > np.quantile(Y, 1 - share)
        assert self.is_sampled(kind=CurvatureForestClassifier, y=events) == sampled

    def test_penalties_by_leave_one_out_see_all_rows(self):
        assert not self.is_sampled(alpha="loo")

    @pytest.mark.parametrize("options", [{}, {"bootstrap": True, "step_trees": True, "n_estimators": 20}])
    def test_threads_and_many_features(self, options):
        wide = np.hstack([X, RNG.standard_normal((N, 12))])
        model = self.grow(X=wide, n_jobs=1, **options)
        assert self.grow(X=wide, n_jobs=2, **options).predict(wide).tobytes() == model.predict(wide).tobytes()
        assert model.score(wide, Y) > 0.7
        used = np.flatnonzero(np.any(model.estimators_[0].coef != 0, axis=0))
        assert {0, 1, 2} <= set(used) and len(used) <= 10

    def test_continuing(self):
        continued = self.grow(n_estimators=1, warm_start=True).set_params(n_estimators=3).fit(X, Y)
        assert continued.predict(X).tobytes() == self.grow().predict(X).tobytes()
