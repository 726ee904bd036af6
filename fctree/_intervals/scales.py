"""Scales of errors: their weighted mean by leaf, shrunk towards the mean of all.

    s_l = (sum_{i in l} w_i |e_i| + 20 u g) / (sum_{i in l} w_i + 20 u)

with g the mean of all |e_i| and u the weight of one sample. The score of a training sample is
divided by the scale of its leaf without itself: it must not make its own error look ordinary.
"""

from dataclasses import dataclass

import numpy as np

from fctree._intervals.conformity import weight_unit
from fctree._native import ensembles as _native

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
        """Scales from errors (n_samples, n_outputs) with rows of NaN where unknown, and weights or None."""
        size = np.abs(errors)
        top = size.max(axis=0, initial=0.0)
        known = np.ones(len(errors), dtype=bool)
        if not np.isfinite(top).all():
            known = np.isfinite(errors).all(axis=1)
            size[~known] = 0.0
            top = size.max(axis=0)
        size /= np.where(top > 0.0, top, 1.0)
        counted = known * (1.0 if weight is None else weight)
        total = counted.sum()
        # Not a product of matrices: threads of a BLAS would cost more than they save.
        mean = (counted[:, np.newaxis] * size).sum(axis=0) / (total if total > 0.0 else 1.0)
        return cls(size, known, counted, weight_unit(weight), mean, top)

    @property
    def prior(self):
        """Weight and sums of errors that are added to a leaf's, (1 + n_outputs,)."""
        return PRIOR_SAMPLES * self.unit * np.append(1.0, self.mean)

    def add_to(self, leaf_sums, leaf, rows=slice(None), n_threads=1):
        """Add weights and weighted errors of the samples `rows` to those of leaves, (n_leaves, 1 +
        n_outputs); ``leaf`` (n_rows, n_trees) int64 has the numbers of the leaves that each is in."""
        _native.add_leaf_errors(leaf, self.weight[rows], self.size[rows], leaf_sums, n_threads)

    def scales(self, leaf_sums):
        """Scales of leaves with such sums, (n_leaves, n_outputs)."""
        totals = leaf_sums + self.prior
        return totals[:, 1:] / totals[:, :1]

    def scales_without(self, leaf_sums, leaf, rows=slice(None), n_threads=1):
        """The mean of the scales of each sample's leaves without the sample, (n_rows, n_outputs)."""
        return _native.mean_scales(leaf, self.weight[rows], self.size[rows], leaf_sums, self.prior, n_threads)

    def scores(self, scales):
        """Conformity scores of the samples with known errors, for their scales; and weights."""
        quotients = self.size / np.where(scales > 0.0, scales, 1.0)
        if self.known.all():
            return quotients, self.weight
        return quotients[self.known], self.weight[self.known]
