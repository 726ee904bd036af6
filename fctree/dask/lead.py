"""What the first member of a team does for all: it chooses the splits and leaf values.

A level of a tree is one call of all members: the decision goes out, histograms come back.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fctree._native import shards as _native
from fctree.dask import shard
from fctree.dask.state import threads_here
from fctree.dask.team import Member


class Losses(NamedTuple):
    """Mean losses of the rows, and of those that are only measured (NaN without any)."""

    loss: float
    eval_loss: float


@dataclass(frozen=True)
class Start:
    """What a fit knows before its first round."""

    baseline: np.ndarray
    total_weight: float
    eval_weight: float | None


class Units:
    """The units that a round adds up in, from what was measured at the scores before it."""

    def __init__(self, plan, total_weight, counts, hessians, square):
        bounds = [_native.exponent_bound(row) for row in counts]
        self.any_gradient = any(bound > 0.0 for bound in bounds)
        weight = _native.channel_unit(total_weight, plan.n_rows) if plan.weighted else 0.0
        gradient = [_native.channel_unit(bound, plan.n_rows) for bound in bounds]
        self.counts = (_native.count_bits(plan.n_rows), weight, gradient)
        largest = [int(np.flatnonzero(row).max(initial=0)) for row in counts]
        self.leaf_sums = (largest, [int(e) for e in hessians], plan.n_rows)
        wants_squares = plan.params["random_strength"] > 0.0 and not plan.gumbel
        self.square = int(square) if wants_squares else None


class GrowingTree:
    """The histograms and splits of the tree that is being grown."""

    def __init__(self, plan, iteration, units, total_weight):
        self.plan = plan
        self.units = units
        self.noise = (iteration, 0.0, total_weight)
        self.counted = []
        self.splits = []

    def take_squares(self, words):
        """Noise is measured by the root mean square of the gradients."""
        if self.units.square is not None:
            n_terms = self.plan.n_rows * self.plan.n_outputs
            square = _native.fixed_point_value(self.units.square, n_terms, *map(int, words))
            iteration, _, total_weight = self.noise
            self.noise = (iteration, float(np.sqrt(square / total_weight)), total_weight)

    def choose(self, counted):
        """``(split or None, smaller_is_right)`` of the level with these histograms."""
        self.counted.append(counted)
        plan = self.plan
        split, smaller_is_right = _native.choose_level(
            plan.shape, self.units.counts, self.counted, self.splits, plan.monotone, self.noise,
            plan.params, threads_here(),
        )
        if split is not None:
            self.splits.append(split)
        return split, smaller_is_right

    def finish(self, sums):
        """The tree: its splits and its leaves' values, (n_leaves, n_outputs)."""
        plan = self.plan
        last = plan.shape[0] - 1
        parts_missing = [
            bool(code == last[feature] and plan.ends_infinite[feature])
            for feature, code, *_ in self.splits
        ]
        values = _native.leaf_values(plan.loss, sums, self.units.leaf_sums, plan.params,
                                     plan.monotone, self.splits, parts_missing)
        return {"splits": self.splits, "values": values}


class Lead(Member):
    """The member that the client talks to."""

    def begin(self, start, n_trees):
        """Scores as these trees have left them; finds the `Start` if None. Returns it and the losses."""
        self.start = self._find_start() if start is None else start
        stage = (n_trees, 0)
        self._measure(shard.start, shard.start_eval, self.start.baseline, stage)
        return self.start, self.losses

    def _find_start(self):
        plan = self.plan
        _, (targets, weights) = self.run("train", shard.start_exponents)
        targets = [int(e) for e in targets]
        (sums,), _ = self.run("train", shard.start_sums, targets, int(weights))
        value, n = _native.fixed_point_value, plan.n_rows
        totals = [value(e, n, *map(int, row[0])) for e, row in zip(targets, sums, strict=True)]
        total_weight = value(int(weights), n, *map(int, sums[0][1]))
        means = np.array([total / total_weight for total in totals])
        baseline = _native.baseline(plan.loss, means)
        return Start(baseline, total_weight, self._weigh_evaluation() if plan.evaluated else None)

    def _weigh_evaluation(self):
        """The total weight of the rows that are only measured."""
        plan = self.plan
        _, (_, largest) = self.run("eval", shard.start_exponents)
        (sums,), _ = self.run("eval", shard.start_sums, [2046] * plan.n_outputs, int(largest))
        return _native.fixed_point_value(int(largest), plan.n_rows, *map(int, sums[0][1]))

    def _measure(self, step, eval_step, *args):
        (loss, counts), (hessians, square) = self.run("train", step, *args)
        total_weight, eval_loss = self.start.total_weight, np.nan
        if self.plan.evaluated:
            (eval_sum,), _ = self.run("eval", eval_step, *args)
            eval_loss = eval_sum / self.start.eval_weight
        self.losses = Losses(float(loss / total_weight), float(eval_loss))
        self.units = Units(self.plan, total_weight, counts, hessians, square)

    def grow(self, first, n_rounds):
        """Rounds `first`, `first` + 1 ...: their trees and the losses behind each."""
        grown = []
        for iteration in range(first, first + n_rounds):
            tree = self._grow_tree(iteration)
            self._measure(shard.advance, shard.advance_eval, iteration, tree)
            grown.append((tree, self.losses))
            if not np.isfinite(self.losses.loss):
                break
        return grown

    def _grow_tree(self, iteration):
        plan, units = self.plan, self.units
        tree = GrowingTree(plan, iteration, units, self.start.total_weight)
        (counted, squares), _ = self.run(
            "train", shard.count_root, iteration, units.counts, units.square
        )
        tree.take_squares(squares)
        level, decision = 1, (None, [])
        if units.any_gradient or plan.gumbel:
            decision = tree.choose(counted)
        while decision[0] is not None and level < plan.params["max_depth"]:
            (counted,), _ = self.run(
                "train", shard.count_level, iteration, level, units.counts, decision
            )
            decision = tree.choose(counted)
            level += 1
        (sums,), _ = self.run(
            "train", shard.sum_leaves, iteration, level, decision[0], len(tree.splits),
            units.leaf_sums,
        )
        return tree.finish(sums)
