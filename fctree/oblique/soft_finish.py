"""A soft finish: the boundaries of a grown tree become soft, and everything is optimised together.

A split sends a sample to its left child with the share ``sigmoid((threshold - coef @ x) / width)``
and to the right one with the rest; at the start the width is a quarter of the standard deviation
of ``coef @ x`` in the node. Splits, widths and leaf models then minimise

    mean squared error + (3 |leaf models - start|^2 + .3 |splits - start|^2) / n

by L-BFGS, in standardised targets and features; those that the hard tree does not use stay out. Leave-one-out
predictions of the result follow from the leverages of its linearisation; it replaces the hard tree if their squared
error is clearly smaller.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

from fctree._memory import check_memory
from fctree._threads import one_blas_thread
from fctree._training.significance import clearly_positive
from fctree._tree import ObliqueTree
from fctree.oblique.class_scores import class_scores
from fctree.oblique.feature_scales import feature_scales

_STEPS = 150
_STEEPNESS = 4.0
_LEAF_PENALTY = 3.0
_SPLIT_PENALTY = 0.3
_MOST_LEVERAGE = 0.999
_BLOCK_VALUES = 1 << 20  # of the largest array of a block of rows


def soften(tree, X, targets, weight, left_out, *, keep_zeros, whole=False):
    """Soften a grown tree where that clearly lowers the leave-one-out error; returns it, or one with
    `boundary_width`.

    ``left_out`` (n_samples, n_outputs) are leave-one-out predictions of the hard tree, NaN where there are
    none; replaced by those of the soft one if that is kept. With ``keep_zeros`` coefficients of splits that
    are zero stay zero. Samples are left out ``whole``, or one unit of weights above 1.
    """
    if tree.node_count == 1:
        return tree
    # Sums whose order no setting changes; numbers that overflow leave the hard tree.
    with one_blas_thread, np.errstate(all="ignore"):
        finish = SoftFinish(tree, X, targets, weight, keep_zeros)
        solution = finish.minimise()
        predicted = finish.left_out(solution, whole=whole)
        hard, soft = (((targets - answer) ** 2).sum(axis=1) for answer in (left_out, predicted))
        if not clearly_positive(hard - soft, finish.weight):
            return tree
    left_out[:] = predicted
    return recounted(finish.tree_of(solution), X, targets, finish.weight)


def recounted(tree, X, targets, weight):
    """The tree with the numbers, weights, means and impurities of the samples on the side of the larger share; a node without
    any has the mean of its parent."""
    fields = tree._copied_fields()
    paths = tree.decision_path(np.ascontiguousarray(X)).T.tocsr()
    total = paths @ weight
    per_weight = 1.0 / np.where(total > 0.0, total, 1.0)[:, np.newaxis]
    means = paths @ (targets * weight[:, np.newaxis]) * per_weight
    for internal, children in tree._levels():
        means[children] = np.where(total[children, np.newaxis] > 0.0, means[children], np.tile(means[internal], (2, 1)))
    from_root = targets - means[0]
    squares = paths @ (from_root**2 * weight[:, np.newaxis]) * per_weight
    variance = np.maximum(squares - (means - means[0]) ** 2, 0.0).sum(axis=1) * (total > 0.0)
    scale = 1.0 / tree.n_outputs
    if tree.n_classes is not None:
        scale = 2.0 if tree.n_outputs == 1 else 1.0
        means = class_scores(means)
    own = {
        "n_node_samples": paths @ (weight > 0.0).astype(np.int64),
        "weighted_n_node_samples": total,
        "value": means.reshape(tree.value.shape),
        "impurity": variance * scale,
    }
    for name, values in own.items():  # of the root they are known
        fields[name][1:] = values[1:]
    return ObliqueTree(**fields)


class SoftFinish:
    """The optimisation problem of one tree, with the d features that it uses.

    Its variables are ``[splits (n_splits, d + 1), leaves (n_outputs, n_leaves, d + 1)]``, the rows of
    a split and of a leaf model multiplying the standardised features and 1; constant leaves have
    only the last column. A split's row gives the logit of the share that goes to the right.
    """

    def __init__(self, tree, X, targets, weight, keep_zeros):
        self.tree = tree
        self.weight = np.ones(len(X)) if weight is None else weight
        self.total = self.weight.sum()
        self.split_nodes = np.flatnonzero(tree.children_left >= 0)
        self.leaf_nodes = np.flatnonzero(tree.children_left < 0)
        self.row = np.empty(tree.node_count, dtype=np.int64)
        self.row[self.split_nodes] = np.arange(len(self.split_nodes))
        self.row[self.leaf_nodes] = np.arange(len(self.leaf_nodes))
        share = self.weight / self.total
        self.target_mean = share @ targets
        variance = (share @ (targets - self.target_mean) ** 2).sum()
        self.target_scale = np.sqrt(variance) or 1.0
        self.targets = (targets - self.target_mean) / self.target_scale
        self.used = (tree.coef != 0.0).any(axis=0) | (tree.leaf_coef != 0.0).any(axis=(0, 1))
        self.X = X if self.used.all() else np.ascontiguousarray(X[:, self.used])
        self.mean, self.spread = feature_scales(self.X, share)
        self.spread[~(self.spread > 0.0)] = 1.0
        self.linear = len(tree.leaf_coef) > 0
        splits, leaves = self._start_splits(tree.decision_path(np.ascontiguousarray(X))), self._start_leaves()
        self.free = splits != 0.0 if keep_zeros else np.ones_like(splits, dtype=bool)
        self.free[:, -1] = True
        self.shapes = splits.shape, leaves.shape
        self.start = np.concatenate([splits.ravel(), leaves.ravel()])
        self.penalty = np.concatenate(
            [
                np.full(splits.size, _SPLIT_PENALTY / self.total),
                np.full(leaves.size, _LEAF_PENALTY / self.total),
            ]
        )

    def _start_splits(self, paths):
        nodes = self.split_nodes
        coef = self.tree.coef[nodes][:, self.used]
        threshold = self.tree.threshold[nodes] - coef @ self.mean
        passes = paths[:, nodes].T.tocsr()
        coef = coef * self.spread
        rows = np.column_stack([coef, -threshold])
        for i in range(len(nodes)):
            inside = passes.indices[passes.indptr[i] : passes.indptr[i + 1]]
            values = (self.X[inside] - self.mean) / self.spread @ coef[i]
            share = self.weight[inside] / self.weight[inside].sum()
            deviation = np.sqrt(share @ (values - share @ values) ** 2)
            rows[i] *= _STEEPNESS / (deviation if deviation > 0.0 else 1.0)
        return rows

    def _start_leaves(self):
        tree = self.tree
        slot = tree.leaf_index[self.leaf_nodes]
        intercept = (tree.leaf_intercept[slot] - self.target_mean).T / self.target_scale
        if not self.linear:
            return intercept[:, :, np.newaxis]
        coef = tree.leaf_coef[slot][..., self.used].swapaxes(0, 1) / self.target_scale
        intercept = intercept + coef @ self.mean
        return np.concatenate([coef * self.spread, intercept[:, :, np.newaxis]], axis=2)

    def _parts(self, variables):
        n_splits = np.prod(self.shapes[0])
        return variables[:n_splits].reshape(self.shapes[0]), variables[n_splits:].reshape(
            self.shapes[1]
        )

    def _blocks(self, width):
        """Rows with their standardised features and 1, at most `_BLOCK_VALUES` / width at a time."""
        n_rows = max(_BLOCK_VALUES // max(width, self.X.shape[1] + 1), 16)
        for begin in range(0, len(self.X), n_rows):
            rows = slice(begin, begin + n_rows)
            Z = (self.X[rows] - self.mean) / self.spread
            yield rows, np.column_stack([Z, np.ones(len(Z))])

    def _values(self, Z, splits, leaves):
        """Shares that go left (n_splits, n) and values of all nodes (n_nodes, n_outputs, n)."""
        tree = self.tree
        left = expit(-(splits @ Z.T))
        values = np.empty((tree.node_count, len(leaves), len(Z)))
        values[self.leaf_nodes] = (leaves @ self._leaf_rows(Z).T).swapaxes(0, 1)
        for node in self.split_nodes[::-1]:
            of_right = values[tree.children_right[node]]
            step = values[tree.children_left[node]] - of_right
            values[node] = of_right + left[self.row[node]] * step
        return left, values

    def _leaf_rows(self, Z):
        return Z if self.linear else Z[:, -1:]

    def _reach(self, left):
        """Shares of the samples that reach each node, (n_nodes, n)."""
        reach = np.ones((self.tree.node_count, left.shape[1]))
        for node in self.split_nodes:
            share = left[self.row[node]]
            reach[self.tree.children_left[node]] = reach[node] * share
            reach[self.tree.children_right[node]] = reach[node] * (1.0 - share)
        return reach

    def _slopes(self, left, values, reach):
        """Derivatives of the prediction by the logits of the splits, (n_splits, n_outputs, n)."""
        tree, nodes = self.tree, self.split_nodes
        steps = values[tree.children_right[nodes]] - values[tree.children_left[nodes]]
        return (reach[nodes] * left * (1.0 - left))[:, np.newaxis] * steps

    def objective(self, variables):
        """The loss and its gradient."""
        splits, leaves = self._parts(variables)
        moved = variables - self.start
        loss, of_splits, of_leaves = 0.0, np.zeros_like(splits), np.zeros_like(leaves)
        for rows, Z in self._blocks(self.tree.node_count * len(leaves)):
            left, values = self._values(Z, splits, leaves)
            reach = self._reach(left)
            error = values[0] - self.targets[rows].T
            pull = error * (self.weight[rows] / self.total)
            loss += (error * pull).sum()
            slopes = (self._slopes(left, values, reach) * pull).sum(axis=1)
            of_splits += 2.0 * (slopes @ Z)
            to_leaves = pull[:, np.newaxis] * reach[self.leaf_nodes]
            of_leaves += 2.0 * (to_leaves @ self._leaf_rows(Z))
        gradient = np.concatenate([(of_splits * self.free).ravel(), of_leaves.ravel()])
        return loss + self.penalty @ moved**2, gradient + 2.0 * self.penalty * moved

    def minimise(self):
        """The variables after at most 150 steps of L-BFGS."""
        options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS}
        return minimize(
            self.objective, self.start, jac=True, method="L-BFGS-B", options=options
        ).x

    def left_out(self, variables, whole=False):
        """Leave-one-out predictions of the linearised model, (n_samples, n_outputs).

        Leverages treat each output as if the splits had been fitted to it alone, which overstates them.
        """
        splits, leaves = self._parts(variables)
        width = splits.size + leaves[0].size
        remedy = 'use leaf_model="ridge" or a smaller max_depth'
        check_memory("the soft tree's Gauss-Newton matrix", (width, width), np.float64, remedy)
        penalty = np.concatenate([self.penalty[: splits.size], self.penalty[-leaves[0].size :]])
        unit = self.weight if whole else np.minimum(self.weight, 1.0)
        found = np.empty(self.targets.shape)
        for k in range(len(leaves)):
            gram = np.diag(penalty * self.total)
            for rows, jacobian, _ in self._jacobians(splits, leaves, k, width):
                gram += jacobian.T @ (jacobian * self.weight[rows, np.newaxis])
            try:
                factor = cholesky(gram, lower=True, overwrite_a=True)
            except (LinAlgError, ValueError):  # not positive definite to rounding, not finite
                return np.full_like(found, np.nan)
            for rows, jacobian, predicted in self._jacobians(splits, leaves, k, width):
                half = solve_triangular(factor, jacobian.T, lower=True)
                leverage = unit[rows] * (half * half).sum(axis=0)
                rest = 1.0 - np.minimum(leverage, _MOST_LEVERAGE)
                y = self.targets[rows, k]
                found[rows, k] = y - (y - predicted) / rest
        return found * self.target_scale + self.target_mean

    def _jacobians(self, splits, leaves, k, width):
        """Blocks of rows with the derivatives of output k, (rows, width), and its predictions."""
        for rows, Z in self._blocks(max(width, self.tree.node_count * len(leaves))):
            left, values = self._values(Z, splits, leaves[k : k + 1])
            reach = self._reach(left)
            slopes = self._slopes(left, values, reach)[:, 0]
            of_splits = np.einsum("sn,nj,sj->nsj", slopes, Z, self.free)
            of_leaves = np.einsum("ln,nj->nlj", reach[self.leaf_nodes], self._leaf_rows(Z))
            parts = [of_splits.reshape(len(Z), -1), of_leaves.reshape(len(Z), -1)]
            yield rows, np.hstack(parts), values[0, 0]

    def _of_all_features(self, coef):
        """Coefficients of the features, (.., n_features), from those of the ones in use."""
        wide = np.zeros((*coef.shape[:-1], len(self.used)))
        wide[..., self.used] = coef
        return wide

    def tree_of(self, variables):
        """The tree with these splits, widths and leaf models, in the units of X."""
        splits, leaves = self._parts(variables)
        old, nodes, slot = self.tree, self.split_nodes, self.tree.leaf_index[self.leaf_nodes]
        fields = old._copied_fields()
        length = np.linalg.norm(splits[:, :-1], axis=1)
        width = np.linalg.norm(old.coef[nodes][:, self.used] * self.spread, axis=1)
        width /= np.where(length > 0.0, length, 1.0)
        width[~(width > 0.0)] = 1.0
        coef = splits[:, :-1] / self.spread * width[:, np.newaxis]
        fields["coef"][nodes] = self._of_all_features(coef)
        fields["threshold"][nodes] = coef @ self.mean - splits[:, -1] * width
        fields["boundary_width"] = np.full(old.node_count, np.nan)
        fields["boundary_width"][nodes] = width
        leaves = leaves * self.target_scale
        intercept = leaves[:, :, -1] + self.target_mean[:, np.newaxis]
        if self.linear:
            of_leaves = leaves[:, :, :-1] / self.spread
            intercept = intercept - of_leaves @ self.mean
            of_leaves = self._of_all_features(of_leaves)
            fields["leaf_coef"][slot] = of_leaves.swapaxes(0, 1)
            if old.n_outputs == 1:
                fields["coef"][self.leaf_nodes] = of_leaves[0]
                fields["intercept"][self.leaf_nodes] = intercept[0]
        fields["leaf_intercept"][slot] = intercept.T
        return ObliqueTree(**fields)
