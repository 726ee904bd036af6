"""The fast trees against the literal concatenation of reference/literal_fcodt.py.

Tolerance 1e-8 throughout: both sides solve systems with condition numbers below 1e5 in
double precision (1e-16), along at most seven levels. Each case first checks that no
decision of the tree was so close that rounding could turn it.
"""

import numpy as np
from scipy.special import softmax
import pytest
from fctree import FCODTClassifier, FCODTRegressor
from hypothesis import assume, given
from hypothesis import strategies as st
from reference.literal_fcodt import LiteralFCODT
from reference.tree_comparison import (
    assert_close,
    assert_same_tree,
    random_weights,
    smooth_table,
)

TOLERANCE = 1e-8
CLOSEST_CALL = 1e-6  # relative; roundings are some 1e-12 of the same quantities


def compare(X, y, sample_weight=None, *, directions=True, **parameters):
    """Fits both, compares nodes and predictions on the training and on new samples."""
    twin = LiteralFCODT(**parameters).fit(X, y, sample_weight)
    assert twin.margin > CLOSEST_CALL, "choose another seed: this tree hangs on a rounding"
    fast = FCODTRegressor(**parameters).fit(X, y, sample_weight=sample_weight)
    assert_same_tree(fast.tree_, twin, TOLERANCE, directions=directions)
    positive = slice(None) if sample_weight is None else sample_weight > 0
    assert_close(fast.tree_.predict(X[positive]), twin.predict(X[positive]), TOLERANCE, "training")
    if directions:
        new = np.random.default_rng(99).uniform(-1, 1, (200, X.shape[1]))
        assert_close(fast.tree_.predict(new), twin.predict(new), TOLERANCE, "new samples")


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("max_depth", [0, 1, 3, 6])
def test_depth_penalty_leaf_concatenation(max_depth, alpha, leaf_model, feature_concatenation):
    X, y = smooth_table(300, 5, seed=1)
    compare(X, y, max_depth=max_depth, alpha=alpha, leaf_model=leaf_model,
            feature_concatenation=feature_concatenation, min_samples_leaf=3)


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("zeros", [False, True])
def test_sample_weight(zeros, feature_concatenation):
    X, y = smooth_table(250, 4, seed=2)
    compare(X, y, random_weights(len(X), seed=3, zeros=zeros), max_depth=4,
            feature_concatenation=feature_concatenation, min_samples_leaf=5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
@pytest.mark.parametrize("n_outputs", [2, 4])
def test_several_outputs(n_outputs, leaf_model, weighted):
    # Small nodes are avoided: there the directions of two outputs often order the samples
    # alike, and which of two equal outputs is named is a matter of rounding.
    X, Y = smooth_table(400, 6, n_outputs, seed=4)
    weight = random_weights(len(X), seed=5) if weighted else None
    compare(X, Y, weight, max_depth=3, leaf_model=leaf_model, min_samples_leaf=20)


def test_more_scores_of_ancestors_than_features():
    X, Y = smooth_table(120, 6, 300, seed=4)
    compare(X, Y, max_depth=2, min_samples_leaf=20, directions=False)


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n_samples, n_features", [(40, 60), (60, 70), (33, 32)])
def test_fewer_samples_than_features(n_samples, n_features, n_outputs, feature_concatenation):
    X, Y = smooth_table(n_samples, n_features, n_outputs, seed=6)
    compare(X, Y, max_depth=2, alpha=0.5, min_samples_leaf=8,
            feature_concatenation=feature_concatenation)


@pytest.mark.parametrize("feature_concatenation", [True, False])
@pytest.mark.parametrize("n_samples, n_features", [(200, 5), (50, 60)])
def test_no_intercept(n_samples, n_features, feature_concatenation):
    X, y = smooth_table(n_samples, n_features, seed=7)
    compare(X + 0.3, y, fit_intercept=False, max_depth=3, min_samples_leaf=5,
            feature_concatenation=feature_concatenation)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parameters", [
    {"min_samples_split": 60},
    {"min_samples_leaf": 40},
    {"min_impurity_decrease": 0.02},
], ids=str)
def test_stopping_rules(parameters, weighted):
    X, y = smooth_table(300, 4, seed=8)
    weight = random_weights(len(X), seed=9) if weighted else None
    compare(X, y, weight, max_depth=6, **parameters)


@pytest.mark.parametrize("feature_concatenation", [True, False])
def test_least_squares_of_full_rank(feature_concatenation):
    X, y = smooth_table(400, 5, seed=10)
    compare(X, y, alpha=0.0, max_depth=3, min_samples_leaf=25,
            feature_concatenation=feature_concatenation)


def test_least_norm_without_concatenation():
    # One solution of least norm exists, so even directions must agree.
    X, y = smooth_table(50, 70, seed=11)
    compare(X, y, alpha=0.0, max_depth=1, min_samples_leaf=10, feature_concatenation=False)


def test_least_norm_with_concatenation():
    # The least norm in the concatenated columns is not the least norm in the raw ones: on
    # the training samples both fit the same, elsewhere they may differ.
    X, y = smooth_table(60, 20, seed=12)
    compare(X, y, alpha=0.0, max_depth=3, min_samples_leaf=5, directions=False)


@given(seed=st.integers(0, 2**32 - 1), n_samples=st.integers(2, 80),
       n_features=st.integers(1, 12), alpha=st.sampled_from([0.1, 1.0, 10.0]),
       max_depth=st.integers(0, 4), min_samples_leaf=st.integers(1, 6),
       leaf_model=st.sampled_from(["ridge", "constant"]), feature_concatenation=st.booleans(),
       fit_intercept=st.booleans(), weighted=st.booleans())
def test_any_table(seed, n_samples, n_features, weighted, **parameters):
    X, y = smooth_table(n_samples, n_features, seed=seed)
    weight = random_weights(n_samples, seed=seed, zeros=True) if weighted else None
    # Weights of a smaller mean are scaled (tests of weight_scale.py).
    assume(weight is None or (weight.any() and weight[weight > 0].mean() > 0.71))
    assume(LiteralFCODT(**parameters).fit(X, y, weight).margin > CLOSEST_CALL)
    compare(X, y, weight, **parameters)


@pytest.mark.parametrize("leaf_model", ["ridge", "constant"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifier_is_the_tree_of_the_indicators(n_classes, leaf_model):
    X, score = smooth_table(400, 5, seed=13)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    indicators = (y[:, None] == np.arange(n_classes)).astype(float)
    targets = indicators[:, 1:] if n_classes == 2 else indicators
    # Random weights: counts of classes tie easily, sums of weights do not.
    weight = random_weights(len(X), seed=14)
    parameters = {"max_depth": 3, "leaf_model": leaf_model, "min_samples_leaf": 20}
    twin = LiteralFCODT(**parameters).fit(X, targets, weight)
    # Where two of three classes are left, their directions are opposite and equally good.
    assert twin.partition_margin > CLOSEST_CALL
    fast = FCODTClassifier(**parameters).fit(X, y, sample_weight=weight)

    raw = twin.predict(X)
    scores = np.column_stack([1 - raw[:, 0], raw[:, 0]]) if n_classes == 2 else raw
    expected = softmax(fast.temperature_ * scores, axis=1) if leaf_model == "ridge" else scores
    assert_close(fast.predict_proba(X), expected, fast.temperature_ * TOLERANCE if leaf_model == "ridge" else TOLERANCE, "probabilities")
    np.testing.assert_array_equal(fast.predict(X), fast.classes_[expected.argmax(axis=1)])
    if leaf_model == "ridge":
        decision = 2 * raw[:, 0] - 1 if n_classes == 2 else raw
        assert_close(fast.decision_function(X), decision, TOLERANCE, "decision")
