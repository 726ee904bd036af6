"""Features learned by kernel ridge regression: recursive feature machines with the tree kernels.

The mean outer product M of the predictor's gradients says along which directions of the features
it changes. Its root makes a new metric: the kernel is computed on ``X P``, ``P = c M^(1/2)`` with
the factor that keeps the mean squared length of the samples. Fitting and taking the metric from
the fit alternate. Kernels depend on products of samples alone, so that any root of M serves between rounds: where
there are fewer gradients than features, the gradients themselves, in O(n_features) memory and time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.model_selection import KFold

from fctree._threads import one_blas_thread
from fctree._training.significance import clearly_positive
from fctree._training.target_units import exponent_of_largest
from fctree.kernel_ridge.dense import product_with_itself
from fctree.kernel_ridge.ordered_tasks import cut, in_background

_FOLDS = 3
_ROWS = 512  # of a product that an interrupt waits for


def mapped(X, matrix):
    """``X P``; `X` where there is no P."""
    if matrix is None:
        return X
    with one_blas_thread:
        return np.concatenate([X[rows] @ matrix for rows in cut(len(X), _ROWS)])


def in_moderate_units(X, kernel):
    """Samples over a power of two, the largest value at most 1, and the kernel that is on them what it was on ``X``.

    Learned metrics do not depend on it.
    """
    exponent = exponent_of_largest(X)
    with np.errstate(over="ignore", under="ignore"):
        scale = float(np.ldexp(kernel.scale, exponent))
    return (np.ldexp(X, -exponent), replace(kernel, scale=scale)) if 0.0 < scale < np.inf else (X, kernel)


def held_out_errors(kernel, solve, X, targets, weights, n_rounds, folds=None):
    """Targets less predictions of samples that folds hold out, (n_rounds + 1, n_samples, n_outputs); NaN of others.

    After 0, 1, .. rounds. ``solve(kernel, X, targets, weights)`` gives the samples of the expansion and their
    coefficients, (n_fit, n_features) and (n_fit, n_outputs). ``folds`` are pairs of row numbers, the last that holds
    a sample out counts; None are three folds of different samples, all errors zero where these are too few.
    """
    counted = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
    if folds is None:
        folds = _folds_of_different(X, counted)
    if not folds:
        return np.zeros((n_rounds + 1, *targets.shape))
    left_out = np.full((n_rounds + 1, *targets.shape), np.nan)
    for train, test in folds:
        train = np.intersect1d(train, counted)
        part = None if weights is None else weights[train]
        path = _path(kernel, solve, X[train], targets[train], part, n_rounds)
        for k, (matrix, solution) in enumerate(path):
            answers = kernel.multiply(mapped(X[test], matrix), *solution)
            left_out[k, test] = targets[test] - answers
    return left_out


def _folds_of_different(X, counted):
    """Pairs of row numbers, the same for rows in any order, and copies in one fold; none of too few different rows."""
    different, alike = np.unique(X[counted], axis=0, return_inverse=True)
    if len(different) < 2 * _FOLDS:
        return []
    folds = KFold(_FOLDS, shuffle=True, random_state=0).split(different)
    held_out = [np.isin(alike.reshape(-1), test) for _, test in folds]
    return [(counted[~is_test], counted[is_test]) for is_test in held_out]


def choose_rounds(left_out, weights):
    """The number of rounds of the smallest mean squared error, 0 unless clearly better than none; and the errors by output.

    ``left_out`` are of `held_out_errors`, of samples with a positive weight that were held out.
    """
    weight = np.ones(left_out.shape[1]) if weights is None else weights
    errors = np.average(left_out**2, axis=1, weights=weight)
    losses = (left_out**2).sum(axis=2)
    chosen = int(np.argmin(errors.sum(axis=1)))
    return chosen if clearly_positive(losses[0] - losses[chosen], weight) else 0, errors


def matrix_after(kernel, solve, X, targets, weights, n_rounds):
    """The matrix P after some rounds, symmetric; None after none. Arguments as of `held_out_errors`."""
    *_, (matrix, _) = _path(kernel, solve, X, targets, weights, n_rounds)
    return matrix if matrix is None or len(matrix) == matrix.shape[1] else _symmetric_root(matrix.T)


def _path(kernel, solve, X, targets, weights, n_rounds):
    """(P, solution) after 0, 1, .. rounds; P as of `next_matrix`."""
    matrix = None
    for k in range(n_rounds + 1):
        Z = mapped(X, matrix)
        solution = solve(kernel, Z, targets, weights)
        yield matrix, solution
        if k < n_rounds:
            matrix = next_matrix(kernel, Z, X, matrix, solution, weights)


def next_matrix(kernel, Z, X, matrix, solution, weights):
    """P from the gradients of the fit on ``Z = X P``, symmetric, or (n_features, n_gradients) with the same ``P P'``
    where these are fewer; the old one where the gradients are all zero."""
    rows = gradient_rows(kernel, Z, *solution, weights)
    rows = np.ldexp(rows, -exponent_of_largest(rows))  # only directions and ratios count
    if matrix is not None:
        rows = mapped(rows, matrix.T)
    root = rows.T if len(rows) < X.shape[1] else _symmetric_root(rows)
    counted = X if weights is None else X * np.sqrt(weights)[:, np.newaxis]
    length = np.linalg.norm(mapped(counted, root))
    if not (np.isfinite(length) and length > 0.0):
        return matrix
    return root * (np.linalg.norm(counted) / length)


def _symmetric_root(rows):
    """The root of ``rows' rows``, by the smaller of the two products of rows."""
    wide = len(rows) < rows.shape[1]
    with one_blas_thread:
        # NumPy's, which lets other threads go on meanwhile.
        eigenvalues, vectors = in_background(np.linalg.eigh, product_with_itself(rows.T if wide else rows, 1))
        kept = eigenvalues > len(eigenvalues) * np.finfo(np.float64).eps * eigenvalues[-1]
        vectors, roots = vectors[:, kept], eigenvalues[kept] ** 0.25
    factor = mapped(rows.T, vectors / roots) if wide else vectors * roots
    with one_blas_thread:
        return product_with_itself(factor.T, 1)


def gradient_rows(kernel, Z, centres, coefficients, weights=None):
    """Gradients of all outputs at all samples, (n_samples n_outputs, n_features), of which ``rows' rows`` is the mean over
    samples of the sum over outputs of grad f grad f'.

    With u = a z / r, r^2 = a^2 |z|^2 + 1/2 and a the scale, tree kernels are functions k(u.v), so

        grad f(z) = (a / r) (I - u u') sum_i coefficient_i k'(u.u_i) u_i

    and of the exponential kernel, with r = a |z - z_i|,

        grad f(z) = -a^2 sum_i coefficient_i (K / r) (z - z_i).

    The sums are one product with the matrix of k', or K / r, in tiles: O(n_samples n_centres
    n_features n_outputs).
    """
    exponential = kernel.architecture == "exponential"
    u = centres if exponential else _normalised(kernel, centres)[0]
    if exponential:
        u = np.hstack([u, np.ones((len(u), 1))])
    vectors = (coefficients[:, :, np.newaxis] * u[:, np.newaxis]).reshape(len(u), -1)
    sums = kernel.multiply(Z, centres, vectors, derivative="cosine")
    found = sums.reshape(len(Z), coefficients.shape[1], -1)
    if exponential:
        found = found[:, :, :-1] - found[:, :, -1:] * Z[:, np.newaxis]
        found *= kernel.scale
        found *= kernel.scale  # one by one: the square may underflow
    else:
        u, factor = _normalised(kernel, Z)
        found -= (found @ u[:, :, np.newaxis]) * u[:, np.newaxis]
        found *= factor[:, np.newaxis, np.newaxis]
    if weights is None:
        share = np.full(len(Z), 1.0 / len(Z))
    else:
        share = weights / weights.sum()
    return (found * np.sqrt(share)[:, np.newaxis, np.newaxis]).reshape(-1, Z.shape[1])


def _normalised(kernel, Z):
    """The samples as the kernel sees them, and the factors a / r."""
    factor = kernel.scale / np.sqrt(kernel.scale**2 * np.einsum("ij,ij->i", Z, Z) + 0.5)
    return Z * factor[:, np.newaxis], factor
