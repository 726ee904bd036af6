"""Curvature trees and step trees of a forest: how many of each, which, and what gains they take."""

import numpy as np
import pytest
from fctree import CurvatureForestClassifier, CurvatureForestRegressor, CurvatureTreeRegressor
from fctree.ensembles.forest_kinds import ANY_GAIN, CLEAR_GAIN, RESIDUAL, STEPS, choose_kinds, fewest_by_weight, kinds_of, step_depth
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_sample_weight

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 5))
LINEAR = np.array([1.0, 2.0, 3.0, 2.0, 1.0])
NEW = RNG.standard_normal((2000, 5))


def steps(X):
    return (X[:, 0] > 0) + 2.0 * (X[:, 1] > 0.3) * (X[:, 2] > 0)


def smooth(X):
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


def of_all_kinds(errors):
    return {kind: errors for kind in (ANY_GAIN, STEPS, CLEAR_GAIN)}


def step_trees(forest):
    """Whether each tree has constant leaves."""
    return np.array([not tree.leaf_coef.any() for tree in forest.estimators_])


@given(n_steps=st.integers(0, 18), first=st.integers(0, 200), n=st.integers(0, 200))
def test_kinds_are_spread_evenly(n_steps, first, n):
    share = n_steps / 20
    kinds = kinds_of(range(first, first + n), share)
    assert abs(sum(kinds) - share * n) < 1.0
    assert sum(kinds_of(range(20), share)) == n_steps
    assert kinds == kinds_of(range(first + n), share)[first:]


@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_share_is_the_least_that_is_not_clearly_worse(seed, weighted):
    rng = np.random.default_rng(seed)
    errors = rng.standard_normal((2, 2, 12, 2)) + rng.standard_normal((2, 1, 12, 2))
    errors[rng.random((2, 2, 12)) < 0.1] = np.nan
    weight = rng.random(12) if weighted else np.ones(12)
    known = np.isfinite(errors).all(axis=(0, 1, 3))
    share = weight[known] / weight[known].sum()
    products = []
    for n_steps in range(19):
        means = (1 - n_steps / 20) * errors[0] + n_steps / 20 * errors[1]
        products.append((means[0] * means[1]).sum(axis=1)[known])
    best = products[np.argmin([share @ product for product in products])]
    worse = [share @ (product - best) for product in products]
    errors_of = [np.sqrt(share @ (product - best - mean) ** 2 / weight[known].sum())
                 for product, mean in zip(products, worse, strict=True)]
    allowed = [mean <= 0.5 * error + 1e-12 for mean, error in zip(worse, errors_of, strict=True)]
    of_kinds = dict(zip((ANY_GAIN, STEPS), errors, strict=True))
    curved, found = choose_kinds(of_kinds, weight if weighted else None)
    assert curved == ANY_GAIN and 20 * found == pytest.approx(allowed.index(True))


@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans(), kinds=st.sampled_from([[CLEAR_GAIN], [CLEAR_GAIN, RESIDUAL]]))
def test_the_kind_of_the_least_error_is_taken(seed, weighted, kinds):
    rng = np.random.default_rng(seed)
    errors = {kind: rng.standard_normal((2, 12, 2)) + rng.standard_normal((1, 12, 2)) for kind in (ANY_GAIN, *kinds)}
    missing = rng.random(12) < 0.2
    errors[CLEAR_GAIN][1, missing] = np.nan
    weight = rng.random(12) if weighted else np.ones(12)
    totals = {kind: np.sum(weight[~missing] @ np.prod(errors[kind][:, ~missing], axis=0)) for kind in errors}
    assert choose_kinds(errors, weight if weighted else None) == (min(totals, key=totals.get), 0.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-1000, -270, 260, 1000])
def test_errors_of_any_size_choose_alike(exponent):
    rng = np.random.default_rng(0)
    errors = {kind: size * rng.standard_normal((1, 40, 1)) + rng.standard_normal((2, 40, 1))
              for kind, size in ((ANY_GAIN, 3.0), (STEPS, 2.0), (CLEAR_GAIN, 2.0))}
    curved, share = choose_kinds(errors, None)
    assert curved == CLEAR_GAIN and share == 0.4
    assert choose_kinds({kind: halves * 2.0**exponent for kind, halves in errors.items()}, None) == (curved, share)


def test_no_sample_is_left_out_by_all_groups():
    assert choose_kinds(of_all_kinds(np.full((2, 5, 1), np.nan)), None) == (ANY_GAIN, 0.0)


@pytest.mark.parametrize("cls", [CurvatureForestRegressor, CurvatureForestClassifier])
def test_steps_have_step_trees(cls):
    y = steps(X) if cls is CurvatureForestRegressor else (steps(X) > 1).astype(int)
    forest = cls(n_estimators=40, random_state=0).fit(X, y)
    assert forest.step_share_ >= 0.5
    assert np.mean(step_trees(forest)) == pytest.approx(forest.step_share_)
    plain = cls(n_estimators=40, step_trees=False, random_state=0).fit(X, y)
    assert plain.step_share_ == 0.0 and not step_trees(plain).any()
    if cls is CurvatureForestRegressor:
        found, without = [np.mean((model.predict(NEW) - steps(NEW)) ** 2) for model in (forest, plain)]
        assert found < 0.6 * without


def test_smooth_targets_have_none():
    y = smooth(X)
    forest, plain = [
        CurvatureForestRegressor(n_estimators=30, step_trees=choice, random_state=0).fit(X, y)
        for choice in (True, False)
    ]
    assert forest.step_share_ == 0.0
    np.testing.assert_array_equal(forest.predict(NEW), plain.predict(NEW))


def with_margin(margin):
    """The default tree of forests, but for its margin."""
    return CurvatureTreeRegressor(max_depth=8, min_samples_leaf=10, n_screened=4, max_thresholds=8,
                                  split_margin=margin, feature_concatenation=False)


@pytest.mark.parametrize("target, expected", [(lambda X: X @ LINEAR, 0.5), (lambda X: X[:, 0] * X[:, 1] * X[:, 2], 0.0)],
                         ids=["linear", "product"])
def test_out_of_bag_errors_choose_the_margin_of_splits(target, expected):
    y = target(X) + 0.3 * RNG.standard_normal(len(X))
    forest = CurvatureForestRegressor(step_trees=False, random_state=0).fit(X, y)
    assert forest.split_margin_ == expected
    trees = {margin: CurvatureForestRegressor(step_trees=False, tree=with_margin(margin), random_state=0).fit(X, y)
             for margin in (0.0, 0.5)}
    assert {margin: model.split_margin_ for margin, model in trees.items()} == {0.0: 0.0, 0.5: 0.5}
    np.testing.assert_array_equal(forest.predict(NEW), trees[expected].predict(NEW))
    errors = {margin: np.mean((model.predict(NEW) - target(NEW)) ** 2) for margin, model in trees.items()}
    assert errors[expected] == min(errors.values())


@pytest.mark.parametrize("options", [{"bootstrap": False}, {"bootstrap": False, "max_samples": 1.0}])
def test_none_where_all_trees_have_all_samples(options):
    forest = CurvatureForestRegressor(n_estimators=3, **options).fit(X, steps(X))
    assert forest.step_share_ == forest.split_margin_ == 0.0


@pytest.mark.parametrize("first", [3, 16, 25])
def test_warm_start_adds_the_same_trees(first):
    y = steps(X) + 0.05 * X @ LINEAR
    at_once = CurvatureForestRegressor(n_estimators=40, random_state=0).fit(X, y)
    added = CurvatureForestRegressor(n_estimators=first, warm_start=True, random_state=0).fit(X, y)
    added.set_params(n_estimators=40).fit(X, y)
    assert added.step_share_ == at_once.step_share_ > 0.0
    assert added.split_margin_ == at_once.split_margin_ == 0.5
    np.testing.assert_array_equal(added.predict(NEW), at_once.predict(NEW))


@pytest.mark.parametrize("max_depth", [1, 3, None])
def test_depth_of_step_trees(max_depth):
    forest = CurvatureForestRegressor(n_estimators=20, max_depth=max_depth, random_state=0).fit(X, steps(X) + X[:, 3])
    depth = max(tree.max_depth for tree in forest.estimators_)
    assert depth <= (24 if max_depth is None else max_depth)


def test_depth_of_wide_tables():
    assert [step_depth(10_000, d, 1, d) for d in (1, 20, 80, 200, 100_000)] == [12, 12, 12, 10, 8]
    assert step_depth(10_000, 800, 10, 800) == 8


def test_depth_of_few_samples():
    """Whose leaves are few in any case."""
    assert [step_depth(n, 20, 1, 20) for n in (100, 4096, 4097)] == [24, 24, 12]
    x = np.random.default_rng(0).random((2000, 1))
    forest = CurvatureForestRegressor(n_estimators=40, random_state=0).fit(x, np.sin(60 * x[:, 0]))
    assert forest.score(x[::-1] + 1e-3, np.sin(60 * x[::-1, 0] + 0.06)) > 0.98


@pytest.mark.parametrize("n, expected", [(300, 10), (4000, 100), (40_000, 256)])
def test_fewest_samples_of_unequal_weights(n, expected):
    weight = compute_sample_weight("balanced", np.arange(n) % 100 == 0) * 1e250
    assert fewest_by_weight(10, weight) == min(expected, np.ceil(10 / (4 * 0.01 * 0.99)))
    assert fewest_by_weight(10, np.full(n, 0.3)) == fewest_by_weight(10, None) == 10


@given(seed=st.integers(0, 2**32 - 1))
def test_fewest_samples_of_weights_in_any_order(seed):
    weight = np.random.default_rng(seed).permutation(np.tile([0.1, 0.3], 1000))
    assert fewest_by_weight(12, weight) == 15  # exactly, but for rounding


def test_few_heavy_samples_have_no_leaves_of_their_own():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(16_000, 6))
    score = 1.5 * X[:, 0] + X[:, 1] + 1.5 * (X[:, 2] > 1) + rng.logistic(size=len(X))
    y = score > np.quantile(score, 0.995)
    weight = compute_sample_weight("balanced", y[8000:])
    losses = [
        log_loss(y[8000:], model.fit(X[:8000], y[:8000]).predict_proba(X[8000:]), sample_weight=weight)
        for model in (CurvatureForestClassifier(n_estimators=50, class_weight="balanced", min_samples_leaf=fewest, random_state=0)
                      for fewest in (None, 10))
    ]
    assert losses[0] < 0.9 * losses[1]
