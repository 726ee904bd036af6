"""Boosting and forests of oblique trees against their literal twins.

The tolerance 1e-6 relative to the scores: two roundings of ten rounds of ridge systems, each
round's targets being the residuals of the last.
"""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestRegressor,
    CurvatureTreeRegressor,
)
from fctree.ensembles.forest_kinds import kinds_of
from loss_cases import REGRESSION_LOSSES, given_parameter, loss_parameters, targets_for
from reference.literal_ensembles import (
    LiteralBoosting, LiteralTree, MemberTree, deviations, draws, has_hessian, poisson_count, relevant_features)
from reference.literal_losses import make_loss
from reference.tree_comparison import random_weights, smooth_table
from sklearn.tree import DecisionTreeRegressor

X, Y = smooth_table(160, 4, 2, seed=11)
X = X * [1.0, 100.0, 0.01, 1.0] + [0.0, 50.0, 0.0, -3.0]  # units that standardising takes out
NEW = X[:40] + 0.3 * X.std(axis=0) * np.random.default_rng(0).standard_normal((40, 4))
TREE = {"alpha": 1.0, "max_depth": 2, "min_samples_leaf": 15, "directions": "all",
        "feature_concatenation": False, "max_thresholds": 7,
        "n_screened": 3, "parent_weight": 2.0, "split_margin": 0.0}
UNSCREENED = {**TREE, "n_screened": None}  # with the literal twin of trees whose weights have second derivatives in them


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
@pytest.mark.parametrize("options", [
    {}, {"subsample": 0.7}, {"colsample": 0.5, "extrapolation": 1.0, "learning_rate": 0.3,
         "l2_leaf_reg": 20.0}],
    ids=["all", "rows", "columns"])
def test_regression(loss, options):
    y, parameters = targets_for(loss, Y[:, :1]), loss_parameters(loss, quantile=0.8)
    literal = make_loss(loss, given_parameter(parameters))
    tree = UNSCREENED if has_hessian(literal) else TREE
    weight = random_weights(len(X), seed=2)
    model = CurvatureBoostingRegressor(
        **parameters, max_iter=8, step_depth=None, random_state=4,
        **{"subsample": 1.0, "learning_rate": 0.05, **options}, tree=CurvatureTreeRegressor(**tree))
    model.fit(X, y[:, 0], sample_weight=weight)
    if loss == "quantile":
        tree = {**tree, "min_samples_leaf": 25}  # five beyond the .8 quantile
    twin = LiteralBoosting(literal, seed=model._random_seed, max_iter=8,
                           tree=tree, **options).fit(X, y, weight)
    for points in (X, NEW):
        assert_close(model._raw_predict(points), twin.raw_predict(points))


@pytest.mark.parametrize("split_margin", [0.0, 0.4])
@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_classification(n_classes, split_margin):
    labels = np.searchsorted(np.quantile(Y[:, 0], np.arange(1, n_classes) / n_classes), Y[:, 0])
    tree = {**UNSCREENED, "split_margin": split_margin}
    model = CurvatureBoostingClassifier(max_iter=8, step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**tree))
    model.fit(X, labels)
    loss = make_loss("log_loss", n_classes=n_classes)
    twin = LiteralBoosting(loss, seed=model._random_seed, max_iter=8, subsample=0.7, tree=tree)
    twin.fit(X, labels[:, np.newaxis].astype(float))
    for points in (X, NEW):
        assert_close(model._raw_predict(points), twin.raw_predict(points))


@pytest.mark.parametrize("alpha", [1.0, "loo"])
def test_linear_models_of_few_samples(alpha):
    labels = np.searchsorted(np.quantile(Y[:, 0], [0.3, 0.6]), Y[:, 0])
    model = CurvatureBoostingClassifier(max_iter=12, step_depth=None, alpha=alpha, random_state=4).fit(X, labels)
    tree = {**UNSCREENED, "alpha": model.alpha_, "max_depth": 3, "min_samples_leaf": 20, "max_thresholds": 8,
            "parent_weight": 30.0, "split_margin": 0.5}
    twin = LiteralBoosting(make_loss("log_loss", n_classes=3), seed=model._random_seed, max_iter=12, subsample=0.7, tree=tree,
                           linear_competes=True).fit(X, labels[:, np.newaxis].astype(float))
    assert_close(model._raw_predict(NEW), twin.raw_predict(NEW))
    np.testing.assert_array_equal(model.tree_kinds_, twin.kinds)
    assert {0, 4} == set(twin.kinds)


@pytest.mark.parametrize("noise, rate", [(0.0, 0.1), (1.0, 0.05)])
@pytest.mark.parametrize("loss", ["squared_error", "huber", "log_loss"])
def test_learning_rate(loss, noise, rate):
    """It goes by what steps do out of bag."""
    features, y = smooth_table(1000, 3, seed=2, noise=noise)
    tree, options = {**UNSCREENED, "max_depth": 1}, {"max_iter": 105, "subsample": 0.7}
    if loss == "log_loss":
        y = (features[:, 0] + noise * y > noise * np.median(y)).astype(float)
        model = CurvatureBoostingClassifier(**options)
    else:
        model = CurvatureBoostingRegressor(**options, loss=loss)
    model.set_params(step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**tree)).fit(features, y)
    literal = make_loss(loss, n_classes=2) if loss == "log_loss" else make_loss(loss)
    twin = LiteralBoosting(literal, seed=model._random_seed, tree=tree, learning_rate=None, **options)
    twin.fit(features, y[:, np.newaxis], np.ones(1000))
    assert_close(model._raw_predict(features), twin.raw_predict(features))
    assert model.learning_rates_[-1] == rate


def test_learning_rate_that_rises_late():
    """Steps on a wave are too short still when they are judged first, and on noise for good."""
    for noise, rate in ((0.7, 0.1), (3.0, 0.05)):
        rng = np.random.default_rng(1)
        features = rng.standard_normal((1000, 3))
        labels = np.sin(3 * features[:, 0]) * features[:, 1] + noise * rng.standard_normal(1000) > 0
        tree, options = {**UNSCREENED, "max_depth": 1}, {"max_iter": 205, "subsample": 0.7}
        model = CurvatureBoostingClassifier(**options, step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**tree))
        model.fit(features, labels)
        twin = LiteralBoosting(make_loss("log_loss", n_classes=2), seed=model._random_seed, tree=tree, learning_rate=None,
                               **options).fit(features, labels[:, np.newaxis].astype(float), np.ones(1000))
        assert_close(model._raw_predict(features), twin.raw_predict(features))
        assert model.learning_rates_[100] == 0.05 and model.learning_rates_[-1] == rate


@pytest.mark.parametrize("noise, rate", [(0.0, 0.2), (1.0, 0.05)])
def test_learning_rate_of_classes(noise, rate):
    """It also rises where the loss falls slowly but steadily, as here after 150 rounds."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((1000, 4))
    scores = 2 * features @ rng.standard_normal((4, 6)) + noise * rng.standard_normal((1000, 6))
    labels, tree = scores.argmax(axis=1), {**UNSCREENED, "max_depth": 1}
    model = CurvatureBoostingClassifier(max_iter=152, step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**tree))
    model.fit(features, labels)
    twin = LiteralBoosting(make_loss("log_loss", n_classes=6), seed=model._random_seed, tree=tree, learning_rate=None,
                           max_iter=152, subsample=0.7).fit(features, labels[:, np.newaxis].astype(float), np.ones(1000))
    assert_close(model._raw_predict(features), twin.raw_predict(features))
    assert model.learning_rates_[-1] == rate


WIDE, TARGETS = smooth_table(240, 14, 2, seed=5)


@pytest.mark.parametrize("noise", [0.1, 2.0])
@pytest.mark.parametrize("task", ["regression", "outputs", "classes", "columns"])
def test_many_features(task, noise):
    """Trees of few features where noise is large, of all where it is small, and both are met."""
    rng = np.random.default_rng(1)
    y = TARGETS + noise * TARGETS.std(axis=0) * rng.standard_normal(TARGETS.shape)
    y = y if task == "outputs" else y[:, :1]
    options = {"max_iter": 8, "subsample": 0.7, "colsample": 0.8 if task == "columns" else 1.0}
    kind, loss, weight, tree = CurvatureBoostingRegressor, make_loss("squared_error"), random_weights(240, seed=2), TREE
    if task == "classes":
        y = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(float)
        kind, loss, tree = CurvatureBoostingClassifier, make_loss("log_loss", n_classes=3), UNSCREENED
    model = kind(**options, step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**tree))
    model.fit(WIDE, y if task == "outputs" else y[:, 0], sample_weight=weight)
    twin = LiteralBoosting(loss, seed=model._random_seed, tree=tree, **options).fit(WIDE, y, weight)
    assert_close(model._raw_predict(WIDE), twin.raw_predict(WIDE))
    np.testing.assert_array_equal(model.tree_kinds_, twin.kinds)
    widths = {len(columns) for columns, *_ in twin.rounds}
    if task == "classes":  # every second round has half of the features, of which it takes all
        assert 7 in widths and min(widths - {7}) >= 10
    else:
        assert min(widths) >= 7 + twin.baseline.size
    assert min(widths) < (12 if task == "columns" else 14) or noise < 1


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson", "log_loss"])
def test_what_a_linear_model_of_all_features_leaves(loss):
    """Where all matter and one bends the target: sums of a linear model and a tree of few."""
    score = WIDE.sum(axis=1) + 3 * np.abs(WIDE[:, 0])
    y = {"poisson": np.exp(score / 8), "log_loss": score > np.median(score)}.get(loss, score).astype(float)
    options = {"max_iter": 5, "subsample": 0.7}
    tree = UNSCREENED if loss in ("poisson", "log_loss") else TREE
    kind, options_of = CurvatureBoostingRegressor, {"loss": loss}
    if loss == "log_loss":
        kind, options_of = CurvatureBoostingClassifier, {}
    model = kind(**options, **options_of, step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**tree)).fit(WIDE, y)
    literal = make_loss(loss, n_classes=2) if loss == "log_loss" else make_loss(loss)
    twin = LiteralBoosting(literal, seed=model._random_seed, tree=tree, **options).fit(WIDE, y[:, np.newaxis], np.ones(len(y)))
    assert_close(model._raw_predict(WIDE), twin.raw_predict(WIDE))
    np.testing.assert_array_equal(model.tree_kinds_, twin.kinds)
    assert 2 in twin.kinds


def test_few_different_rows():
    """Samples of equal features have different targets: each is drawn by itself."""
    few = np.random.default_rng(3).integers(0, 3, (240, 3)).astype(float)
    y = few[:, :1] + np.random.default_rng(4).integers(0, 2, (240, 1))
    model = CurvatureBoostingRegressor(max_iter=8, step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**TREE))
    model.fit(few, y[:, 0])
    twin = LiteralBoosting(make_loss("squared_error"), seed=model._random_seed, max_iter=8, subsample=0.7, tree=TREE)
    assert_close(model.predict(few), twin.fit(few, y).raw_predict(few)[:, 0])


def test_several_outputs():
    model = CurvatureBoostingRegressor(max_iter=8, step_depth=None, random_state=4, tree=CurvatureTreeRegressor(**TREE)).fit(X, Y)
    twin = LiteralBoosting(make_loss("squared_error"), seed=model._random_seed, max_iter=8,
                           subsample=0.7, tree=TREE).fit(X, Y)
    assert_close(model.predict(NEW), twin.raw_predict(NEW))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("noise", [0.1, 2.0])
def test_many_features_of_one_tree(noise, weighted):
    y = TARGETS[:, :1] + noise * TARGETS.std() * np.random.default_rng(1).standard_normal((len(WIDE), 1))
    weight = random_weights(len(WIDE), seed=2) if weighted else np.ones(len(WIDE))
    tree = CurvatureTreeRegressor(**TREE).fit(WIDE, y[:, 0], weight)
    mean = np.average(WIDE, axis=0, weights=weight)
    Z = (WIDE - mean) / np.sqrt(np.average((WIDE - mean) ** 2, axis=0, weights=weight))
    taken = relevant_features(Z, y, weight, weight, TREE["alpha"])
    assert len(taken) == (14 if noise < 1 else 8)
    Z = np.ascontiguousarray(Z[:, taken])
    twin = CurvatureTreeRegressor(**TREE, standardize=False).fit(Z, y[:, 0], weight)
    assert tree.tree_.node_count == twin.tree_.node_count
    assert_close(tree.predict(WIDE), twin.predict(Z))
    importances = np.zeros(14)
    importances[taken] = twin.feature_importances_
    assert_close(tree.feature_importances_, importances)


@pytest.mark.parametrize("n_samples, n_matter, n_taken", [(500, 14, 16), (500, 80, 80), (78, 9, 16), (70, 3, 8)])
def test_more_than_eight_of_many_features(n_samples, n_matter, n_taken):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n_samples, 80))
    y = X[:, :n_matter].sum(axis=1) + 0.3 * rng.standard_normal(n_samples)
    tree = CurvatureTreeRegressor(max_depth=0).fit(X, y).tree_
    one = np.ones(n_samples)
    taken = relevant_features((X - X.mean(axis=0)) / X.std(axis=0), y[:, np.newaxis], one, one, 1.0)
    np.testing.assert_array_equal(np.flatnonzero(tree.leaf_coef[0, 0]), taken)
    assert len(taken) == n_taken


@pytest.mark.parametrize("matter, noise, n_taken", [("few", 0.1, 8), ("few", 20.0, 3), ("all", 1.0, 90)])
def test_fewer_samples_than_features(matter, noise, n_taken):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 90))
    truth = X.sum(axis=1, keepdims=True) if matter == "all" else 2 * X[:, :1] + X[:, 1:2] * X[:, 2:3]
    y = truth + noise * rng.standard_normal((80, 1))
    options = {"max_iter": 6, "subsample": 0.6}
    model = CurvatureBoostingRegressor(**options, step_depth=None, random_state=1, tree=CurvatureTreeRegressor(**TREE))
    twin = LiteralBoosting(make_loss("squared_error"), seed=model.fit(X, y[:, 0])._random_seed, tree=TREE, **options)
    assert_close(model._raw_predict(X), twin.fit(X, y).raw_predict(X))
    assert len(twin.rounds[0][0]) == n_taken


NOISY = TARGETS[:, 0] + 2 * TARGETS.std() * np.random.default_rng(1).standard_normal(240)


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("X, y, new", [(X, Y[:, 0], NEW), (WIDE, NOISY, 0.9 * WIDE[:40])],
                         ids=["four features", "fourteen features"])
def test_forest(X, y, new, bootstrap):
    weight = random_weights(len(X), seed=2)
    forest = CurvatureForestRegressor(n_estimators=6, max_samples=0.6, bootstrap=bootstrap,
                                  random_state=0, oob_score=True, step_trees=False,
                                  tree=CurvatureTreeRegressor(**TREE))
    forest.fit(X, y, sample_weight=weight)
    mean = np.average(X, axis=0, weights=weight)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    Z = (X - mean) / scale
    total, left_out, times = 0.0, np.zeros(len(X)), np.zeros(len(X))
    for tree in range(6):
        uniform = draws(X, y[:, np.newaxis] / deviations(y, weight), forest._random_seed, tree)
        counts = np.array([poisson_count(u, 0.6) for u in uniform]) if bootstrap else uniform < 0.6
        own = counts * weight
        taken = relevant_features(Z, y[:, np.newaxis], own, weight, TREE["alpha"])
        part = np.ascontiguousarray(Z[:, taken])
        tree_of = MemberTree(**TREE, standardize=False)
        grown = LiteralTree(tree_of.fit(part, y, own).tree_, part, own, 0.0)
        total = total + grown.bounded(((new - mean) / scale)[:, taken])[:, 0] / 6
        missed = counts == 0
        left_out[missed] += grown.bounded(part[missed])[:, 0]
        times += missed
    assert_close(forest.predict(new), total)
    with np.errstate(invalid="ignore"):
        expected = left_out / times
    np.testing.assert_array_equal(np.isnan(forest.oob_prediction_), np.isnan(expected))
    assert_close(forest.oob_prediction_[times > 0], expected[times > 0])


@pytest.mark.parametrize("weighted", [False, True])
def test_step_trees_of_a_forest(weighted):
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((300, 3)), rng.standard_normal((200, 3))
    y = (X[:, 0] > 0) + 2.0 * (X[:, 1] > 0.3) + 0.1 * rng.standard_normal(300)
    weight = random_weights(300, seed=2) if weighted else None
    forest = CurvatureForestRegressor(n_estimators=10, max_depth=4, min_samples_leaf=30, random_state=0)
    forest.fit(X, y, sample_weight=weight)
    unit, n_steps = deviations(y, weight), 0
    for number, (tree, is_step) in enumerate(zip(forest.estimators_, kinds_of(range(10), forest.step_share_))):
        if is_step:
            counts = np.array([poisson_count(u, 1.0) for u in draws(X, y[:, np.newaxis] / unit, forest._random_seed, number)])
            own, drawn = counts if weight is None else counts * weight, counts > 0
            twin = DecisionTreeRegressor(max_depth=4, min_samples_leaf=3, random_state=0)
            twin.fit(X[drawn], y[drawn], sample_weight=own[drawn])
            np.testing.assert_allclose(tree.predict(new)[:, 0], twin.predict(new), rtol=1e-10)
            n_steps += 1
    assert n_steps >= 4
