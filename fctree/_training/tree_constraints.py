"""Constraints of trees: features that predictions may only rise or fall with, and columns that a tree may combine."""

from collections.abc import Collection
from numbers import Integral

import numpy as np

from fctree._sklearn import StrOptions, check_monotonic_cst
from fctree._tables.estimators import column_names, encoded_names

INTERACTION_CONSTRAINTS = {
    "interaction_cst": [list, tuple, StrOptions({"pairwise", "no_interactions"}), None],
}
MOST_COLUMNS = {"no_interactions": 1, "pairwise": 2}


def check_monotone_constraints(estimator, *, n_outputs):
    """Monotone constraints as int8, one for each feature of the trees, or None for none."""
    if isinstance(estimator.monotonic_cst, np.ndarray) and estimator.monotonic_cst.ndim != 1:
        raise ValueError(f"monotonic_cst must have one axis, got {estimator.monotonic_cst!r}")
    monotone = check_monotonic_cst(estimator, estimator.monotonic_cst)
    encoder = getattr(estimator, "encoder_", None)
    if monotone is not None and encoder is not None:
        monotone = encoder.monotone_of_encoded(monotone, column_names(estimator))
    if monotone is None or not np.any(monotone):
        return None
    if n_outputs > 1:
        raise ValueError("monotonic_cst needs one raw score: one target, or two classes")
    return np.ascontiguousarray(monotone, dtype=np.int8)


def check_interactions(estimator):
    """The constraints as the core takes them, None where there are none.

    These are the table's column of each feature of the trees, (n_features,) int64; sets of columns as rows
    of 0 and 1, (n_sets, n_features_in_) uint8, none where all may be combined; and the most columns that a
    tree may combine, 0 for no limit. ValueError for sets of something else than indices or names of
    columns.
    """
    given = estimator.interaction_cst
    if given is None:
        return None
    n_columns = estimator.n_features_in_
    encoder = getattr(estimator, "encoder_", None)
    columns = np.arange(n_columns) if encoder is None else encoder.sources
    if isinstance(given, str):
        return columns, np.zeros((0, n_columns), dtype=np.uint8), MOST_COLUMNS[given]
    places = {name: place for place, name in enumerate(getattr(estimator, "feature_names_in_", ()))}
    sets = np.zeros((len(given), n_columns), dtype=np.uint8)
    for row, members in zip(sets, given, strict=True):
        row[_indices(members, places, n_columns)] = 1
    left = sets.sum(axis=0) == 0
    if left.any():
        sets = np.vstack([sets, left.astype(np.uint8)])
    return columns, sets, 0


def _indices(members, places, n_columns):
    """Numbers of the columns of a set."""
    if isinstance(members, str) or not isinstance(members, Collection):
        raise ValueError(
            "interaction_cst must be 'pairwise', 'no_interactions' or a list of sets of columns, got "
            f"the set {members!r}"
        )
    found = [places.get(member, member) for member in members]
    for member in found:
        if isinstance(member, bool) or not isinstance(member, Integral) or not 0 <= member < n_columns:
            raise ValueError(
                f"interaction_cst has the column {member!r}, which is no name of a column that is text and no index "
                f"from 0 to {n_columns - 1}"
            )
    return found


def check_kept_trees(model, monotone, interactions):
    """Raise ValueError where ``model.trees_`` break constraints, which are as the core takes them.

    They may have changed since the trees were grown that a warm start continues from, and a sum of trees is monotone,
    or free of interactions, only where all of them are.
    """
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
