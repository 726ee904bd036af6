"""Axioms of attributions on any data: efficiency, dummies, symmetry, additivity."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureTreeRegressor,
    SymmetricBoostingRegressor,
)
from fctree._native import inspection as native
from fctree.inspection import shap_values
from fctree.symmetric.trees import SymmetricTrees
from hypothesis import given, settings
from hypothesis import strategies as st

METHODS = ("interventional", "path_dependent", "aumann_shapley")


@st.composite
def fitted_models(draw):
    """A model on a few columns, some of few values, and its data."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d, n = draw(st.integers(2, 5)), draw(st.integers(5, 60))
    X = rng.standard_normal((n, d))
    X[:, 0] = np.round(X[:, 0])
    y = X @ rng.standard_normal(d) + np.abs(X[:, -1]) + np.round(X[:, 0] * X[:, 1])
    kind = draw(st.sampled_from(["symmetric", "tree", "boosting"]))
    if kind == "symmetric":
        depth = draw(st.integers(1, 6))
        model = SymmetricBoostingRegressor(max_iter=4, max_depth=depth, random_state=0)
    elif kind == "tree":
        most = draw(st.sampled_from([1, 2, None]))
        model = CurvatureTreeRegressor(max_depth=3, max_coef=most, min_samples_leaf=3)
    else:
        bounds = draw(st.sampled_from([0.0, 0.5, None]))
        model = CurvatureBoostingRegressor(max_iter=4, extrapolation=bounds, random_state=0)
    other = "path_dependent" if kind == "symmetric" else "aumann_shapley"
    return model.fit(X, y), X, draw(st.sampled_from(["interventional", other]))


@settings(max_examples=60, deadline=None)
@given(fitted_models())
def test_values_sum_to_the_difference_from_the_mean(case):
    model, X, method = case
    found = shap_values(model, X, method=method)
    score = model.predict(X)
    scale = 1.0 + np.abs(score).max()
    assert np.abs(found.base_values + found.values.sum(axis=1) - score).max() < 1e-10 * scale
    if method != "path_dependent":  # the samples' mean is the background's
        assert np.abs(found.values.mean(axis=0)).max() < 1e-10 * scale


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_a_line_and_its_reverse_cross_the_same_splits_together(seed):
    """Between samples on a grid lines cross several splits at one place, but for rounding."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((60, 3)))
    y = X[:, 0] + np.abs(X[:, 1]) + X[:, 0] * X[:, 2]
    model = CurvatureBoostingRegressor(max_iter=6, random_state=0).fit(X, y)
    values = shap_values(model, X, method="aumann_shapley").values
    assert np.abs(values.mean(axis=0)).max() < 1e-14


@settings(max_examples=30, deadline=None)
@given(fitted_models())
def test_a_sample_is_not_different_from_itself(case):
    model, X, method = case
    if method != "path_dependent":
        values = shap_values(model, X[:1], X[:1], method=method).values
        # Symmetric trees add up all coalitions, which are worth the same.
        assert np.abs(values).max() < 1e-13 * (1.0 + np.abs(model.predict(X[:1])).max())


@settings(max_examples=30, deadline=None)
@given(fitted_models(), st.integers(0, 4))
def test_features_that_do_not_count_get_nothing(case, unused):
    """A constant column has no split and no coefficient."""
    model, X, method = case
    unused %= X.shape[1] + 1
    wide = np.insert(X, unused, 1.0, axis=1)
    model.fit(wide, model.predict(X))
    samples = wide.copy()
    samples[:, unused] = np.arange(len(wide))
    found = shap_values(model, samples, wide, method=method)
    assert not np.any(found.values[:, unused])


def symmetric_trees(rng, n_trees, depth, d, n_outputs=1):
    shape = (n_trees, depth)
    return SymmetricTrees(
        rng.integers(0, d, shape).astype(np.int32), rng.standard_normal(shape),
        np.zeros(shape, dtype=bool), np.zeros(shape),
        rng.standard_normal((n_trees, 2**depth, n_outputs)),
    )  # fmt: skip


def attributed(trees, X, background, path_dependent=False):
    d = X.shape[1]
    return native.attribute_symmetric(
        trees, X, background, np.arange(d), d, path_dependent=path_dependent, n_threads=1
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.booleans())
def test_values_of_trees_add_up(seed, depth, path_dependent):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 4))
    trees = symmetric_trees(rng, 5, depth, 4, n_outputs=2)
    sums = sum(attributed(tree, X, X[:9], path_dependent) for tree in trees)
    assert np.abs(attributed(trees, X, X[:9], path_dependent) - sums).max() < 1e-12


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3))
def test_features_that_count_alike_get_alike(seed, depth):
    """Two columns that the trees use alike, with equal values in samples and in the background."""
    rng = np.random.default_rng(seed)
    trees = symmetric_trees(rng, 3, 2 * depth, 3)
    feature, threshold = trees.split_feature.copy(), trees.split_threshold.copy()
    feature[:, 1::2], feature[:, ::2] = 1, 0
    threshold[:, 1::2] = threshold[:, ::2]
    values = trees.leaf_values.reshape(3, *[2] * (2 * depth))
    swapped = values.transpose(0, *(1 + i for pair in range(depth) for i in (2 * pair + 1, 2 * pair)))
    trees = SymmetricTrees(feature, threshold, trees.missing_right, trees.split_gain,
                           (values + swapped).reshape(3, -1, 1))
    X = np.repeat(rng.standard_normal((20, 1)), 3, axis=1)
    found = attributed(trees, X, X[:7])
    assert np.abs(found[:, 0] - found[:, 1]).max() < 1e-12
    assert not np.any(found[:, 2])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_columns_of_one_player_move_together(seed):
    """Values of a player are those of the game in which its columns are one feature."""
    rng = np.random.default_rng(seed)
    trees = symmetric_trees(rng, 3, 4, 4)
    X = rng.standard_normal((10, 4))
    player = np.array([0, 1, 1, 2])
    found = native.attribute_symmetric(
        trees, X, X[:5], player, 3, path_dependent=False, n_threads=1
    )[:, :, 0]

    def mean_score(x, known):
        hybrid = np.where(np.isin(player, known), x, X[:5])
        scores = np.zeros((5, 1))
        trees.add_to(hybrid, scores)
        return scores.mean()

    for x, values in zip(X, found):
        alone = mean_score(x, [1]) - mean_score(x, [])
        last = mean_score(x, [0, 1, 2]) - mean_score(x, [0, 2])
        middle = [mean_score(x, [j, 1]) - mean_score(x, [j]) for j in (0, 2)]
        assert values[1] == pytest.approx((alone + last) / 3 + sum(middle) / 6, abs=1e-12)
