"""Tree architectures, reduced to what determines the kernel: the number of leaves at each depth.

Theorem 3 of Kanoh and Sugiyama (2023): these numbers determine the kernel of an infinite ensemble.
The core takes these numbers as q_d = Q(d) / 2^d, which sum to 1 in
any binary tree and so never overflow.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from fctree._native import matrix as _native

_DEEPEST = 2**31 - 1
_DEEPEST_COUNTED = 2**16  # leaf counts take memory and time in proportion
_LARGEST_EXPONENT = 1023  # of a float64
ARCHITECTURES = ("perfect", "oblivious", "decision_list", "rule_set")


def leaf_counts(tree: Any) -> dict[int, int]:
    """Count the leaves at each depth of a binary tree.

    Two trees with the same counts have the same tree neural tangent kernel, whatever their
    shape (Kanoh and Sugiyama 2023, corollary 1).

    Parameters
    ----------
    tree : nested tuples, array of parents, or object with a fitted tree
        Nested tuples or lists such as ``((0, 0), (0, (0, 0)))``: a pair is a split with its left and right
        subtree, anything else a leaf. Or the parent of each node as integers: -1 for the root, which comes
        first; parents precede their two children, of which the first is the left one. Or an object with
        arrays ``children_left`` and ``children_right`` (scikit-learn's ``tree_``, fctree's
        ``ObliqueTree``), or an estimator with such a ``tree_``.

    Returns
    -------
    counts : dict of int to int
        ``{depth: number of leaves}`` by increasing depth, the root having depth 0; an ``architecture`` for
        `tree_ntk`.

    Raises
    ------
    ValueError
        If a split does not have two subtrees, or a list contains itself.
    TypeError
        For estimators without a fitted tree, mappings, text and None.

    Examples
    --------
    >>> from fctree.kernels import leaf_counts
    >>> leaf_counts((("a", "b"), "c"))
    {1: 1, 2: 2}
    >>> leaf_counts([-1, 0, 0, 1, 1])
    {1: 1, 2: 2}
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> leaf_counts(DecisionTreeClassifier(max_depth=2).fit(X, y))
    {1: 1, 2: 2}
    """
    arrays = getattr(tree, "tree_", tree)
    if hasattr(arrays, "children_left") and hasattr(arrays, "children_right"):
        return _counts_of_arrays(arrays.children_left, arrays.children_right)
    if hasattr(tree, "fit") or isinstance(tree, Mapping):
        raise TypeError(f"no tree: {tree!r} has no tree_; of an ensemble pass one fitted tree")
    if tree is None or isinstance(tree, (str, bytes)):
        raise TypeError(f"no tree: {tree!r}")
    counts: Counter[int] = Counter()
    waiting = [(nested_pairs(tree), 0)]
    while waiting:
        node, depth = waiting.pop()
        if not isinstance(node, (tuple, list)):
            counts[depth] += 1
            continue
        if len(node) != 2:
            raise ValueError(f"a split has two parts, got {len(node)} in {node!r}")
        waiting += [(part, depth + 1) for part in node]
    return dict(sorted(counts.items()))


def nested_pairs(tree: Any) -> Any:
    """Nested pairs from an array of parents; anything else as it is, but ValueError for a list that
    contains itself."""
    if not isinstance(tree, np.ndarray):
        if not isinstance(tree, (tuple, list)) or len(tree) == 0:
            return tree
        if not all(isinstance(parent, Integral) for parent in tree) or tree[0] != -1:
            _refuse_cycles(tree)
            return tree
    parents = np.asarray(tree)
    if parents.ndim != 1 or len(parents) == 0 or parents.dtype.kind not in "iu":
        raise ValueError("parents must be integers, one for each node")
    parents = parents.tolist()
    if parents[0] != -1 or any(not 0 <= p < node for node, p in enumerate(parents[1:], 1)):
        raise ValueError("parents must be -1 for the first node, and earlier nodes for all others")
    for parent, n_children in Counter(parents[1:]).items():
        if n_children != 2:
            raise ValueError(f"a split has two parts, got {n_children} nodes with parent {parent}")
    parts: dict[int, list] = {parent: [] for parent in parents}
    for node, parent in enumerate(parents):
        parts[parent].append(parts.get(node, 0))
    return parts[-1][0]


def _refuse_cycles(tree):
    """Raise ValueError for a list that contains itself: walking it would not end."""
    is_open: dict[int, bool] = {}
    waiting = [(tree, True)]
    while waiting:
        node, enters = waiting.pop()
        if not isinstance(node, (tuple, list)):
            continue
        known = is_open.get(id(node))
        if enters and known:
            raise ValueError("no tree: a list contains itself")
        if enters and known is None:
            waiting.append((node, False))
            waiting += [(part, True) for part in node]
        is_open[id(node)] = enters and known is None


def _counts_of_arrays(children_left, children_right):
    counts = Counter()
    waiting = [(0, 0)]
    n_seen = 0
    while waiting:
        node, depth = waiting.pop()
        n_seen += 1
        if n_seen > len(children_left) or not 0 <= node < len(children_left):
            raise ValueError("children_left and children_right are not those of a tree")
        left, right = int(children_left[node]), int(children_right[node])
        if left < 0:
            counts[depth] += 1
        else:
            waiting += [(left, depth + 1), (right, depth + 1)]
    return dict(sorted(counts.items()))


def check_depth(depth, *, architecture):
    """``depth`` as an int, or as inf for a decision list."""
    if isinstance(depth, Real) and math.isinf(depth) and depth > 0:
        if architecture == "decision_list":
            return math.inf
        raise ValueError(
            f"depth=inf is for architecture='decision_list' only, got architecture={architecture!r}"
        )
    if isinstance(depth, np.floating) and depth.is_integer():  # of an array that has inf too
        depth = int(depth)
    if isinstance(depth, (bool, np.bool_)) or not isinstance(depth, Integral):
        raise TypeError(f"depth must be an integer, at least 1, or inf; got {depth!r}")
    if not 1 <= depth <= _DEEPEST:
        raise ValueError(f"depth must be from 1 to {_DEEPEST}, got {depth}")
    return int(depth)


def check_scale(scale):
    """``scale`` as a positive, finite float."""
    if isinstance(scale, (bool, np.bool_)) or not isinstance(scale, Real):
        raise TypeError(f"scale must be a number, got {scale!r}")
    try:
        scale = float(scale)
    except OverflowError:  # of 10**400, which is no float64
        scale = math.inf
    if not 0 < scale < math.inf:
        raise ValueError(f"scale must be positive and finite, got {scale}")
    return scale


def check_counts(counts):
    """A mapping of depths to numbers of leaves as ``{int: int}``; empty depths dropped."""
    checked = {}
    for depth, n_leaves in counts.items():
        for name, value in (("depth", depth), ("number of leaves", n_leaves)):
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
                raise TypeError(f"architecture: a {name} must be an integer, got {value!r}")
            if value < 0:
                raise ValueError(f"architecture: a {name} must not be negative, got {value}")
        if depth > _DEEPEST_COUNTED:
            raise ValueError(f"architecture: a depth must be at most {_DEEPEST_COUNTED}, got {depth}")
        if int(n_leaves).bit_length() - depth > _LARGEST_EXPONENT:
            raise ValueError(f"architecture: the leaves at depth {depth} are too many for float64")
        if n_leaves:
            checked[int(depth)] = int(n_leaves)
    if not checked:
        raise ValueError("architecture has no leaves")
    return checked


def check_architecture(architecture):
    """A known name, or checked leaf counts."""
    if isinstance(architecture, Mapping):
        return check_counts(architecture)
    if not isinstance(architecture, str):
        raise TypeError(
            f"architecture must be one of {ARCHITECTURES} or a mapping of depths to numbers of "
            f"leaves, got {type(architecture).__name__}"
        )
    if architecture not in ARCHITECTURES:
        raise ValueError(
            f"architecture must be one of {ARCHITECTURES} or a mapping of depths to numbers of "
            f"leaves, got {architecture!r}"
        )
    return architecture


def kernel_spec(depth, architecture, *, derivative="none"):
    """Arguments of the core for an architecture; ``depth`` is unused for leaf counts.

    ``derivative``: "none", "log_scale", or "cosine", the product of two normalised samples.
    """
    architecture = check_architecture(architecture)
    if isinstance(architecture, dict):
        coefficients = np.zeros(max(max(architecture), 1) + 1)
        for d, n_leaves in architecture.items():
            coefficients[d] = float(Fraction(n_leaves, 2**d))
        return _native.KernelSpec(
            "leaf_counts", coefficients=coefficients.tolist(), derivative=derivative
        )
    depth = check_depth(depth, architecture=architecture)
    if architecture == "decision_list":
        if math.isinf(depth):
            return _native.KernelSpec("endless_list", derivative=derivative)
        return _native.KernelSpec("decision_list", depth=depth, derivative=derivative)
    weight = math.ldexp(1.0, -depth) if architecture == "rule_set" else 1.0
    return _native.KernelSpec("power", depth=depth, weight=weight, derivative=derivative)
