"""Interaction constraints: which columns a tree may combine."""

from collections.abc import Collection
from numbers import Integral

import numpy as np

from fctree._sklearn import StrOptions

INTERACTION_CONSTRAINTS = {
    "interaction_cst": [list, tuple, StrOptions({"pairwise", "no_interactions"}), None],
}
MOST_COLUMNS = {"no_interactions": 1, "pairwise": 2}


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
    names = list(getattr(estimator, "feature_names_in_", ()))
    sets = np.zeros((len(given), n_columns), dtype=np.uint8)
    for row, members in zip(sets, given, strict=True):
        row[_indices(members, names, n_columns)] = 1
    left = sets.sum(axis=0) == 0
    if left.any():
        sets = np.vstack([sets, left.astype(np.uint8)])
    return columns, sets, 0


def _indices(members, names, n_columns):
    """Numbers of the columns of a set."""
    if isinstance(members, str) or not isinstance(members, Collection):
        raise ValueError(
            "interaction_cst must be 'pairwise', 'no_interactions' or a list of sets of columns, got "
            f"the set {members!r}"
        )
    found = [names.index(member) if member in names else member for member in members]
    for member in found:
        if isinstance(member, bool) or not isinstance(member, Integral) or not 0 <= member < n_columns:
            raise ValueError(
                f"interaction_cst has the column {member!r}, which is no name of a column and no index "
                f"from 0 to {n_columns - 1}"
            )
    return found
