"""The rounds of boosting on shards: which task runs where, and what the client keeps.

The client holds the model so far and nothing else that a fit cannot do without. A round is one
graph of tasks, submitted at once:

    count (every shard) -> choose (one worker) -> ... a pair for each level
    -> sums of leaves (every shard) -> tree (one worker) -> scores and losses (every shard)
"""

import uuid
from functools import partial

import numpy as np

from fctree._native import shards as _native
from fctree.boosting.trees import SymmetricTrees
from fctree.dask import lead, shard
from fctree.dask.placement import assign, gather, reduce_by_tree
from fctree.dask.state import forget

_EXPONENTS = 2048


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
        gather(client, self.partitions)  # those that were lost are computed again
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

    @property
    def workers(self):
        return [worker for worker, _ in self.placed]

    def submit(self, client, step, plan, *args):
        """A step on every shard."""
        return [
            client.submit(
                step, plan, self.shard_name(i), *args, workers=[worker], pure=False, priority=10
            )
            for i, (worker, _) in enumerate(self.placed)
        ]


class Measured:
    """What all shards know of the scores: losses, and the units that the next round adds up in."""

    def __init__(self, plan, parts, total_weight, eval_parts, eval_weight):
        self.loss = sum(part[0] for part in parts) / total_weight
        self.eval_loss = sum(eval_parts) / eval_weight if eval_parts else np.nan
        counts = np.zeros((plan.n_outputs, _EXPONENTS), dtype=np.int64)
        for _, sparse, _, _ in parts:
            for row, (at, n) in zip(counts, sparse, strict=True):
                row[at] += n
        self.gradient_largest = [int(np.flatnonzero(row).max(initial=0)) for row in counts]
        bounds = [_native.exponent_bound(row) for row in counts]
        self.any_gradient = any(bound > 0.0 for bound in bounds)
        self.gradient_units = [_native.channel_unit(bound, plan.n_rows) for bound in bounds]
        self.hessian_largest = [max(of_k) for of_k in zip(*(p[2] for p in parts), strict=True)]
        self.square_largest = max(part[3] for part in parts)


class Growth:
    """A fit on shards, from the partitions to the trees."""

    def __init__(self, client, plan, thresholds, samples, *, weighted):
        self.client = client
        self.plan = plan
        self.thresholds = thresholds
        self.train, self.evaluation = samples
        self.weighted = weighted
        self.trees = []
        self.baseline = None
        self.total_weight = None
        self.eval_weight = None
        self.losses = 0

    def begin(self):
        """Shards, starting scores, and what is measured there."""
        self.baseline = None
        self._build()
        self._find_baseline()
        self._weigh_evaluation()
        return self.measure_start()

    def _find_baseline(self):
        largest = self._run(self.train, shard.start_exponents)
        targets = [max(of_k) for of_k in zip(*(found for found, _ in largest), strict=True)]
        weights = max(found for _, found in largest)
        sums = lead.add_up(self._run(self.train, shard.start_sums, targets, weights))
        n = self.plan.n_rows
        value = _native.fixed_point_value
        totals = [value(e, n, *map(int, row[0])) for e, row in zip(targets, sums, strict=True)]
        self.total_weight = value(weights, n, *map(int, sums[0][1]))
        means = np.array([total / self.total_weight for total in totals])
        self.baseline = _native.baseline(self.plan.loss, means)

    def _weigh_evaluation(self):
        """The total weight of the rows that are only measured."""
        if self.evaluation is None:
            return
        largest = max(found for _, found in self._run(self.evaluation, shard.start_exponents))
        parts = self._run(
            self.evaluation, shard.start_sums, [2046] * self.plan.n_outputs, largest
        )
        words = lead.add_up(parts)[0][1]
        self.eval_weight = _native.fixed_point_value(largest, self.plan.n_rows, *map(int, words))

    def _build(self):
        start_from = (self.baseline, self._grown() if self.trees else None)
        building = (self.client, self.plan, self.thresholds, start_from)
        futures = self.train.build(*building)
        workers = list(self.train.workers)
        if self.evaluation is not None:
            futures += self.evaluation.build(*building)
            workers += self.evaluation.workers
        gather(self.client, futures, workers)

    def _run(self, samples, step, *args):
        futures = samples.submit(self.client, step, self.plan, *args)
        return gather(self.client, futures, samples.workers)

    def measure_start(self):
        """The scores' losses before the round after the trees so far."""
        stage = (len(self.trees), 0)
        parts = self._run(self.train, shard.start, self.baseline, stage)
        eval_parts = []
        if self.evaluation is not None:
            eval_parts = self._run(self.evaluation, shard.start_eval, self.baseline, stage)
        return self._measured(parts, eval_parts)

    def _measured(self, parts, eval_parts):
        return Measured(self.plan, parts, self.total_weight, eval_parts, self.eval_weight)

    def grow(self, measured):
        """One round: keeps its tree and returns what was measured behind it."""
        iteration = len(self.trees)
        tree, parts, eval_parts = self._gather_round(*self._submit_round(iteration, measured))
        self.trees.append(tree)
        return self._measured(parts, eval_parts)

    def _gather_round(self, tree, parts, eval_parts):
        workers = list(self.train.workers)
        if self.evaluation is not None:
            workers += self.evaluation.workers
        found = gather(self.client, [tree, *parts, *eval_parts], workers)
        return found[0], found[1 : 1 + len(parts)], found[1 + len(parts) :]

    def _submit_round(self, iteration, measured):
        client, plan, train = self.client, self.plan, self.train
        submit = partial(client.submit, workers=[train.workers[0]], pure=False, priority=10)
        every = partial(train.submit, client)
        depth = plan.params["max_depth"]
        weight_unit = self.weight_unit if self.weighted else 0.0
        units = (_native.count_bits(plan.n_rows), weight_unit, measured.gradient_units)
        wants_rms = plan.params["random_strength"] > 0.0 and not self.gumbel
        square_largest = measured.square_largest if wants_rms else None

        def merged(parts):
            return reduce_by_tree(client, lead.add_up, parts, train.workers)

        counts = merged(every(shard.count_root, plan, iteration, units, square_largest))
        ends = not measured.any_gradient and not self.gumbel
        noise = (square_largest, self.total_weight)
        decision = submit(lead.choose_root, plan, iteration, units, noise, counts, ends)
        for level in range(1, depth):
            counts = merged(every(shard.count_level, plan, iteration, level, units, decision))
            decision = submit(
                lead.choose_level, plan, iteration, level, units, self.total_weight, counts
            )
        scales = (measured.gradient_largest, measured.hessian_largest, plan.n_rows)
        sums = merged(every(shard.sum_leaves, plan, iteration, decision, depth, scales))
        tree = submit(lead.finish_tree, plan, iteration, scales, sums)
        parts = every(shard.advance, plan, iteration, tree)
        eval_parts = []
        if self.evaluation is not None:
            eval_parts = self.evaluation.submit(client, shard.advance_eval, plan, iteration, tree)
        return tree, parts, eval_parts

    @property
    def gumbel(self):
        return self.plan.params["score_noise"] == _native.GUMBEL

    @property
    def weight_unit(self):
        return _native.channel_unit(self.total_weight, self.plan.n_rows)

    def grow_anew(self):
        """The round that was lost, on shards made from the partitions and the trees so far."""
        self._build()
        return self.grow(self.measure_start())

    def _grown(self):
        trees = self.first(len(self.trees))
        return trees, np.full(trees.n_trees, self.plan.keep)

    def first(self, n):
        """The first n trees as `SymmetricTrees`."""
        return trees_of(self.plan, self.thresholds, self.trees[:n])

    def close(self):
        """Lets the workers forget the fit."""
        self.client.run(forget, self.plan.fit, on_error="ignore")


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


def new_fit_number():
    """A name that no other fit has."""
    return uuid.uuid4().hex
