"""Logistic models in the leaves of a grown classification tree.

Least-squares models of class indicators grow a tree; its probabilities come from

    p = softmax(W_leaf z),    W_leaf the minimum of log-loss + alpha' |W_leaf - W_root|^2 / 2,

z the standardised features of the leaf models and 1, W_root the same model of all samples with a ridge
penalty on its coefficients; of two classes the second one's logit is a single row. Each alpha' is the
multiple of `alpha` with the smallest approximate leave-one-out log-loss: after a Newton step without the
sample (Rad and Maleki 2020), which moves W_root as well. The tree becomes its root, with W_root or the shares of the
classes, if that has a smaller estimated loss. The estimate ignores that features and splits were chosen on the same
samples, so complexity is charged: with k features out of d and K classes log(d choose k) / (k K) for each degree of
freedom, and for each split log(d (d + 1) / 2), as much as the best product of two features gains on noise, and 1/8
for each of the k coefficients of its direction. Where a leaf's model would have too many parameters for a dense
Hessian, W_root alone competes with the linear leaf models (`logistic_root`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import gammaln

from fctree._threads import one_blas_thread
from fctree._tree import ObliqueTree
from fctree._typing import NDArray
from fctree.oblique.calibration import least_squares_loss
from fctree.oblique.feature_scales import feature_scales
from fctree.oblique.logistic_models import (
    INTERCEPT_PENALTY,
    MULTIPLES,
    Fit,
    LogisticData,
    best_of,
    expected_loss,
    left_out_loss_of_intercepts,
    minimise,
)
from fctree.oblique.logistic_root import root_model

_OF_NODES = ("coef", "intercept", "value", "impurity", "n_node_samples", "weighted_n_node_samples")
_COST_OF_COEFFICIENT = 0.125  # of a split
_LEAST_PENALTY = 1e-3  # keeps models of separable classes finite
_MOST_VARIABLES = 1024  # of a model: its Hessian is dense


@dataclass(frozen=True)
class LogisticSettings:
    """The tree's parameters; whether its linear leaf models compete with logistic ones: those of a soft tree do; and
    `feature_groups`."""

    alpha: float
    standardize: bool
    parent_weight: float
    competes: bool
    groups: NDArray[np.int64] | None = None


def with_logistic_leaves(tree, X, shares, weight, left_out, settings):
    """Return the tree with logistic leaf models, or None.

    None if the linear leaf models are better, which is checked only where they compete and where models of the leaves
    are too large for a dense Hessian, or if no logistic models are found. With K > 2 classes the tree's values are their
    logits, with two ``(1 + logit) / 2``, which are scores with the temperature 1 (`calibration`). ``shares``
    (n_samples, K) and ``left_out``, the leave-one-out scores of the linear leaf models, are as in `find_temperature`.
    """
    weight = np.ones(len(X)) if weight is None else weight
    present = weight > 0.0
    X, shares, weight = np.ascontiguousarray(X[present]), shares[present], weight[present]
    left_out = left_out[present]
    used = np.any(tree.leaf_coef != 0.0, axis=(0, 1))
    targets = np.ascontiguousarray(shares.T if shares.shape[1] > 2 else shares.T[1:])
    # Sums whose order no setting changes; numbers that overflow leave the tree as it is.
    with one_blas_thread, np.errstate(all="ignore"):
        share = weight / weight.sum()
        mean, spread = feature_scales(X, share)
        n_features = max(np.count_nonzero(spread > 0.0), used.sum())
        mean, spread = mean[used], np.where(spread > 0.0, spread, 1.0)[used]
        data = LogisticData(np.column_stack([(X[:, used] - mean) / spread, np.ones(len(X))]), targets, weight)
        alpha = settings.alpha
        root_penalty = alpha / (np.ones_like(spread) if settings.standardize else spread**2)
        root_penalty = np.maximum(root_penalty, _LEAST_PENALTY)
        # A pseudo-sample's curvature, at most.
        leaf_penalty = np.append(root_penalty, max(alpha, _LEAST_PENALTY)) + 0.25 * settings.parent_weight
        leaf = tree.apply(X)
        rows = [np.flatnonzero(leaf == node) for node in np.flatnonzero(tree.children_left < 0)]
        try:
            is_large = len(targets) * (used.sum() + 1) > _MOST_VARIABLES
            best = (model_of_all(data, root_penalty, n_features) if is_large
                    else leaf_models(data, rows, root_penalty, leaf_penalty, n_features))
            if is_large or settings.competes:
                rival = least_squares_loss(left_out, shares, weight) + _cost_of_splits(data, rows, n_features)
                if not best.loss < rival:
                    return None
        except (LinAlgError, ValueError):  # not positive definite to rounding, not finite
            return None
        if not np.isfinite(best.model).all():
            return None
        if best.model.ndim == 2:
            tree, rows = _root_alone(tree, _gain(tree, data, best.model, used, settings.groups)), rows[:1]
        models = np.broadcast_to(best.model, (len(rows), *best.model.shape[-2:]))
        return _tree_of(tree, models, used, mean, spread)


def leaf_models(data, rows, root_penalty, leaf_penalty, n_features):
    """The best models of the leaves, whose samples are ``rows``, of d - 1 among ``n_features`` features: (n_leaves, m, d),
    or (m, d) of all.

    ``root_penalty`` (d - 1,) and ``leaf_penalty`` (d,) are the least penalties.
    """
    cost = _cost_of_freedom(data, n_features)
    constant = _constant(data)
    root = best_of(_root_fits(data, constant.model, root_penalty, cost))
    best = root if root.loss < constant.loss else constant
    of_splits = _cost_of_splits(data, rows, n_features)
    if len(rows) > 1 and of_splits < best.loss:  # losses are positive
        leaves = best_of(_leaf_fits(data, rows, best, leaf_penalty, cost))
        if leaves.loss + of_splits < best.loss:
            best = leaves
    return best


def model_of_all(data, root_penalty, n_features):
    """One model of all samples, as `leaf_models` has one for each leaf."""
    best = root_model(data, root_penalty, _cost_of_freedom(data, n_features))
    constant = _intercepts(data, data.in_one())
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


def _intercepts(data, alone):
    """The fit of intercepts alone, (m, 1), to these samples."""
    start = np.zeros((len(data.targets), 1))
    model, inverse = minimise(alone, start, np.array([INTERCEPT_PENALTY]), start)
    return Fit(model, inverse, left_out_loss_of_intercepts(data, model))


def _constant(data):
    """The model without slopes: intercepts alone."""
    m, d = len(data.targets), data.Z.shape[1]
    alone = _intercepts(data, LogisticData(data.Z[:, -1:], data.targets, data.weight))
    model, full = np.zeros((m, d)), np.zeros((m, d, m, d))
    model[:, -1:], full[:, -1, :, -1] = alone.model, alone.inverse
    return Fit(model, full.reshape(m * d, m * d), alone.loss)


def _root_fits(data, start, least, cost):
    model, prior = start, np.zeros_like(start)
    for multiple in MULTIPLES:
        penalty = np.append(multiple * least, INTERCEPT_PENALTY)
        model, inverse = minimise(data, prior, penalty, model)
        yield Fit(model, inverse, expected_loss(data, model, inverse, cost))


def _leaf_fits(data, rows, root, least, cost):
    models = np.repeat(root.model[np.newaxis], len(rows), axis=0)
    for multiple in MULTIPLES:
        penalty = multiple * least
        pull = np.tile(penalty, len(root.model))[:, np.newaxis] * root.inverse
        loss = 0.0
        for i, inside in enumerate(rows):
            own = data.of(inside)
            models[i], inverse = minimise(own, root.model, penalty, models[i])
            loss += expected_loss(own, models[i], inverse + inverse @ pull, cost)
        yield Fit(models.copy(), None, loss)


def _gain(tree, data, model, used, groups):
    """The tree's `feature_gain`, divided by the variances of the terms of one model, in which those of a group are one."""
    columns, share = np.flatnonzero(used), data.weight / data.weight.sum()
    groups = columns if groups is None else groups[columns]
    found = np.zeros(len(used))
    for row in model[:, :-1]:
        terms = data.Z[:, :-1] * row
        for group in np.unique(groups):
            inside = groups == group
            own = share @ terms[:, inside] ** 2
            if (apart := own.sum()) > 0.0:
                found[columns[inside]] += own / apart * (share @ terms[:, inside].sum(axis=1) ** 2)
    total = found.sum()
    return found * (tree.feature_gain.sum() / total) if total > 0.0 else found


def _root_alone(old, gain):
    """The root of a tree as a leaf, for one model of all samples, with this `feature_gain`."""
    fields = old._copied_fields()
    fields |= {name: fields[name][:1] for name in _OF_NODES if name in fields}
    fields |= {name: np.full(1, -1) for name in ("children_left", "children_right", "split_output", "split_kind")}
    fields |= {"leaf_index": np.zeros(1, int), "coef": 0.0 * fields["coef"], "threshold": np.zeros(1), "feature_gain": gain}
    fields |= {name: fields[name][:1] for name in ("leaf_coef", "leaf_intercept")}
    return ObliqueTree(**fields)


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
