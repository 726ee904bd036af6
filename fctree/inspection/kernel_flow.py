"""Tree kernels trained by gradient flow with early stopping, for all times at once.

The flow of half the penalised squared error from f_0, with residuals r = y - f_0(X), is

    f_t = f_0 + K(., X) phi_t(K) r,    phi_t(s) = (1 - exp(-(s + alpha) t)) / (s + alpha),

whose limit is kernel ridge regression. A Krylov basis of K and r (Lanczos, fully reorthogonalised)
holds phi_t(K) r for every t up to some time to rounding: m products with K instead of its
eigenvectors, m growing with the logarithm of the precision and the root of the time (Hochbruck and
Lubich, 1997). With weights W, K is W^1/2 K W^1/2 and r is W^1/2 r.
"""

import numpy as np
from scipy.linalg import eigh_tridiagonal
from sklearn.base import clone

from fctree._sklearn import validate_parameters
from fctree._training.target_units import comparing_units
from fctree._validation import check_features
from fctree.inspection.warm_start import WarmStartModel
from fctree.kernel_ridge.spectrum import weighted

_FIRST_STEPS = 24
_MOST_STEPS = 384
_TIMES_A_DECADE = 10
_DECADES = 12
# The validation loss at the best time has settled when twice the basis changes it by less.
_SETTLED = 1e-4


class KrylovBasis:
    """Orthonormal vectors of the Krylov space of a symmetric K (n, n) and a start vector, and K between
    them."""

    def __init__(self, K, start):
        self.K = K
        self.norm = np.linalg.norm(start)
        most = min(len(K), _MOST_STEPS)
        self.vectors = np.empty((most, len(K)))
        self.diagonal, self.off_diagonal = np.empty(most), np.empty(most)
        self.size = 0
        self.is_full = self.norm == 0.0
        if not self.is_full:
            self._next = start / self.norm

    def extend(self, size):
        """Extend the basis to `size` vectors, or as many as it can have."""
        size = min(size, len(self.vectors))
        while self.size < size and not self.is_full:
            at = self.size
            vector = self.vectors[at] = self._next
            product = self.K @ vector
            self.diagonal[at] = product @ vector
            known = self.vectors[: at + 1]
            for _ in range(2):  # once leaves what rounding brings back
                product -= known.T @ (known @ product)
            length = np.linalg.norm(product)
            self.off_diagonal[at] = length
            self.size += 1
            scale = np.abs(self.diagonal[: self.size]).max()
            self.is_full = length <= 1e-13 * scale or self.size == len(self.vectors)
            if not self.is_full:
                self._next = product / length

    def flow(self, alpha, times):
        """Coefficients of phi_t(K) start in the basis, (size, n_times), for all times.

        `times` are multiples of 1 / (largest eigenvalue + alpha).
        """
        if self.size == 0:
            return np.zeros((0, len(times)))
        values, inside = eigh_tridiagonal(
            self.diagonal[: self.size], self.off_diagonal[: self.size - 1]
        )
        rates = np.maximum(values, 0.0) + alpha
        rates /= rates[-1]
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = -np.expm1(-np.outer(rates, times)) / rates[:, None]
        # Directions in which the kernel is 0 to rounding do not move.
        still = rates <= len(self.K) * np.finfo(np.float64).eps
        moved[still] = 0.0
        return inside @ (moved * inside[0][:, None]) * (self.norm / (values[-1] + alpha))


def flow_times():
    """Times at which the flow may stop, its end among them."""
    decades = np.arange(-2 * _TIMES_A_DECADE, _DECADES * _TIMES_A_DECADE + 1) / _TIMES_A_DECADE
    return np.concatenate([[0.0], 10.0**decades, [np.inf]])


class TreeKernelFlow(WarmStartModel):
    """The gradient flow of a `TreeNTKRegressor`'s kernel and penalty; its solver is not used."""

    prefers_threads = True  # the kernel and the products run outside the interpreter

    def __init__(self, estimator):
        estimator.set_params(n_jobs=None)
        validate_parameters(estimator)
        if estimator.feature_learning:
            raise ValueError(
                "importances of a TreeNTKRegressor are those of its kernel as it is, not of one that learns "
                f"features: set feature_learning=0 (it is {estimator.feature_learning})"
            )
        self.estimator = estimator
        self.terms = []

    def fit(self, train, validation):
        """Flow from 0."""
        self.terms = []
        self.one_output = np.ndim(train.y) == 1
        self.unit = np.multiply(*comparing_units(self._residuals(train), train.sample_weight))
        return self._flow(train, validation)

    def continue_fit(self, train, validation):
        """Continue the flow from the current function."""
        return self._flow(train, validation)

    def predict(self, X):
        """The function's values, (n,) or (n, n_outputs)."""
        kernel = self.estimator._fitted_kernel()
        outputs = sum(kernel.multiply(check_features(table, X), *term) for table, *term in self.terms)
        return outputs[:, 0] if self.one_output else outputs

    def _residuals(self, samples):
        y = np.asarray(samples.y, dtype=np.float64)
        residuals = y - self.predict(samples.X) if self.terms else y
        return residuals.reshape(len(y), -1)

    def _flow(self, train, validation):
        kernel = self.estimator._fitted_kernel()
        # Features of missing values, as in a fit: those of columns made constant differ.
        table = clone(self.estimator)
        X, _, weight = table._check_targets(train.X, train.y, train.sample_weight)
        residuals, wanted = (self._residuals(part) / self.unit for part in (train, validation))
        K, start = weighted(kernel.gram(X), residuals, weight)
        roots = 1.0 if weight is None else np.sqrt(weight)
        K_validation = kernel.gram(check_features(table, validation.X), X) * roots
        bases = [KrylovBasis(K, column) for column in start.T]
        problem = (bases, K_validation, wanted, validation.sample_weight)
        coefficients, self.n_iter_ = _best_flow(problem, self.estimator.alpha)
        self.terms = [*self.terms, (table, X, np.ascontiguousarray((coefficients * roots).T * self.unit))]
        return self


def _best_flow(problem, alpha):
    """Coefficients (n_outputs, n) of the flow at the time that is best on the validation samples,
    and the number of products."""
    bases, K_validation, wanted, weight = problem
    times = flow_times()
    size, before = _FIRST_STEPS, np.inf
    while True:
        losses = np.zeros(len(times))
        flows = []
        for output, basis in enumerate(bases):
            basis.extend(size)
            flows.append(basis.flow(alpha, times))
            moved = K_validation @ basis.vectors[: basis.size].T @ flows[-1]
            errors = (wanted[:, output, None] - moved) ** 2
            losses += np.average(errors, axis=0, weights=weight)
        best = int(np.argmin(losses))
        settled = np.isfinite(before) and before - losses[best] <= _SETTLED * before
        if settled or all(basis.is_full for basis in bases):
            break
        size, before = 2 * size, losses[best]
    coefficients = [
        flow[:, best] @ basis.vectors[: basis.size]
        for flow, basis in zip(flows, bases, strict=True)
    ]
    return np.array(coefficients), max(basis.size for basis in bases)
