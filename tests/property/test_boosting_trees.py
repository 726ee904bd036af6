"""Properties of every symmetric tree on any data: leaves, values, ways to evaluate it."""

import numpy as np
from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_cases import LOG_LINK_LOSSES
from property.strategies import boosting_parameters, boosting_tables, class_tables


def leaf_by_hand(trees, tree, X):
    """Bit depth - 1 - level is set where x[feature] > threshold, or missing and missing_right."""
    leaf = np.zeros(len(X), dtype=int)
    for level in range(trees.depth):
        feature = trees.split_feature[tree, level]
        if feature < 0:
            continue
        value = X[:, feature].astype(np.float64)
        right = np.where(np.isnan(value), trees.missing_right[tree, level],
                         value > trees.split_threshold[tree, level])
        leaf |= right.astype(int) << (trees.depth - 1 - level)
    return leaf


def scores_by_hand(model, X):
    scores = np.tile(model.baseline_, (len(X), 1))
    for tree in range(model.trees_.n_trees):
        scores += model.trees_.leaf_values[tree][leaf_by_hand(model.trees_, tree, X)]
    return scores


def fit(table, parameters):
    return SymmetricBoostingRegressor(**parameters).fit(table.X, table.y, table.sample_weight)


def points(table, seed=0):
    """Training rows, rows beyond their range, missing and infinite values."""
    rng = np.random.default_rng(seed)
    new = 3 * rng.standard_normal(table.X.shape)
    new[rng.random(new.shape) < 0.2] = np.nan
    new[rng.random(new.shape) < 0.1] = np.inf
    new[rng.random(new.shape) < 0.1] = -np.inf
    return np.concatenate([table.X, new])


@given(boosting_tables(), boosting_parameters())
def test_trees_are_what_the_arrays_say(table, parameters):
    model = fit(table, parameters)
    X = points(table)
    trees = model.trees_
    leaves = model.apply(X)
    for tree in range(trees.n_trees):
        np.testing.assert_array_equal(leaves[:, tree], leaf_by_hand(trees, tree, X))
    raw = model._raw_predict(X)
    np.testing.assert_array_equal(raw, scores_by_hand(model, X))
    expected = np.exp(raw) if parameters["loss"] in LOG_LINK_LOSSES else raw
    np.testing.assert_array_equal(model.predict(X).reshape(raw.shape), expected)


@given(boosting_tables(), boosting_parameters())
def test_arrays_are_well_formed(table, parameters):
    model = fit(table, parameters)
    trees, depth = model.trees_, parameters["max_depth"]
    n_trees = parameters["max_iter"]
    assert trees.split_feature.shape == trees.split_threshold.shape == (n_trees, depth)
    assert trees.leaf_values.shape == (n_trees, 2**depth, model.n_outputs_)
    assert trees.split_feature.dtype == np.int32 and trees.missing_right.dtype == bool
    assert np.isfinite(trees.leaf_values).all() and np.all(trees.split_gain >= 0)
    for features, thresholds in zip(trees.split_feature, trees.split_threshold, strict=True):
        n_levels = np.count_nonzero(features >= 0)
        assert np.all(features[:n_levels] >= 0) and np.all(features[n_levels:] == -1)
        assert not thresholds[n_levels:].any()
        for feature, threshold in zip(features[:n_levels], thresholds, strict=False):
            assert threshold in model.bin_thresholds_[feature]


@given(boosting_tables(), boosting_parameters(subsample=1.0))
def test_no_leaf_has_fewer_samples_than_allowed(table, parameters):
    model = fit(table, parameters)
    rows = table.weights > 0
    for leaf in model.apply(table.X[rows]).T:
        counts = np.unique(leaf, return_counts=True)[1]
        assert len(counts) == 1 or counts.min() >= parameters["min_samples_leaf"]


@given(boosting_tables(), boosting_parameters(loss="squared_error", subsample=1.0))
def test_first_leaves_are_penalised_means_of_residuals(table, parameters):
    model = fit(table, parameters)
    residual, weight = table.targets - model.baseline_, table.weights
    leaf = model.apply(table.X)[:, 0]
    for number in range(2 ** parameters["max_depth"]):
        rows = leaf == number
        total = weight[rows].sum() + parameters["l2_leaf_reg"]
        value = weight[rows] @ residual[rows] / total if weight[rows].any() else 0.0
        np.testing.assert_allclose(model.trees_.leaf_values[0, number],
                                   parameters["learning_rate"] * value, rtol=1e-9,
                                   atol=1e-12 * np.abs(residual).max())


@given(boosting_tables(), boosting_parameters(), st.booleans())
def test_a_row_does_not_depend_on_the_rows_around_it(table, parameters, several_blocks):
    """Few rows are walked, many are binned, blocks have 256: bit for bit the same."""
    model = fit(table, parameters)
    X = np.resize(points(table), (300 if several_blocks else 40, table.X.shape[1]))
    together, leaves = model.predict(X), model.apply(X)
    for size in (1, 31, 32, 33):
        for begin in range(0, min(66, len(X)), size):
            part = X[begin:begin + size]
            np.testing.assert_array_equal(model.predict(part), together[begin:begin + size])
            np.testing.assert_array_equal(model.apply(part), leaves[begin:begin + size])
    rest = X[len(X) - 257:]
    np.testing.assert_array_equal(model.predict(rest), together[len(X) - len(rest):])


@given(boosting_tables(), boosting_parameters())
def test_staged_predictions(table, parameters):
    model = fit(table, parameters)
    X = points(table)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_ == parameters["max_iter"]
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    first = model.baseline_ + model.trees_.leaf_values[0][model.apply(X)[:, 0]]
    expected = np.exp(first) if parameters["loss"] in LOG_LINK_LOSSES else first
    np.testing.assert_array_equal(stages[0].reshape(expected.shape), expected)


@given(boosting_tables(), boosting_parameters())
def test_importances_are_shares_of_gains(table, parameters):
    model = fit(table, parameters)
    trees = model.trees_
    gains, counts = np.zeros(table.X.shape[1]), np.zeros(table.X.shape[1])
    for feature, gain in zip(trees.split_feature.ravel(), trees.split_gain.ravel(), strict=True):
        if feature >= 0:
            gains[feature] += gain
            counts[feature] += 1
    if gains.sum() > 0:
        gains /= gains.sum()
    np.testing.assert_allclose(model.feature_importances_, gains, rtol=1e-12)
    np.testing.assert_array_equal(model.compute_feature_importances("split"), counts)


@given(class_tables(), st.integers(1, 4), st.sampled_from(["normal", "gumbel"]))
def test_probabilities(table, max_depth, score_noise):
    model = SymmetricBoostingClassifier(max_iter=5, max_depth=max_depth, score_noise=score_noise)
    model.fit(table.X, table.y, table.sample_weight)
    X = points(table)
    p, raw = model.predict_proba(X), scores_by_hand(model, X)
    n_classes = len(model.classes_)
    assert p.shape == (len(X), n_classes) and np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    decision = model.decision_function(X)
    if n_classes > 2:
        np.testing.assert_array_equal(decision, raw)
        np.testing.assert_allclose(p, np.exp(raw - raw.max(axis=1, keepdims=True))
                                   / np.exp(raw - raw.max(axis=1, keepdims=True)).sum(
                                       axis=1, keepdims=True), rtol=1e-12)
        expected = model.classes_[raw.argmax(axis=1)]
    else:
        np.testing.assert_array_equal(decision, raw[:, 0])
        if n_classes == 2:
            np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-raw[:, 0])), rtol=1e-12)
        expected = model.classes_[(raw[:, 0] > 0).astype(int) if n_classes == 2 else
                                  np.zeros(len(X), dtype=int)]
    np.testing.assert_array_equal(model.predict(X), expected)
    stages = zip(model.staged_predict(X), model.staged_predict_proba(X), model.staged_decision_function(X), strict=True)
    for stage, proba, scores in stages:
        assert proba.shape == p.shape and scores.shape == decision.shape
    np.testing.assert_array_equal(stage, expected)
    np.testing.assert_array_equal(proba, p)
    np.testing.assert_array_equal(scores, decision)


@settings(max_examples=15)
@given(boosting_tables(min_rows=40), boosting_parameters(subsample=0.5, colsample=0.5))
def test_samples_of_features_are_respected(table, parameters):
    model = fit(table, parameters)
    n_allowed = max(1, int(np.floor(0.5 * table.X.shape[1] + 0.5)))
    for features in model.trees_.split_feature:
        assert len(set(features[features >= 0])) <= n_allowed
