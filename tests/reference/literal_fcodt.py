"""FC-ODT word by word: the slow twin that the fast trees are compared with.

Paper: Lyu, He, Wang, Qu, Tang, Ye, "FC-ODT: oblique decision trees with feature
concatenation" (arXiv 2502.00465). Everything that the fast path replaces by algebra is
done literally here:

- the design of a node is the table Z = [X, s_1, .., s_k] with one appended column a level,
  the scores of the ancestors, and the ridge is solved in all d + k columns;
- every node sees its own samples again, nothing is taken from the parent by subtraction;
- the cut is found by trying every midpoint between neighbouring distinct scores;
- a prediction walks down the tree and appends the scores in the order of training.

Words: a *direction* a (d + k,) is the ridge solution of a node in its own design; the
*effective* direction w (d,) is the same score written in the raw features, s = x'w.
"""

from dataclasses import dataclass, field

import numpy as np
from reference.literal_sparse import constrained_ridge, eliminate
from scipy import linalg


@dataclass
class LiteralNode:
    """One node: its samples, its ridge in the concatenated design, and its cut."""

    samples: np.ndarray  # rows of the training table, zero weights left out
    depth: int
    value: np.ndarray  # (K,) weighted means
    impurity: float  # variance of y averaged over outputs
    directions: np.ndarray  # (K, d + k) one ridge solution an output
    effective: np.ndarray  # (K, d) the same in raw features
    intercepts: np.ndarray  # (K,) of the ridge
    # What is cut, in the node's design: the directions, or with `max_coef` sparse ones.
    cut_directions: np.ndarray
    cut_effective: np.ndarray
    cut_intercepts: np.ndarray
    ancestors: list = field(default_factory=list)  # effective directions, root first
    split_output: int = -1
    threshold: float = np.nan
    decrease: float = 0.0  # of the mean squared error, summed over outputs
    # How far the decision is from another one (see LiteralFCODT.margin), and from another
    # one that parts the samples differently.
    margin: float = np.inf
    partition_margin: float = np.inf
    left: "LiteralNode | None" = None
    right: "LiteralNode | None" = None

    @property
    def is_leaf(self):
        return self.left is None

    def walk(self):
        """All nodes, breadth first, the left child first."""
        queue = [self]
        while queue:
            node = queue.pop(0)
            yield node
            if not node.is_leaf:
                queue += [node.left, node.right]


def ridge(Z, Y, weight, alpha, fit_intercept):
    """argmin_a sum_i weight_i ||y_i - z_i a||^2 + alpha ||a||^2, as scikit-learn's Ridge.

    The intercept is not penalised: both sides are centred by their weighted means. With
    `alpha=0` the solution of least norm. Returns (K, columns) and (K,).
    """
    z_mean = np.average(Z, axis=0, weights=weight) if fit_intercept else np.zeros(Z.shape[1])
    y_mean = np.average(Y, axis=0, weights=weight) if fit_intercept else np.zeros(Y.shape[1])
    # A column that is constant in the node is zero, not the rounding of its mean.
    Z = np.where(np.ptp(Z, axis=0) == 0, z_mean, Z) if fit_intercept else Z
    root = np.sqrt(weight)[:, None]
    Zc, Yc = root * (Z - z_mean), root * (Y - y_mean)
    if alpha > 0:
        gram = Zc.T @ Zc + alpha * np.eye(Z.shape[1])
        a = linalg.solve(gram, Zc.T @ Yc, assume_a="pos").T
    else:
        # The appended scores are combinations of the other columns: their singular values
        # are zero but for rounding, some 1e-15 of the largest.
        a = linalg.lstsq(Zc, Yc, cond=1e-12)[0].T
    return a, y_mean - a @ z_mean


def project(Z, a):
    """Scores Z a, each row summed on its own, so that equal rows get equal scores."""
    return (Z * a).sum(axis=1)


def scan_thresholds(scores, Y, weight, min_samples_leaf):
    """Every cut between neighbouring distinct scores: (decrease, threshold), best first.

    decrease = sum over outputs of MSE(t) - (W_L/W) MSE(t_L) - (W_R/W) MSE(t_R) with the
    children's means as predictions.
    """
    order = np.argsort(scores, kind="stable")
    s, y, w = scores[order], Y[order], weight[order]
    total = w.sum()
    centred = y - np.average(y, axis=0, weights=w)
    cuts = []
    for i in range(min_samples_leaf - 1, len(s) - min_samples_leaf):
        if s[i] == s[i + 1]:
            continue
        w_left = w[: i + 1].sum()
        sum_left = w[: i + 1] @ centred[: i + 1]
        decrease = np.sum(sum_left**2) / (w_left * (total - w_left))
        threshold = 0.5 * (s[i] + s[i + 1])
        cuts.append((decrease, threshold if threshold < s[i + 1] else s[i]))
    return sorted(cuts, key=lambda cut: (-cut[0], cut[1]))


class LiteralFCODT:
    """The literal tree. Parameters as in `fctree.FCODTRegressor`."""

    def __init__(self, *, alpha=1.0, max_depth=3, min_samples_split=2, min_samples_leaf=1,
                 min_impurity_decrease=0.0, feature_concatenation=True, leaf_model="ridge",
                 fit_intercept=True, max_coef=None):
        self.alpha = alpha
        self.max_depth = np.inf if max_depth is None else max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.feature_concatenation = feature_concatenation
        self.leaf_model = leaf_model
        self.fit_intercept = fit_intercept
        self.max_coef = np.inf if max_coef is None else max_coef

    def fit(self, X, y, sample_weight=None):
        X = np.asarray(X, dtype=np.float64)
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        self.total_weight_ = weight.sum()
        samples = np.flatnonzero(weight > 0)
        self.root_ = self._grow(X, X, Y, weight, samples, depth=0, ancestors=[])
        return self

    @property
    def margin(self):
        """The closest call of the whole tree, in relative terms.

        Two programs may only be asked for the same tree where rounding cannot decide: the
        best cut is better than the second best, worth something at all, and the scores on
        its two sides are apart.
        """
        return min(node.margin for node in self.root_.walk())

    @property
    def partition_margin(self):
        """The same without the ties between outputs that part the samples alike.

        Such ties are common: where a node holds two of several classes, their indicators
        sum to one and have opposite directions.
        """
        return min(node.partition_margin for node in self.root_.walk())

    def _grow(self, X, Z, Y, weight, samples, depth, ancestors):
        node = self._describe(X, Z, Y, weight, samples, depth, ancestors)
        if self._may_split(node):
            cut = self._best_cut(node, Z[samples], Y[samples], weight[samples])
            if cut is not None:
                self._split(node, cut, X, Z, Y, weight)
        return node

    def _describe(self, X, Z, Y, weight, samples, depth, ancestors):
        y, w = Y[samples], weight[samples]
        a, intercepts = ridge(Z[samples], y, w, self.alpha, self.fit_intercept)
        B = np.eye(X.shape[1])  # takes a direction of the design to its effective one
        if self.feature_concatenation:
            B = np.column_stack([B, *ancestors])
        cut, cut_intercepts, margin = a, intercepts, np.inf
        if self.max_coef < X.shape[1]:
            cut, cut_intercepts, margin = self._sparse_directions(Z[samples], y, w, a, B)
        value = np.average(y, axis=0, weights=w)
        return LiteralNode(
            samples=samples, depth=depth, value=value,
            impurity=np.average(((y - value) ** 2).mean(axis=1), weights=w),
            directions=a, effective=a @ B.T, intercepts=intercepts, ancestors=ancestors,
            cut_directions=cut, cut_effective=cut @ B.T, cut_intercepts=cut_intercepts,
            margin=margin, partition_margin=margin)

    def _sparse_directions(self, Z, Y, weight, directions, B):
        """(directions (K, d + k), intercepts (K,), margin): each on `max_coef` features."""
        d = len(B)
        centre = np.average(Z[:, :d], axis=0, weights=weight) if self.fit_intercept else 0
        variance = weight @ (Z[:, :d] - centre) ** 2
        first_step = max(self.max_coef, len(Z)) if len(Z) < d else None
        found, intercepts, margins = [], [], []
        for y, direction in zip(Y.T, directions, strict=True):
            last = direction

            def solve(features, _, y=y):
                nonlocal last
                last = constrained_ridge(B, features, lambda N: ridge(
                    Z @ N, y[:, None], weight, self.alpha, self.fit_intercept)[0][0])
                effective = B @ last
                return np.where(np.isin(np.arange(d), features), effective, 0)

            _, margin = eliminate(B @ direction, variance, self.max_coef, solve, first_step)
            found.append(last)
            margins.append(margin)
            mean = np.average(y - Z @ last, weights=weight) if self.fit_intercept else 0
            intercepts.append(mean)
        return np.array(found), np.array(intercepts), min(margins)

    def _may_split(self, node):
        n = len(node.samples)
        return (node.depth < self.max_depth and n >= self.min_samples_split
                and n >= 2 * self.min_samples_leaf and node.impurity > 0)

    def _best_cut(self, node, Z, Y, weight):
        """(output, threshold) of the best cut, the lower output and threshold on ties."""
        candidates = []
        for output, a in enumerate(node.cut_directions):
            cuts = scan_thresholds(project(Z, a), Y, weight, self.min_samples_leaf)
            candidates += [(decrease, output, threshold) for decrease, threshold in cuts[:2]]
        candidates.sort(key=lambda c: (-c[0], c[1], c[2]))
        if not candidates or candidates[0][0] <= 0:
            return None
        decrease, output, threshold = candidates[0]
        share = weight.sum() / self.total_weight_
        if share * decrease / Y.shape[1] < self.min_impurity_decrease:
            return None
        node.decrease = decrease
        self._measure_margins(node, Z, candidates)
        return output, threshold

    def _measure_margins(self, node, Z, candidates):
        def goes_left(output, threshold):
            return project(Z, node.cut_directions[output]) <= threshold

        decrease, output, threshold = candidates[0]
        left = goes_left(output, threshold)
        scores = project(Z, node.cut_directions[output])
        gap = (scores[~left].min() - scores[left].max()) / np.ptp(scores)
        margin = min(gap, decrease / node.impurity / len(node.value))
        node.margin = min(node.margin, margin)
        node.partition_margin = min(node.partition_margin, margin)
        for other, k, cut in candidates[1:]:
            behind = (decrease - other) / decrease
            node.margin = min(node.margin, behind)
            if len(np.unique(left ^ goes_left(k, cut))) == 2:
                node.partition_margin = min(node.partition_margin, behind)

    def _split(self, node, cut, X, Z, Y, weight):
        node.split_output, node.threshold = cut
        cut = project(Z, node.cut_directions[node.split_output])
        goes_left = cut[node.samples] <= node.threshold
        if self.feature_concatenation:
            Z = np.column_stack([Z, project(Z, node.directions[node.split_output])])
        ancestors = [*node.ancestors, node.effective[node.split_output]]
        for side, samples in (("left", node.samples[goes_left]),
                              ("right", node.samples[~goes_left])):
            child = self._grow(X, Z, Y, weight, samples, node.depth + 1, ancestors)
            setattr(node, side, child)

    def leaf_of(self, x):
        """The leaf that one sample reaches, and the sample's row in that leaf's design."""
        node, z = self.root_, np.asarray(x, dtype=np.float64)
        while not node.is_leaf:
            cut = (z * node.cut_directions[node.split_output]).sum()
            if self.feature_concatenation:
                z = np.append(z, (z * node.directions[node.split_output]).sum())
            node = node.left if cut <= node.threshold else node.right
        return node, z

    def predict(self, X):
        """(n, K) predictions."""
        rows = []
        for x in np.asarray(X, dtype=np.float64):
            leaf, z = self.leaf_of(x)
            ridge_leaf = leaf.directions @ z + leaf.intercepts
            rows.append(ridge_leaf if self.leaf_model == "ridge" else leaf.value)
        return np.array(rows)
