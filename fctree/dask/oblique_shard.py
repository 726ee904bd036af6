"""Boosting oblique trees, what one worker does: a run of blocks of rows, and steps on it.

A step is a method of `ObliqueShard`, or while a tree grows of `NodeRows`. Its answer says by its type
how those of all workers are joined (`oblique_team`): sums over blocks, largest values, or others.
"""

from dataclasses import dataclass

import numpy as np

from fctree._native import oblique_rounds as _rounds
from fctree._native.core import Loss
from fctree._native.oblique_shards import NodeRows
from fctree._validation import check_kernel_part
from fctree.dask.oblique_team import Largest, Sums, Totals
from fctree.dask.shard import largest_exponent
from fctree.dask.state import remember, threads_here
from fctree.ensembles.trees import ObliqueTrees



@dataclass(frozen=True)
class ObliquePlan:
    """What every step of a fit knows."""

    fit: str
    loss: tuple
    n_outputs: int
    n_rows: int
    params: dict
    evaluated: bool

    @property
    def has_hessian(self):
        """Whether the loss's second derivative is not 1."""
        return Loss(self.loss, self.n_outputs).has_hessian


class ObliqueShard:
    """The rows of one worker, their scores, and the tree that grows on them."""

    stage = "built"

    def __init__(self, plan, rows, run, sample):
        self.plan = plan
        self.X, self.y, self.weight = rows
        self.run = run
        self.sample = sample  # rows that thresholds are looked for in, numbered here
        self.scores = None
        self.gradient = self.hessian = None
        self.hashes = self.in_bag = None
        self.columns = self.mapped = self.bins = None
        self.target = self.fit_weight = None
        self.nodes = None

    @property
    def blocks(self):
        return self.run.native

    def raw(self):
        return np.ascontiguousarray(self.scores.T)

    def sums(self, values):
        return Sums(self.run.pieces, values, self.run.n_blocks)

    # Before the first round.

    def sampled_rows(self):
        return self.X[self.sample]

    def target_sums(self):
        terms = self.y
        if len(self.y) != self.plan.n_outputs:  # the classes' indicators
            classes = np.arange(self.plan.n_outputs)[:, np.newaxis]
            terms = (self.y == classes).astype(np.float64)
        return self.sums(
            _rounds.weighted_sums(terms, self.weight, self.blocks, threads_here())
        )

    def feature_sums(self, first):
        sums, largest = _rounds.feature_sums(
            self.X, self.weight, first, self.blocks, threads_here()
        )
        return self.sums(sums), Largest(largest)

    def start(self, baseline, trees):
        """The scores of the trees so far, `ObliqueTrees` or None."""
        self.scores = np.tile(baseline, (len(self.X), 1))
        if trees is not None:
            trees.add_to(self.X, self.scores, n_threads=threads_here())

    # Rounds.

    def measure(self):
        """Losses; and the derivatives for the next round."""
        raw = self.raw()
        self.gradient = np.empty_like(raw)
        self.hessian = np.empty_like(raw) if self.plan.has_hessian else None
        return self.sums(
            _rounds.losses(
                self.plan.loss, self.y, raw, self.weight, (self.gradient, self.hessian),
                self.blocks, threads_here(),
            )
        )

    def measure_only(self):
        """Losses of rows that no tree is grown on."""
        return self.sums(
            _rounds.losses(
                self.plan.loss, self.y, self.raw(), self.weight, None, self.blocks,
                threads_here(),
            )
        )

    def draw(self, iteration):
        """Draws the round's rows; their number."""
        params = self.plan.params
        if self.hashes is None:
            self.hashes = _rounds.hash_samples(self.X, self.y)
        self.in_bag = _rounds.draw_part(
            self.hashes, params["seed"], iteration, params["subsample"]
        )
        return int(self.in_bag.sum())

    def open_round(self, feature_map, bag, thresholds):
        """The round's least-squares problem: how many rows have a weight in it, the targets and
        weights of the sample, and the exponents of its terms.

        `bag` is "all", "drawn", or "whole" where none was drawn; `thresholds` are those between
        bins of the features, None if no tree needs them.
        """
        if bag == "all":
            self.in_bag = None
        elif bag == "whole":
            self.in_bag = np.ones(len(self.X), dtype=np.uint8)
        if self.columns is None or not np.array_equal(feature_map[0], self.columns):
            self.columns = feature_map[0]
            self.mapped = _rounds.map_features(self.X, feature_map, threads_here())
            if thresholds is not None:
                self.bins = _rounds.find_bins(self.mapped, thresholds, threads_here())
        self.target, self.fit_weight = _rounds.working_response(
            self.plan.loss, self.y, self.raw(), self.weight, (self.gradient, self.hessian),
            self.in_bag, threads_here(),
        )
        in_use = int(np.count_nonzero(self.fit_weight > 0.0))
        return [
            in_use, self.target[self.sample], self.fit_weight[self.sample], self._exponents()
        ]

    def _exponents(self):
        """Of the largest weight, and of the largest weighted target of each output."""
        weight = self.fit_weight
        targets = [largest_exponent(weight * target) for target in self.target.T]
        return np.array([largest_exponent(weight), *targets])

    def open_tree(self, exponents, n_bins):
        """`exponents` are those of all rows where `n_bins` bins are to be summed, else None."""
        self.nodes = NodeRows(
            self.mapped, self.target, self.fit_weight, self.blocks, threads_here()
        )
        if exponents is not None:
            self.nodes.bin(self.bins, n_bins, exponents, self.plan.n_rows)

    def leaf_ranges(self, tree):
        return Largest(
            _rounds.leaf_ranges(tree, self.mapped, self.fit_weight, threads_here())
        )

    def left_out(self, tree):
        """Losses of the rows that the tree was not grown on, with its step taken."""
        scores = self.scores.copy()
        ObliqueTrees(**tree).add_to(self.X, scores, n_threads=threads_here())
        return self.sums(
            _rounds.left_out_losses(
                self.plan.loss, self.y, np.ascontiguousarray(scores.T), self.weight, self.in_bag,
                self.blocks, threads_here(),
            )
        )

    def add(self, tree):
        ObliqueTrees(**tree).add_to(self.X, self.scores, n_threads=threads_here())


    def step(self, method, arguments):
        """The answer to one step."""
        if method in _SUMS_OF_NODES:
            return self.sums(getattr(self.nodes, method)(**arguments))
        if method == "ranges":
            return Largest(self.nodes.ranges(**arguments))
        if method == "bin_sums":
            return Totals(self.nodes.bin_sums(**arguments))
        return getattr(self.nodes if method in _OF_NODES else self, method)(**arguments)


# Steps of `NodeRows`.
_SUMS_OF_NODES = (
    "products", "diagonals", "target_diagonals", "residual_products", "screening",
    "cut_products", "cut_sums", "decreases", "grid_errors",
)
_OF_NODES = ("heaviest", "part")


def build(plan, name, parts, run, options):
    """Makes a shard of rows that are in order; `options` are the encoder of the targets and the
    rows of the sample."""
    encode, sample = options
    X = np.concatenate([check_kernel_part(part.X, np.zeros(len(part)))[0] for part in parts])
    y = np.concatenate([encode(part.y) for part in parts], axis=1)
    weight = None
    if parts[0].weight is not None:
        weight = np.concatenate([part.weight for part in parts])
    rows = np.ascontiguousarray(X), np.ascontiguousarray(y), weight
    remember(plan.fit, name, ObliqueShard(plan, rows, run, sample))
