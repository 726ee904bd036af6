"""The rounds of boosting oblique trees, what one worker does for all: it asks and decides.

The core grows a tree here, from sums: each of its questions is a step that all workers take at once.
"""

from dataclasses import dataclass

import numpy as np

from fctree._native import oblique_rounds as _rounds
from fctree._native import shards as _shards
from fctree.dask.lead import Losses
from fctree.dask.oblique_team import ObliqueMember
from fctree.dask.state import threads_here


@dataclass
class ObliqueStart:
    """What is known before the first round."""

    baseline: np.ndarray
    total_weight: float
    eval_weight: float | None
    mean: np.ndarray  # of the features, and their scale
    scale: np.ndarray
    draws_rows: bool


@dataclass(frozen=True)
class GrownRound:
    """A round: its tree as the arrays of an `ObliqueTrees`, which kind it is, the parameters of
    all kinds behind it (a penalty is chosen once), and the losses."""

    tree: dict
    kind: int
    kinds: list
    losses: Losses


@dataclass(frozen=True)
class Problem:
    """The least-squares problem of a round: the features, the sample's part of it, how many rows
    have a weight, and the exponents of the terms of bins."""

    feature_map: tuple
    sample: tuple
    n_rows: int
    exponents: np.ndarray


class ObliqueLead(ObliqueMember):
    """The member that the client talks to."""

    bins = None  # of the features of the round, if trees need them

    def begin(self, start, trees):
        """Scores as these trees, or None, have left them; finds the start if None.

        Returns it and the losses.
        """
        self.sample_X = np.concatenate(self._all("sampled_rows"))
        self.start = self._find_start() if start is None else start
        for samples in self._sets:
            self._ask(samples, "start", baseline=self.start.baseline, trees=trees)
        return self.start, self._measure()

    @property
    def _sets(self):
        return ["train", "eval"] if self.plan.evaluated else ["train"]

    def _ask(self, samples, method, **arguments):
        """The joined answer of all shards to a step."""
        return self.answer((samples, [(method, arguments)]))

    def _sum(self, samples, method, **arguments):
        return self._ask(samples, method, **arguments).answer()

    def _all(self, method, **arguments):
        return self._ask("train", method, **arguments).answer()

    def _find_start(self):
        sums = self._sum("train", "target_sums")
        baseline = _shards.baseline(self.plan.loss, sums[1:] / sums[0])
        eval_weight = self._sum("eval", "target_sums")[0] if self.plan.evaluated else None
        draws_rows = self.plan.params["subsample"] < 1.0
        return ObliqueStart(baseline, sums[0], eval_weight, *self._find_scale(), draws_rows)

    def _find_scale(self):
        d = self.sample_X.shape[1]
        if not self.plan.params["standardize"]:
            return np.zeros(d), np.ones(d)
        first = self.sample_X[0].copy()
        sums, largest = self._ask("train", "feature_sums", first=first)
        return _rounds.mean_and_scale(sums.answer(), largest.answer(), first)

    def _measure(self):
        loss = self._sum("train", "measure")[0] / self.start.total_weight
        eval_loss = np.nan
        if self.plan.evaluated:
            eval_loss = self._sum("eval", "measure_only")[0] / self.start.eval_weight
        return Losses(float(loss), float(eval_loss))

    def grow(self, iteration, kinds):
        """One round, the `GrownRound`."""
        kinds = [dict(kind) for kind in kinds]
        compares = self.start.draws_rows and len(kinds) > 1
        grown = kinds if compares else kinds[:1]
        problem = self._open_round(iteration, any(map(_rounds.sorts_axes, grown)))
        best, chosen, least = None, 0, np.inf
        for number, kind in enumerate(grown):
            tree = self._grow_kind(kind, problem)
            if compares:
                loss = self._sum("train", "left_out", tree=tree)[0]
                if number > 0 and not loss < least:
                    continue
                least = loss
            best, chosen = tree, number
        for samples in self._sets:
            self._ask(samples, "add", tree=best)
        return GrownRound(best, chosen, kinds, self._measure())

    def _open_round(self, iteration, needs_bins):
        """What the trees of the round are grown on."""
        params, start = self.plan.params, self.start
        bag = "all"
        if start.draws_rows:
            bag = "drawn" if sum(self._all("draw", iteration=iteration)) else "whole"
        columns = _rounds.draw_columns(
            params["seed"], iteration, params["colsample"], len(start.mean)
        )
        feature_map = (columns, start.mean, start.scale)
        mapped = _rounds.map_features(self.sample_X, feature_map, threads_here())
        if needs_bins and (self.bins is None or params["colsample"] < 1.0):
            self.bins = _rounds.Bins(mapped, feature_map, threads_here())
        opened = self._all(
            "open_round", feature_map=feature_map, bag=bag,
            thresholds=self.bins.thresholds if needs_bins else None,
        )
        in_use, targets, weights, exponents = zip(*opened)
        sample = mapped, np.concatenate(targets), np.concatenate(weights)
        return Problem(feature_map, sample, sum(in_use), np.max(exponents, axis=0))

    def _grow_kind(self, kind, problem):
        """A tree of a kind, as the arrays of an `ObliqueTrees`; learns a penalty once."""
        params = self.plan.params
        binned = {"exponents": None, "n_bins": 0}
        self.units = None
        if _rounds.sorts_axes(kind):
            n_bins = 1 + self.bins.thresholds.shape[1]
            binned = {"exponents": problem.exponents, "n_bins": n_bins}
            units = _rounds.term_units(problem.exponents, self.plan.n_rows)
            self.units = np.concatenate([[1.0], units])  # of the number too
        self._waiting = [("open_tree", binned)]
        grown = _rounds.grow(
            problem.sample, problem.n_rows, params=kind, feature_map=problem.feature_map,
            ask=self._ask_of_tree, bins=self.bins, n_threads=threads_here(),
        )
        if kind["choose_alpha"]:
            kind.update(choose_alpha=False, alpha=grown.alpha)
        if params["l2_leaf_reg"] > 0.0:
            grown.shrink(params["l2_leaf_reg"])
        ranges = self._ask_of_tree("leaf_ranges", {"tree": grown.arrays()})
        return grown.finish(
            ranges, problem.feature_map, loss=self.plan.loss, extrapolation=params["extrapolation"],
            factor=params["learning_rate"],
        )

    def _ask_of_tree(self, step, arguments):
        """The joined answer of all shards to a step of the growing tree."""
        self._waiting.append((step, arguments))
        if step == "part":  # has no answer: it goes with the next one
            return None
        steps, self._waiting = self._waiting, []
        found = self.answer(("train", steps)).answer()
        if step == "bin_sums":
            return found * self.units
        return _heaviest(found) if step == "heaviest" else found


def _heaviest(found):
    """The first of the heaviest samples, a row a node, their weights first."""
    heaviest = found[0].copy()
    for of_shard in found[1:]:
        heavier = of_shard[:, 0] > heaviest[:, 0]
        heaviest[heavier] = of_shard[heavier]
    return heaviest
