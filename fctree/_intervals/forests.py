"""Intervals of a forest: out-of-bag errors, and scales averaged over the trees' leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from fctree._intervals.conformity import PredictsIntervals
from fctree._intervals.scales import Errors
from fctree._threads import count_threads
from fctree._validation import check_features

_BLOCK_ENTRIES = 1 << 22  # of the leaves that are in memory at a time


class ForestIntervals(PredictsIntervals):
    """Intervals of a regressor with many `trees_`."""

    _mean_of_trees: Any

    def _keep_intervals(self, samples, left_out):
        """Set the scores and scales from out-of-bag predictions, NaN where there are none."""
        X, targets = samples.X, samples.targets
        errors = Errors.of(targets - left_out, samples.weight)
        n_leaves = self.trees_.leaf_offsets[-1]
        leaf_sums = np.zeros((n_leaves, 1 + targets.shape[1]))
        blocks, n_threads = self._leaves(X), count_threads(self.n_jobs)
        if len(X) * self.trees_.n_trees <= _BLOCK_ENTRIES:
            blocks = list(blocks)
        for rows, leaf in blocks:
            errors.add_to(leaf_sums, leaf, rows, n_threads=n_threads)
        own = np.empty_like(targets)
        for rows, leaf in blocks if isinstance(blocks, list) else self._leaves(X):
            own[rows] = errors.scales_without(leaf_sums, leaf, rows, n_threads=n_threads)
        self.interval_scales_ = errors.scales(leaf_sums) * errors.top
        self._keep_conformity_scores(*errors.scores(own))

    def _leaves(self, X):
        """Blocks of samples, and the leaves that they are in, (n_rows, n_trees), numbered over all
        trees."""
        trees, n_threads = self.trees_, count_threads(self.n_jobs)
        size = max(1, _BLOCK_ENTRIES // trees.n_trees)
        for first in range(0, len(X), size):
            rows = slice(first, first + size)
            yield rows, trees._leaf_numbers(X[rows], n_threads=n_threads)

    def _centres_and_scales(self, X):
        X = check_features(self, X)
        centres = self._mean_of_trees(X)
        scales = np.empty_like(centres)
        for rows, leaf in self._leaves(X):
            scales[rows] = self.interval_scales_[leaf].mean(axis=1)
        return centres, scales
