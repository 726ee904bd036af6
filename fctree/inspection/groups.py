"""Groups of columns, by name or index."""

from collections.abc import Iterable
from numbers import Integral

import numpy as np


def check_groups(groups, names):
    """Groups, as the user gives them, as a matrix (n_groups, n_features) bool of their columns, and their
    names.

    ``names`` are those of the columns. ValueError for a group that is empty, unknown features, a feature
    twice in a group, and no group; TypeError for columns that are neither integers nor names.
    """
    if groups is None:
        return np.eye(len(names), dtype=bool), list(names)
    if isinstance(groups, str):
        raise TypeError(f"groups must be lists of columns, got the text {groups!r}")
    if hasattr(groups, "items"):
        group_names, groups = [str(name) for name in groups], list(groups.values())
    else:
        if not isinstance(groups, Iterable):
            raise TypeError(f"groups must be a list of columns and of lists of them, or a mapping, got {groups!r}")
        group_names, groups = None, list(groups)
    if not groups:
        raise ValueError("groups is empty; use None for each feature by itself")
    members = np.zeros((len(groups), len(names)), dtype=bool)
    found_names = []
    for row, group in enumerate(groups):
        of_groups = repr(group_names[row]) if group_names else row
        columns = [group] if isinstance(group, str) or not isinstance(group, Iterable) else list(group)
        if not columns:
            raise ValueError(f"group {of_groups} of groups is empty")
        indices = [_index(column, names, of_groups) for column in columns]
        if len(set(indices)) < len(indices):
            raise ValueError(f"group {of_groups} of groups names a feature twice: {columns}")
        members[row, indices] = True
        found_names.append(" + ".join(names[index] for index in indices))
    return members, group_names or found_names


def check_disjoint(members, group_names):
    """Raise ValueError if two groups share a feature."""
    for row in range(len(members)):
        shared = (members[:row] & members[row]).any(axis=1)
        if shared.any():
            other = group_names[int(np.flatnonzero(shared)[0])]
            raise ValueError(
                f"the groups {other!r} and {group_names[row]!r} overlap; Shapley values need "
                "groups without a common feature"
            )


def _index(column, names, group):
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"group {group} of groups names {column!r}, which X does not have")
        return names.index(column)
    if isinstance(column, Integral) and not isinstance(column, (bool, np.bool_)):
        if not -len(names) <= column < len(names):
            raise ValueError(
                f"group {group} of groups names feature {column}, X has {len(names)} features"
            )
        return int(column) % len(names)
    raise TypeError(
        f"groups must hold column names or indices, got {column!r} in group {group}"
    )
