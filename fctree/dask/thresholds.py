"""Candidate thresholds of features whose rows lie in partitions.

The summary of a partition is its rows of the sample that quantiles are taken of (all rows, if there
are few) and, beyond, its distinct values while they are few. Summaries merge by concatenation
and union, so the thresholds are those of all rows in one place, to the bit.
"""

import numpy as np

from fctree._native import symmetric as _native
from fctree.dask.cluster import threads_here

# Columns that one task finds thresholds for: a worker's share, within
# what many partitions make of tasks and what a worker's memory holds.
_LEAST_FEATURES = 8
_MOST_FEATURES = 64


def _summarise(partition, begin, n_rows, columns, rules):
    """``(sampled rows, their weights, few values)`` of some columns."""
    rows = _native.quantile_rows(n_rows, rules["seed"])
    inside = (rows >= begin) & (rows < begin + len(partition))
    local = rows[inside] - begin
    X = partition.X[:, columns]
    weight = None if partition.weight is None else partition.weight[local]
    few = None
    if len(rows) < n_rows:
        few = _native.few_values(X, rules["max_bins"])
    return np.asfortranarray(X[local], dtype=np.float64), weight, few


def _merge_few(parts, max_bins):
    """The distinct values of all parts, NaN last, or None where they are too many."""
    if any(values is None for values in parts):
        return None
    values = np.unique(np.concatenate(parts))
    return None if np.count_nonzero(~np.isnan(values)) > max_bins else values


def _merge(summaries, rules):
    """Thresholds of the columns that these summaries, in the order of the rows, are of."""
    X = np.concatenate([rows for rows, _, _ in summaries])
    weight = None
    if summaries[0][1] is not None:
        weight = np.concatenate([weights for _, weights, _ in summaries])
    found = _thresholds(X, weight, rules)
    if summaries[0][2] is not None:
        for column in range(X.shape[1]):
            few = _merge_few([few[column] for _, _, few in summaries], rules["max_bins"])
            if few is not None:
                found[column] = _thresholds(few[:, np.newaxis], None, rules)[0]
    return found


def _thresholds(X, weight, rules):
    return _native.find_thresholds(X, weight, n_threads=threads_here(), **rules)


def find_thresholds(client, partitions, lengths, n_features, rules):
    """A future of each block's thresholds: lists of arrays, in the order of the features.

    `partitions` are futures of the rows, `lengths` their numbers; `rules` are ``max_bins`` and
    ``seed``.
    """
    begins = np.cumsum([0, *lengths])
    n_rows = int(begins[-1])
    share = -(-n_features // max(1, len(client.nthreads())))
    width = min(max(share, _LEAST_FEATURES), _MOST_FEATURES)
    futures = []
    for first in range(0, n_features, width):
        columns = slice(first, min(first + width, n_features))
        summaries = [
            client.submit(_summarise, part, int(begin), n_rows, columns, rules, pure=False)
            for part, begin, n in zip(partitions, begins, lengths, strict=False)
            if n > 0
        ]
        futures.append(client.submit(_merge, summaries, rules, pure=False))
    return futures
