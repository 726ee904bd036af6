"""What one worker does for all: it adds up the shards' counts and chooses the splits."""

import numpy as np

from fctree._native import shards as _native
from fctree.dask.state import recall, remember, threads_here


class GrowingTree:
    """The histograms and splits of the tree that is being grown."""

    def __init__(self, iteration, rms):
        self.stage = (iteration, 0)
        self.counted = []
        self.splits = []
        self.rms = rms


def add_up(parts):
    """The sum of arrays of integers, or of tuples of them; None if the parts are None."""
    if parts[0] is None:
        return None
    if isinstance(parts[0], tuple):
        return tuple(add_up(list(of_place)) for of_place in zip(*parts, strict=True))
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def choose_root(plan, iteration, units, noise, parts, ends):
    """The decision of the first level: ``(split or None, smaller_is_right)``.

    `noise` is ``(square_largest or None, total_weight)``; `ends` where no gradient is left.
    """
    counted, squares = add_up(parts)
    square_largest, total_weight = noise
    rms = 0.0
    if square_largest is not None:
        n_terms = plan.n_rows * plan.n_outputs
        square = _native.fixed_point_value(square_largest, n_terms, *map(int, squares))
        rms = float(np.sqrt(square / total_weight))
    tree = GrowingTree(iteration, rms)
    remember(plan.fit, "lead", tree)
    return _choose(plan, tree, units, None if ends else counted, total_weight)


def choose_level(plan, iteration, level, units, total_weight, parts):
    """The decision of a further level."""
    tree = recall(plan.fit, "lead", (iteration, level))
    counted = add_up(parts)
    return _choose(plan, tree, units, counted, total_weight)


def _choose(plan, tree, units, counted, total_weight):
    iteration, level = tree.stage
    tree.stage = (iteration, level + 1)
    if counted is None:
        return None, []
    tree.counted.append(counted)
    noise = (iteration, tree.rms, total_weight)
    split, smaller = _native.choose_level(
        plan.shape, units, tree.counted, tree.splits, plan.monotone, noise, plan.params,
        threads_here(),
    )
    if split is not None:
        tree.splits.append(split)
    return split, smaller


def finish_tree(plan, iteration, scales, parts):
    """The tree: its splits and its leaves' values, (n_leaves, n_outputs)."""
    tree = recall(plan.fit, "lead", (iteration, plan.params["max_depth"]))
    sums = np.ascontiguousarray(add_up(parts)[: 1 << len(tree.splits)])
    last = plan.shape[0] - 1
    parts_missing = [
        bool(code == last[feature] and plan.ends_infinite[feature])
        for feature, code, *_ in tree.splits
    ]
    values = _native.leaf_values(plan.loss, sums, scales, plan.params, plan.monotone, tree.splits,
                                 parts_missing)
    return {"splits": tree.splits, "values": values}
