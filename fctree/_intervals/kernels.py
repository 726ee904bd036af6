"""Intervals of kernel ridge regression: leave-one-out errors in closed form, one scale for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from fctree._intervals.conformity import PredictsIntervals
from fctree._intervals.scales import Errors
from fctree._typing import FloatArray
from fctree._validation import check_fitted


_LEAST_SHARE = 1e-8  # of a row in a null space, above rounding


def inverse_diagonal(A):
    """Diagonal of the inverse of a positive semi-definite matrix; O(n^3) and A is destroyed.

    Where it is singular to rounding that of the pseudo-inverse, and NaN for the rows that have a part in the null space.
    """
    diagonal = A.diagonal().copy()
    norm = linalg.lapack.dlange("1", A.T)
    factor, info = linalg.lapack.dpotrf(A.T, lower=0, clean=0, overwrite_a=1)
    eps = np.finfo(np.float64).eps
    if info == 0 and linalg.lapack.dpocon(factor, norm)[0] >= eps:
        inverse, _ = linalg.lapack.dtrtri(factor, lower=0, overwrite_c=1)
        inverse = np.triu(inverse)
        return np.einsum("ij,ij->i", inverse, inverse)
    np.fill_diagonal(A, diagonal)
    eigenvalues, vectors = linalg.eigh(A, lower=False, check_finite=False)
    kept = eigenvalues > len(A) * eps * max(eigenvalues[-1], 0.0)
    diagonal = np.square(vectors[:, kept]) @ (1.0 / eigenvalues[kept])
    diagonal[np.square(vectors[:, ~kept]).sum(axis=1) > _LEAST_SHARE] = np.nan
    return diagonal


def left_out_errors(K, coefficients, alpha, weights):
    """Errors of each sample's prediction by the solution without it, (n_samples, n_outputs); K is
    destroyed.

    With A = K + alpha W^-1 and A c = y, the error is c_i / (A^-1)_ii. Weights are positive. NaN where the matrix is
    too singular to say.
    """
    roots = np.sqrt(weights)
    K *= roots[:, np.newaxis]
    K *= roots
    np.fill_diagonal(K, K.diagonal() + alpha)
    inverse = inverse_diagonal(K)
    inverse[inverse <= 0.0] = np.nan
    return coefficients / (weights * inverse)[:, np.newaxis]


class KernelIntervals(PredictsIntervals):
    """Intervals of a regressor with ``X_fit_`` and ``dual_coef_``.

    The errors take another factorisation, so the first prediction of intervals computes and keeps them, but for
    ``_fold_errors``: a metric learned from all samples knows each of them, so errors are those of the folds that chose
    it; those of folds that the user gave, who knows which samples go together, always count; and of a system that is
    singular to rounding `fit` hands errors on. It sets ``_penalty``, None if the solution is not that of all samples'
    system, and ``_fit_weights``.
    """

    X_fit_: FloatArray
    dual_coef_: FloatArray
    _penalty: float | None
    _fit_weights: FloatArray | None
    _fitted_kernel: Any
    _raw_predict: Any

    def _keep_system(self, errors, penalty, weights):
        if vars(self).get("_fold_errors") is None:
            self._fold_errors = errors
        self._penalty, self._fit_weights = penalty, weights
        self._drop_intervals()

    def _prepare_intervals(self):
        check_fitted(self)
        if hasattr(self, "interval_scores_") or vars(self).get("_penalty") is None:
            return
        X, coefficients = self.X_fit_, self.dual_coef_.reshape(len(self.X_fit_), -1)
        weights = np.ones(len(X)) if self._fit_weights is None else self._fit_weights
        counted = weights > 0.0
        left_out = vars(self).get("_fold_errors")
        if left_out is None:
            K = self._fitted_kernel().gram(np.ascontiguousarray(X[counted]))
            left_out = left_out_errors(K, coefficients[counted], self._penalty, weights[counted])
        else:
            left_out = left_out[counted]
        errors = Errors.of(left_out, None if self._fit_weights is None else weights[counted])
        self._keep_conformity_scores(*errors.scores(1.0 / np.where(errors.top > 0, errors.top, 1.0)))

    def _why_without_intervals(self):
        solver = getattr(self, "solver", "cholesky")
        if solver != "cholesky":
            return (
                f"this {type(self).__name__} was fitted with solver={solver!r}, which solves no system "
                "that tells errors without each sample: intervals need solver='cholesky'"
            )
        return f"{super()._why_without_intervals()}, with solver='cholesky'"

    def _centres_and_scales(self, X):
        outputs = self._raw_predict(X)
        return outputs, np.ones_like(outputs)
