"""A worker's rows while a model grows: the steps of a round on them.

The rows of a shard are those of the partitions that its worker holds. A step is told how far the
shard must have come (the round and the level) and takes it one further.
"""

from dataclasses import dataclass

import numpy as np

from fctree._native import shards as _native
from fctree._native.core import Loss
from fctree.dask.state import recall, remember, threads_here


@dataclass(frozen=True)
class FitPlan:
    """What every step of a fit knows."""

    fit: str
    loss: tuple
    n_outputs: int
    params: dict
    n_rows: int
    shape: tuple  # n_cuts, has_missing
    ends_infinite: np.ndarray  # features whose last threshold parts missing values
    monotone: np.ndarray | None
    weighted: bool
    evaluated: bool  # whether there are rows that are only measured

    @property
    def gumbel(self):
        """Whether splits are chosen by Gumbel noise."""
        return self.params["score_noise"] == _native.GUMBEL

    @property
    def keep(self):
        """What a round leaves of the model before its tree."""
        return 1.0 - self.params["model_shrink_rate"] * self.params["learning_rate"]

    @property
    def has_hessian(self):
        """Whether the loss's second derivative is not 1."""
        return Loss(self.loss, self.n_outputs).has_hessian


class Shard:
    """Rows of one worker: bin codes, targets, weights, scores, and the leaf each row is in."""

    def __init__(self, rows, y, weight, raw, segments):
        self.stage = None
        self.rows = rows
        self.y = y
        self.weight = weight
        self.raw = raw
        self.origin = None
        self.segments = segments
        self.leaf = np.zeros(raw.shape[1], dtype=np.uint16)
        self.in_bag = None
        self.gradient = None
        self.hessian = None

    def __len__(self):
        return self.raw.shape[1]


def join_codes(parts, lengths, n_features):
    """Codes of several parts, each group by group of features, as one array of that order.

    Ends in eight bytes that are read but mean nothing.
    """
    n = sum(lengths)
    n_groups = (n_features + 7) // 8
    out = np.zeros(n * n_features + 8, dtype=np.uint8)
    bounds = [n_features * g // n_groups for g in range(n_groups + 1)]
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        group = out[n * first : n * last].reshape(n, last - first)
        begin = 0
        for codes, length in zip(parts, lengths, strict=True):
            block = codes[length * first : length * last]
            group[begin : begin + length] = block.reshape(length, last - first)
            begin += length
    return out


def build(plan, name, rows, thresholds, encode, start_from):
    """Makes a shard at the start of the round after these trees; returns its length.

    `rows` are partitions and the numbers of their first rows; `start_from` the baseline or None,
    and `SymmetricTrees` with their shrinkage factors or None; `encode` turns targets into float64
    (n_targets, n).
    """
    partitions, begins = rows
    baseline, trees = start_from
    kept = [(part, begin) for part, begin in zip(partitions, begins, strict=True) if len(part)]
    lengths = [len(part) for part, _ in kept]
    n_features = len(thresholds)
    codes = [_native.bin_rows(part.X, thresholds, threads_here())[0] for part, _ in kept]
    y = np.concatenate([encode(part.y) for part, _ in kept], axis=1)
    weight = None
    if kept[0][0].weight is not None:
        weight = np.concatenate([part.weight for part, _ in kept])
    raw = np.empty((plan.n_outputs, sum(lengths)))
    rows = _native.ShardRows(plan.shape, join_codes(codes, lengths, n_features), weight,
                             sum(lengths), plan.params["max_depth"])
    shard = Shard(rows, np.ascontiguousarray(y), weight, raw,
                  [(begin, len(part)) for part, begin in kept])
    if baseline is not None:
        _replay(shard, plan, [part.X for part, _ in kept], baseline, trees)
    shard.stage = ("built", 0)
    remember(plan.fit, name, shard)
    return len(shard)


def _replay(shard, plan, matrices, baseline, trees):
    """The scores that growing these trees has left."""
    _set_origin(shard, baseline)
    if trees is None:
        return
    steps, factors = trees
    keep = None if np.all(factors == 1.0) else factors
    begin = 0
    for X in matrices:
        scores = np.tile(baseline, (len(X), 1))
        steps.add_to(X, scores, n_threads=threads_here(), keep=keep, origin=scores.copy())
        shard.raw[:, begin : begin + len(X)] = scores.T
        begin += len(X)


def _set_origin(shard, baseline):
    shard.origin = np.ascontiguousarray(baseline)
    shard.raw[:] = shard.origin[:, np.newaxis]


def largest_exponent(terms):
    """The largest biased exponent of doubles, 0 for zeros only."""
    largest = np.float64(max(terms.max(initial=0.0), -terms.min(initial=0.0)))
    return int((largest.view(np.int64) >> 52) & 2047)


def _start_terms(shard, n_outputs):
    """What the starting scores are means of: the targets, or the classes' indicators."""
    if len(shard.y) == n_outputs:
        return shard.y
    return (shard.y == np.arange(n_outputs)[:, np.newaxis]).astype(np.float64)


# The steps: each answers ``(sums, largest)``, which `team.merge` merges with those of other shards.


def start_exponents(plan, name):
    """Largest exponents of the weighted targets, an output each, and of the weights."""
    shard = recall(plan.fit, name, ("built", 0))
    terms = _start_terms(shard, plan.n_outputs)
    weight = shard.weight
    if weight is None:
        return (), (np.array([largest_exponent(row) for row in terms]), 1023)
    targets = np.array([largest_exponent(weight * row) for row in terms])
    return (), (targets, largest_exponent(weight))


def start_sums(plan, name, targets, weights):
    """Fixed-point sums of the weighted targets and of the weights, (n_outputs, 2, 2)."""
    shard = recall(plan.fit, name, ("built", 0))
    terms = np.ascontiguousarray(_start_terms(shard, plan.n_outputs))
    scales = (targets, [weights] * plan.n_outputs, plan.n_rows)
    sums = _native.sum_leaves(
        terms, None, shard.weight, shard.leaf, None, 1, scales, threads_here()
    )
    return (sums[0],), ()


def start(plan, name, baseline, stage):
    """Sets scores to the starting ones unless they are; returns `_measure`'s."""
    shard = recall(plan.fit, name, ("built", 0))
    if shard.origin is None:
        _set_origin(shard, baseline)
    shard.gradient = np.empty_like(shard.raw)
    shard.hessian = np.empty_like(shard.raw) if plan.has_hessian else None
    shard.stage = stage
    return _measure(shard, plan)


def _measure(shard, plan):
    """The loss and how many weighted gradients have which exponent, (n_outputs, 2048); the
    largest exponents of hessians and squares."""
    loss, counts, hessians, square = _native.evaluate(
        plan.loss, shard.y, shard.raw, shard.weight, (shard.gradient, shard.hessian),
        threads_here(),
    )
    return (loss, counts), (np.array(hessians), square)


def count_root(plan, name, iteration, units):
    """Histograms of the root, and the words of the sum of squared gradients; draws the bag.

    `units` are the channels', and the largest exponent of a square or None.
    """
    return _count_root(recall(plan.fit, name, (iteration, 0)), plan, iteration, units), ()


def _count_root(shard, plan, iteration, units):
    channels, square_largest = units
    subsample = plan.params["subsample"]
    if subsample < 1.0:
        seed = plan.params["seed"]
        drawn = [_native.draw_rows(seed, subsample, iteration, *rows) for rows in shard.segments]
        shard.in_bag = np.concatenate(drawn)
    squares = np.zeros(2, dtype=np.int64)
    if square_largest is not None:
        n_terms = plan.n_rows * plan.n_outputs
        squares = _native.sum_squares(
            shard.gradient, shard.weight, square_largest, n_terms, threads_here()
        )
    shard.rows.start(channels, shard.gradient, shard.in_bag, threads_here())
    return shard.rows.count([], threads_here()), squares


def count_level(plan, name, iteration, level, decision):
    """Histograms of `level` > 0 below the decision of the level above."""
    shard = recall(plan.fit, name, (iteration, level - 1))
    split, smaller_is_right = decision
    shard.rows.split(split, threads_here())
    shard.stage = (iteration, level)
    return (shard.rows.count(smaller_is_right, threads_here()),), ()


def sum_leaves(plan, name, iteration, level, splits, scales):
    """Fixed-point sums of the leaves of the tree with these splits, (n_leaves, n_outputs, 2, 2).

    Its last histograms were those of `level`.
    """
    shard = recall(plan.fit, name, (iteration, level))
    shard.stage = (iteration, "leaves")
    shard.rows.find_leaves(splits, shard.leaf, threads_here())
    sums = _native.sum_leaves(
        shard.gradient, shard.hessian, shard.weight, shard.leaf, shard.in_bag, 1 << len(splits),
        scales, threads_here(),
    )
    return (sums,), ()


def advance(plan, name, iteration, tree, units):
    """Adds the tree to the scores; answers `_measure`'s for the next round.

    And `count_root`'s, for these units, which are the next round's more often than not: that
    saves a call.
    """
    shard = recall(plan.fit, name, (iteration, "leaves"))
    _add(shard, plan, tree)
    shard.stage = (iteration + 1, 0)
    sums, largest = _measure(shard, plan)
    return (*sums, *_count_root(shard, plan, iteration + 1, units)), largest


def _add(shard, plan, tree):
    _native.add_tree(
        shard.raw, shard.origin, plan.keep, shard.leaf, tree["values"], threads_here()
    )


def start_eval(plan, name, baseline, stage):
    """As `start`, of rows that are only measured: the sum of their losses."""
    shard = recall(plan.fit, name, ("built", 0))
    if shard.origin is None:
        _set_origin(shard, baseline)
    shard.stage = stage
    return _loss(shard, plan)


def _loss(shard, plan):
    loss = _native.evaluate(plan.loss, shard.y, shard.raw, shard.weight, None, threads_here())
    return (loss,), ()


def advance_eval(plan, name, iteration, tree):
    """As `advance`, of rows that are only measured."""
    shard = recall(plan.fit, name, (iteration, 0))
    shard.rows.find_leaves(tree["splits"], shard.leaf, threads_here())
    _add(shard, plan, tree)
    shard.stage = (iteration + 1, 0)
    return _loss(shard, plan)
