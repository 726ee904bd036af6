"""Limits and penalties that hold for all trees of boosting."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier, CurvatureBoostingRegressor, CurvatureTreeRegressor, SymmetricBoostingRegressor)
from fctree._training.samples import Samples
from sklearn.datasets import make_hastie_10_2
from sklearn.metrics import roc_auc_score

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 5))
y = X[:, 0] + (X[:, 1] > 0) + RNG.normal(size=1500)


def smallest_leaves(model, kind):
    """The fewest training samples in a leaf of each tree of a kind."""
    leaf = model.apply(X)
    return [np.unique(leaf[:, tree], return_counts=True)[1].min()
            for tree in np.flatnonzero(model.tree_kinds_ == kind)]


@pytest.mark.parametrize("fewest", [8, 100, 0.1])
@pytest.mark.parametrize("loss, share", [("squared_error", 10), ("poisson", 4)])
def test_step_trees_have_a_share_of_the_samples(loss, share, fewest):
    model = CurvatureBoostingRegressor(
        loss=loss, max_iter=20, min_samples_leaf=fewest, subsample=0.7, random_state=0
    ).fit(X, y - y.min())
    least = fewest if isinstance(fewest, int) else 150
    assert min(smallest_leaves(model, 0), default=least) >= least
    assert min(smallest_leaves(model, 1), default=least / share) >= least / share


@pytest.mark.parametrize(("quantile", "fewest"), [(0.99, 500), (0.02, 250), (0.45, 12)])
def test_leaves_of_a_quantile_have_samples_beyond_it(quantile, fewest):
    model = CurvatureBoostingRegressor(loss=("quantile", quantile), max_iter=20, random_state=0)
    model.fit(X, y)
    assert min(smallest_leaves(model, 0) + smallest_leaves(model, 1)) >= fewest
    symmetric = SymmetricBoostingRegressor(loss="quantile", quantile=quantile, max_iter=5)
    leaf = symmetric.fit(X, y).apply(X)
    assert min(np.unique(of_tree, return_counts=True)[1].min() for of_tree in leaf.T) >= fewest


@pytest.mark.parametrize("kind", [CurvatureBoostingRegressor, SymmetricBoostingRegressor])
def test_the_median_is_fitted_as_by_the_absolute_error(kind):
    median, absolute = (kind(loss=loss, max_iter=20, random_state=0).fit(X, y) for loss in (("quantile", 0.5), "absolute_error"))
    np.testing.assert_array_equal(median.predict(X), absolute.predict(X))


@pytest.mark.parametrize("n, margins", [(300, (0.75, 0.5)), (800, (0.5625, 0.375)), (5000, (0.5, 1 / 3))])
def test_margins_of_classes_fall_with_the_number_of_samples(n, margins):
    for n_classes, margin in zip((2, 3), margins, strict=True):
        X, y = np.random.default_rng(0).normal(size=(n, 2)), np.arange(n) % n_classes
        model = CurvatureBoostingClassifier(max_iter=1, random_state=0).fit(X, y)
        assert model._kinds(Samples(X, y[np.newaxis], None, None))[0]["split_margin"] == pytest.approx(margin)


@pytest.mark.parametrize("n, n_classes, weight", [(300, 2, 20.0), (300, 5, 50.0), (80, 2, 16.0), (120, 5, 24.0)])
def test_weight_of_the_parents_models(n, n_classes, weight):
    """As many samples for each class, but of few samples a share."""
    X, y = np.random.default_rng(0).normal(size=(n, 2)), np.arange(n) % n_classes
    model = CurvatureBoostingClassifier(max_iter=1, random_state=0).fit(X, y)
    assert model._kinds(Samples(X, y[np.newaxis], None, None))[0]["parent_weight"] == pytest.approx(weight)


@pytest.mark.parametrize("n_classes, factor", [(4, 1.0), (8, 0.5)])
def test_penalty_of_the_leaves_of_many_classes(n_classes, factor):
    """Newton steps of two leaves with 30 samples of every second class: gradients sum to 15, second derivatives too."""
    labels = np.repeat(np.arange(n_classes), 30)
    X = 1.0 * (labels % 2)[:, np.newaxis]
    model = CurvatureBoostingClassifier(
        max_iter=1, learning_rate=1.0, subsample=1.0, l2_leaf_reg=10.0, random_state=0,
        tree=CurvatureTreeRegressor(leaf_model="constant", parent_weight=0.0)).fit(X, labels)
    step = 15.0 / (15.0 + 10.0 * factor)
    expected = np.where(np.arange(n_classes) % 2 == 0, step, -step)
    np.testing.assert_allclose(model._raw_predict(X[:1]) - model.baseline_, [expected], rtol=1e-9)


@pytest.mark.parametrize("n, grows", [(300, False), (3000, True)])
def test_rates_of_separable_classes_grow_with_many_samples(n, grows):
    X, y = make_hastie_10_2(n, random_state=0)
    model = CurvatureBoostingClassifier(max_iter=101, random_state=0).fit(X, y)
    assert (model.learning_rates_[-1] > model.learning_rates_[0]) == grows


@pytest.mark.parametrize("kind", [CurvatureBoostingRegressor, SymmetricBoostingRegressor])
@pytest.mark.parametrize("quantile", [0.1, 0.95])
def test_intervals_of_a_quantile_are_about_the_median(kind, quantile):
    """About the quantile, errors to one side would be next to nothing, and that side's unit."""
    model = kind(loss="quantile", quantile=quantile, max_iter=50, calibration_fraction=0.2, random_state=0)
    lower, upper = model.fit(X, y).predict_interval(X, 0.9).T
    assert np.median(upper - lower) < 5.0  # 3.3 of the noise
    predicted = model.predict(X)
    assert np.all((lower <= predicted) & (predicted <= upper))


@pytest.mark.parametrize("kind", [CurvatureBoostingRegressor, SymmetricBoostingRegressor])
@pytest.mark.parametrize("quantile", [0.01, 0.99])
def test_outer_quantiles_are_no_worse_than_a_constant(kind, quantile):
    def pinball(target, predicted):
        left = target - predicted
        return np.mean(np.maximum(quantile * left, (quantile - 1) * left))

    rng = np.random.default_rng(1)
    X_new = rng.normal(size=(4000, 5))
    y_new = X_new[:, 0] + (X_new[:, 1] > 0) + rng.normal(size=4000)
    model = kind(loss="quantile", quantile=quantile, random_state=0).fit(X, y)
    assert pinball(y_new, model.predict(X_new)) < pinball(y_new, np.quantile(y, quantile))


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_l2_leaf_reg_shrinks_the_leaves_of_every_loss(loss):
    # Without left-out samples steps are full: by these a line search would lengthen what is shrunk too much.
    spread = [
        CurvatureBoostingRegressor(loss=loss, l2_leaf_reg=penalty, max_iter=10, subsample=1.0, random_state=0)
        .fit(X, y).predict(X).std()
        for penalty in (0.0, 10.0, 1e9)
    ]
    assert spread[0] > 1.005 * spread[1] > 1.01 * spread[2]


@pytest.mark.parametrize("n_events", [10, 390])
def test_step_leaves_expect_a_sample_of_the_rarer_class(n_events):
    events = np.zeros(400, dtype=bool)
    events[np.argsort(X[:400, 0] + RNG.standard_normal(400))[-n_events:]] = True
    model = CurvatureBoostingClassifier(max_iter=30, random_state=0).fit(X[:400], events)
    trees = [tree for kind, tree in zip(model.tree_kinds_, model.estimators_, strict=True) if kind == 1]
    assert len(trees) > 0
    assert min(tree.n_node_samples.min() for tree in trees) >= 40
    halves = CurvatureBoostingClassifier(max_iter=30, random_state=0).fit(X[:400], X[:400, 1] > 0)
    assert min(tree.n_node_samples.min() for tree in halves.estimators_) < 40


@pytest.mark.parametrize("weight", [1e-18, 1e-22])  # so many that a 64-bit number holds them, and more
def test_step_leaves_expect_more_samples_than_there_are(weight):
    x = np.random.default_rng(0).uniform(size=(3000, 3))
    events = np.floor(4 * x[:, 0]) % 2 == 1
    # Without a penalty linear leaves are so poor that step trees are kept.
    settings = {"max_iter": 5, "learning_rate": 0.1, "alpha": 1e-12, "random_state": 0}
    model = CurvatureBoostingClassifier(**settings).fit(x, events, sample_weight=np.where(events, weight, 1.0))
    trees = [tree for kind, tree in zip(model.tree_kinds_, model.estimators_, strict=True) if kind == 1]
    assert len(trees) > 0
    assert all(len(tree.threshold) == 1 for tree in trees)


def test_a_rare_class_among_frequent_ones_is_learnt():
    """One weight per sample for all classes is that of the frequent ones: of 40 and more expected rare ones leaves make up for it."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(40_000, 4))
    classes = np.digitize(inputs[:, 0] + 0.5 * rng.normal(size=40_000), [-0.5, 0.5])
    is_rare = (inputs[:, 1] + inputs[:, 2] > 2.2) & (rng.random(40_000) < 0.06)
    classes[is_rare] = 3
    model = CurvatureBoostingClassifier(max_iter=60, learning_rate=0.1, random_state=0)
    rare = model.fit(inputs[:20_000], classes[:20_000]).predict_proba(inputs)[:, 3]
    assert roc_auc_score(is_rare[20_000:], rare[20_000:]) > 0.9
    assert 0.8 < rare[:20_000].mean() / is_rare[:20_000].mean() < 1.5


@pytest.mark.parametrize("kind", [SymmetricBoostingRegressor, CurvatureBoostingRegressor])
@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 1.1])
def test_equal_weights_leave_a_median_in_the_middle(kind, weight):
    """Sums of six weights that are no binary fractions are not twice those of three."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    model = kind(loss="absolute_error", max_iter=1).fit(X, y, sample_weight=np.full(6, weight))
    np.testing.assert_allclose(model.baseline_, np.median(y), rtol=1e-15)


@pytest.mark.parametrize("model, link, fewest", [
    (CurvatureBoostingRegressor(), np.asarray, 4), (CurvatureBoostingRegressor(loss="poisson"), np.exp, 10),
    (CurvatureBoostingClassifier(), np.ceil, 10),
], ids=["identity", "log", "classes"])
def test_leaves_of_step_trees_need_a_share_of_the_samples(model, link, fewest):
    X = np.random.default_rng(0).uniform(size=(2000, 6))
    odd = (X * 8).astype(int) % 2
    model.set_params(max_iter=12, min_samples_leaf=40, random_state=0).fit(X, link(3.0 * odd[:, 0] * odd[:, 1] + odd[:, 2]))
    steps = [model.trees_[tree] for tree in np.flatnonzero(model.tree_kinds_ == 1)]
    assert min(tree.n_node_samples[tree.children_left < 0].min() for tree in steps) == fewest
