"""Whether trees that a warm start continues from obey the constraints of today.

The parameters may have changed since those trees were grown, and a sum of trees is monotone, or free of
interactions, only where all of them are.
"""

import numpy as np

from fctree._tables.estimators import column_names, encoded_names


def check_kept_trees(model, monotone, interactions):
    """ValueError where ``model.trees_`` break constraints, which are as the core takes them."""
    remedy = "keep the value that they were grown with, or fit anew with warm_start=False"
    trees = model.trees_
    for feature in () if monotone is None else np.flatnonzero(monotone):
        if not _is_monotone(trees, feature, monotone[feature]):
            names = encoded_names(model)
            name = column_names(model)[feature] if names is None else names[feature]
            raise ValueError(
                f"monotonic_cst: the trees that warm_start=True continues from are not monotone in {name!r}: "
                f"{remedy}"
            )
    if interactions is not None and not all(
        _may_combine(split_feature, *interactions) for split_feature in trees.split_feature
    ):
        raise ValueError(
            "interaction_cst: the trees that warm_start=True continues from combine other columns: "
            f"{remedy}"
        )


def _is_monotone(trees, feature, direction):
    """Whether leaves never fall (direction 1) or rise (-1) along a feature, in each tree of one output.

    Leaves of missing values, which no direction binds, are left out.
    """
    of_feature = trees.split_feature == feature
    chosen = of_feature.any(axis=1)
    of_feature, thresholds = of_feature[chosen], trees.split_threshold[chosen]
    values = trees.leaf_values[chosen, :, 0]
    bits = 1 << np.arange(trees.depth)[::-1]
    others = np.arange(values.shape[1]) & ~(of_feature @ bits)[:, np.newaxis]
    thresholds = np.where(of_feature, thresholds, np.inf)
    below = np.take_along_axis(values, others, axis=1)
    for last in np.sort(thresholds, axis=1).T:  # of each tree the next threshold is passed
        passed = (np.isfinite(thresholds) & (thresholds <= last[:, np.newaxis])) @ bits
        above = np.take_along_axis(values, others | passed[:, np.newaxis], axis=1)
        if np.any(direction * (above - below) < 0.0):
            return False
        below = above
    return True


def _may_combine(split_feature, columns, sets, most):
    """Whether a tree splits no more columns than ``most``, 0 for any, and those of one set, if there are some."""
    used = np.unique(columns[split_feature[split_feature >= 0]])
    if most and len(used) > most:
        return False
    return len(sets) == 0 or bool(sets[:, used].all(axis=1).any())
