"""Logistic models in the leaves of a grown classification tree.

Least-squares models of class indicators grow a tree; its probabilities come from

    p = softmax(W_leaf z),    W_leaf the minimum of log-loss + alpha' |W_leaf - W_root|^2 / 2,

z the standardised features of the leaf models and 1, W_root the same model of all samples with a ridge
penalty on its coefficients; of two classes the second one's logit is a single row. Each alpha' is the
multiple of `alpha` with the smallest approximate leave-one-out log-loss: after a Newton step without the
sample (Rad and Maleki 2020), which moves W_root as well. All leaves share W_root, or predict the shares of the
classes, if that has a smaller estimated loss. The estimate ignores that features and splits were chosen on the same
samples, so complexity is charged: with k features out of d and K classes log(d choose k) / (k K) for each degree of
freedom, and for each split log(d (d + 1) / 2), as much as the best product of two features gains on noise, and 1/8
for each of the k coefficients of its direction. Where a leaf's model would have too many parameters for a dense
Hessian, W_root alone competes with the linear leaf models (`logistic_root`).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import gammaln
from threadpoolctl import ThreadpoolController

from fctree._tree import ObliqueTree
from fctree.oblique.calibration import least_squares_loss
from fctree.oblique.logistic_models import (
    INTERCEPT_PENALTY,
    MULTIPLES,
    Fit,
    LogisticData,
    best_of,
    expected_loss,
    minimise,
)
from fctree.oblique.logistic_root import root_model

_COST_OF_COEFFICIENT = 0.125  # of a split
_LEAST_PENALTY = 1e-3  # keeps models of separable classes finite
_MOST_VARIABLES = 1024  # of a model: its Hessian is dense


def with_logistic_leaves(tree, X, shares, weight, left_out, *, alpha, standardize, parent_weight, competes):
    """Return the tree with logistic leaf models, or None.

    None if the linear leaf models are better, which is checked only for soft trees (`competes`) and where models of the
    leaves are too large for a dense Hessian, or if no logistic models are found. With K > 2 classes its values are their logits, with two ``(1 + logit) / 2``, which are
    scores with the temperature 1 (`calibration`). ``shares`` (n_samples, K) and ``left_out``, the leave-one-out scores
    of the linear leaf models, are as in `find_temperature`.
    """
    weight = np.ones(len(X)) if weight is None else weight
    present = weight > 0.0
    X, shares, weight = np.ascontiguousarray(X[present]), shares[present], weight[present]
    left_out = left_out[present]
    used = np.any(tree.leaf_coef != 0.0, axis=(0, 1))
    targets = np.ascontiguousarray(shares.T if shares.shape[1] > 2 else shares.T[1:])
    # Sums whose order no setting changes; numbers that overflow leave the tree as it is.
    with _blas().limit(limits=1, user_api="blas"), np.errstate(all="ignore"):
        share = weight / weight.sum()
        mean = share @ X
        spread = np.sqrt(share @ (X - mean) ** 2)
        n_features = max(np.count_nonzero(spread > 0.0), used.sum())
        mean, spread = mean[used], np.where(spread > 0.0, spread, 1.0)[used]
        data = LogisticData(np.column_stack([(X[:, used] - mean) / spread, np.ones(len(X))]), targets, weight)
        of_root = alpha / (np.ones_like(spread) if standardize else spread**2)
        of_root = np.maximum(of_root, _LEAST_PENALTY)
        # A pseudo-sample's curvature, at most.
        of_leaves = np.append(of_root, max(alpha, _LEAST_PENALTY)) + 0.25 * parent_weight
        leaf = tree.apply(X)
        rows = [np.flatnonzero(leaf == node) for node in np.flatnonzero(tree.children_left < 0)]
        try:
            is_large = len(targets) * (used.sum() + 1) > _MOST_VARIABLES
            best = (model_of_all(data, of_root, n_features) if is_large
                    else leaf_models(data, rows, of_root, of_leaves, n_features))
            if is_large or competes:
                rival = least_squares_loss(left_out, shares, weight) + _cost_of_splits(data, rows, n_features)
                if not best.loss < rival:
                    return None
        except (LinAlgError, ValueError):  # not positive definite to rounding, not finite
            return None
        if not np.isfinite(best.model).all():
            return None
        models = np.broadcast_to(best.model, (len(rows), *best.model.shape[-2:]))
        return _tree_of(tree, models, used, mean, spread)


@cache
def _blas():
    """BLAS's threads: finding them takes longer than fitting a small tree."""
    return ThreadpoolController()


def leaf_models(data, rows, of_root, of_leaves, n_features):
    """The best models of the leaves, whose samples are ``rows``, of d - 1 among ``n_features`` features: (n_leaves, m, d),
    or (m, d) of all.

    ``of_root`` (d - 1,) and ``of_leaves`` (d,) are the least penalties.
    """
    cost = _cost_of_freedom(data, n_features)
    constant = _constant(data)
    root = best_of(_root_fits(data, constant.model, of_root, cost))
    best = root if root.loss < constant.loss else constant
    if len(rows) > 1:
        leaves = best_of(_leaf_fits(data, rows, best, of_leaves, cost))
        if leaves.loss + _cost_of_splits(data, rows, n_features) < best.loss:
            best = leaves
    return best


def model_of_all(data, of_root, n_features):
    """As `leaf_models`, but with one model in all leaves."""
    best = root_model(data, of_root, _cost_of_freedom(data, n_features))
    constant = _intercepts(data)
    if constant.loss <= best.loss:
        best = Fit(np.zeros_like(best.model), None, constant.loss)
        best.model[:, -1:] = constant.model
    return best


def _cost_of_freedom(data, n_features):
    m, n_used = len(data.targets), data.Z.shape[1] - 1
    choices = gammaln(n_features + 1) - gammaln(n_used + 1) - gammaln(n_features - n_used + 1)
    return choices / (max(n_used, 1) * max(m, 2))


def _cost_of_splits(data, rows, n_features):
    n_used = data.Z.shape[1] - 1
    of_split = np.log(n_features * (n_features + 1) / 2.0) + _COST_OF_COEFFICIENT * n_used
    return (len(rows) - 1) * of_split if len(rows) > 1 else 0.0


def _intercepts(data):
    """The fit of intercepts alone, (m, 1)."""
    alone = LogisticData(data.Z[:, -1:], data.targets, data.weight)
    start = np.zeros((len(data.targets), 1))
    model, inverse = minimise(alone, start, np.array([INTERCEPT_PENALTY]), start)
    return Fit(model, inverse, expected_loss(alone, model, inverse, 0.0))


def _constant(data):
    """The same with coefficients that are 0."""
    m, d = len(data.targets), data.Z.shape[1]
    alone = _intercepts(data)
    model, full = np.zeros((m, d)), np.zeros((m, d, m, d))
    model[:, -1:], full[:, -1, :, -1] = alone.model, alone.inverse
    return Fit(model, full.reshape(m * d, m * d), alone.loss)


def _root_fits(data, start, penalty, cost):
    model, prior = start, np.zeros_like(start)
    for multiple in MULTIPLES:
        of_all = np.append(multiple * penalty, INTERCEPT_PENALTY)
        model, inverse = minimise(data, prior, of_all, model)
        yield Fit(model, inverse, expected_loss(data, model, inverse, cost))


def _leaf_fits(data, rows, root, penalty, cost):
    models = np.repeat(root.model[np.newaxis], len(rows), axis=0)
    for multiple in MULTIPLES:
        of_all = multiple * penalty
        pull = np.tile(of_all, len(root.model))[:, np.newaxis] * root.inverse
        loss = 0.0
        for i, inside in enumerate(rows):
            own = data.of(inside)
            models[i], inverse = minimise(own, root.model, of_all, models[i])
            loss += expected_loss(own, models[i], inverse + inverse @ pull, cost)
        yield Fit(models.copy(), None, loss)


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
