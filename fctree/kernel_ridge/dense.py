"""Products and factors of large matrices, in tiles that an interrupt can come between.

The bytes are the same for any number of threads, where the caller holds the BLAS to one.
"""

import numpy as np
from scipy import linalg

from fctree.kernel_ridge.ordered_tasks import cut, for_each

_TILE = 512


def product_with_itself(F, n_threads):
    """``F' F`` for F of shape (n, m), O(n m^2)."""
    columns = cut(F.shape[1], _TILE)
    out = np.empty((F.shape[1], F.shape[1]))
    pairs = [(i, j) for k, i in enumerate(columns) for j in columns[: k + 1]]

    def multiply(pair):
        i, j = pair
        out[i, j] = F[:, i].T @ F[:, j]
        out[j, i] = out[i, j].T

    for_each(multiply, pairs, n_threads)
    return out


def factor(A, n_threads):
    """Lower Cholesky factor L of A = L L', in A's lower triangle; LinAlgError if there is none.

    What is above the diagonal stays.
    """
    tiles = cut(len(A), _TILE)
    for k, j in enumerate(tiles):

        def rest(i, j=j):
            return A[i, j] - A[i, : j.start] @ A[j, : j.start].T

        def divide(i, j=j, rest=rest):
            A[i, j] = linalg.solve_triangular(A[j, j], rest(i).T, lower=True, check_finite=False).T

        A[j, j] = linalg.cholesky(rest(j), lower=True, check_finite=False) + np.triu(A[j, j], 1)
        for_each(divide, tiles[k + 1 :], n_threads)
    return A


def _restore(A):
    """The lower triangle from the upper one, the diagonal apart."""
    for i in cut(len(A), _TILE):
        upper = np.triu(A[i, i], 1)
        A[i, i] = upper + upper.T
        A[i.stop :, i] = A[i, i.stop :].T


def jittered_factor(A, alpha, n_threads):
    """Lower Cholesky factor of A + alpha I, with as little more on the diagonal as it takes.

    In the lower triangle of A, which is symmetric.
    """
    diagonal = A.diagonal() + alpha
    jitter = 0.0
    # A jitter as large as the trace always suffices, but for numbers that are not finite.
    while np.isfinite(diagonal.sum() + jitter):
        np.fill_diagonal(A, diagonal + jitter)
        try:
            return factor(A, n_threads)
        except linalg.LinAlgError:
            _restore(A)
            least = np.finfo(np.float64).eps * max(diagonal.sum(), np.finfo(np.float64).tiny)
            jitter = max(10.0 * jitter, least)
    raise ValueError(
        "the system of the landmarks overflows: the weights or alpha are too large for float64"
    )
