"""Binary trees as arrays of children, from every way in which a tree can be given."""

from __future__ import annotations

import numpy as np

from fctree.kernels.architecture import check_architecture, check_depth, nested_pairs


def binary_tree(architecture, depth, *, most_leaves):
    """Children of the splits of a tree whose splits have weights of their own.

    Splits are numbered breadth-first from 0, leaves breadth-first after them.

    Parameters
    ----------
    architecture : {"perfect", "decision_list"}, mapping, nested pairs or array of parents
        A list goes on to the right. ``{depth: number of leaves}`` is the tree with the leaves of
        each depth to the left of the splits.
    depth : int
        For names only.
    most_leaves : int

    Returns
    -------
    children : array of shape (n_splits, 2), int32
        Left and right child; no splits for a single leaf.

    Raises
    ------
    ValueError, TypeError
        If there is no such tree, or if it has more than `most_leaves` leaves.
    """
    if isinstance(architecture, (tuple, list, np.ndarray)):
        return _children(nested_pairs(architecture), _parts_of_pair, most_leaves)
    architecture = check_architecture(architecture)
    if isinstance(architecture, str):
        depth = check_depth(depth, architecture="perfect")  # a list without an end has no arrays
        if architecture not in ("perfect", "decision_list"):
            raise ValueError(
                f"architecture={architecture!r} is not a binary tree whose splits have weights of "
                f'their own: use "perfect", "decision_list" or the tree itself'
            )
        n_leaves = depth + 1 if architecture == "decision_list" else 2 ** min(depth, 64)
        if n_leaves > most_leaves:
            raise ValueError(f"depth={depth}: a tree of more than {most_leaves} leaves")
        if architecture == "perfect":
            return np.arange(1, 2 * n_leaves - 1, dtype=np.int32).reshape(-1, 2)
        architecture = {**dict.fromkeys(range(1, depth), 1), depth: 2}
    if sum(architecture.values()) > most_leaves:
        raise ValueError(f"architecture has more than {most_leaves} leaves")
    if not is_binary_tree(architecture):
        raise ValueError(f"architecture: no binary tree has these leaves at each depth: {architecture}")

    def parts(place):
        level, at = place
        first_split = architecture.get(level, 0)
        below = 2 * (at - first_split)
        return None if at < first_split else ((level + 1, below), (level + 1, below + 1))

    return _children((0, 0), parts, most_leaves)


def is_binary_tree(counts):
    """Whether a binary tree has these numbers of leaves at each depth (Kraft's equality)."""
    deepest = max(counts)
    return sum(n << (deepest - d) for d, n in counts.items()) == 1 << deepest


def _parts_of_pair(node):
    if not isinstance(node, (tuple, list)):
        return None
    if len(node) != 2:
        raise ValueError(f"a split has two parts, got {len(node)}")
    return node


def _children(root, parts, most_leaves):
    """Breadth-first from a root; ``parts(node)`` gives a split's two parts, None for a leaf."""
    splits = [] if parts(root) is None else [parts(root)]
    children, n_leaves = [], 0
    for pair in splits:  # which grows
        for child in pair:
            below = parts(child)
            if below is None:
                n_leaves += 1
                children.append(-n_leaves)
            else:
                children.append(len(splits))
                splits.append(below)
        if len(splits) >= most_leaves:
            raise ValueError(f"architecture has more than {most_leaves} leaves")
    children = np.array(children, dtype=np.int32).reshape(-1, 2)
    return np.where(children < 0, len(splits) - 1 - children, children).astype(np.int32)


def depths_of(children):
    """The number of splits above each split and each leaf."""
    depths = np.zeros(2 * len(children) + 1, dtype=np.int64)
    for split, pair in enumerate(children):
        depths[pair] = depths[split] + 1
    return depths


def paths_of(children):
    """The way to each leaf: a list of (split, goes left) for each."""
    paths = [[]] + [None] * (2 * len(children))
    for split, pair in enumerate(children.tolist()):
        for child, left in zip(pair, (True, False), strict=True):
            paths[child] = [*paths[split], (split, left)]
    return paths[len(children) :]
