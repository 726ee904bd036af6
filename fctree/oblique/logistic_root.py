"""One logistic model for all leaves, where those of `logistic_leaves` would have too many parameters.

The same minimum as there for all samples, by L-BFGS, which needs no Hessian. The leave-one-out step takes the
Hessian's blocks on its diagonal, one for each predicted class: O(m n d min(n, d)) in place of O(n m^2 d^2).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from fctree.oblique.logistic_models import (
    INTERCEPT_PENALTY,
    MULTIPLES,
    Fit,
    best_of,
    losses,
    near_minimum,
    probabilities,
)


def root_model(data, penalty, cost):
    """The fit of all samples; ``penalty`` (d - 1,) is the least one, ``cost`` that of a degree of freedom."""
    return best_of(_fits(data, penalty, cost))


def _fits(data, least, cost):
    """Fits from the largest penalty on, each starting at the minimum before."""
    prior = model = np.zeros((len(data.targets), data.Z.shape[1]))
    for multiple in reversed(MULTIPLES):
        penalty = np.append(multiple * least, INTERCEPT_PENALTY)
        model = near_minimum(data, prior, penalty, model)
        yield Fit(model, None, _expected_loss(data, model, penalty, cost))


def _leverages(Z, weights, penalty):
    """Diagonals, one for each row of weights, of Z (Z' diag(weight) Z + diag(penalty))^-1 Z', by the smaller one of the
    two matrices."""
    n, d = Z.shape
    kernel = (Z / penalty) @ Z.T if n < d else None
    for weight in weights:
        if kernel is None:
            hessian = (Z.T * weight) @ Z
            hessian.flat[:: d + 1] += penalty
            yield np.einsum("nd,nd->n", Z @ cho_solve(cho_factor(hessian, lower=True), np.eye(d)), Z)
            continue
        root = np.sqrt(weight)
        system = root[:, np.newaxis] * kernel * root
        system.flat[:: n + 1] += 1.0
        half = solve_triangular(cholesky(system, lower=True), root[:, np.newaxis] * kernel, lower=True)
        yield np.diagonal(kernel) - (half**2).sum(axis=0)


def _expected_loss(data, model, penalty, cost):
    logits = model @ data.Z.T
    p = probabilities(logits)
    slopes = p * (1.0 - p)
    left_out, freedom = logits.copy(), 0.0
    for a, leverage in enumerate(_leverages(data.Z, data.weight * slopes, penalty)):
        freedom += (data.weight * leverage) @ slopes[a]
        leverage *= np.minimum(data.weight, 1.0)
        left_out[a] += leverage * (p[a] - data.targets[a]) / (1.0 - leverage * slopes[a])
    return data.weight @ losses(left_out, data.targets) + cost * freedom
