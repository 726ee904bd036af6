"""Kernel ridge regression in the span of landmarks, for more samples than a Gram matrix has room for.

f = K(., Z) c with (K_zx W K_xz + alpha K_zz) c = K_zx W y. Landmarks come from a sample of the rows, the
candidates, by pivoted Cholesky factorisation, which also gives K_zz = L L'. In the coordinates L' c the system is
G' G + alpha I, where G = W^1/2 K_xz L'^-1. Conjugate gradients solve it as in Rudi, Carratino and Rosasco ("FALKON",
2017), but for the preconditioner: all rows of G are folded into fewer, with random signs, as in Diaz, Epperly,
Frangella, Tropp and Webber ("Robust, randomized preconditioning for kernel ridge regression", 2023), so that the
condition depends neither on the penalty nor on whether the landmarks are a fair sample.
"""

import threading
from dataclasses import replace

import numpy as np
from scipy import linalg

from fctree._memory import available_memory
from fctree._threads import count_threads, one_blas_thread
from fctree._training.target_units import exponent_of_largest
from fctree.kernel_ridge.dense import jittered_factor, product_with_itself
from fctree.kernel_ridge.pivoted_cholesky import pivoted_cholesky
from fctree.kernel_ridge.ordered_tasks import cut, for_each, in_order
from fctree.kernel_ridge.solvers import column_units, conjugate_gradients, warn_of_singular, warn_unless
from fctree.kernels.device import uses_gpu

# Candidates, and rows after folding: so many for each landmark, and at least so many. Three rows for a column leave a
# condition of about 14.
_PER_LANDMARK = 3
_FEWEST = 15_000
# The part of the free memory that a matrix may take to be kept from one iteration to the next.
_KEPT_SHARE = 0.25
_BLOCK_BYTES = 2**23
# Entries of K that one call may compute before an interrupt is heard.
_MOST_ENTRIES = 2**27
# float32 overflows where float64 does not; scaled samples beyond this are for float64.
_LONGEST_SINGLE = 1e6
# What one round in float32 takes off the residual, before the next is computed in float64.
_SINGLE_TOL = 1e-3


def draw_candidates(n_rows, n_components, random_state):
    """Sorted positions of the candidates among so many rows of positive weight."""
    n_drawn = max(_FEWEST, _PER_LANDMARK * n_components)
    if n_drawn >= n_rows:
        return np.arange(n_rows)
    return np.sort(random_state.choice(n_rows, n_drawn, replace=False))


def draw_landmarks(kernel, candidates, weights, n_components, random_state):
    """Landmarks, the factor L of their matrix, and the candidates' rows of G."""
    with one_blas_thread:
        rows, F = pivoted_cholesky(kernel, candidates, weights, n_components, random_state,
                                   count_threads(kernel.n_jobs))
    L = F[rows]
    if weights is not None:
        F *= np.sqrt(weights)[:, np.newaxis]
    return candidates[rows], L, F


def warn_if_singular(G, alpha, n_components):
    """LinAlgWarning if fewer landmarks than asked for, which give all of the matrix, have ``alpha`` for rounding."""
    fewer = G.shape[1] < min(len(G), n_components)
    if fewer and alpha <= np.finfo(np.float64).eps * np.einsum("ij,ij", G, G):  # the trace
        warn_of_singular(alpha)


def folded(kernel, X, weights, landmarks, L, n_rows, random_state):
    """All rows of G in `n_rows`: every sample is added to one of them, with a random sign.

    G' G is kept on average, and every sample counts; O(n m n_features + n_rows m^2).
    """
    order = random_state.permutation(len(X))
    factor = random_state.choice((-1.0, 1.0), len(X))
    if weights is not None:
        factor *= np.sqrt(weights)
    G = np.empty((n_rows, len(landmarks)))
    one = replace(kernel, n_jobs=1)

    def fold(i):
        G[i] = 0.0
        for begin in range(0, len(X), n_rows):
            rows = order[begin : begin + n_rows][i]
            if not len(rows):
                break
            K = one.gram(X[rows], landmarks) * factor[rows, np.newaxis]
            G[i.start : i.start + len(rows)] += K
        G[i] = linalg.solve_triangular(L, G[i].T, lower=True, check_finite=False).T

    n_entries = -(-len(X) // n_rows) * len(landmarks)
    with one_blas_thread:
        blocks = cut(n_rows, max(16, min(512, _MOST_ENTRIES // n_entries)))
        for_each(fold, blocks, count_threads(kernel.n_jobs))
    return G


class LandmarkSystem:
    """The preconditioned system of the landmarks' coefficients.

    L (m, m) is the lower factor of K_zz; ``G' G``, with G (n_rows, m), is about that of all samples.
    """

    def __init__(self, L, G, *, alpha, n_threads):
        self.L, self.alpha = L, alpha
        with one_blas_thread:
            self.B = jittered_factor(product_with_itself(G, n_threads), alpha, n_threads)

    def _outward(self, v):
        """Coefficients c, and v in the coordinates L' c."""
        half = linalg.solve_triangular(self.B, v, lower=True, trans="T", check_finite=False)
        return linalg.solve_triangular(self.L, half, lower=True, trans="T", check_finite=False), half

    def _inward(self, v, shift=0.0):
        half = linalg.solve_triangular(self.L, v, lower=True, check_finite=False) + shift
        return linalg.solve_triangular(self.B, half, lower=True, check_finite=False)

    def _preconditioned(self, product):
        def multiply(v):
            c, half = self._outward(v)
            return self._inward(product(c), self.alpha * half)

        return multiply

    def solve(self, product, projected, *, rough=None, **stopping):
        """Coefficients and the number of iterations.

        ``product(c)`` is K_zx W K_xz c, `projected` K_zx W y; ``rough(c)`` the former in
        float32, where that is at hand.
        """
        with one_blas_thread:
            unit = column_units(projected)
            b, multiply = self._inward(projected / unit), self._preconditioned(product)
            if rough is None:
                found = conjugate_gradients(multiply, b, **stopping)
            else:
                found = refined(multiply, self._preconditioned(rough), b, **stopping)
            solution, n_iter, converged = found
            warn_unless(converged, n_iter)
            return self._outward(solution)[0] * unit, n_iter


class RowProduct:
    """``product(c) = K_zx W K_xz c``, K_xz computed by blocks of rows and kept where there is room.

    K_xz is of the type ``dtype``, sums over blocks are float64.
    """

    def __init__(self, kernel, X, Z, weights, dtype=np.float64):
        self.kernel, self.weights = replace(kernel, n_jobs=1), weights
        self.n_threads = count_threads(kernel.n_jobs)
        self.X, self.Z = X.astype(dtype, copy=False), Z.astype(dtype, copy=False)
        row = len(Z) * self.X.itemsize
        self.blocks = cut(len(X), max(96, min(4096, _BLOCK_BYTES // row // 96 * 96)))
        self.kept = {}
        self.keeps = dtype == np.float32 and len(X) * row <= _KEPT_SHARE * (available_memory() or 0)
        self.here = threading.local()

    def _block(self, i):
        if i.start in self.kept:
            return self.kept[i.start]
        if self.keeps:
            self.kept[i.start] = self.kernel.gram(self.X[i], self.Z)
            return self.kept[i.start]
        if not hasattr(self.here, "out"):
            self.here.out = np.empty((self.blocks[0].stop, len(self.Z)), self.X.dtype)
        return self.kernel.gram(self.X[i], self.Z, out=self.here.out[: i.stop - i.start])

    def __call__(self, c):
        def part(i):
            K = self._block(i)
            v = scaled_product(K, c)
            if self.weights is not None:
                v *= self.weights[i, np.newaxis]
            return scaled_product(K.T, v)

        return sum(in_order(part, self.blocks, self.n_threads))


def in_single(X, exponent):
    """``X / 2**exponent`` in float32, the range of which X itself may leave."""
    return np.ldexp(X, -exponent, out=np.empty(X.shape, np.float32), casting="same_kind")


def scaled_product(K, v):
    """``K v`` in the type of K, for v of any size; float64."""
    size = np.abs(v).max(axis=0)
    size[size == 0.0] = 1.0
    return (K @ (v / size).astype(K.dtype, copy=False)) * size


def refined(multiply, rough, b, *, tol, max_iter, verbose):
    """Conjugate gradients, nearly all products by ``rough``; residuals by ``multiply``.

    Where rounding of the rough products keeps a round from its goal, ``multiply`` takes over.
    """
    goal = tol * np.linalg.norm(b, axis=0)
    x, residual, n_iter, converged = np.zeros_like(b), b, 0, False
    product, least = rough, _SINGLE_TOL
    while n_iter < max_iter and not converged:
        size = np.linalg.norm(residual, axis=0)
        needed = np.divide(0.5 * goal, size, out=np.ones_like(size), where=size > 0.0)
        stopping = {"tol": np.maximum(needed, least), "max_iter": max_iter - n_iter}
        step, n_more, _ = conjugate_gradients(product, residual, **stopping, verbose=verbose)
        if not n_more:
            break
        n_iter += n_more
        after = b - multiply(x + step)
        left = np.linalg.norm(after, axis=0)
        converged = bool(np.all(left <= goal))
        if np.any(left > np.maximum(0.1 * size, goal)):
            product, least = multiply, 0.0
        x, residual = x + step, after
    return x, n_iter, converged


def solve_with_landmarks(kernel, X, targets, weights, draw, *, alpha, **stopping):
    """Landmarks, their coefficients, and the number of iterations; O(n m) a product.

    ``draw`` has ``n_components`` and ``random_state``.
    """
    if weights is not None and not weights.all():
        counted = weights > 0.0
        X, targets, weights = X[counted], targets[counted], weights[counted]
    rows = draw_candidates(len(X), **draw)
    part = None if weights is None else weights[rows]
    landmarks, L, G = draw_landmarks(kernel, X[rows], part, **draw)
    warn_if_singular(G, alpha, draw["n_components"])
    if len(rows) < len(X):
        G = None  # room for the next
        G = folded(kernel, X, weights, landmarks, L, len(rows), draw["random_state"])
    system = LandmarkSystem(L, G, alpha=alpha, n_threads=count_threads(kernel.n_jobs))
    exact = len(G) == len(X)
    del G
    column = np.ones((len(X), 1)) if weights is None else weights[:, np.newaxis]
    samples, centres, rough = kernel.at_hand(X), kernel.at_hand(landmarks), None
    if uses_gpu(kernel.device):
        def product(c):
            return kernel.multiply(centres, samples, column * kernel.multiply(samples, centres, c))
    else:
        product = RowProduct(kernel, X, landmarks, weights)
        if not exact and kernel.scale * np.abs(X).max() <= _LONGEST_SINGLE:
            exponent = exponent_of_largest(X)
            moved = replace(kernel, scale=float(np.ldexp(kernel.scale, exponent)))
            rough = RowProduct(moved, *(in_single(A, exponent) for A in (X, landmarks)), weights, np.float32)
    projected = kernel.multiply(centres, samples, column * targets)
    return landmarks, *system.solve(product, projected, rough=rough, **stopping)
