"""Logistic models of classes: their losses, minima and approximate leave-one-out losses.

Of two classes a model has one row, the second one's logit; of more one row each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from fctree._typing import FloatArray

MULTIPLES = (1.0, 8.0, 64.0, 512.0, 4096.0)  # of the least penalty
INTERCEPT_PENALTY = 1e-4  # keeps intercepts of classes that no sample has finite
_MOST_STEPS = 50
_PRECISION = 1e-8  # of the mean loss before the last step, which is far more precise
_MOST_ITERATIONS = 300
_GRADIENT, _DECREASE = 1e-7, 1e-8  # of the mean loss, and its share in a step, where its search without a Hessian ends
_FEW_OPERATIONS = 2e7  # of a Hessian and its factor: where they take more, that search comes first
_BLOCK_VALUES = 1 << 20  # of the largest array of a block of rows
_CACHED_VALUES = 1 << 16  # the same of one that is read several times


@dataclass(frozen=True)
class LogisticData:
    """Rows z (n, d), shares of the m predicted classes (m, n) and weights (n,)."""

    Z: FloatArray
    targets: FloatArray
    weight: FloatArray

    def of(self, rows):
        return LogisticData(self.Z[rows], self.targets[:, rows], self.weight[rows])

    def in_one(self):
        """One sample in place of all, for models of intercepts alone."""
        total = self.weight.sum()
        return LogisticData(np.ones((1, 1)), (self.targets @ self.weight / total)[:, np.newaxis], np.array([total]))

    def blocks(self, n_rows=None):
        """Parts of so many rows, or such that their largest arrays, (n, m, d) and (n, m, m), stay small."""
        m, d = len(self.targets), self.Z.shape[1]
        n_rows = n_rows or max(_BLOCK_VALUES // (m * max(m, d)), 16)
        for begin in range(0, len(self.Z), n_rows):
            yield self.of(slice(begin, begin + n_rows))


@dataclass(frozen=True)
class Fit:
    """A model (m, d) or those of all leaves (n_leaves, m, d), the inverse of the Hessian (m d, m d), and
    `expected_loss`."""

    model: FloatArray
    inverse: FloatArray | None
    loss: float


def _exponentials(logits, out=None):
    """Largest logit, with the 0 of the first of two classes, (n,), exponentials of the rest (m, n), their sum."""
    of_first = 0.0 if len(logits) == 1 else -np.inf
    largest = np.maximum(logits.max(axis=0), of_first)
    exponentials = np.subtract(logits, largest, out=out)
    np.exp(exponentials, out=exponentials)
    return largest, exponentials, exponentials.sum(axis=0) + np.exp(of_first - largest)


def losses(logits, targets):
    """The log-loss of each sample, (n,)."""
    largest, _, total = _exponentials(logits)
    return largest + np.log(total) - (targets * logits).sum(axis=0)


def probabilities(logits):
    """Probabilities (m, n)."""
    _, exponentials, total = _exponentials(logits)
    return exponentials / total


def probabilities_and_slopes(logits):
    """Probabilities (m, n), and their derivatives by the logits (m, m, n)."""
    p = probabilities(logits)
    slopes = -p[:, np.newaxis] * p
    slopes[np.arange(len(p)), np.arange(len(p))] += p
    return p, slopes


def _has_few_pairs(m, d):
    """Whether products of two features each, (n, d (d + 1) / 2), take no more room than the other arrays of a block: then
    one large product takes the place of m^2 small ones."""
    return d * (d + 1) // 2 <= m * max(m, d)


def derivatives(data, model):
    """Gradient (m, d) and Hessian (m, d, m, d) of the loss."""
    m, d = model.shape
    gradient, hessian = np.zeros((m, d)), np.zeros((m, d, m, d))
    for part in data.blocks():
        p, slopes = probabilities_and_slopes(model @ part.Z.T)
        gradient += ((p - part.targets) * part.weight) @ part.Z
        slopes *= part.weight
        if _has_few_pairs(m, d):
            (a, b), (i, j) = np.tril_indices(m), np.tril_indices(d)
            sums = np.empty((len(a), d, d))
            sums[:, i, j] = sums[:, j, i] = slopes[a, b] @ (part.Z[:, i] * part.Z[:, j])
            hessian[a, :, b] += sums
            continue
        for a in range(m):
            for b in range(a + 1):
                hessian[a, :, b] += (part.Z.T * slopes[a, b]) @ part.Z
    for a in range(m):
        for b in range(a):
            hessian[b, :, a] = hessian[a, :, b]
    return gradient, hessian


def _inverse(factor):
    """Inverse of the matrix that has this factor, `cho_factor(.., lower=True)`."""
    inverse, failed = dpotri(factor[0], lower=1)
    if failed:
        raise LinAlgError("a factor is singular to rounding")
    lower = np.tril(inverse)
    return lower + np.tril(lower, -1).T


def near_minimum(data, prior, penalty, start):
    """About what `minimise` finds, by L-BFGS, O(n m d) per step."""
    scale, blocks = 1.0 / data.weight.sum(), list(data.blocks(max(_CACHED_VALUES // len(start), 64)))

    def objective(flat):
        model = flat.reshape(start.shape)
        gradient = (model - prior) * penalty
        value = 0.5 * ((model - prior) * gradient).sum()
        for part in blocks:
            logits = model @ part.Z.T
            of_target = np.einsum("an,an->n", part.targets, logits)
            largest, exponentials, total = _exponentials(logits, out=logits)
            value += part.weight @ (largest + np.log(total) - of_target)
            exponentials /= total
            exponentials -= part.targets
            exponentials *= part.weight
            gradient += exponentials @ part.Z
        return scale * value, scale * gradient.ravel()

    options = {"maxiter": _MOST_ITERATIONS, "gtol": _GRADIENT, "ftol": _DECREASE}
    found = minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(start.shape)


def minimise(data, prior, penalty, start):
    """The model with the least loss + sum(penalty (model - prior)^2) / 2, by Newton's method, and the
    inverse of its Hessian; O(n (m d)^2 + (m d)^3) per step."""
    if (len(data.Z) + start.size / 3) * start.size**2 > _FEW_OPERATIONS:
        start = near_minimum(data, prior, penalty, start)

    def objective(model):
        loss = sum(part.weight @ losses(model @ part.Z.T, part.targets) for part in data.blocks())
        return loss + 0.5 * ((model - prior) ** 2 @ penalty).sum()

    model, value = start, objective(start)
    for _ in range(_MOST_STEPS):
        gradient, hessian = derivatives(data, model)
        gradient += (model - prior) * penalty
        hessian = hessian.reshape(gradient.size, -1)
        hessian.flat[:: gradient.size + 1] += np.tile(penalty, len(model))
        factor = cho_factor(hessian, lower=True)
        step = cho_solve(factor, gradient.ravel()).reshape(gradient.shape)
        decrease, length = (step * gradient).sum(), 1.0
        while (tried := objective(model - length * step)) > value - 1e-4 * length * decrease:
            length /= 2.0
            if length < 1e-6:  # at the minimum, to rounding
                return model, _inverse(factor)
        model, value = model - length * step, tried
        if decrease <= _PRECISION * data.weight.sum():
            break
    return model, _inverse(factor)


def left_out_losses(data, model, response):
    """Losses of the samples, each without a unit of its weight in the fit, times their weights; and the degrees
    of freedom.

    ``response`` (m d, m d) times a gradient is how far the model moves with it.
    """
    m, d = model.shape
    found, freedom = [], 0.0
    i, j = np.tril_indices(d)
    few = _has_few_pairs(m, d)
    if few:
        of_pairs = response.reshape(m, d, m, d).transpose(0, 2, 1, 3)
        of_pairs = (of_pairs[:, :, i, j] + of_pairs[:, :, j, i] * (i != j)).reshape(m * m, -1)
    for part in data.blocks():
        if few:
            leverage = ((part.Z[:, i] * part.Z[:, j]) @ of_pairs.T).reshape(-1, m, m)
        else:
            leverage = np.empty((len(part.Z), m, m))
            for a in range(m):
                along = part.Z @ response[a * d : (a + 1) * d]
                leverage[:, a] = np.einsum("nbd,nd->nb", along.reshape(-1, m, d), part.Z)
        logits = model @ part.Z.T
        p = probabilities(logits)
        # Slopes are diag(p) - p p'.
        along = (leverage @ p.T[:, :, np.newaxis])[:, :, 0]
        freedom += part.weight @ (np.einsum("naa,an->n", leverage, p) - np.einsum("an,na->n", p, along))
        unit = np.minimum(part.weight, 1.0)[:, np.newaxis]
        moved = unit * (leverage @ (p - part.targets).T[:, :, np.newaxis])[:, :, 0]
        leverage -= along[:, :, np.newaxis]
        leverage *= (-unit * p.T)[:, np.newaxis]
        moved = np.linalg.solve(np.eye(m) + leverage, moved[:, :, np.newaxis])
        found.append(part.weight * losses(logits + moved[:, :, 0].T, part.targets))
    return np.concatenate(found), freedom


def left_out_loss_of_intercepts(data, intercepts):
    """The sum of `left_out_losses` of intercepts (m, 1) alone, whose leverages, the same for all samples, have the
    eigenvectors of the slopes: O(m^3 + n m^2) in place of O(n m^3)."""
    p, slopes = probabilities_and_slopes(intercepts)
    values, vectors = np.linalg.eigh(slopes[:, :, 0])
    values, unit = np.maximum(values, 0.0)[:, np.newaxis], np.minimum(data.weight, 1.0)
    curvature = INTERCEPT_PENALTY + (data.weight.sum() - unit) * values  # without the unit of a sample
    moved = vectors @ (unit / curvature * (vectors.T @ (p - data.targets)))
    return data.weight @ losses(intercepts + moved, data.targets)


def expected_loss(data, model, response, cost):
    """The sum of the left-out losses, and ``cost`` for each degree of freedom."""
    left_out, freedom = left_out_losses(data, model, response)
    return left_out.sum() + cost * freedom


def best_of(fits):
    """The fit before the first one with a larger loss."""
    best = next(fits)
    for fit in fits:
        if not fit.loss < best.loss:
            break
        best = fit
    return best
