"""Scales of errors: their weighted mean by leaf, shrunk towards the mean of all.

    s_l = (sum_{i in l} w_i |e_i| + 20 u g) / (sum_{i in l} w_i + 20 u)

with g the mean of all |e_i| and u the weight of one sample. The score of a training sample is
divided by the scale of its leaf without itself: it must not make its own error look ordinary.
"""

from dataclasses import dataclass

import numpy as np

from fctree._intervals.conformity import weight_unit

PRIOR_SAMPLES = 20.0  # that the mean of all errors counts as in a leaf


@dataclass(frozen=True)
class Errors:
    """Absolute errors of training samples by models without them.

    Attributes
    ----------
    size : array of shape (n_samples, n_outputs)
        In units of `top`; 0 where unknown.
    known : array of shape (n_samples,), bool
    weight : array of shape (n_samples,)
        0 where unknown.
    unit : float
        Weight of one sample.
    mean, top : arrays of shape (n_outputs,)
        Weighted mean in units of `top`, and the largest in the units of the targets.
    """

    size: np.ndarray
    known: np.ndarray
    weight: np.ndarray
    unit: float
    mean: np.ndarray
    top: np.ndarray

    @classmethod
    def of(cls, errors, weight):
        """Of errors (n_samples, n_outputs) with rows of NaN where unknown, and weights or None."""
        known = np.isfinite(errors).all(axis=1)
        size = np.where(known[:, np.newaxis], np.abs(errors), 0.0)
        top = size.max(axis=0)
        size /= np.where(top > 0.0, top, 1.0)
        counted = known * (1.0 if weight is None else weight)
        total = counted.sum()
        # Not a product of matrices: threads of a BLAS would cost more than they save.
        mean = (counted[:, np.newaxis] * size).sum(axis=0) / (total if total > 0.0 else 1.0)
        return cls(size, known, counted, weight_unit(weight), mean, top)

    def sums(self, leaf, n_leaves, rows=slice(None)):
        """Sums of weights, (n_leaves, 1), and of weighted errors, (n_leaves, n_outputs).

        Parameters
        ----------
        leaf : array of shape (n_rows,) or (n_rows, n_trees), int
            Numbers of the leaves that each sample is in.
        rows : slice
            These samples.
        """
        repeats = leaf.size // max(len(leaf), 1)
        columns = [self.weight[rows], *(self.weight * self.size.T)[:, rows]]
        sums = [
            np.bincount(leaf.ravel(), np.repeat(column, repeats), minlength=n_leaves)
            for column in columns
        ]
        return sums[0][:, np.newaxis], np.stack(sums[1:], axis=1)

    def scales(self, totals, sums):
        """Scales of leaves with such sums."""
        prior = PRIOR_SAMPLES * self.unit
        return (sums + prior * self.mean) / (totals + prior)

    def scales_without(self, totals, sums, rows=slice(None)):
        """Scales of leaves with such sums, each without the sample that is in it.

        Parameters
        ----------
        totals, sums : arrays of shape (n_rows, .., 1) and (n_rows, .., n_outputs)
        """
        own = np.minimum(self.weight[rows], 1.0)
        shape = (len(own), *(1,) * (totals.ndim - 2), -1)
        own_sums = (own[:, np.newaxis] * self.size[rows]).reshape(shape)
        rest = np.maximum(sums - own_sums, 0.0)  # a sum of one is not below it but by rounding
        return self.scales(totals - own.reshape(shape), rest)

    def scores(self, scales):
        """Conformity scores of the samples with known errors, for their scales; and weights."""
        quotients = self.size / np.where(scales > 0.0, scales, 1.0)
        return quotients[self.known], self.weight[self.known]
