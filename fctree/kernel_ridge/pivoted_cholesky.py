"""Landmarks by randomly pivoted Cholesky factorisation.

Chen, Epperly, Tropp and Webber, "Randomly pivoted Cholesky: practical approximation of a kernel matrix
with few entry evaluations" (2022): each landmark is drawn with a probability proportional to what those
before it leave of the kernel's diagonal, so that landmarks do not repeat each other. Draws are made
in blocks and then thinned by rejection (Epperly, Tropp and Webber, "Embrace rejection", 2024): the
landmarks have the distribution of one draw after the other, at the speed of matrix products.
"""

import numpy as np
from scipy import linalg

from fctree._memory import check_memory
from fctree.kernel_ridge.ordered_tasks import cut, for_each

_MOST_DRAWN = 256
_ROWS = 1024


def pivoted_cholesky(kernel, X, weights, n_pivots, random_state, n_threads):
    """A partial Cholesky factor of K(X, X), at most `n_pivots` pivots drawn at random.

    ``weights`` (n,) or None are factors of the chances, positive. Returns the pivots, (k,) rows of `X`:
    fewer than `n_pivots` where they give all of K to rounding; and F (n, k): ``F F'`` is K, but for what
    the pivots do not explain, ``F[pivots]`` is lower triangular.

    O(n n_pivots^2). Held to one thread, the BLAS gives the same bytes for any `n_threads`.
    """
    n_pivots = min(n_pivots, len(X))
    check_memory("the landmarks' factor", (len(X), n_pivots), np.float64, "lower n_components")
    F = np.zeros((len(X), n_pivots))
    left = kernel.diagonal(X)  # of K, less what the pivots explain
    smallest = len(X) * np.finfo(np.float64).eps * left.max()
    weights = np.ones(len(X)) if weights is None else weights / weights.max()
    pivots = np.empty(0, dtype=np.intp)
    while len(pivots) < n_pivots:
        left[left <= smallest] = 0.0
        chances = weights * left
        if not chances.sum() > 0.0:
            break
        n_drawn = min(_MOST_DRAWN, max(16, n_pivots // 8))
        drawn = random_state.choice(len(X), n_drawn, p=chances / chances.sum())
        k = len(pivots)
        block = kernel.gram(X[drawn]) - F[drawn, :k] @ F[drawn, :k].T
        left[drawn[block.diagonal() <= smallest]] = 0.0  # explained, but for the rounding of `left`
        kept, L = _thin(block, left[drawn], smallest, random_state)
        kept, L = kept[: n_pivots - k], L[: n_pivots - k, : n_pivots - k]
        if len(kept):
            _extend(kernel, X, F, left, (k, drawn[kept], L), n_threads)
            pivots = np.append(pivots, drawn[kept])
            left[pivots] = 0.0
    F[pivots] = np.tril(F[pivots])
    if not len(pivots):  # a kernel of zeros: one row says as much as all
        pivots, F[0, 0] = np.zeros(1, dtype=np.intp), 1.0
    return pivots, F[:, : len(pivots)]


def _thin(H, proposed, smallest, random_state):
    """Choose the draws to keep; return them, and the Cholesky factor of their part of H.

    A draw with the chance `proposed` is kept with the probability that makes it what it would
    be after the draws kept before it.
    """
    kept, columns = [], []
    for i, height in enumerate(random_state.uniform(size=len(H)) * proposed):
        if H[i, i] > max(height, smallest):
            columns.append(H[:, i] / np.sqrt(H[i, i]))
            H -= np.outer(columns[-1], columns[-1])
            kept.append(i)
    return np.array(kept, dtype=np.intp), np.tril(np.array(columns).T[kept]) if kept else H[:0, :0]


def _extend(kernel, X, F, left, found, n_threads):
    """The columns of F for new pivots, and what they explain taken off ``left``."""
    k, rows, L = found
    Z, old = X[rows], F[rows, :k].T

    def fill(i):
        part = kernel.gram(X[i], Z) - F[i, :k] @ old
        part = linalg.solve_triangular(L, part.T, lower=True, check_finite=False).T
        F[i, k : k + len(rows)] = part
        left[i] -= np.einsum("ij,ij->i", part, part)

    for_each(fill, cut(len(X), _ROWS), n_threads)
    F[rows, k : k + len(rows)] = L
