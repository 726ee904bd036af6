"""The stationary kernel of symmetric trees, written out from its definition."""

from itertools import combinations

import numpy as np


def weak_kernel(X, Y, X_train, splits):
    """n / max(n_j, 1) where both rows share leaf j of the splits (feature, threshold)."""

    def answers(Z):
        return np.array([[row[f] > t for f, t in splits] for row in Z])

    a, b, c = answers(X), answers(Y), answers(X_train)
    kernel = np.zeros((len(X), len(Y)))
    for i, one in enumerate(a):
        in_leaf = max(sum(np.array_equal(one, row) for row in c), 1)
        for j, other in enumerate(b):
            if np.array_equal(one, other):
                kernel[i, j] = len(X_train) / in_leaf
    return kernel


def stationary_kernel(X, Y, X_train, bin_thresholds, depth):
    """The mean of the weak kernels over all sets of `depth` candidates."""
    candidates = [(f, t) for f, values in enumerate(bin_thresholds) for t in values]
    sets = list(combinations(candidates, min(depth, len(candidates))))
    return sum(weak_kernel(X, Y, X_train, splits) for splits in sets) / len(sets)
