"""Interface of ensembles of oblique trees beyond scikit-learn's checks."""

import warnings

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTRegressor,
    ObliqueTree,
    export_text,
)
from reference.tree_comparison import smooth_table
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_absolute_error, mean_squared_error
from sklearn.pipeline import make_pipeline

X, Y = smooth_table(200, 4, 2, seed=7)
y = Y[:, 0]
LABELS = np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
BOOSTED = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=8, random_state=0)
CLASSES = CurvatureBoostingClassifier(learning_rate=0.1, max_iter=8, random_state=0)
FOREST = CurvatureForestRegressor(n_estimators=8, max_depth=3, random_state=0)


def same_trees(first, second):
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
               for a, b in zip(vars(first.trees_).values(), vars(second.trees_).values()))


@pytest.mark.parametrize("options", [
    {}, {"subsample": 1.0}, {"colsample": 0.5}, {"loss": "huber"}, {"alpha": "loo"},
    {"loss": "poisson", "step_depth": None},
    {"tree": CurvatureTreeRegressor(standardize=False), "extrapolation": None}])
def test_continued_boosting_is_the_same_bytes(options):
    targets = np.abs(y)
    whole = clone(BOOSTED).set_params(max_iter=12, **options).fit(X, targets)
    parts = clone(BOOSTED).set_params(max_iter=5, warm_start=True, **options).fit(X, targets)
    parts.set_params(max_iter=12).fit(X, targets)
    assert same_trees(whole, parts)
    assert whole.alpha_ == parts.alpha_
    np.testing.assert_array_equal(whole.train_score_, parts.train_score_)
    np.testing.assert_array_equal(whole.tree_kinds_, parts.tree_kinds_)
    np.testing.assert_array_equal(whole.step_sums_, parts.step_sums_)
    np.testing.assert_array_equal(whole.learning_rates_, parts.learning_rates_)
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))


def bent_stairs(n_samples):
    """Some samples and targets for which both kinds of trees are of use."""
    random = np.random.default_rng(0)
    features = random.uniform(size=(n_samples, 4))
    stairs = random.normal(size=(6, 6))[tuple((6 * features[:, :2]).astype(int).T)]
    bends = np.abs(features[:, 2] - features[:, 3]) + np.sin(9 * features[:, 2])
    return features, stairs + 3.0 * bends


def rounds_waited(kinds):
    """For each tree, the number of rounds since one of its kind was kept."""
    since = {0: 1, 1: 1, 3: 1}
    for kept in kinds:
        yield since[kept]
        since = {kind: 1 if kind == kept else rounds + 1 for kind, rounds in since.items()}


def test_kinds_of_trees_take_turns_among_many_samples():
    features, targets = bent_stairs(1500)
    model = CurvatureBoostingRegressor(max_iter=60, random_state=1).fit(features, targets)
    waited = set(rounds_waited(model.tree_kinds_))
    assert len(waited) > 2 and all(r <= 4 or r % 8 == 0 for r in waited)
    parts = clone(model).set_params(max_iter=25, warm_start=True).fit(features, targets)
    assert same_trees(model, parts.set_params(max_iter=60).fit(features, targets))


def test_every_kind_is_tried_in_every_round_among_few_samples():
    features, targets = bent_stairs(600)
    model = CurvatureBoostingRegressor(max_iter=60, random_state=0).fit(features, targets)
    assert 5 in set(rounds_waited(model.tree_kinds_))


@pytest.mark.parametrize("kind", [CurvatureForestRegressor, CurvatureForestClassifier])
def test_a_continued_forest_is_the_same_bytes(kind):
    targets = y if kind is CurvatureForestRegressor else LABELS
    options = {"max_depth": 3, "max_features": 0.5, "random_state": 1, "oob_score": True}
    whole = kind(n_estimators=9, **options).fit(X, targets)
    parts = kind(n_estimators=4, warm_start=True, **options).fit(X, targets)
    parts.set_params(n_estimators=9).fit(X, targets)
    assert same_trees(whole, parts)
    assert whole.oob_score_ == parts.oob_score_
    assert same_trees(whole, parts.fit(X, targets))  # as many as there are


@pytest.mark.parametrize("model, name", [(BOOSTED, "max_iter"), (FOREST, "n_estimators")])
def test_fewer_rounds_than_there_are_is_refused(model, name):
    model = clone(model).set_params(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=f"{name}=3 must be at least the 8"):
        model.set_params(**{name: 3}).fit(X, y)


def test_stages_end_in_the_prediction():
    model = clone(BOOSTED).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_ == 8
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    errors = [mean_squared_error(y, stage) for stage in stages]
    np.testing.assert_allclose(errors, -model.train_score_[1:], rtol=1e-12)  # sums of 200
    classes = clone(CLASSES).fit(X, LABELS)
    losses = [log_loss(LABELS, stage) for stage in classes.staged_predict_proba(X)]
    np.testing.assert_allclose(losses, -classes.train_score_[1:], rtol=1e-12)
    scores = list(classes.staged_decision_function(X))  # none is overwritten by the next
    assert not np.array_equal(scores[0], scores[-1])
    np.testing.assert_array_equal(scores[-1], classes.decision_function(X))


def test_early_stopping_keeps_the_best_round():
    model = CurvatureBoostingRegressor(max_iter=200, early_stopping=True, n_iter_no_change=5,
                                   learning_rate=0.5, random_state=0)
    model.fit(X[:150], y[:150], eval_set=(X[150:], y[150:]))
    assert model.n_iter_ < 200
    assert np.argmax(model.validation_score_) == model.n_iter_
    error = mean_squared_error(y[150:], model.predict(X[150:]))
    np.testing.assert_allclose(error, -model.validation_score_.max(), rtol=1e-12)  # sums of 50
    held_out = clone(model).fit(X, y)
    assert len(held_out.validation_score_) == len(held_out.train_score_)


def test_a_start_from_other_scores():
    all_rows = clone(BOOSTED).set_params(subsample=1.0)  # draws would see other targets
    rest = clone(all_rows).fit(X, y, init_score=10.0 * X[:, 0])
    np.testing.assert_array_equal(rest.baseline_, [0.0])
    same = clone(all_rows).fit(X, y - 10.0 * X[:, 0], init_score=np.zeros(len(X)))
    np.testing.assert_allclose(rest.predict(X), same.predict(X), atol=1e-9)  # y - F rounded once


def test_progress_is_shown(capsys):
    clone(BOOSTED).set_params(verbose=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8 and lines[0].startswith("[1] train loss")
    clone(BOOSTED).set_params(verbose=1).fit(X, y)
    assert "CurvatureBoostingRegressor" in capsys.readouterr().err


@pytest.mark.parametrize("model", [BOOSTED, FOREST], ids=["boosting", "forest"])
def test_trees_one_by_one(model):
    model = clone(model).set_params(extrapolation=None).fit(X, y)
    trees = model.estimators_
    assert len(trees) == 8 and all(isinstance(tree, ObliqueTree) for tree in trees)
    total = sum(tree.predict(X) for tree in trees)[:, 0]
    expected = model.baseline_ + total if hasattr(model, "baseline_") else total / 8
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)  # another order of sums
    leaves = model.apply(X)
    np.testing.assert_array_equal(leaves[:, 3], trees[3].apply(X))
    assert np.shares_memory(trees[2].leaf_coef, model.trees_.leaf_coef)
    for selection in (slice(3), slice(-2, None), slice(None, None, -3), slice(4, 4)):
        some = model.trees_[selection]
        assert [tree.leaf_coef.tolist() for tree in some] == [tree.leaf_coef.tolist() for tree in trees[selection]]
    np.testing.assert_array_equal(model.trees_[-1].leaf_coef, trees[7].leaf_coef)
    with pytest.raises(TypeError, match="integers or slices"):
        model.trees_[[1, 2]]


def test_a_tree_of_an_ensemble_can_be_printed():
    tree = clone(BOOSTED).fit(X, y)
    single = tree.estimators_[0]
    assert single.coef.shape[1] == 4
    model = clone(BOOSTED).set_params(max_iter=1).fit(X, y)
    assert "leaf" in export_text(model.estimators_[0])


def test_importances_find_the_features():
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, (400, 6))
    target = 3 * np.abs(features[:, 1]) + features[:, 4]
    for model in (BOOSTED, FOREST):
        importances = clone(model).fit(features, target).feature_importances_
        np.testing.assert_allclose(importances.sum(), 1.0)
        assert set(np.argsort(importances)[-2:]) == {1, 4}


def test_importances_are_not_those_of_rounds_that_explain_nothing():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((500, 12))
    target = 3 * features[:, 0] + features[:, 1] ** 2 + 0.2 * rng.standard_normal(500)
    importances = CurvatureBoostingRegressor(random_state=0).fit(features, target).feature_importances_
    assert importances[:2].sum() > 0.95


def test_steps_are_left_to_step_trees():
    """A checkerboard is for constant leaves, a smooth bend for linear ones."""
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, (1000, 3))
    noise = 0.05 * rng.standard_normal(1000)
    cells = np.floor(3 * (features[:, :2] + 1)).astype(int)
    stairs = rng.standard_normal((6, 6))[cells[:, 0], cells[:, 1]] + noise
    bend = np.exp(features @ [1.0, 0.5, -1.0]) + noise
    model = CurvatureBoostingRegressor(learning_rate=0.1, max_iter=30, random_state=0)
    assert clone(model).fit(features, stairs).tree_kinds_.mean() > 0.6
    assert clone(model).fit(features, bend).tree_kinds_.mean() < 0.4


def test_out_of_bag_scores_are_honest():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(300)
    forest = CurvatureForestRegressor(n_estimators=30, oob_score=True, random_state=0)
    assert forest.fit(rng.standard_normal((300, 3)), noise).oob_score_ < 0.1
    assert forest.fit(X, y).oob_score_ > 0.7
    assert forest.oob_prediction_.shape == y.shape
    classes = CurvatureForestClassifier(n_estimators=30, oob_score=True, random_state=0)
    assert classes.fit(X, LABELS).oob_score_ > 0.7
    np.testing.assert_allclose(classes.oob_decision_function_.sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="samples that some trees leave out"):
        CurvatureForestRegressor(n_estimators=2, bootstrap=False, oob_score=True).fit(X, y)


def test_missing_values_are_taken_and_a_pipeline_takes_them_too():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    for model in (BOOSTED, FOREST):
        assert clone(model).fit(holes, y).score(holes, y) > 0.5
        pipeline = make_pipeline(SimpleImputer(add_indicator=True), clone(model))
        assert pipeline.fit(holes, y).score(holes, y) > 0.5


@pytest.mark.parametrize("name, value", [
    ("learning_rate", 0.0), ("subsample", 0.0), ("subsample", 1.5), ("colsample", 0.0),
    ("extrapolation", -0.1), ("step_depth", 0), ("max_iter", 0), ("tree", "deep"),
    ("loss", "hinge"), ("max_depth", -1), ("min_samples_leaf", 0), ("max_coef", 0),
    ("alpha", "best")])
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        clone(BOOSTED).set_params(**{name: value}).fit(X, y)


@pytest.mark.parametrize("kind", [CurvatureForestRegressor, CurvatureForestClassifier])
@pytest.mark.parametrize("warm_start", [True, False])
def test_no_score_is_of_an_earlier_fit(kind, warm_start):
    forest = kind(n_estimators=8, warm_start=warm_start, oob_score=True, random_state=0).fit(X, y > 0.0)
    assert any(name.startswith("oob_") for name in vars(forest).keys() - forest.get_params().keys())
    forest.set_params(n_estimators=9, oob_score=False).fit(X, y > 0.0)
    assert not any(name.startswith("oob_") for name in vars(forest).keys() - forest.get_params().keys())


@pytest.mark.parametrize("name, value", [
    ("n_estimators", 0), ("max_samples", 0.0), ("max_features", "half"), ("bootstrap", 2)])
def test_bad_values_of_forests_are_named(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        clone(FOREST).set_params(**{name: value}).fit(X, y)


@pytest.mark.parametrize("kind", [CurvatureForestRegressor, CurvatureForestClassifier])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_more_samples_of_a_tree_than_there_are_is_refused(kind, bootstrap):
    forest = kind(n_estimators=2, max_samples=len(X) + 1, bootstrap=bootstrap)
    with pytest.raises(ValueError, match=rf"`max_samples` must be <= n_samples={len(X)} but got value {len(X) + 1}"):
        forest.fit(X, y > 0.0)
    assert not hasattr(forest, "n_features_in_")
    forest.set_params(max_samples=len(X)).fit(X, y > 0.0)


def test_targets_outside_of_the_domain():
    with pytest.raises(ValueError, match="gamma"):
        clone(BOOSTED).set_params(loss="gamma").fit(X, y - 100.0)
    with pytest.raises(ValueError, match="quantile"):
        clone(BOOSTED).set_params(loss="quantile").fit(X, y)
    with pytest.raises(ValueError, match="labels that the training data lack"):
        clone(CLASSES).fit(X, LABELS, eval_set=(X, LABELS + 5))


@pytest.mark.parametrize("model", [BOOSTED, FOREST], ids=["boosting", "forest"])
class TestTree:
    """`tree` brings all that the trees are grown by, under what the ensemble itself is given."""

    def test_none_is_the_documented_tree(self, model):
        tree = CurvatureTreeRegressor(n_screened=4, max_thresholds=8, split_margin=0.0,
                                      feature_concatenation=False)
        if model is FOREST:
            tree.set_params(max_depth=8, min_samples_leaf=10)
        assert same_trees(clone(model).fit(X, y), clone(model).set_params(tree=tree).fit(X, y))

    @pytest.mark.parametrize("options", [
        {"max_depth": 1}, {"alpha": 30.0}, {"min_samples_leaf": 60}, {"max_coef": 1}], ids=str)
    def test_its_parameters_count_and_those_of_the_ensemble_win(self, model, options):
        plain = clone(model).set_params(max_depth=None)
        whole = CurvatureTreeRegressor(**options)
        inside = clone(plain).set_params(tree=whole).fit(X, y)
        beside = clone(plain).set_params(tree=CurvatureTreeRegressor(), **options).fit(X, y)
        assert same_trees(inside, beside)
        usual = clone(plain).set_params(tree=CurvatureTreeRegressor()).fit(X, y)
        assert not same_trees(inside, usual)
        given = {name: getattr(CurvatureTreeRegressor(), name) for name in options}
        if given != {"max_coef": None}:
            won = clone(plain).set_params(tree=whole, **given).fit(X, y)
            assert same_trees(won, usual)

    def test_search_parameters_are_reached_by_name(self, model):
        searched = clone(model).set_params(tree=CurvatureTreeRegressor())
        searched.set_params(tree__directions="axis").fit(X, y)
        splits = searched.trees_.split_kind
        assert set(splits[splits >= 0]) == {2}

    def test_a_tree_of_classes_brings_the_same(self, model):
        trees = [kind(directions="ridge") for kind in (CurvatureTreeRegressor,
                                                       CurvatureTreeClassifier)]
        assert same_trees(*(clone(model).set_params(tree=tree).fit(X, y) for tree in trees))

    def test_the_paper_s_tree(self, model):
        """Ridge directions, on features as they came."""
        alone = clone(model).set_params(tree=FCODTRegressor(max_depth=2), max_depth=None)
        alone.set_params(**{"step_depth": None} if model is BOOSTED else {"bootstrap": False})
        splits = alone.fit(X, y).trees_.split_kind
        assert set(splits[splits >= 0]) == {0}
        if model is FOREST:
            one = FCODTRegressor(max_depth=2).fit(X, y).tree_
            np.testing.assert_array_equal(alone.estimators_[0].coef, one.coef)

    def test_its_bad_parameters_are_named(self, model):
        bad = clone(model).set_params(tree=CurvatureTreeRegressor(n_curvature=0))
        with pytest.raises(ValueError, match="'n_curvature' parameter"):
            bad.fit(X, y)

    def test_it_is_left_as_it_is(self, model):
        tree = CurvatureTreeRegressor()
        clone(model).set_params(tree=tree).fit(X, y)
        assert vars(tree) == vars(CurvatureTreeRegressor())


@pytest.mark.parametrize("model", [
    CurvatureForestRegressor(n_estimators=20, random_state=0), CurvatureBoostingRegressor(max_iter=10, random_state=0)],
    ids=["forest", "boosting"])
def test_splits_along_axes_are_in_the_units_of_the_features(model):
    """As those of single trees: x <= 7.1, not .049 x <= .348."""
    X = np.random.default_rng(0).uniform(5, 30, (300, 3))
    trees = model.fit(X, 1.0 * (X[:, 0] > 12) + (X[:, 1] > 20)).trees_
    along = (trees.split_kind == 2) & (trees.children_left >= 0)
    assert along.sum() > 10
    assert set(np.unique(trees.coef[along])) == {0.0, 1.0}
    np.testing.assert_array_equal(trees.coef[along].sum(axis=1), 1.0)
    assert 5 < trees.threshold[along].min() and trees.threshold[along].max() < 30


def test_a_function_scores_out_of_bag_predictions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = X[:, 0] + rng.standard_normal(300)
    for targets in (y, np.column_stack([y, -y])):
        forest = CurvatureForestRegressor(n_estimators=30, oob_score=mean_absolute_error, random_state=0).fit(X, targets)
        assert forest.oob_score_ == mean_absolute_error(targets, forest.oob_prediction_)
    labels = np.where(y > 0, "yes", "no")
    forest = CurvatureForestClassifier(n_estimators=30, oob_score=balanced_accuracy_score, random_state=0).fit(X, labels)
    found = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == balanced_accuracy_score(labels, found)


@pytest.mark.parametrize("weights", ["balanced", {1: 0.0}])
def test_out_of_bag_scores_are_not_weighted_by_class(weights):
    rng = np.random.default_rng(0)
    features, sample_weight = rng.standard_normal((200, 3)), rng.integers(0, 3, 200).astype(float)
    labels = (features[:, 0] + rng.standard_normal(200) > 1.5).astype(int)
    forest = CurvatureForestClassifier(n_estimators=20, oob_score=True, class_weight=weights, random_state=0)
    for weight in (None, sample_weight):
        forest.fit(features, labels, sample_weight=weight)
        right = forest.oob_decision_function_.argmax(axis=1) == labels
        assert forest.oob_score_ == pytest.approx(np.average(right, weights=weight), rel=1e-12)


def test_samples_without_an_out_of_bag_prediction_warn():
    X = np.random.default_rng(0).standard_normal((200, 3))
    forest = CurvatureForestRegressor(n_estimators=3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match=r"[1-9]\d* of 200 samples have no out-of-bag prediction"):
        forest.fit(X, X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest.set_params(n_estimators=40).fit(X, X[:, 0])


@pytest.mark.parametrize("kind", [CurvatureForestRegressor, CurvatureForestClassifier])
def test_out_of_bag_predictions_of_samples_without_weight_are_those_of_all_trees(kind):
    weight = np.ones(len(X))
    weight[::4] = 0.0
    targets = y if kind is CurvatureForestRegressor else y > np.median(y)
    model = kind(n_estimators=30, oob_score=True, random_state=0).fit(X, targets, sample_weight=weight)
    rest = clone(model).fit(X[weight > 0], targets[weight > 0])
    name = "oob_prediction_" if kind is CurvatureForestRegressor else "oob_decision_function_"
    predicted = model.predict if kind is CurvatureForestRegressor else model.predict_proba
    np.testing.assert_array_equal(getattr(model, name)[weight > 0], getattr(rest, name))
    np.testing.assert_array_equal(getattr(model, name)[weight == 0], predicted(X[weight == 0]))
    assert model.oob_score_ == rest.oob_score_
