"""Boosting on shards, as the client sees it: what it keeps, and rounds by the second.

The client holds the model so far and nothing else that a fit cannot do without. It asks the team
of workers (`team`, `lead`) for some rounds at a time, and gets their trees and losses.
"""

import time

import numpy as np

from fctree.symmetric.trees import SymmetricTrees
from fctree.dask import shard
from fctree.dask.lead import Lead
from fctree.dask.placement import assign, settle
from fctree.dask.team import Team
from fctree.dask.team_growth import TeamGrowth

# The client hears of the rounds about this often: to show, to stop early, to keep what is grown.
PACE_SECONDS = 1.0


class ShardedSet:
    """Partitions and the shards that they make on the workers."""

    def __init__(self, name, partitions, lengths, encode):
        self.name = name
        self.partitions = partitions
        self.lengths = lengths
        self.encode = encode
        self.begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.placed = []

    def build(self, client, plan, thresholds, start_from):
        """Makes the shards anew, on the workers that there are; the futures of it."""
        settle(client, self.partitions)  # those that were lost are computed again
        self.placed = assign(client, self.partitions, self.lengths)
        return [
            client.submit(
                shard.build,
                plan,
                self.shard_name(i),
                (
                    [self.partitions[index] for index in indices],
                    [int(self.begins[index]) for index in indices],
                ),
                thresholds,
                self.encode,
                start_from,
                workers=[worker],
                pure=False,
            )
            for i, (worker, indices) in enumerate(self.placed)
        ]

    def shard_name(self, number):
        return f"{self.name}-{number}"

    def shards(self):
        """The workers and the names of their shards."""
        return [(worker, self.shard_name(i)) for i, (worker, _) in enumerate(self.placed)]


class Growth(TeamGrowth):
    """A fit on shards, from the partitions to the trees."""

    first_pace = 1  # rounds of the first call

    def __init__(self, client, plan, thresholds, samples):
        super().__init__(client, plan, samples)
        self.thresholds = thresholds
        self.pace = self.first_pace

    def _submit(self, samples):
        baseline = None if self.start is None else self.start.baseline
        start_from = (baseline, self._grown() if self.trees else None)
        return samples.build(self.client, self.plan, self.thresholds, start_from)

    def _assemble(self, shards):
        return Team(self.client, Lead, self.plan, shards)

    def _so_far(self):
        return len(self.trees)

    def grow(self):
        """Some rounds, as many as take about a second: keeps their trees, returns their losses."""
        n_rounds = min(self.pace, self.plan.params["max_iter"] - len(self.trees))
        began = time.monotonic()
        grown = self.team.call("grow", len(self.trees), n_rounds)
        seconds = time.monotonic() - began
        self.pace = max(1, int(min(n_rounds * PACE_SECONDS / seconds, 10 * self.pace)))
        self.trees += [tree for tree, _ in grown]
        return [losses for _, losses in grown]

    def _grown(self):
        trees = self.first(len(self.trees))
        return trees, np.full(trees.n_trees, self.plan.keep)

    def first(self, n):
        """The first n trees as `SymmetricTrees`."""
        return trees_of(self.plan, self.thresholds, self.trees[:n])


def trees_of(plan, thresholds, grown):
    """`SymmetricTrees` of trees as `lead.finish_tree` returns them."""
    depth, n = plan.params["max_depth"], len(grown)
    arrays = {
        "split_feature": np.full((n, depth), -1, dtype=np.int32),
        "split_threshold": np.zeros((n, depth)),
        "missing_right": np.zeros((n, depth), dtype=np.bool_),
        "split_gain": np.zeros((n, depth)),
        "leaf_values": np.zeros((n, 1 << depth, plan.n_outputs)),
    }
    for t, tree in enumerate(grown):
        for level, split in enumerate(tree["splits"]):
            feature, code, missing_right, gain = split
            arrays["split_feature"][t, level] = feature
            arrays["split_threshold"][t, level] = thresholds[feature][code]
            arrays["missing_right"][t, level] = missing_right
            arrays["split_gain"][t, level] = max(gain, 0.0)
        spread = 1 << (depth - len(tree["splits"]))
        arrays["leaf_values"][t, ::spread] = tree["values"]
    return SymmetricTrees(**arrays)
