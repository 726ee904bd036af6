"""Equal samples are drawn together where they are copies, one by one where they are coincidences."""

import numpy as np
import pytest
from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
)

RNG = np.random.default_rng(0)
CELLS = RNG.integers(0, 2, (4000, 1)).astype(float)
YES = (RNG.random(4000) < np.where(CELLS[:, 0] == 1, 0.8, 0.3)).astype(int)
MEANS = [YES[CELLS[:, 0] == cell].mean() for cell in (0, 1)]


@pytest.mark.parametrize("model", [
    CurvatureBoostingRegressor(), CurvatureBoostingClassifier(), CurvatureForestRegressor(n_estimators=20),
    CurvatureForestRegressor(n_estimators=20, bootstrap=False, max_samples=0.7),
    CurvatureForestClassifier(n_estimators=20)], ids=repr)
def test_means_of_few_different_rows(model):
    """Draws of 2,800 of 4,000 samples have means with a standard error of .005."""
    model.set_params(random_state=0).fit(CELLS, YES)
    found = model.predict_proba([[0.0], [1.0]])[:, 1] if hasattr(model, "classes_") else model.predict([[0.0], [1.0]])
    np.testing.assert_allclose(found, MEANS, atol=0.01)


def test_out_of_bag_scores_of_few_different_rows():
    forest = CurvatureForestClassifier(n_estimators=20, oob_score=True, random_state=0).fit(CELLS, YES)
    assert forest.oob_score_ == pytest.approx(np.mean(YES == CELLS[:, 0]), abs=0.01)


def test_a_function_of_few_different_rows():
    """No two samples of equal features differ, but each occurs some 60 times."""
    X = RNG.integers(0, 2, (1000, 4)).astype(float)
    y = X @ [1.0, -2.0, 0.5, 3.0] + 2 * X[:, 0] * X[:, 1]
    assert CurvatureForestRegressor(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.999


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [CurvatureForestRegressor, CurvatureForestClassifier])
def test_few_samples_with_weights(kind, seed):
    """Copies let no tree split that weights do not."""
    rng = np.random.default_rng(seed)
    X, y, weight = rng.random((15, 30)), rng.integers(0, 3, 15), rng.integers(0, 5, 15)
    copied = kind(n_estimators=20, random_state=0).fit(X.repeat(weight, axis=0), y.repeat(weight))
    weighted = kind(n_estimators=20, random_state=0).fit(X, y, sample_weight=weight)
    method = "predict_proba" if kind is CurvatureForestClassifier else "predict"
    np.testing.assert_allclose(getattr(copied, method)(X), getattr(weighted, method)(X), rtol=1e-7, atol=1e-9)


def test_large_leaves():
    """Trees of few leaves split, as long as their samples differ."""
    X = RNG.standard_normal((1200, 3))
    y = np.abs(X[:, 0])
    forest = CurvatureForestRegressor(n_estimators=5, min_samples_leaf=200, step_trees=False, random_state=0).fit(X, y)
    assert forest.score(X, y) > 0.9


def two_copies(differ):
    """Two copies of 70,000 different samples, more than are looked at; the second ones with other targets, or not."""
    X = RNG.permutation(70_000.0 * np.arange(1, 70_001)[:, np.newaxis])
    y = RNG.standard_normal(70_000)
    return np.repeat(X, 2, axis=0), np.repeat(y, 2) + differ * np.tile([0.0, 1.0, 0.0, 0.0], 35_000)


@pytest.mark.parametrize("differ", [False, True])
def test_many_different_rows(differ):
    X, y = two_copies(differ)
    forest = CurvatureForestRegressor(n_estimators=1, max_depth=0, max_samples=0.5, bootstrap=False,
                                      oob_score=True, random_state=0).fit(X, y)
    missed = np.isnan(forest.oob_prediction_)
    apart = np.mean(missed[::2] != missed[1::2])
    assert apart == (pytest.approx(0.5, abs=0.02) if differ else 0.0)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_a_tree_has_a_sample(bootstrap):
    X, y = RNG.standard_normal((300, 2)), RNG.standard_normal(300)
    forest = CurvatureForestRegressor(n_estimators=50, max_samples=1, bootstrap=bootstrap, random_state=0).fit(X, y)
    sizes = forest.trees_.n_node_samples[forest.trees_.node_offsets[:-1]]
    assert sizes.min() == 1
    assert sizes.max() < 8
