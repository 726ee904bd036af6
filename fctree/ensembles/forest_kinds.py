"""The kinds of a forest's trees: curvature trees that take any gain, only clear gains, or clear gains on the residuals of a linear
model of all features, and ordinary trees of steps.

The first 16 trees are grown as each kind, on the same samples. Their out-of-bag errors choose the kind of the curvature
trees, then the share w of step trees beside them: f_w is the mean of both kinds' predictions, w of them steps. Each
choice minimises the product of the errors from the first 8 trees and from the others. The two halves are drawn
independently, so this estimates the squared error of a large forest; squaring one half's error would add the noise of
its few trees. Of shares that are about as good the smallest is taken.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from fctree._training.target_units import square_unit
from fctree.ensembles.trees import ObliqueTrees

ANY_GAIN, STEPS, CLEAR_GAIN, RESIDUAL = range(4)
CLEAR_MARGIN = 0.5  # `split_margin` of trees that take clear gains only

N_COMPARED = 16

# Shares are multiples of 1/20. Some trees stay curvature trees: where all are ordinary ones of few samples a leaf,
# too many probabilities are 0.
_PARTS, _MOST_STEPS = 20, 18
_DEVIATIONS = 0.5  # of the difference from the least error, up to which fewer step trees are as good

_FEW = 7  # features, and one for each output, are what curvature trees take of many, if not all

# Of the fewest samples of a leaf, for leaves that are constants instead of linear models.
SHARE_OF_STEPS = 0.1
_MOST_OF_ALL = 1 / 40  # samples that a leaf needs because weights are unequal

_STEP_DEPTHS = 8, 12
_MOST_DEPTH = 24
_MOST_COEFFICIENTS = 1e6  # of a tree
_FEWEST_LEAVES = 8


def kinds_of(numbers, share, curved=ANY_GAIN):
    """The kind of each tree: ``share`` of them are step trees, evenly spread over all numbers, the others ``curved``."""
    n_steps = round(share * _PARTS)
    return [STEPS if (number + 1) * n_steps // _PARTS > number * n_steps // _PARTS else curved for number in numbers]


def choose_kinds(errors, weight):
    """The kind of the curvature trees, and the share of step trees.

    ``errors[kind][half]`` (n_samples, n_outputs) are out-of-bag predictions less targets of each kind that is compared,
    rows of NaN where all trees of the half have the sample.
    """
    kinds, errors = list(errors), np.stack(list(errors.values()))
    known = np.isfinite(errors).all(axis=(0, 1, 3))
    if not known.any():
        return ANY_GAIN, 0.0
    weight = np.ones(np.count_nonzero(known)) if weight is None else weight[known]
    errors = np.compress(known, errors, axis=2)
    errors /= square_unit(errors)
    loss = dict(zip(kinds, np.einsum("anp,anp,n->a", errors[:, 0], errors[:, 1], weight), strict=True))
    curved = min((kind for kind in (ANY_GAIN, CLEAR_GAIN, RESIDUAL) if kind in loss), key=loss.get)
    share = _best_share(errors[[kinds.index(curved), kinds.index(STEPS)]], weight) if STEPS in kinds else 0.0
    return curved, share


def _best_share(errors, weight):
    """The share of step trees, from errors (n_kinds=2, n_halves, n_samples, n_outputs) of samples with these weights."""
    shares = np.arange(_MOST_STEPS + 1) / _PARTS
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
    return float(shares[np.argmax(more @ mean <= _DEVIATIONS * deviation)])


def fewest_by_weight(fewest, weight):
    """Samples that a curvature tree's leaf needs: of unequal weights so many that they tell as much as ``fewest`` of equal
    ones, but no more than a fortieth of all.

    n samples tell as much as (sum w)^2 / sum w^2 of equal weights (L. Kish, Survey Sampling, 1965).
    """
    if weight is None:
        return fewest
    weight = weight / weight.max()
    most = max(fewest, _MOST_OF_ALL * len(weight))
    # Not a matter of the order of the samples, in which the sums are rounded.
    return ceil((1.0 - 1e-9) * min(fewest * len(weight) * np.square(weight).sum() / weight.sum() ** 2, most))


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


@dataclass
class ComparedTrees:
    """`N_COMPARED` trees of each of the kinds, one kind after the other."""

    trees: ObliqueTrees
    kinds: list

    def take_all(self, n_samples, n_features):
        """Whether trees that take any gain could take few of so many features, of twice as many samples or more, and
        most of their models have more than half."""
        if n_features <= _FEW + self.trees.n_outputs or n_samples < 2 * n_features:
            return False
        coef = self.take(range(N_COMPARED), [ANY_GAIN] * N_COMPARED).leaf_coef
        return bool(np.mean(np.count_nonzero(coef.any(axis=1), axis=1) > n_features / 2) > 0.5)

    def take(self, numbers, kinds):
        """The trees with these numbers, each of the kind given for it."""
        return self.trees.take(
            [self.kinds.index(kind) * N_COMPARED + number for number, kind in zip(numbers, kinds, strict=True)]
        )
