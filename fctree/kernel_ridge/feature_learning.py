"""Features learned by kernel ridge regression: recursive feature machines with the tree kernels.

The mean outer product M of the predictor's gradients says along which directions of the features
it changes. Its root makes a new metric: the kernel is computed on ``X P``, ``P = c M^(1/2)`` with
the factor that keeps the mean squared length of the samples. Fitting and taking the metric from
the fit alternate.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from fctree._training.left_out import clearly_positive

_FOLDS = 3


def mapped(X, matrix):
    """``X P``; `X` where there is no P."""
    if matrix is None:
        return X
    with threadpool_limits(1, user_api="blas"):
        return X @ matrix


def held_out_errors(kernel, solve, X, targets, weights, n_rounds):
    """Targets less predictions of samples that three folds hold out, (n_rounds + 1, n_samples, n_outputs).

    After 0, 1, .. rounds. ``solve(kernel, X, targets, weights)`` gives the samples of the expansion and their
    coefficients, (n_fit, n_features) and (n_fit, n_outputs). All zero for too few samples.
    """
    counted = np.arange(len(X)) if weights is None else np.flatnonzero(weights)
    left_out = np.zeros((n_rounds + 1, *targets.shape))
    if len(counted) < 2 * _FOLDS:
        return left_out
    for train, test in KFold(_FOLDS, shuffle=True, random_state=0).split(counted):
        train, test = counted[train], counted[test]
        part = None if weights is None else weights[train]
        path = _path(kernel, solve, X[train], targets[train], part, n_rounds)
        for k, (matrix, solution) in enumerate(path):
            answers = kernel.multiply(mapped(X[test], matrix), *solution)
            left_out[k, test] = targets[test] - answers
    return left_out


def choose_rounds(left_out, weights):
    """The number of rounds of the smallest mean squared error, 0 unless clearly better than none; and the errors.

    ``left_out`` as of `held_out_errors`.
    """
    weight = np.ones(left_out.shape[1]) if weights is None else weights
    losses = (left_out**2).sum(axis=2)
    errors = losses @ weight / weight.sum()
    chosen = int(np.argmin(errors))
    return chosen if clearly_positive(losses[0] - losses[chosen], weight) else 0, errors


def matrix_after(kernel, solve, X, targets, weights, n_rounds):
    """The matrix P after some rounds, symmetric; None after none. Arguments as of `held_out_errors`."""
    *_, (matrix, _) = _path(kernel, solve, X, targets, weights, n_rounds)
    return matrix


def _path(kernel, solve, X, targets, weights, n_rounds):
    """(P, solution) after 0, 1, .. rounds."""
    matrix = None
    for k in range(n_rounds + 1):
        Z = mapped(X, matrix)
        solution = solve(kernel, Z, targets, weights)
        yield matrix, solution
        if k < n_rounds:
            matrix = next_matrix(kernel, Z, X, matrix, solution, weights)


def next_matrix(kernel, Z, X, matrix, solution, weights):
    """P from the gradients of the fit on ``Z = X P``; the old one where they are all zero."""
    with threadpool_limits(1, user_api="blas"):
        products = gradient_products(kernel, Z, *solution, weights)
        if matrix is not None:
            products = matrix @ products @ matrix
        eigenvalues, vectors = eigh(products)
        root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
        counted = X if weights is None else X * np.sqrt(weights)[:, np.newaxis]
        length = np.linalg.norm(counted @ root)
        if not (np.isfinite(length) and length > 0.0):
            return matrix
        return root * (np.linalg.norm(counted) / length)


def gradient_products(kernel, Z, centres, coefficients, weights=None):
    """Mean over samples of the sum over outputs of grad f grad f', (n_features, n_features).

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
    gradients = sums.reshape(len(Z), coefficients.shape[1], -1)
    if exponential:
        gradients = gradients[:, :, :-1] - gradients[:, :, -1:] * Z[:, np.newaxis]
        gradients *= kernel.scale**2
    else:
        u, factor = _normalised(kernel, Z)
        gradients -= (gradients @ u[:, :, np.newaxis]) * u[:, np.newaxis]
        gradients *= factor[:, np.newaxis, np.newaxis]
    if weights is None:
        share = np.full(len(Z), 1.0 / len(Z))
    else:
        share = weights / weights.sum()
    rows = (gradients * np.sqrt(share)[:, np.newaxis, np.newaxis]).reshape(-1, Z.shape[1])
    return rows.T @ rows


def _normalised(kernel, Z):
    """The samples as the kernel sees them, and the factors a / r."""
    factor = kernel.scale / np.sqrt(kernel.scale**2 * np.einsum("ij,ij->i", Z, Z) + 0.5)
    return Z * factor[:, np.newaxis], factor
