"""Split directions of few features, word by word: the twin of `max_coef`.

Features leave one by one (an eighth of many), the one whose coefficient times standard
deviation is least, and the direction is found anew without them. The fast trees solve on rows
and columns of the node's moments; here a ridge is a constrained one in the concatenated
columns, and a curvature direction a generalised eigenvector.
"""

import numpy as np
from scipy import linalg


def eliminate(direction, variance, max_coef, solve, first_step=None):
    """(direction with at most `max_coef` coefficients, margin).

    `solve(features, direction)` gives the direction (d,) on some features that follows;
    `first_step` is a number of features that are kept at first. The margin says how close,
    relative to itself, the importance of a feature that left was to that of one that stayed.
    """
    margin = np.inf
    while (count := np.count_nonzero(direction)) > max_coef:
        features = np.flatnonzero(direction)
        importance = direction[features] ** 2 * variance[features]
        order = np.argsort(importance)
        n_leaving = min(count - max_coef, max(1, count // 8))
        if first_step is not None:
            n_leaving, first_step = max(count - first_step, 0), None
            if n_leaving == 0:
                continue
        least_kept = importance[order[n_leaving]]
        margin = min(margin, 1 - importance[order[n_leaving - 1]] / least_kept)
        direction = solve(np.sort(features[order[n_leaving:]]), direction)
    return direction, margin


def constrained_ridge(B, features, fit):
    """A ridge in concatenated columns whose effective direction `B a` is zero elsewhere.

    `fit(N)` solves it in the columns Z N: for N orthonormal the penalty stays that on a.
    """
    others = np.setdiff1d(np.arange(len(B)), features)
    N = linalg.null_space(B[others]) if len(others) else np.eye(B.shape[1])
    return N @ fit(N)


def sparse_curvature(covariance, hessians, direction, max_coef):
    """(direction, margin): on every set of features the curvature direction whose score is
    the closest to that of the one before."""
    margins = []

    def solve(features, previous):
        square = np.ix_(features, features)
        C, H = covariance[square], [h[square] for h in hessians]
        bends = H[0] if len(H) == 1 else sum(h @ np.linalg.solve(C, h) for h in H)
        _, vectors = linalg.eigh(bends, C)  # of length one in C
        shares = (vectors.T @ (covariance @ previous)[features]) ** 2
        ascending = np.sort(shares)
        margins.append(1 - ascending[-2] / ascending[-1] if len(shares) > 1 else 1)
        found = np.zeros_like(previous)
        found[features] = vectors[:, np.argmax(shares)]
        return found * np.sign(found[np.argmax(np.abs(found))])

    found, margin = eliminate(direction, np.diag(covariance), max_coef, solve)
    return found, min([margin, *margins])
