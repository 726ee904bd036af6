"""Intervals of one oblique tree: leave-one-out errors of its leaf models, a scale for each leaf.

Leaf models give their leave-one-out errors in closed form, e_i = (y_i - f(x_i)) / (1 - h_i).
They know nothing of the search: the splits were chosen with the sample. A split that was chosen
among thresholds, and directions, takes as much from the errors of its node's samples as a number
of further coefficients would, `search_cost`, so that errors in a leaf are larger by the factor

    1 / (1 - sum over the splits above the leaf of search_cost / (samples of the split's node))

than the leave-one-out errors say. It makes the leaf's intervals wider, and not its scores.
"""

from __future__ import annotations

import numpy as np

from fctree._intervals.conformity import MOST_SCORES, PredictsIntervals, weight_unit
from fctree._intervals.scales import Errors
from fctree._threads import count_threads
from fctree._validation import check_features, check_predictions
from fctree.oblique.parameters import chosen_directions

# Coefficients that choosing a split counts for: the threshold along one given direction, and the
# direction among several. Measured: docs/results/intervals.md.
_THRESHOLD_COST = 4.0
_DIRECTION_COST = 4.0
_LARGEST_SHARE = 0.5
_MOST_SAMPLES_PER_ERROR = 4


def samples_per_error(n_samples):
    """Number of training samples for each one whose error is found: 1 where there are few; in larger fits there are still
    more errors than scores that are kept."""
    return int(np.clip(n_samples // MOST_SCORES, 1, _MOST_SAMPLES_PER_ERROR))


def search_cost(directions):
    """Coefficients that a split counts for, by the kinds of directions that are searched."""
    searched = chosen_directions(directions) != ["ridge"]
    return _THRESHOLD_COST + _DIRECTION_COST * searched


def search_factors(tree, cost, unit):
    """Factors (n_nodes,) by which the search makes errors in a node larger than they look."""
    share = np.zeros(tree.node_count)
    for internal, children in tree._levels():
        with np.errstate(divide="ignore"):  # a node of a soft tree may be without samples
            own = cost * unit / tree.weighted_n_node_samples[internal]
        share[children] = np.tile(share[internal] + own, 2)
    return 1.0 / (1.0 - np.minimum(share, _LARGEST_SHARE))


def complete_left_out(tree, left_out, leaves, leaf, targets, weight):
    """Replace unknown leave-one-out predictions in place by the mean of the other samples.

    A model that interpolates its sample has none (NaN): of these the mean of the smallest node with other
    samples is taken. A single sample stays unknown. ``left_out`` and ``targets`` are (n_samples,
    n_outputs), ``leaf`` (n_samples,) the samples' leaves, ``leaves`` the node number of each leaf.
    """
    if np.isfinite(left_out.sum()):
        return
    rows = np.flatnonzero(np.isnan(left_out).any(axis=1))
    parent, total = tree.parents(), tree.weighted_n_node_samples
    own = np.ones(rows.size) if weight is None else weight[rows]
    node = leaves[leaf[rows]]
    while True:
        alone = (total[node] <= own * (1.0 + 1e-9)) & (parent[node] >= 0)
        if not alone.any():
            break
        node = np.where(alone, parent[node], node)
    rest = total[node] - own
    kept = rest > 1e-9 * own
    share = (own[kept] / rest[kept])[:, np.newaxis]
    mean = tree.value[node[kept], :, 0]
    left_out[rows[kept]] = mean + share * (mean - targets[rows[kept]])


class TreeIntervals(PredictsIntervals):
    """Intervals of a regressor with a `tree_`."""

    def _keep_intervals(self, targets, weight, left_out, leaf):
        """Set the scores and scales from the leaf models' leave-one-out predictions and the numbers
        of the samples' leaves, -1 of those that do not count."""
        tree = self.tree_
        counted = np.flatnonzero(leaf >= 0)
        if len(counted) < len(leaf):
            targets, left_out, leaf = targets[counted], left_out[counted], leaf[counted]
            weight = None if weight is None else weight[counted]
        leaves = np.flatnonzero(tree.leaf_index >= 0)
        leaves = leaves[np.argsort(tree.leaf_index[leaves])]
        complete_left_out(tree, left_out, leaves, leaf, targets, weight)
        errors = Errors.of(targets - left_out, weight)
        leaf_sums = np.zeros((tree.n_leaves, 1 + targets.shape[1]))
        errors.add_to(leaf_sums, leaf[:, np.newaxis])
        cost = search_cost(self._settings()["directions"])
        factors = search_factors(tree, cost, weight_unit(weight))
        self.interval_scales_ = errors.scales(leaf_sums) * errors.top * factors[leaves, np.newaxis]
        self._keep_conformity_scores(
            *errors.scores(errors.scales_without(leaf_sums, leaf[:, np.newaxis]))
        )

    def _centres_and_scales(self, X):
        X = check_features(self, X)
        n_threads = count_threads(self.n_jobs)
        centres = check_predictions(self.tree_.predict(X, n_threads=n_threads))
        leaf = self.tree_.leaf_index[self.tree_.apply(X, n_threads=n_threads)]
        return centres, self.interval_scales_[leaf]
