"""Logistic models in the leaves of a grown classification tree.

Least-squares models of class indicators grow a tree; its probabilities come from

    p = softmax(W_leaf z),    W_leaf the minimum of log-loss + alpha' |W_leaf - W_root|^2 / 2,

z the standardised features of the leaf models and 1, W_root the same model of all samples with a ridge
penalty on its coefficients; of two classes the second one's logit is a single row. Each alpha' is the
multiple of `alpha` with the smallest approximate leave-one-out log-loss: after a Newton step without the
sample (Rad and Maleki 2020), which moves W_root as well. Where that is smaller, all leaves have W_root, or the
shares of the classes. As it does not see that features and splits were chosen for the same samples, each degree of
freedom of k features out of d counts log(d choose k) / (k K), K the number of classes, and each split the logarithm of
the number of products of two features, as much as the best product gains on noise, and 1/8 for each of the k
coefficients of its direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import gammaln
from threadpoolctl import ThreadpoolController

from fctree._tree import ObliqueTree
from fctree._typing import FloatArray

_MULTIPLES = (1.0, 8.0, 64.0, 512.0, 4096.0)
_COST_OF_COEFFICIENT = 0.125  # of a split
_LEAST_PENALTY = 1e-3  # keeps models of separable classes finite
_INTERCEPT_PENALTY = 1e-4  # and this those of classes that no sample has
_MOST_STEPS = 50
_PRECISION = 1e-8  # of the mean loss before the last step, which is far more precise
_MOST_VARIABLES = 1024  # of a model: its Hessian is dense
_BLOCK_VALUES = 1 << 20  # of the largest array of a block of rows


def with_logistic_leaves(tree, X, shares, weight, alpha, *, standardize, parent_weight):
    """The tree with logistic models in place of its linear leaf models, or None where these are too large.

    With K > 2 classes its values are their logits, with two ``(1 + logit) / 2``, which are
    scores with the temperature 1 (`calibration`). ``shares`` (n_samples, K) are as in `find_temperature`.
    """
    weight = np.ones(len(X)) if weight is None else weight
    present = weight > 0.0
    X, shares, weight = np.ascontiguousarray(X[present]), shares[present], weight[present]
    used = np.any(tree.leaf_coef != 0.0, axis=(0, 1))
    targets = np.ascontiguousarray(shares.T if shares.shape[1] > 2 else shares.T[1:])
    if len(targets) * (used.sum() + 1) > _MOST_VARIABLES:
        return None
    # Sums whose order no setting changes; numbers that overflow leave the tree as it is.
    with _blas().limit(limits=1, user_api="blas"), np.errstate(all="ignore"):
        share = weight / weight.sum()
        mean = share @ X
        spread = np.sqrt(share @ (X - mean) ** 2)
        n_features = max(np.count_nonzero(spread > 0.0), used.sum())
        mean, spread = mean[used], np.where(spread > 0.0, spread, 1.0)[used]
        data = Samples(np.column_stack([(X[:, used] - mean) / spread, np.ones(len(X))]), targets, weight)
        of_root = alpha / (np.ones_like(spread) if standardize else spread**2)
        of_root = np.maximum(of_root, _LEAST_PENALTY)
        # A pseudo-sample's curvature, at most.
        of_leaves = np.append(of_root, max(alpha, _LEAST_PENALTY)) + 0.25 * parent_weight
        leaf = tree.apply(X)
        rows = [np.flatnonzero(leaf == node) for node in np.flatnonzero(tree.children_left < 0)]
        try:
            models = leaf_models(data, rows, of_root, of_leaves, n_features)
        except (LinAlgError, ValueError):  # not positive definite to rounding, not finite
            return None
        if not np.isfinite(models).all():
            return None
        return _tree_of(tree, models, used, mean, spread)


@cache
def _blas():
    """BLAS's threads: finding them takes longer than fitting a small tree."""
    return ThreadpoolController()


@dataclass(frozen=True)
class Samples:
    """Rows z (n, d), shares of the m predicted classes (m, n) and weights (n,)."""

    Z: FloatArray
    targets: FloatArray
    weight: FloatArray

    def of(self, rows):
        return Samples(self.Z[rows], self.targets[:, rows], self.weight[rows])

    def blocks(self):
        """Parts of the rows whose largest arrays, (n, m, d) and (n, m, m), stay small."""
        m, d = len(self.targets), self.Z.shape[1]
        n_rows = max(_BLOCK_VALUES // (m * max(m, d)), 16)
        for begin in range(0, len(self.Z), n_rows):
            yield self.of(slice(begin, begin + n_rows))


@dataclass(frozen=True)
class Fit:
    """A model (m, d) or those of all leaves (n_leaves, m, d), the inverse of the Hessian (m d, m d), and
    `expected_loss`."""

    model: FloatArray
    inverse: FloatArray | None
    loss: float


def _exponentials(logits):
    """Largest logit, with the 0 of the first of two classes, (n,), exponentials of the rest (m, n), their sum."""
    of_first = 0.0 if len(logits) == 1 else -np.inf
    largest = np.maximum(logits.max(axis=0), of_first)
    exponentials = np.exp(logits - largest)
    return largest, exponentials, exponentials.sum(axis=0) + np.exp(of_first - largest)


def losses(logits, targets):
    """The log-loss of each sample, (n,)."""
    largest, _, total = _exponentials(logits)
    return largest + np.log(total) - (targets * logits).sum(axis=0)


def probabilities(logits):
    """Probabilities (m, n), and their derivatives by the logits (m, m, n)."""
    _, exponentials, total = _exponentials(logits)
    p = exponentials / total
    slopes = -p[:, np.newaxis] * p
    slopes[np.arange(len(p)), np.arange(len(p))] += p
    return p, slopes


def derivatives(data, model):
    """Gradient (m, d) and Hessian (m, d, m, d) of the loss."""
    m, d = model.shape
    gradient, hessian = np.zeros((m, d)), np.zeros((m, d, m, d))
    for part in data.blocks():
        p, slopes = probabilities(model @ part.Z.T)
        gradient += ((p - part.targets) * part.weight) @ part.Z
        slopes *= part.weight
        for a in range(m):
            for b in range(a + 1):
                hessian[a, :, b] += (part.Z.T * slopes[a, b]) @ part.Z
    for a in range(m):
        for b in range(a):
            hessian[b, :, a] = hessian[a, :, b]
    return gradient, hessian


def minimise(data, prior, penalty, start):
    """The model with the least loss + sum(penalty (model - prior)^2) / 2, by Newton's method, and the
    inverse of its Hessian; O(n (m d)^2 + (m d)^3) per step."""

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
                return model, cho_solve(factor, np.eye(gradient.size))
        model, value = model - length * step, tried
        if decrease <= _PRECISION * data.weight.sum():
            break
    return model, cho_solve(factor, np.eye(gradient.size))


def left_out_losses(data, model, moves):
    """Losses of the samples, each without a unit of its weight in the fit, times their weights; and the degrees
    of freedom.

    ``moves`` (m d, m d) times a gradient is how far the model moves with it.
    """
    m, d = model.shape
    found, freedom = [], 0.0
    for part in data.blocks():
        leverage = np.empty((m, m, len(part.Z)))
        for a in range(m):
            along = part.Z @ moves[a * d : (a + 1) * d]
            leverage[a] = np.einsum("nbd,nd->bn", along.reshape(-1, m, d), part.Z)
        logits = model @ part.Z.T
        p, slopes = probabilities(logits)
        freedom += np.einsum("abn,ban,n", leverage, slopes, part.weight)
        leverage = (leverage * np.minimum(part.weight, 1.0)).transpose(2, 0, 1)
        moved = leverage @ (p - part.targets).T[:, :, np.newaxis]
        moved = np.linalg.solve(np.eye(m) - leverage @ slopes.transpose(2, 0, 1), moved)
        found.append(part.weight * losses(logits + moved[:, :, 0].T, part.targets))
    return np.concatenate(found), freedom


def expected_loss(data, model, moves, cost):
    """The sum of the left-out losses, and ``cost`` for each degree of freedom."""
    left_out, freedom = left_out_losses(data, model, moves)
    return left_out.sum() + cost * freedom


def leaf_models(data, rows, of_root, of_leaves, n_features):
    """Models of the leaves (n_leaves, m, d), whose samples are ``rows``, of d - 1 among ``n_features`` features.

    ``of_root`` (d - 1,) and ``of_leaves`` (d,) are the least penalties.
    """
    n_used = len(of_root)
    choices = gammaln(n_features + 1) - gammaln(n_used + 1) - gammaln(n_features - n_used + 1)
    cost = choices / (max(n_used, 1) * max(len(data.targets), 2))
    constant = _constant(data)
    root = _best(_root_fits(data, constant.model, of_root, cost))
    best = root if root.loss < constant.loss else constant
    if len(rows) > 1:
        leaves = _best(_leaf_fits(data, rows, best, of_leaves, cost))
        of_split = np.log(n_features * (n_features + 1) / 2.0) + _COST_OF_COEFFICIENT * n_used
        if leaves.loss + (len(rows) - 1) * of_split < best.loss:
            best = leaves
    return np.broadcast_to(best.model, (len(rows), *constant.model.shape))


def _constant(data):
    """The fit of intercepts alone."""
    m, d = len(data.targets), data.Z.shape[1]
    alone = Samples(data.Z[:, -1:], data.targets, data.weight)
    start = np.zeros((m, 1))
    of_one, inverse = minimise(alone, start, np.array([_INTERCEPT_PENALTY]), start)
    model, full = np.zeros((m, d)), np.zeros((m, d, m, d))
    model[:, -1:], full[:, -1, :, -1] = of_one, inverse
    full = full.reshape(m * d, m * d)
    return Fit(model, full, expected_loss(data, model, full, 0.0))


def _root_fits(data, start, penalty, cost):
    model, prior = start, np.zeros_like(start)
    for multiple in _MULTIPLES:
        of_all = np.append(multiple * penalty, _INTERCEPT_PENALTY)
        model, inverse = minimise(data, prior, of_all, model)
        yield Fit(model, inverse, expected_loss(data, model, inverse, cost))


def _leaf_fits(data, rows, root, penalty, cost):
    models = np.repeat(root.model[np.newaxis], len(rows), axis=0)
    for multiple in _MULTIPLES:
        of_all = multiple * penalty
        pull = np.tile(of_all, len(root.model))[:, np.newaxis] * root.inverse
        loss = 0.0
        for i, inside in enumerate(rows):
            own = data.of(inside)
            models[i], inverse = minimise(own, root.model, of_all, models[i])
            loss += expected_loss(own, models[i], inverse + inverse @ pull, cost)
        yield Fit(models.copy(), None, loss)


def _best(fits):
    """The fit before the first one with a larger loss."""
    best = next(fits)
    for fit in fits:
        if not fit.loss < best.loss:
            break
        best = fit
    return best


def _tree_of(old, models, used, mean, spread):
    """The tree with these models, in the units of X."""
    fields = old._copied_fields()
    nodes = np.flatnonzero(old.children_left < 0)
    slot = old.leaf_index[nodes]
    two = models.shape[1] == 1
    if two:
        models = models / 2.0
    of_leaves = models[:, :, :-1] / spread
    coef = np.zeros(old.leaf_coef.shape)
    coef[slot[:, np.newaxis], :, np.flatnonzero(used)] = of_leaves.transpose(0, 2, 1)
    intercept = models[:, :, -1] - of_leaves @ mean + (0.5 if two else 0.0)
    fields["leaf_coef"], fields["leaf_intercept"][slot] = coef, intercept
    if two:
        fields["coef"][nodes], fields["intercept"][nodes] = coef[slot, 0], intercept[:, 0]
    return ObliqueTree(**fields)
