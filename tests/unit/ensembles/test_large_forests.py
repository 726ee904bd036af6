"""Forests of wide tables, whose step trees have few leaves; of long ones, where some samples decide; trees one by one."""

import pickle

import numpy as np
import pytest
from fctree import CurvatureForestClassifier, CurvatureForestRegressor, ObliqueTree
from fctree.ensembles import forest as forest_module
from fctree.ensembles import forest_kinds
from fctree.ensembles.forest_kinds import most_step_leaves
from fctree.ensembles.trees import ObliqueTrees

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 5))
# A ladder: each step is one of what lies beyond the last.
LADDER = np.floor(4.0 * np.exp(np.minimum(X[:, 0], 2.0)))
KINDS = pytest.mark.parametrize("kind", [CurvatureForestRegressor, CurvatureForestClassifier])


def test_leaves_of_step_trees_of_wide_tables():
    assert [most_step_leaves(d, 1) for d in (5, 5000, 20_000, 1_000_000)] == [66_666, 66, 16, 8]
    assert most_step_leaves(5000, 10) == 16


@pytest.mark.parametrize("most", [9, 30])
def test_a_tree_makes_the_best_splits_that_it_may(most, monkeypatch):
    monkeypatch.setattr(forest_kinds, "_MOST_COEFFICIENTS", (most + 0.5) * 3 * X.shape[1])
    forest = CurvatureForestRegressor(n_estimators=20, random_state=0).fit(X, LADDER)
    steps = [tree for tree in forest.estimators_ if not tree.leaf_coef.any()]
    leaves = [len(tree.leaf_intercept) for tree in steps]
    assert len(steps) >= 5 and max(leaves) == most
    assert min(leaves) > most // 2
    assert forest.score(X, LADDER) > 0.97  # a tree of all nodes of three levels has a leaf for a half of the ladder


@pytest.mark.parametrize("n_features, most", [(4000, 66), (50_000, 8)])
def test_bytes_of_wide_step_trees(n_features, most):
    wide = np.zeros((160, n_features))
    wide[:, :5] = X[:160]
    forest = CurvatureForestRegressor(n_estimators=16, random_state=0).fit(wide, np.sign(wide[:, 0]) * (wide[:, 1] > 0))
    assert forest.step_share_ > 0.0
    leaves = np.diff(forest.trees_.leaf_offsets)
    assert max(leaves[[not tree.leaf_coef.any() for tree in forest.estimators_]]) <= most


def fitted(kind, **parameters):
    y = LADDER if kind is CurvatureForestRegressor else LADDER > 4
    return kind(**{"n_estimators": 20, "max_samples": 0.3, "random_state": 0, **parameters}).fit(X, y)


@KINDS
def test_some_samples_decide_as_all_would(kind, monkeypatch):
    """The same ones for any number of trees and threads, and whether all are asked for a score or not."""
    every = fitted(kind)
    monkeypatch.setattr(forest_module, "_MOST_JUDGED", 300)
    some = fitted(kind)
    assert abs(some.step_share_ - every.step_share_) <= 0.2
    if kind is CurvatureForestClassifier:
        assert some.exponent_ != every.exponent_ and abs(np.log(some.exponent_ / every.exponent_)) < 0.3
    grown = fitted(kind, n_estimators=5, warm_start=True).set_params(n_estimators=20)
    grown.fit(X, LADDER if kind is CurvatureForestRegressor else LADDER > 4)
    for other in (grown, fitted(kind, n_jobs=3), fitted(kind, oob_score=True)):
        assert pickle.dumps(other.trees_) == pickle.dumps(some.trees_)
        assert getattr(other, "exponent_", None) == getattr(some, "exponent_", None)
    scored = vars(fitted(kind, oob_score=True))
    of_all = scored["oob_prediction_" if kind is CurvatureForestRegressor else "oob_decision_function_"]
    assert np.isfinite(scored["oob_score_"]) and np.isfinite(of_all).all()


def test_out_of_bag_predictions_of_some_samples_are_those_among_all(monkeypatch):
    forest = fitted(CurvatureForestRegressor)
    arguments = forest._counted(X, LADDER[:, np.newaxis], None), forest.trees_, range(20)
    every = forest._predict_out_of_bag(*arguments)[0]
    np.testing.assert_array_equal(forest._predict_out_of_bag(*arguments, few=True)[0], every)
    monkeypatch.setattr(forest_module, "_MOST_JUDGED", 200)
    some = forest._predict_out_of_bag(*arguments, few=True)[0]
    judged = np.isfinite(some[:, 0])
    assert 150 < np.count_nonzero(judged) < 250
    np.testing.assert_array_equal(some[judged], every[judged])


def test_bounds_of_leaves_go_by_the_samples_of_the_tree():
    """One in twenty, of which copies are taken: with no bootstrap their scores lie within the bounds, and reach them."""
    forest = fitted(CurvatureForestRegressor, max_samples=0.05, bootstrap=False, step_trees=False, extrapolation=0.0)
    trees = forest.trees_
    scores = np.stack([tree.predict(X).ravel() for tree in forest.estimators_], axis=1)
    leaf = np.stack([trees.leaf_index[first + nodes] + start for first, start, nodes in zip(
        trees.node_offsets, trees.leaf_offsets, forest.apply(X).T)], axis=1)
    lower, upper = trees.leaf_lower[leaf, 0], trees.leaf_upper[leaf, 0]
    reached = (np.abs(scores - lower) < 1e-9).any(axis=0) & (np.abs(scores - upper) < 1e-9).any(axis=0)
    assert reached.all()
    inside = (scores > lower - 1e-9) & (scores < upper + 1e-9)
    assert (inside.sum(axis=0) >= trees.n_node_samples[trees.node_offsets[:-1]]).all() and not inside.all()


def test_a_tree_is_made_when_it_is_asked_for(monkeypatch):
    forest = fitted(CurvatureForestRegressor)
    made, make = [], ObliqueTrees.__getitem__
    monkeypatch.setattr(ObliqueTrees, "__getitem__", lambda self, index: (made.append(index), make(self, index))[1])
    trees = forest.estimators_
    assert len(trees) == 20 and isinstance(trees[-1], ObliqueTree) and made == [19]
    assert [len(tree.leaf_intercept) for tree in trees[3:6]] == np.diff(forest.trees_.leaf_offsets)[3:6].tolist()
    assert made == [19, 3, 4, 5]
    with pytest.raises(IndexError):
        trees[20]
