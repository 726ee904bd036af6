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
        channels = (_native.count_bits(plan.n_rows), weight, gradient)
        largest = [int(np.flatnonzero(row).max(initial=0)) for row in counts]
        self.leaf_sums = (largest, [int(e) for e in hessians], plan.n_rows)
        wants_squares = plan.params["random_strength"] > 0.0 and not plan.gumbel
        self.root = (channels, int(square) if wants_squares else None)


class Lead(Member):
    """The member that the client talks to."""

    def begin(self, start, n_trees):
        """Scores as these trees have left them; finds the `Start` if None. Returns it and the losses."""
        self.start = self._find_start() if start is None else start
        self.chooser = _native.LevelChooser(self.plan.shape, self.plan.monotone, self.plan.params)
        after = (self.start.baseline, (n_trees, 0))
        answer = self.run("train", shard.start, *after)
        evaluation = self.run("eval", shard.start_eval, *after) if self.plan.evaluated else None
        self._take(answer, evaluation)
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

    def _take(self, answer, evaluation):
        """Takes in what shards measured at their scores: losses, and the next round's units."""
        (loss, exponents, *_), (hessians, square) = answer
        total_weight, eval_loss = self.start.total_weight, np.nan
        if evaluation is not None:
            (eval_sum,), _ = evaluation
            eval_loss = eval_sum / self.start.eval_weight
        self.losses = Losses(float(loss / total_weight), float(eval_loss))
        self.units = Units(self.plan, total_weight, exponents, hessians, square)
        self.root = None

    def grow(self, first, n_rounds):
        """Rounds `first`, `first` + 1 ...: their trees and the losses behind each."""
        grown = []
        for iteration in range(first, first + n_rounds):
            tree = self._grow_tree(iteration)
            self._advance(iteration, tree)
            grown.append((tree, self.losses))
            if not np.isfinite(self.losses.loss):
                break
        return grown

    def _advance(self, iteration, tree):
        supposed = self.units.root
        answer = self.run("train", shard.advance, iteration, tree, supposed)
        evaluation = None
        if self.plan.evaluated:
            evaluation = self.run("eval", shard.advance_eval, iteration, tree)
        self._take(answer, evaluation)
        if self.units.root == supposed:
            self.root = answer[0][2:]

    def _grow_tree(self, iteration):
        plan, units = self.plan, self.units
        counts = self.root
        if counts is None:
            counts, _ = self.run("train", shard.count_root, iteration, units.root)
        noise = (iteration, self._gradient_rms(counts[1]), self.start.total_weight)
        self.chooser.start(units.root[0], noise)
        splits, level = [], 0
        while units.any_gradient or plan.gumbel:
            split, smaller_is_right = self.chooser.choose(counts[0], threads_here())
            if split is None:
                break
            splits.append(split)
            level += 1
            if level == plan.params["max_depth"]:
                break
            decision = (split, smaller_is_right)
            counts, _ = self.run("train", shard.count_level, iteration, level, decision)
        stage = min(level, plan.params["max_depth"] - 1)
        (sums,), _ = self.run(
            "train", shard.sum_leaves, iteration, stage, splits, units.leaf_sums
        )
        return {"splits": splits, "values": self._leaf_values(splits, sums)}

    def _gradient_rms(self, square_words):
        """The root mean square of the gradients, where noise is measured by it."""
        largest, plan = self.units.root[1], self.plan
        if largest is None:
            return 0.0
        n_terms = plan.n_rows * plan.n_outputs
        square = _native.fixed_point_value(largest, n_terms, *map(int, square_words))
        return float(np.sqrt(square / self.start.total_weight))

    def _leaf_values(self, splits, sums):
        plan = self.plan
        last = plan.shape[0] - 1
        parts_missing = [
            bool(code == last[feature] and plan.ends_infinite[feature])
            for feature, code, *_ in splits
        ]
        return _native.leaf_values(plan.loss, sums, self.units.leaf_sums, plan.params,
                                   plan.monotone, splits, parts_missing)
