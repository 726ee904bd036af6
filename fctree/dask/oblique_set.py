"""Rows of a boosting fit of oblique trees, in runs of blocks on the workers."""

import numpy as np

from fctree.dask import oblique_shard
from fctree.dask.placement import settle
from fctree.dask.row_blocks import cut_into_runs


def _cut(partition, first, last):
    """Some rows of a partition."""
    weight = None if partition.weight is None else partition.weight[first:last]
    return type(partition)(partition.X[first:last], partition.y[first:last], weight)


class ObliqueSet:
    """Partitions and the shards that they make; `sample` are rows that thresholds come from."""

    def __init__(self, name, client, partitions, lengths, encode, sample):
        self.name = name
        self.client = client
        self.partitions = partitions
        self.begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.encode = encode
        self.sample = sample
        self.runs = self.workers = ()

    @property
    def n_rows(self):
        return int(self.begins[-1])

    def build(self, plan):
        """Makes the shards anew, on the workers that there are; the futures of it."""
        settle(self.client, self.partitions)  # those that were lost are computed again
        self.runs = cut_into_runs(self.n_rows, len(self.client.nthreads()))
        self.workers = self._place()
        futures = []
        for i, (run, worker) in enumerate(zip(self.runs, self.workers, strict=True)):
            first, last = run.rows(self.n_rows)
            inside = self.sample[(self.sample >= first) & (self.sample < last)] - first
            parts = [self._part(*of) for of in self._overlaps(run)]
            futures.append(
                self.client.submit(
                    oblique_shard.build, plan, self._shard_name(i), parts, run,
                    (self.encode, inside), workers=[worker], pure=False,
                )
            )
        return futures

    def _overlaps(self, run):
        """Partitions with rows of a run: their number, and the first and last of those rows."""
        first, last = run.rows(self.n_rows)
        found = []
        for i, (begin, end) in enumerate(zip(self.begins[:-1], self.begins[1:], strict=True)):
            low, high = max(first, begin), min(last, end)
            if low < high:
                found.append((i, int(low - begin), int(high - begin)))
        return found

    def _part(self, i, low, high):
        """Rows of a partition; where it is, unless they are all."""
        if high - low == self.begins[i + 1] - self.begins[i]:
            return self.partitions[i]
        return self.client.submit(_cut, self.partitions[i], low, high, pure=False)

    def _place(self):
        """A worker for each run: one that has much of it already."""
        holders = self.client.who_has(self.partitions)
        free = sorted(self.client.nthreads())
        placed = []
        for run in self.runs:
            held = dict.fromkeys(free, 0)
            for i, low, high in self._overlaps(run):
                for worker in holders[self.partitions[i].key]:
                    if worker in held:
                        held[worker] += high - low
            placed.append(max(free, key=held.get))
            free.remove(placed[-1])
        return placed

    def _shard_name(self, i):
        return f"{self.name}-{i:06}"

    def shards(self):
        """The workers and the names of their shards, which are in the order of the rows."""
        return [(worker, self._shard_name(i)) for i, worker in enumerate(self.workers)]
