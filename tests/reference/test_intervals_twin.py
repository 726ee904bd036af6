"""Intervals are what their literal formulas say."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
    FCODTRegressor,
    SymmetricBoostingRegressor,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from reference.literal_intervals import (
    leave_one_out_errors,
    quantile_of,
    scale_of,
    tree_reaches,
)
from sklearn.model_selection import GroupKFold, KFold

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (150, 3))
y = np.abs(X[:, 0] + X[:, 1]) + (0.1 + np.abs(X[:, 2])) * RNG.standard_normal(150)
X_NEW = RNG.uniform(-1, 1, (40, 3))
WEIGHTS = {
    "equal": None,
    "counts": RNG.integers(1, 4, 150).astype(float),
    "small": RNG.uniform(0.001, 0.008, 150),
    "mixed": RNG.uniform(0.2, 3.0, 150),
    "below one": np.random.default_rng(1).uniform(0.6, 0.95, 150),
}


def used(weights):
    """The weights as fits take them: those with a small mean times a power of two."""
    weight = np.ones(150) if weights == "equal" else WEIGHTS[weights]
    return weight * 2.0 ** max(0, -np.round(np.log2(weight.mean())))


PLAIN = {"feature_concatenation": False, "alpha": 0.5, "min_samples_leaf": 15}
TREES = {
    "paper": (FCODTRegressor(max_depth=2, **PLAIN), 4.0),
    "curvature": (
        CurvatureTreeRegressor(
            max_depth=3, parent_weight=0.0, split_margin=0.0, standardize=False, **PLAIN
        ),
        8.0,
    ),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", TREES)
def test_trees_refit_their_leaves(kind, weights):
    model, cost = TREES[kind]
    model.fit(X, y, WEIGHTS[weights])
    weight = used(weights)
    assert model.tree_.n_leaves >= 2
    leaf = model.apply(X)
    errors = leave_one_out_errors(leaf, X, y, weight, 0.5)
    centre = model.predict(X_NEW)
    for level in (0.5, 0.8, 0.95):
        reach = tree_reaches(
            model.tree_, errors, leaf, weight, cost, level, model.apply(X_NEW)
        )
        expected = np.column_stack([centre - reach, centre + reach])
        # Leverages and refits solve the same systems in another order.
        np.testing.assert_allclose(model.predict_interval(X_NEW, level), expected, rtol=1e-7)


@pytest.mark.parametrize("far", [0.0, 1000.0])
def test_leaves_of_one_sample_take_the_mean_of_their_node(far):
    points = X[:8] + far * (np.arange(8) == 0)[:, np.newaxis]
    targets = points[:, 0]
    model = FCODTRegressor(max_depth=None, leaf_model="constant").fit(points, targets)
    tree, leaf = model.tree_, model.apply(points)
    assert np.all(tree.n_node_samples[leaf] == 1) and (tree.parents()[leaf[0]] == 0) == (far > 0.0)
    errors = np.empty(8)
    for i, node in enumerate(tree.parents()[leaf]):
        others = [k for k in range(8) if k != i and _is_below(tree, leaf[k], node)]
        errors[i] = targets[i] - targets[others].mean()
    reach = tree_reaches(tree, errors, leaf, np.ones(8), 4.0, 0.8, leaf)
    expected = np.column_stack([targets - reach, targets + reach])
    np.testing.assert_allclose(model.predict_interval(points, 0.8), expected, atol=1e-12)


def _is_below(tree, node, ancestor):
    parent = tree.parents()
    while node > ancestor:
        node = parent[node]
    return node == ancestor


@pytest.mark.parametrize("weights", ["equal", "mixed"])
def test_forests_have_out_of_bag_errors(weights):
    forest = CurvatureForestRegressor(
        n_estimators=12, max_depth=2, oob_score=True, random_state=0
    ).fit(X, y, WEIGHTS[weights])
    weight = used(weights)
    errors = y - forest.oob_prediction_
    known = np.isfinite(errors)
    assert known.sum() > 100
    errors, weight_known = np.where(known, errors, 0.0), weight * known
    unit = weight.mean()
    mean = np.average(np.abs(errors), weights=weight_known)
    leaves, leaves_new = forest.apply(X), forest.apply(X_NEW)
    own = np.mean([
        [scale_of(errors, weight_known, leaf == leaf[i], unit, mean, without=i)
         for i in range(len(y))] for leaf in leaves.T
    ], axis=0)
    scores = (np.abs(errors) / own)[known]
    known_unit = weight[known].mean()
    quantile = quantile_of(scores, weight[known], known_unit, 0.8)
    scale = np.mean([
        [scale_of(errors, weight_known, leaf == node, unit, mean) for node in nodes]
        for leaf, nodes in zip(leaves.T, leaves_new.T, strict=True)
    ], axis=0)
    centre = forest.predict(X_NEW)
    expected = np.column_stack([centre - quantile * scale, centre + quantile * scale])
    np.testing.assert_allclose(forest.predict_interval(X_NEW, 0.8), expected, rtol=1e-9)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kernels_refit_without_each_sample(weights):
    model = TreeNTKRegressor(alpha=0.1).fit(X, y, WEIGHTS[weights])
    weight = used(weights)
    errors = np.empty(len(y))
    for i in range(len(y)):
        rest = weight.copy()
        rest[i] = 0.0
        errors[i] = y[i] - TreeNTKRegressor(alpha=0.1).fit(X, y, rest).predict(X[i : i + 1])[0]
    reach = quantile_of(np.abs(errors), weight, weight.mean(), 0.9)
    centre = model.predict(X_NEW)
    expected = np.column_stack([centre - reach, centre + reach])
    np.testing.assert_allclose(model.predict_interval(X_NEW), expected, rtol=1e-6)


def test_kernels_with_a_singular_matrix_use_the_pseudo_inverse():
    twice = np.repeat(X[:20], 2, axis=0)
    model = TreeNTKRegressorCV(alphas=[0.0], depths=[2], scales=[2.0])
    model.fit(twice, np.repeat(y[:20], 2))
    interval = model.predict_interval(X_NEW)
    assert np.all(np.isfinite(interval)) and np.all(interval[:, 0] <= interval[:, 1])


def test_boosting_ranks_the_errors_of_samples_it_has_not_seen():
    """The kept scores are those of the held-out samples, and intervals reach one of them to each side."""
    model = SymmetricBoostingRegressor(
        max_iter=30, calibration_fraction=0.3, random_state=0
    ).fit(X, y)
    assert model.interval_scores_.shape == (45, 1)
    np.testing.assert_allclose(model.interval_levels_[:, 0], np.arange(1, 46) / 46)
    below, above = model._reaches(X_NEW)
    centre = model.interval_baselines_[0] + np.zeros((len(X_NEW), 1))
    model.interval_trees_[0].add_to(X_NEW, centre)
    score = model.interval_scores_[int(np.ceil(46 * 0.8)) - 1, 0]
    predicted = model.predict(X_NEW)
    expected = np.column_stack([
        np.minimum(centre[:, 0] - score * below[:, 0], predicted),
        np.maximum(centre[:, 0] + score * above[:, 0], predicted),
    ])
    np.testing.assert_allclose(model.predict_interval(X_NEW, 0.8), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [CurvatureBoostingRegressor, SymmetricBoostingRegressor])
def test_a_gross_error_among_held_out_samples_moves_no_interval(kind):
    """It moves the model fitted to all samples far from all targets."""
    rng = np.random.default_rng(103)
    X = rng.normal(size=(2000, 5))
    y = 10.0 + X[:, 0] + 0.3 * rng.normal(size=2000)
    for seed in range(6):
        gross = y.copy()
        gross[seed] *= 1e4
        model = kind(max_iter=30, calibration_fraction=0.2, random_state=seed).fit(X[:500], gross[:500])
        lower, upper = model.predict_interval(X[500:]).T
        assert np.mean((lower <= y[500:]) & (y[500:] <= upper)) > 0.8


@pytest.mark.parametrize("weights", ["equal", "counts"])
def test_kernels_refit_without_each_fold_that_is_given(weights):
    folds = KFold(4, shuffle=True, random_state=0)
    model = TreeNTKRegressorCV(cv=folds, depths=[2], scales=[1.0], alphas=[0.1]).fit(X, y, WEIGHTS[weights])
    weight, errors = used(weights), np.empty(150)
    for train, test in folds.split(X):
        fold = TreeNTKRegressor(alpha=0.1, depth=2, scale=1.0).fit(X[train], y[train], weight[train])
        errors[test] = y[test] - fold.predict(X[test])
    reach = quantile_of(np.abs(errors), weight, weight.mean(), 0.8)
    lower, upper = model.predict_interval(X_NEW, 0.8).T
    np.testing.assert_allclose(upper - model.predict(X_NEW), reach, rtol=1e-7)
    np.testing.assert_allclose(model.predict(X_NEW) - lower, reach, rtol=1e-7)


def test_groups_that_are_new_are_covered():
    rng = np.random.default_rng(2)

    def draw(n_groups, size):
        groups = np.repeat(np.arange(n_groups), size)
        X = np.c_[rng.normal(size=(n_groups, 6))[groups], rng.normal(size=(len(groups), 3))]
        level = 2.0 * rng.normal(size=n_groups)
        return X, level[groups] + np.sin(X[:, 6]) + 0.3 * rng.normal(size=len(groups)), groups

    X, y, groups = draw(60, 10)
    new, truth, _ = draw(300, 4)
    model = TreeNTKRegressorCV(cv=GroupKFold(5), depths=[2]).fit(X, y, groups=groups)
    lower, upper = model.predict_interval(new).T
    assert np.mean((lower <= truth) & (truth <= upper)) > 0.86
