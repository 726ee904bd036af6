"""The tangent kernel of finite ensembles."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from fctree._native import matrix as _native
from fctree._threads import count_threads
from fctree._typing import ArrayLike, FloatArray, RandomState
from fctree.kernels.architecture import (
    check_architecture,
    check_counts,
    check_depth,
    check_scale,
)
from fctree.kernels.binary_tree import binary_tree, depths_of, is_binary_tree, paths_of
from fctree.kernels.checks import allocate_gram, check_kernel_samples, warn_if_not_finite

# Trees with more leaves, or with more splits on the ways to them, do not come from a depth by accident.
_MOST_LEAVES = 2**16
_MOST_STEPS = 10**7


def empirical_tree_ntk(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    n_trees: int,
    depth: int = 3,
    scale: float = 2.0,
    architecture: str | Mapping[int, int] = "perfect",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Neural tangent kernel of finitely many soft trees at random initialisation.

    Split and leaf weights are standard normal; the ensemble is the sum of its trees divided by
    ``sqrt(n_trees)``. The kernel converges to `tree_ntk` with an error of order ``1 / sqrt(n_trees)``.

    Parameters
    ----------
    X : array-like of shape (n_x, n_features)
        Samples.
    Y : array-like of shape (n_y, n_features), default=None
        ``X`` itself if None.
    n_trees : int
        Number of trees.
    depth : int, default=3
        Unused if `architecture` is a mapping or a tree.
    scale : float, default=2.0
        Hardness of the splits, as in `tree_ntk`.
    architecture : str, mapping, nested tuples or array of parents, default="perfect"
        A name as in `tree_ntk` (oblivious trees share the split weights of a level);
        ``{depth: number of leaves}``, as a binary tree if one exists, else as separate rules; or an
        explicit tree (see `leaf_counts`).
    random_state : int, RandomState instance or None, default=None
        Seed of the weights.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.

    Returns
    -------
    K : array of shape (n_x, n_y)
        float32 if X and Y are, else float64.

    Raises
    ------
    ValueError, TypeError
        For invalid samples or parameters, and trees with more than 65,536 leaves, or with more than ten million
        splits on the ways to all leaves.
    MemoryError
        If the matrix cannot fit in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import empirical_tree_ntk, tree_ntk
    >>> X = np.array([[1.0, 0.0], [0.6, 0.8]])
    >>> K = empirical_tree_ntk(X, n_trees=20_000, random_state=0)
    >>> bool(np.abs(K / tree_ntk(X) - 1).max() < 0.05)
    True
    """
    if isinstance(n_trees, bool) or not isinstance(n_trees, Integral):
        raise TypeError(f"n_trees must be an integer, got {n_trees!r}")
    if n_trees < 1:
        raise ValueError(f"n_trees must be at least 1, got {n_trees}")
    scale = check_scale(scale)
    leaves = leaf_paths(architecture, depth)
    n_parameters = 1 + max((p for path in leaves for p, _ in path), default=-1)
    X, Y = check_kernel_samples(X, Y)
    dtype = X.dtype
    X, Y = X.astype(np.float64), None if Y is None else Y.astype(np.float64)
    random_state = check_random_state(random_state)
    split_weights = random_state.standard_normal((n_trees, n_parameters, X.shape[1]))
    leaf_weights = random_state.standard_normal((n_trees, len(leaves)))
    paths = _native.LeafPaths(
        path_start=np.cumsum([0] + [len(path) for path in leaves]).tolist(),
        path_parameter=[p for path in leaves for p, _ in path],
        path_left=[int(left) for path in leaves for _, left in path],
        n_parameters=n_parameters,
    )
    out = allocate_gram((len(X), len(X if Y is None else Y)), X.dtype, None, (X, Y))
    _native.empirical(
        paths, split_weights, leaf_weights, X, Y, scale, out, count_threads(n_jobs)
    )
    warn_if_not_finite("the kernel is", out)
    return out.astype(dtype, copy=False)


def leaf_paths(architecture, depth):
    """The way to each leaf: a list of (parameter, goes left) for each."""
    if isinstance(architecture, (tuple, list, np.ndarray)):
        return _paths_of_splits(architecture, None)
    if isinstance(architecture, Mapping):
        return _paths_of_counts(check_counts(architecture))
    architecture = check_architecture(architecture)
    depth = check_depth(depth, architecture=architecture)
    if depth == np.inf:
        raise ValueError("depth=inf: an ensemble of finite trees has a finite depth")
    if architecture == "rule_set":
        _check_steps(depth)
        return [[(k, True) for k in range(depth)]]
    if architecture == "oblivious":
        if 2**depth > _MOST_LEAVES:
            raise ValueError(f"depth={depth}: a tree of more than {_MOST_LEAVES} leaves")
        levels = range(depth)
        return [[(k, not leaf >> (depth - 1 - k) & 1) for k in levels] for leaf in range(2**depth)]
    return _paths_of_splits(architecture, depth)


def _check_steps(n_steps):
    if n_steps > _MOST_STEPS:
        raise ValueError(f"the ways to the leaves have {n_steps:,} splits, more than {_MOST_STEPS:,}")


def _paths_of_splits(architecture, depth):
    children = binary_tree(architecture, depth, most_leaves=_MOST_LEAVES)
    _check_steps(depths_of(children)[len(children) :].sum())
    return paths_of(children)


def _paths_of_counts(counts):
    """A binary tree with these leaves, or one rule per leaf if there is none."""
    if sum(counts.values()) > _MOST_LEAVES:
        raise ValueError(f"architecture has more than {_MOST_LEAVES} leaves")
    if not is_binary_tree(counts):
        _check_steps(sum(d * n for d, n in counts.items()))
        lengths = [d for d, n in counts.items() for _ in range(n)]
        starts = np.cumsum([0, *lengths])
        return [
            [(int(start) + k, True) for k in range(length)]
            for start, length in zip(starts[:-1], lengths, strict=True)
        ]
    return _paths_of_splits(counts, None)
