"""Kernel ridge regression for many penalties, and without each sample, from one eigendecomposition."""

import numpy as np

from fctree.kernel_ridge.row_blocks import in_background
from fctree.kernel_ridge.solvers import weighted


class Spectrum:
    """The weighted Gram matrix by eigenvectors: coefficients for any penalty in O(n^2)."""

    def __init__(self, K, targets, weights):
        K, self.targets = weighted(K, targets, weights)
        # NumPy's, which lets other threads go on meanwhile.
        self.eigenvalues, self.vectors = in_background(np.linalg.eigh, K)
        self.projected = self.vectors.T @ self.targets
        self.roots = None if weights is None else np.sqrt(weights)[:, np.newaxis]

    def inverse(self, alpha):
        """1 / (eigenvalue + alpha), 0 where that is rounding."""
        shifted = self.eigenvalues + alpha
        largest = max(abs(shifted[0]), abs(shifted[-1]))
        kept = shifted > len(shifted) * np.finfo(np.float64).eps * largest
        return np.divide(1.0, shifted, out=np.zeros_like(shifted), where=kept)

    def coefficients(self, alpha):
        """Those of the weighted system; times the roots of the weights, those of f."""
        return self.vectors @ (self.inverse(alpha)[:, np.newaxis] * self.projected)

    def dual_coef(self, alpha):
        """Coefficients of f = K(., X) c."""
        c = self.coefficients(alpha)
        return c if self.roots is None else c * self.roots

    def left_out(self, targets, alpha):
        """Leave-one-out predictions: y_i - c_i / G_ii for sample i.

        G the inverse of the (weighted) system; a sample without weight is not left out by
        leaving it out, and its row is not meaningful.
        """
        c = self.coefficients(alpha)
        diagonal = (self.vectors**2) @ self.inverse(alpha)
        residual = c / np.maximum(diagonal, np.finfo(np.float64).tiny)[:, np.newaxis]
        if self.roots is not None:
            residual = np.divide(residual, self.roots, out=np.zeros_like(residual),
                                 where=self.roots > 0)
        return targets - residual
