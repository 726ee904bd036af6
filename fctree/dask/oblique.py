"""Boosting of oblique trees on Dask collections."""

from dataclasses import dataclass

import numpy as np

from fctree._training.samples import Samples
from fctree.dask.boosting_base import DaskBoosting, TargetEncoder
from fctree.dask.checks import check_features_part
from fctree.dask.cluster import settle, workers_of
from fctree.dask.partitions import Partition, join_partitions
from fctree.dask.prediction import PredictsClasses, PredictsTargets
from fctree.dask.row_blocks import Run, cut_into_runs
from fctree.ensembles import CurvatureBoostingClassifier, CurvatureBoostingRegressor

# Rows that one worker looks for thresholds in: all, of no more.
_SAMPLE_ROWS = 65_536


def sample_rows(n_rows, seed):
    """Numbers of the rows that thresholds are looked for in: one of each of many stretches."""
    if n_rows <= _SAMPLE_ROWS:
        return np.arange(n_rows)
    bounds = n_rows * np.arange(_SAMPLE_ROWS + 1) // _SAMPLE_ROWS
    return np.random.default_rng(seed).integers(bounds[:-1], bounds[1:])


class _DaskObliqueBoosting(DaskBoosting):
    """Fitting on Dask collections; subclasses are plain estimators too."""

    _imputes = True

    def _training_rows(self, client, partitions, sizes, encode):
        lengths, weight = sizes
        return BlockedRows(partitions, lengths, encode, sample_rows(sum(lengths), self._random_seed), weight)

    def _evaluation_rows(self, partitions, lengths, encode):
        return BlockedRows(partitions, lengths, encode, np.arange(0))


@dataclass
class BlockedSamples(Samples):
    """Samples of one worker: a run of blocks of rows."""

    run: Run
    sample: np.ndarray  # rows that thresholds are looked for in, numbered here
    n_rows: int  # of all workers
    weight_of_rows: float

    @property
    def n_samples(self):
        return self.n_rows

    @property
    def total_weight(self):
        return self.weight_of_rows

    @property
    def blocks(self):
        """The blocks as the core takes them."""
        return self.run.native

    def none(self):
        """No samples of the same kind."""
        return BlockedSamples(self.X[:0], self.y[:, :0], None, None, self.run.none(), [], 0, 0.0)


@dataclass
class BlockedLayout:
    """The parts that make samples of partitions: the encoder of targets, the run, the sample, the number and weight of all rows."""

    encode: TargetEncoder
    run: Run
    sample: np.ndarray
    n_rows: int
    weight_of_rows: float

    def samples(self, parts):
        rows = join_partitions(parts)
        y = np.ascontiguousarray(self.encode(rows.y))
        return BlockedSamples(
            check_features_part(rows.X), y, rows.weight, None, self.run, self.sample, self.n_rows, self.weight_of_rows
        )


class BlockedRows:
    """Partitions whose rows move to workers in runs of blocks; `sample` are rows that thresholds
    come from."""

    def __init__(self, partitions, lengths, encode, sample, total_weight=0.0):
        self.partitions = partitions
        self.begins = np.cumsum([0, *lengths])
        self.encode = encode
        self.sample = sample
        self.total_weight = total_weight

    def place(self, client, workers):
        """``(parts, layout)`` of each worker that has any, of these workers or of all."""
        settle(client, self.partitions)  # those that were lost are computed again
        workers = workers_of(client) if workers is None else workers
        n_rows = int(self.begins[-1])
        runs = cut_into_runs(n_rows, len(workers))
        placed = {}
        for worker, run in zip(self._assign(client, runs, workers), runs, strict=True):
            first, last = run.rows(n_rows)
            inside = self.sample[(self.sample >= first) & (self.sample < last)] - first
            parts = [self._part(client, *of) for of in self._overlaps(run)]
            placed[worker] = (parts, BlockedLayout(self.encode, run, inside, n_rows, self.total_weight))
        return placed

    def _overlaps(self, run):
        """Partitions with rows of a run: their number, and the first and last of those rows."""
        first, last = run.rows(int(self.begins[-1]))
        found = []
        for i, (begin, end) in enumerate(zip(self.begins[:-1], self.begins[1:], strict=True)):
            low, high = max(first, begin), min(last, end)
            if low < high:
                found.append((i, int(low - begin), int(high - begin)))
        return found

    def _part(self, client, i, low, high):
        """Rows of a partition; where it is, unless they are all."""
        if high - low == self.begins[i + 1] - self.begins[i]:
            return self.partitions[i]
        return client.submit(_cut, self.partitions[i], low, high, pure=False)

    def _assign(self, client, runs, workers):
        """A worker for each run: one that has much of it already. Runs of training rows are in
        the order of `workers` then, which is that of the places of the fit."""
        holders = client.who_has(self.partitions)
        free, placed = list(workers), []
        for run in runs:
            held = dict.fromkeys(free, 0)
            for i, low, high in self._overlaps(run):
                for worker in holders[self.partitions[i].key]:
                    if worker in held:
                        held[worker] += high - low
            placed.append(max(free, key=held.get))
            free.remove(placed[-1])
        return placed


def _cut(partition, first, last):
    """Some rows of a partition."""
    weight = None if partition.weight is None else partition.weight[first:last]
    return Partition(partition.X[first:last], partition.y[first:last], weight)


class DaskCurvatureBoostingRegressor(PredictsTargets, _DaskObliqueBoosting, CurvatureBoostingRegressor):
    """`CurvatureBoostingRegressor` on Dask collections.

    The data stay on the workers. A level of a tree is grown from sums over the rows of its nodes, joined in
    an order that does not depend on where the rows are: the model is identical for any partitions and any
    number of workers. It is that of `CurvatureBoostingRegressor` up to rounding if the candidate cuts are
    the same. These come from a sample of 65,536 rows (or all, if fewer), and step trees use at most 256
    histogram bins per feature.

    Parameters and attributes are those of `CurvatureBoostingRegressor`; `fit` says which are not
    supported. Threads are the workers' (``nthreads``), whatever `n_jobs` is.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskCurvatureBoostingRegressor
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...     model = DaskCurvatureBoostingRegressor(max_iter=3).fit(X, X[:, 0] ** 2)
    ...     predictions = model.predict(X).compute()
    >>> predictions.shape
    (1000,)
    """

    _local_class = CurvatureBoostingRegressor


class DaskCurvatureBoostingClassifier(PredictsClasses, _DaskObliqueBoosting, CurvatureBoostingClassifier):
    """`CurvatureBoostingClassifier` on Dask collections.

    The data stay on the workers. A level of a tree is grown from sums over the rows of its nodes, joined in
    an order that does not depend on where the rows are: the model is identical for any partitions and any
    number of workers. It is that of `CurvatureBoostingClassifier` up to rounding if the candidate cuts,
    which come from a sample of 65,536 rows, are the same.

    Parameters and attributes are those of `CurvatureBoostingClassifier`; `fit` says which are not
    supported. Threads are the workers' (``nthreads``), whatever `n_jobs` is.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from fctree.dask import DaskCurvatureBoostingClassifier
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(250, 4))
    ...     y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ...     model = DaskCurvatureBoostingClassifier(max_iter=3).fit(X, y)
    ...     probabilities = model.predict_proba(X).compute()
    >>> probabilities.shape
    (1000, 2)
    """

    _local_class = CurvatureBoostingClassifier
