"""The share of a forest's trees that are ordinary trees of steps; the others are curvature trees.

The first 16 trees are grown as both kinds, on the same samples. With f_w the mean of both kinds' predictions, w of
them steps, the share w minimises the product of the out-of-bag errors of f_w from the first 8 trees and from the
others. The two halves are drawn independently, so this estimates the squared error of a large forest; squaring one
half's error would add the noise of its few trees. Of shares that are about as good the smallest is taken.
"""

import numpy as np

N_COMPARED = 16
_HALVES = (range(N_COMPARED // 2), range(N_COMPARED // 2, N_COMPARED))

# Shares are multiples of 1/20. Some trees stay curvature trees: where all are ordinary ones of few samples a leaf,
# too many probabilities are 0.
_STEPS, _MOST_STEPS = 20, 18
_DEVIATIONS = 0.5  # of the difference from the least error, up to which fewer step trees are as good

_STEP_DEPTHS = 8, 12
_MOST_DEPTH = 24
_MOST_COEFFICIENTS = 1e6  # of a tree
_FEWEST_LEAVES = 8


def kinds_of(numbers, share):
    """0 for a curvature tree, 1 for a step tree; ``share`` of them, evenly spread over all numbers."""
    n_steps = round(share * _STEPS)
    return [(number + 1) * n_steps // _STEPS - number * n_steps // _STEPS for number in numbers]


def best_share(errors, weight):
    """The share of step trees.

    ``errors[kind][half]`` (n_samples, n_outputs) are targets less out-of-bag predictions, rows of NaN where all trees
    of the half have the sample.
    """
    errors = np.array(errors)
    known = np.isfinite(errors).all(axis=(0, 1, 3))
    weight = known.astype(np.float64) if weight is None else np.where(known, weight, 0.0)
    errors = np.where(known[:, np.newaxis], errors, 0.0)
    shares = np.arange(_MOST_STEPS + 1) / _STEPS
    if not np.any(weight > 0.0):
        return 0.0
    total = weight.sum()
    # A sample's product of errors is quadratic in the share: three numbers, of which the mean and its covariance.
    products = np.einsum("anp,bnp->abn", errors[:, 0], errors[:, 1])
    numbers = np.stack([products[0, 0], products[0, 1] + products[1, 0], products[1, 1]])
    mean = np.einsum("pn,n->p", numbers, weight) / total
    apart = numbers - mean[:, np.newaxis]
    covariance = np.einsum("pn,qn,n->pq", apart, apart, weight) / total**2
    factors = np.stack([(1.0 - shares) ** 2, shares * (1.0 - shares), shares**2], axis=1)
    more = factors - factors[np.argmin(factors @ mean)]
    deviation = np.sqrt(np.maximum(np.einsum("sa,ab,sb->s", more, covariance, more), 0.0))
    return float(shares[np.argmax(more @ mean <= _DEVIATIONS * deviation)])  # 0 of errors that overflow


def step_depth(n_samples, n_features, n_outputs, n_varying):
    """Default depth of step trees: 12, less for wide tables (each node stores one coefficient per feature), 24 if so few
    samples make no more leaves anyway. Constant features count only if their coefficients would be too many."""
    depth = _depth(n_samples, n_varying, n_outputs)
    n_leaves = min(n_samples, 2**depth)
    if n_leaves * (2 + n_outputs) * n_features <= _MOST_COEFFICIENTS:
        return depth
    return _depth(n_samples, n_features, n_outputs)


def most_step_leaves(n_features, n_outputs):
    """Most leaves of a step tree of the default depth, whose nodes and leaves store coefficients of all features."""
    return max(_FEWEST_LEAVES, int(_MOST_COEFFICIENTS / ((2 + n_outputs) * n_features)))


def _depth(n_samples, n_features, n_outputs):
    n_leaves = _MOST_COEFFICIENTS / ((2 + n_outputs) * n_features)
    depth = int(np.clip(np.log2(n_leaves), *_STEP_DEPTHS))
    return _MOST_DEPTH if n_samples <= 2**depth else depth


def compare_kinds(trees, out_of_bag, targets, weight, unit):
    """The share of step trees, from `N_COMPARED` trees of the one kind, then as many of the other.

    ``out_of_bag(trees, numbers)`` is the mean of the trees without the sample, NaN where there are none; ``unit``
    (n_outputs,) what the outputs are measured in.
    """
    errors = [
        [(targets - out_of_bag(trees.take([kind * N_COMPARED + at for at in half]), half)) / unit for half in _HALVES]
        for kind in range(2)
    ]
    return best_share(errors, weight)
