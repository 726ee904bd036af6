"""Kernel ridge regression for many penalties, and without each sample, from one eigendecomposition."""

import numpy as np

from fctree.kernel_ridge.ordered_tasks import in_background


def weighted(K, targets, weights):
    """The system with weights taken into the kernel: W^1/2 K W^1/2 and W^1/2 y; K is changed."""
    if weights is None:
        return K, targets
    roots = np.sqrt(weights)
    K *= roots[:, np.newaxis]
    K *= roots
    return K, targets * roots[:, np.newaxis]


class Spectrum:
    """The weighted Gram matrix by eigenvectors: coefficients for any penalty in O(n^2)."""

    def __init__(self, K, targets, weights):
        self._decompose(*weighted(K, targets, weights), weights, "L")

    @classmethod
    def of_system(cls, K, targets, weights):
        """Spectrum of what `weighted` returned, which may have the upper triangle of the matrix alone."""
        spectrum = cls.__new__(cls)
        spectrum._decompose(K, targets, weights, "U")
        return spectrum

    def _decompose(self, K, targets, weights, triangle):
        self.targets = targets
        # NumPy's, which lets other threads go on meanwhile.
        self.eigenvalues, self.vectors = in_background(np.linalg.eigh, K, triangle)
        self.projected = self.vectors.T @ self.targets
        self.roots = None if weights is None else np.sqrt(weights)[:, np.newaxis]

    def _rounding(self, shifted):
        """The largest size that is rounding in ``shifted``, eigenvalues that a penalty was added to."""
        return len(shifted) * np.finfo(np.float64).eps * abs(shifted[-1])

    def inverse(self, alpha):
        """1 / (eigenvalue + alpha), 0 where that is rounding."""
        shifted = self.eigenvalues + alpha
        kept = shifted > self._rounding(shifted)
        return np.divide(1.0, shifted, out=np.zeros_like(shifted), where=kept)

    def is_singular(self, alpha):
        """Whether some eigenvalues are rounding even with the penalty."""
        shifted = self.eigenvalues + alpha
        return bool(shifted[0] <= self._rounding(shifted))

    def coefficients(self, alpha):
        """Coefficients of the weighted system; times the roots of the weights, those of f."""
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
        return targets - self.errors(alpha)

    def errors(self, alpha):
        """Targets less the predictions without each sample, (n, n_outputs)."""
        if self.is_singular(alpha):
            quotient = self._singular_quotients(alpha)
        else:
            quotient = _quotient(self.coefficients(alpha), (self.vectors**2) @ self.inverse(alpha))
        if self.roots is not None:
            quotient = np.divide(quotient, self.roots, out=np.zeros_like(quotient),
                                 where=self.roots > 0)
        return quotient

    def _singular_quotients(self, alpha):
        """c_i / G_ii where eigenvalues that are rounding count as 0, not as infinite.

        The pseudo-inverse drops what has nearly all of c_i and of G_ii. With N the projection on the null space,
        and c and G the sums over the rest,

            (alpha c_i + (N y)_i) / (alpha G_ii + N_ii),

        which has a limit for alpha = 0. Samples of which the null space knows nothing but rounding keep c_i / G_ii.
        """
        limit = self._rounding(self.eigenvalues)
        null = self.eigenvalues <= limit
        squares = self.vectors**2
        inverse = np.divide(1.0, self.eigenvalues + alpha, out=np.zeros_like(self.eigenvalues), where=~null)
        c, diagonal = self.vectors @ (inverse[:, np.newaxis] * self.projected), squares @ inverse
        share = squares[:, null].sum(axis=1)
        # An eigenvector of eigenvalue s holds about limit / s of the null space's, at most.
        blur = squares @ np.divide(limit, self.eigenvalues, out=np.zeros_like(inverse), where=~null) ** 2
        known = share > blur
        share = np.where(known, share, 0.0)
        whole = alpha * c + self.vectors[:, null] @ self.projected[null]
        return np.where(known[:, np.newaxis], _quotient(whole, alpha * diagonal + share), _quotient(c, diagonal))


def _quotient(c, diagonal):
    return c / np.maximum(diagonal, np.finfo(np.float64).tiny)[:, np.newaxis]
