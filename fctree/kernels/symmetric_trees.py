"""The stationary kernel of gradient boosting with symmetric trees."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from numbers import Integral

import numpy as np
from sklearn.utils import check_array

from fctree._memory import check_memory
from fctree._native import symmetric as _native
from fctree._native_input import strided_in_elements
from fctree._sklearn import Interval, validate_params
from fctree._tables.frames import check_frame, without_mask
from fctree._threads import count_threads
from fctree._typing import ArrayLike, FloatArray, RandomState
from fctree._validation import draw_seed
from fctree.symmetric.structures import draw_structures, enumerate_structures, leaf_weights

_TREES_AT_ONCE = 512  # leaves of all rows are held for as many trees


def _leaves(trees, X, n_threads):
    leaves = trees.apply(X, n_threads=n_threads)
    return np.ascontiguousarray(leaves.T, dtype=np.uint16)


@validate_params({
    "bin_thresholds": ["array-like"],
    "depth": [Interval(Integral, 1, 16, closed="both")],
    "n_trees": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
})
def symmetric_tree_kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    bin_thresholds: Sequence[ArrayLike],
    depth: int = 6,
    n_trees: int = 1000,
    X_train: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> FloatArray:
    """Kernel of boosting with symmetric trees and strong noise.

    A tree of ``depth`` candidate splits partitions the space into leaves and has the weak-learner
    kernel ``k(x, x') = sum_j n / max(n_j, 1) 1[x in j] 1[x' in j]``, with n_j of the n training
    samples in leaf j. The stationary kernel is its mean over all sets of ``depth`` candidates,
    each equally likely [1]_. Boosting converges to kernel ridge regression with this kernel and
    penalty lambda if ``score_noise="gumbel"``, `random_strength` is large, ``l2_leaf_reg=0``, steps are
    small, and the model is multiplied by ``1 - learning_rate * lambda / n`` before each step.

    Parameters
    ----------
    X : array-like of shape (n_x, n_features)
        Samples; NaN is on the lower side of every threshold except infinity.
    Y : array-like of shape (n_y, n_features), default=None
        None means `X`.
    bin_thresholds : list of n_features array-likes
        Thresholds of each feature, as in ``bin_thresholds_`` of a fitted model.
    depth : int, default=6
        Number of splits of a tree, or of candidates if there are fewer.
    n_trees : int, default=1000
        Number of sets to draw. If there are no more sets, all are enumerated and the kernel is exact.
    X_train : array-like of shape (n, n_features), default=None
        Training samples that n_j counts; None means `Y`, or `X` if `Y` is None.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn sets.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.

    Returns
    -------
    K : ndarray of shape (n_x, n_y)
        float32 if X and Y are, else float64. On the training samples it is symmetric and positive
        semi-definite, with trace at most ``n 2^depth`` and largest eigenvalue n.

    Raises
    ------
    ValueError
        For inconsistent shapes, or if there are no candidate splits.
    MemoryError
        If the matrix cannot fit in memory.

    References
    ----------
    .. [1] Ustimenko, Beliakov and Prokhorenkova, "Gradient boosting performs Gaussian process
       inference", ICLR 2023, definitions 3.4 and 3.6.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree.kernels import symmetric_tree_kernel
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> symmetric_tree_kernel(X, bin_thresholds=[[0.5]], depth=1)
    array([[3. , 0. , 0. ],
           [0. , 1.5, 1.5],
           [0. , 1.5, 1.5]])
    """
    accept = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, "order": "C"}

    def checked(samples, name):
        return strided_in_elements(check_array(without_mask(check_frame(samples)), **accept, input_name=name))

    X = checked(X, "X")
    Y = X if Y is None else checked(Y, "Y")
    X_train = Y if X_train is None else checked(X_train, "X_train")
    thresholds = [np.asarray(values, dtype=np.float64) for values in bin_thresholds]
    if any(values.ndim != 1 for values in thresholds):
        raise ValueError("bin_thresholds must be a list of the thresholds of each feature, such as [[0.5, 1.5], []]")
    thresholds = [np.sort(values) for values in thresholds]
    for name, array in (("X", X), ("Y", Y), ("X_train", X_train)):
        if array.shape[1] != len(thresholds):
            raise ValueError(
                f"{name} has {array.shape[1]} features, but bin_thresholds has {len(thresholds)}"
            )
    n_candidates = sum(map(len, thresholds))
    if n_candidates == 0:
        raise ValueError("bin_thresholds has no threshold for any feature")

    if comb(n_candidates, min(depth, n_candidates)) <= n_trees:
        trees = enumerate_structures(thresholds, depth)
    else:
        trees = draw_structures(thresholds, n_trees, depth, np.random.default_rng(draw_seed(random_state)))
    n_threads = count_threads(n_jobs)
    check_memory("the kernel's matrix", (len(X), len(Y)), np.float64, "compute it for some rows of X at a time")
    kernel = np.zeros((len(X), len(Y)))
    for begin in range(0, trees.n_trees, _TREES_AT_ONCE):
        some = trees[begin : begin + _TREES_AT_ONCE]
        counts = leaf_weights(some, X_train, None, n_threads)
        weights = len(X_train) / np.maximum(counts, 1.0) / trees.n_trees
        leaves_x = _leaves(some, X, n_threads)
        leaves_y = leaves_x if Y is X else _leaves(some, Y, n_threads)
        _native.add_leaf_kernel(leaves_x, leaves_y, weights, kernel, n_threads)
    return kernel.astype(np.result_type(X, Y), copy=False)
