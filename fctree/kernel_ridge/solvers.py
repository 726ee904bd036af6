"""Solving kernel ridge systems exactly and by conjugate gradients; `landmarks` has the third way.

All minimise sum_i w_i |y_i - f(x_i)|^2 + alpha |f|^2 over functions f = K(., X) c of the
kernel's space; `targets` are (n, n_outputs), `weights` (n,) or None.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from fctree._memory import check_memory
from fctree._native import matrix as _native
from fctree._training.progress import ProgressBar
from fctree._training.target_units import square_unit
from fctree._warnings import warn
from fctree.kernel_ridge.dense import factor
from fctree.kernel_ridge.spectrum import Spectrum, weighted
from fctree.kernels.architecture import kernel_spec
from fctree.kernels.compute import compute_gram, compute_product
from fctree.kernels.device import DeviceArray, uses_gpu


@dataclass(frozen=True)
class TreeKernel:
    """A tree kernel with its parameters chosen, or the exponential kernel."""

    depth: float
    scale: float
    architecture: object
    device: str
    n_jobs: int | None

    def spec(self, derivative="none"):
        """Arguments of the core; the derivative as for `kernel_spec`. Of the exponential kernel
        "cosine" is K / (scale * |x - y|)."""
        if self.architecture == "exponential":
            return _native.KernelSpec("exponential", derivative=derivative)
        return kernel_spec(self.depth, self.architecture, derivative=derivative)

    def gram(self, X, Y=None, *, out=None):
        """K(X, Y), or MemoryError with what to do instead."""
        shape = (len(X), len(X if Y is None else Y))
        if out is None:
            remedy = "use solver='nystrom' (n_components landmarks) or solver='cg'"
            check_memory("a Gram matrix", shape, np.float64, remedy)
        return compute_gram(
            self.spec(), X, Y, scale=self.scale, device=self.device, out=out, n_jobs=self.n_jobs
        )

    def diagonal(self, X):
        """K(x, x) of each row."""
        out = np.empty(len(X))
        _native.gram_diagonal(self.spec(), X, self.scale, out)
        return out

    def at_hand(self, X):
        """Samples for many products: where those are computed."""
        return DeviceArray.of(X) if uses_gpu(self.device) else X

    def multiply(self, X, Y, v, *, derivative="none"):
        """K(X, Y) v in tiles, as a NumPy array; of a derivative of K (`spec`) if asked."""
        return compute_product(
            self.spec(derivative), X, Y, v, scale=self.scale, device=self.device, n_jobs=self.n_jobs, to_host=True
        )


def solve_with_errors(K, targets, alpha, weights=None):
    """Coefficients c (n, n_outputs) of K c + alpha W^-1 c = y by Cholesky's factorisation; K is destroyed.

    Where the matrix is singular to rounding, a warning says so and the least-norm solution is taken
    instead, from the eigenvectors whose eigenvalues are not rounding. It does not tell the errors without each
    sample: these are returned too, as of `Spectrum.errors`, else None.
    """
    K, targets = weighted(K, targets, weights)
    diagonal = K.diagonal().copy()
    np.fill_diagonal(K, diagonal + alpha)
    norm = linalg.lapack.dlange("1", K.T)
    # The upper triangle is kept for the fall-back: LAPACK sees the transpose, and of it the
    # upper triangle, which is K's lower one.
    try:
        rcond = linalg.lapack.dpocon(factor(K, 1).T, norm)[0]
    except linalg.LinAlgError:
        rcond = 0.0
    if rcond >= np.finfo(np.float64).eps:
        solution = linalg.cho_solve((K.T, False), targets, check_finite=False)
        return (solution if weights is None else solution * np.sqrt(weights)[:, np.newaxis]), None
    warn_of_singular(alpha, f" (reciprocal condition {rcond:.1e})")
    np.fill_diagonal(K, diagonal)
    spectrum = Spectrum.of_system(K, targets, weights)
    return spectrum.dual_coef(alpha), spectrum.errors(alpha)


def warn_of_singular(alpha, condition=""):
    """LinAlgWarning for a penalty that is rounding beside a matrix without full rank."""
    warn(
        f"The kernel matrix with alpha={alpha:g} on its diagonal is singular to rounding{condition}: "
        "the solution of least norm is taken. Equal samples with different targets do this; a larger "
        "alpha repairs it.",
        linalg.LinAlgWarning,
    )


# Times the tolerance: a residual that the solver takes for small enough.
_MOST_LEFT = 100.0


def conjugate_gradients(multiply, b, *, tol, max_iter, verbose):
    """Solves A x = b for all columns of b at once, A positive semidefinite; returns x, the number of
    iterations, and whether they converged.

    One product with A serves all columns, which is what the time goes into; each column has its own step
    lengths and stops by itself. SciPy's solver takes one column at a time. Residuals of the iterates rise and
    fall, and where A is singular they may rise without end: what is returned are the combinations of
    iterates whose residuals never rise (minimal residual smoothing, Schönauer, 1987).
    """
    x, smooth = np.zeros_like(b), np.zeros_like(b)
    residual, left = b.copy(), b.copy()  # of x and of smooth
    direction = b.copy()
    square = _column_products(residual, residual)
    goal, least = np.square(np.asarray(tol, dtype=np.float64)) * square, square
    bar = ProgressBar(verbose, total=max_iter, desc="conjugate gradients")
    n_iter = 0
    while n_iter < max_iter and np.any(least > goal):
        n_iter += 1
        bar.update()
        product = multiply(direction)
        curvature = _column_products(direction, product)
        # A direction without curvature is rounding: that column is done.
        moving = (least > goal) & (curvature > 0)
        if not moving.any():
            break
        step = np.divide(square, curvature, out=np.zeros_like(square), where=moving)
        x += step * direction
        residual -= step * product
        before = square
        square = np.where(moving, _column_products(residual, residual), square)
        direction = residual + np.divide(square, before, out=np.zeros_like(square),
                                         where=moving) * direction
        change = residual - left
        size = _column_products(change, change)
        share = np.divide(-_column_products(left, change), size, out=np.zeros_like(size), where=size > 0)
        smooth += share * (x - smooth)
        left += share * change
        least = _column_products(left, left)
    bar.close()
    return smooth, n_iter, not np.any(least > goal)


def _column_products(first, second):
    return np.einsum("ij,ij->j", first, second)


def warn_unless(converged, n_iter):
    """ConvergenceWarning for a solver that stopped too soon."""
    if not converged:
        warn(
            f"conjugate gradients stopped after {n_iter} iterations before reaching tol: raise "
            "max_iter, tol or alpha",
            ConvergenceWarning,
        )


def column_units(b):
    """A `square_unit` for each column."""
    if not np.all(np.isfinite(b)):
        raise ValueError("y or the weights are too large for float64: their products overflow")
    return np.array([square_unit(column) for column in b.T])


def checked_conjugate_gradients(multiply, b, *, tol, **stopping):
    """The solution of `conjugate_gradients` for columns of any size, 0 where that leaves less, and the number of
    iterations; a warning where the residual is not what it should be."""
    unit = column_units(b)
    b = b / unit
    solution, n_iter, converged = conjugate_gradients(multiply, b, tol=tol, **stopping)
    left = np.linalg.norm(b - multiply(solution), axis=0)  # not what rounding has made of it
    size = np.linalg.norm(b, axis=0)
    solution = np.where(left < size, solution, 0.0)  # which leaves b
    warn_unless(converged and np.all(left <= _MOST_LEFT * tol * size), n_iter)
    return solution * unit, n_iter


def solve_by_conjugate_gradients(kernel, X, targets, weights, *, alpha, **stopping):
    """Coefficients of all samples without the n x n matrix; O(n^2) a product."""
    roots = np.ones((len(X), 1)) if weights is None else np.sqrt(weights)[:, np.newaxis]
    samples = kernel.at_hand(X)
    # Refuses rows that are too long for the kernel even if no product is needed below.
    kernel.multiply(samples, kernel.at_hand(X[:1]), np.zeros((1, 1)))

    def multiply(v):
        return roots * kernel.multiply(samples, None, roots * v) + alpha * v

    solution, n_iter = checked_conjugate_gradients(multiply, roots * targets, **stopping)
    return roots * solution, n_iter
