"""Symmetric trees whose splits are drawn or enumerated, not fitted."""

from itertools import combinations

import numpy as np

from fctree.symmetric.trees import SymmetricTrees


def _candidates(thresholds):
    """The pooled (feature, threshold) candidates of all features."""
    counts = [len(values) for values in thresholds]
    features = np.repeat(np.arange(len(thresholds), dtype=np.int32), counts)
    return features, np.concatenate([*thresholds, np.empty(0)])


def _trees_of(chosen, features, values, depth):
    """Trees with the chosen candidates, (n_trees, levels), and leaf values 0."""
    n_trees, levels = chosen.shape
    split_feature = np.full((n_trees, depth), -1, dtype=np.int32)
    split_threshold = np.zeros((n_trees, depth))
    split_feature[:, :levels] = features[chosen]
    split_threshold[:, :levels] = values[chosen]
    missing_right = split_threshold == np.inf  # which nothing else is above
    return SymmetricTrees(
        split_feature=split_feature,
        split_threshold=split_threshold,
        missing_right=missing_right,
        split_gain=np.zeros((n_trees, depth)),
        leaf_values=np.zeros((n_trees, 2**depth, 1)),
    )


def draw_structures(thresholds, n_trees, depth, rng):
    """Trees of uniformly drawn sets of ``depth`` candidates, all where there are fewer.

    Parameters
    ----------
    thresholds : list of n_features arrays
    n_trees, depth : int
    rng : numpy.random.Generator
    """
    features, values = _candidates(thresholds)
    levels = min(depth, len(values))
    chosen = np.empty((n_trees, levels), dtype=np.intp)
    for tree in range(n_trees):
        chosen[tree] = rng.choice(len(values), size=levels, replace=False)
    return _trees_of(chosen, features, values, depth)


def enumerate_structures(thresholds, depth):
    """A tree for each set of ``depth`` candidates."""
    features, values = _candidates(thresholds)
    levels = min(depth, len(values))
    sets = list(combinations(range(len(values)), levels))
    chosen = np.array(sets, dtype=np.intp).reshape(len(sets), levels)
    return _trees_of(chosen, features, values, depth)


def leaf_weights(trees, X, sample_weight, n_threads):
    """The weight of the rows of ``X`` in each leaf, (n_trees, 2**depth)."""
    leaves = trees.apply(X, n_threads=n_threads)
    n_leaves = 2**trees.depth
    return np.stack(
        [np.bincount(leaf, weights=sample_weight, minlength=n_leaves) for leaf in leaves.T]
    )
