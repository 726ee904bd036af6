"""The rounds of boosting oblique trees on shards: what the client asks, decides and keeps.

The core grows a tree here, from sums: each of its questions is a step that all workers take at once.
"""

from dataclasses import dataclass, replace

import numpy as np

from fctree._native import oblique_rounds as _rounds
from fctree._native import shards as _shards
from fctree.dask.growth import new_fit_number
from fctree.dask.oblique_shard import LARGEST, LEAST_DISTINCT, SUMS
from fctree.dask.state import forget
from fctree.ensembles.trees import ObliqueTrees


@dataclass(frozen=True)
class Measured:
    """Mean losses of the model so far."""

    loss: float
    eval_loss: float


class ObliqueGrowth:
    """A fit on shards, from the partitions to the trees."""

    def __init__(self, plan, train, evaluation, n_threads):
        self.plan = plan
        self.train, self.evaluation = train, evaluation
        self.n_threads = n_threads
        self.kinds = [dict(kind) for kind in plan.kinds]
        self.trees, self.chosen_kinds = [], []
        self.losses = 0
        self.baseline = None
        self.rows_drawn = False

    @property
    def alpha(self):
        """The penalty that is used."""
        return self.kinds[0]["alpha"]

    @property
    def _sets(self):
        return [self.train] if self.evaluation is None else [self.train, self.evaluation]

    def begin(self):
        """Shards, what is known before the first round, and the losses there."""
        self._build()
        sums = self.train.sum("target_sums")
        self.total_weight = sums[0]
        self.baseline = _shards.baseline(self.plan.loss, sums[1:] / sums[0])
        if self.evaluation is not None:
            self.eval_weight = self.evaluation.sum("target_sums")[0]
        self.sample_X = np.concatenate(self.train.each("sampled_rows"))
        self._find_features()
        params = self.plan.params
        if params["subsample"] < 1.0:
            found = np.unique(np.concatenate(self.train.each("distinct")))
            self.rows_drawn = len(found) >= LEAST_DISTINCT
        return self._start()

    def _find_features(self):
        d = self.sample_X.shape[1]
        self.mean, self.scale = np.zeros(d), np.ones(d)
        if not self.plan.params["standardize"]:
            return
        first = self.sample_X[0].copy()
        found = self.train.each("feature_sums", first=first)
        sums = self.train.join([sums for sums, _ in found])
        largest = np.max([largest for _, largest in found], axis=0)
        self.mean, self.scale = _rounds.mean_and_scale(sums, largest, first)

    def _build(self):
        """Shards under a new number: what is left of an attempt that failed does not know it."""
        self.close()
        self.plan = replace(self.plan, fit=new_fit_number())
        for samples in self._sets:
            samples.build(self.plan)

    def _start(self):
        trees = self.first(len(self.trees)) if self.trees else None
        for samples in self._sets:
            samples.each("start", baseline=self.baseline, trees=trees)
        return self._measure()

    def _measure(self):
        loss = self.train.sum("measure")[0] / self.total_weight
        eval_loss = np.nan
        if self.evaluation is not None:
            eval_loss = self.evaluation.sum("measure_only")[0] / self.eval_weight
        return Measured(float(loss), float(eval_loss))

    def grow_anew(self):
        """The round that was lost, on shards made from the partitions and the trees so far."""
        self._build()
        self._start()
        return self.grow()

    def grow(self):
        """One round: keeps its tree and returns what is measured behind it."""
        iteration = len(self.trees)
        feature_map, sample, n_rows, compares = self._open_round(iteration)
        best, kind = None, 0
        least = np.inf
        kinds = [dict(of_kind) for of_kind in self.kinds]
        for number in range(len(kinds) if compares else 1):
            tree = self._grow_kind(kinds, number, (feature_map, sample, n_rows))
            if compares and len(kinds) > 1:
                loss = self.train.sum([("left_out", {"tree": tree})])[0]
                if number > 0 and not loss < least:
                    continue
                least = loss
            best, kind = tree, number
        for samples in self._sets:
            samples.each("add", tree=best)
        measured = self._measure()
        # Only now: a round that fails in the middle leaves nothing behind.
        self.trees.append(best)
        self.chosen_kinds.append(kind)
        self.kinds = kinds
        return measured

    def _open_round(self, iteration):
        params = self.plan.params
        bag = "all"
        if self.rows_drawn:
            bag = "drawn" if sum(self.train.each("draw", iteration=iteration)) else "whole"
        columns = _rounds.draw_columns(
            params["seed"], iteration, params["colsample"], len(self.mean)
        )
        feature_map = (columns, self.mean, self.scale)
        opened = self.train.each("open_round", feature_map=feature_map, bag=bag)
        targets, weights = (np.concatenate([of[i] for of in opened]) for i in (1, 2))
        mapped = _rounds.map_features(self.sample_X, feature_map, self.n_threads)
        sample = (mapped, targets, weights)
        return feature_map, sample, sum(n for n, _, _ in opened), self.rows_drawn

    def _grow_kind(self, kinds, number, problem):
        """A tree of a kind, as the arrays of an `ObliqueTrees`; learns a penalty once."""
        feature_map, sample, n_rows = problem
        params = self.plan.params
        self._waiting = [("open_tree", {})]
        grown = _rounds.grow(
            sample, n_rows, params=kinds[number], ask=self._ask, n_threads=self.n_threads
        )
        if kinds[number]["choose_alpha"]:
            kinds[number].update(choose_alpha=False, alpha=grown.alpha)
        if params["l2_leaf_reg"] > 0.0:
            grown.shrink(params["l2_leaf_reg"])
        ranges = self._ask("leaf_ranges", {"tree": grown.arrays()})
        return grown.finish(
            ranges, feature_map, loss=self.plan.loss, extrapolation=params["extrapolation"],
            factor=params["learning_rate"],
        )

    def _ask(self, step, arguments):
        """The joined answer of all shards to a step of the growing tree."""
        self._waiting.append((step, arguments))
        if step == "part":  # has no answer: it goes with the next one
            return None
        steps, self._waiting = self._waiting, []
        if step in SUMS:
            return self.train.sum(steps)
        found = self.train.gather(steps)
        if step in LARGEST:
            return np.max(found, axis=0)
        heaviest = found[0].copy()
        for of_shard in found[1:]:
            heavier = of_shard[:, 0] > heaviest[:, 0]
            heaviest[heavier] = of_shard[heavier]
        return heaviest

    def first(self, n):
        """The first n trees as `ObliqueTrees`."""
        return ObliqueTrees.concatenate([ObliqueTrees(**tree) for tree in self.trees[:n]])

    def close(self):
        """Lets the workers forget the fit."""
        self.train.client.run(forget, self.plan.fit, on_error="ignore")
