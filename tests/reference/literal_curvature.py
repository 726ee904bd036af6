"""Curvature splits word by word: the slow twin of curvature trees.

The fast trees get every loss from sums of products. Here each child of each cut is a
weighted ridge regression on its own rows, the prior is a set of rows like any other, and
leave-one-out takes one row at a time. docs/algorithms/oblique.md states the method; the
curvature directions are the residual-based principal Hessian directions of Li (1992) and
Cook (1998), the loss is the generalised cross-validation of Golub, Heath, Wahba (1979).

Left out on purpose: the screening of axes (compare with `n_screened=None`) and what keeps
singular systems solvable, 1e-10 of the diagonal (compare with `alpha` > 0 or full rank).
"""

from dataclasses import dataclass, field

import numpy as np
from reference.literal_sparse import eliminate, sparse_curvature

KINDS = ("ridge", "curvature", "axis")
TIE = 1e-10  # losses closer than this, relative to the node's own, are the same loss
LEAST_FREEDOM = 0.02  # least value of 1 - df / n and of 1 - leverage


def limited_decreases(decrease, count, unit):
    """Decreases of the leave-one-out losses, limited by the largest power of 2 (in such units) for
    which their squares are those of four samples, or of a sixteenth of them."""
    d = decrease / unit
    enough = min(4.0, count[d != 0].sum() / 16)
    for exponent in range(31, -32, -1):
        limit = 2.0**exponent
        if count @ np.minimum(d**2, limit**2) >= enough * limit**2:
            break
    return np.clip(d, -limit, limit) * unit


def variance(y, weight):
    """Variance of the targets (n, K), summed over outputs."""
    return np.average(((y - np.average(y, axis=0, weights=weight)) ** 2).sum(axis=1), weights=weight)


@dataclass
class RidgeModel:
    """y ~ intercept + x @ coef, and the leverage of one more row of weight one."""

    coef: np.ndarray  # (d, K)
    intercept: np.ndarray  # (K,)
    inverse: np.ndarray  # (d, d) of the penalised scatter
    centre: np.ndarray  # (d,)
    base: float  # leverage at the centre

    def predict(self, x):
        return x @ self.coef + self.intercept

    def leverages(self, x):
        u = x - self.centre
        return self.base + np.sum((u @ self.inverse) * u, axis=1)


@dataclass
class CurvatureNode:
    """One node: its rows, its model, and the split if it has one."""

    rows: np.ndarray
    depth: int
    model: RidgeModel
    scores: list  # (d, K) coefficients of the ancestors whose scores are concatenated
    parent: "CurvatureNode | None" = None
    kind: str = "leaf"
    direction: np.ndarray | None = None
    threshold: float = np.nan
    children: tuple = ()
    # How far the node's decisions are from other ones, relative to the quantity decided.
    margin: float = np.inf

    def walk(self):
        """All nodes, breadth first, the left child first."""
        queue = [self]
        while queue:
            yield (node := queue.pop(0))
            queue += node.children


def gcv_loss(model, x, y, weight, mean_weight):
    """Residual sum of squares over (1 - df / n)^2, df the sum of the rows' leverages, n their weight in units of
    a sample's."""
    squares = weight @ ((y - model.predict(x)) ** 2).sum(axis=1)
    rest = 1 - weight @ model.leverages(x) * mean_weight / weight.sum()
    return squares / max(rest, LEAST_FREEDOM) ** 2


def leave_one_out(model, x, y, unit):
    """Squared error of each row under the model without one sample of this weight, (n,)."""
    rest = np.maximum(1 - unit * model.leverages(x), LEAST_FREEDOM)
    return ((y - model.predict(x)) ** 2).sum(axis=1) / rest**2


def curvature_problem(x, residual, weight):
    """The covariance (d, d) of the features and one residual-weighted one an output."""
    n, d = weight.sum(), x.shape[1]
    xc = x - weight @ x / n
    covariance = xc.T @ (weight[:, None] * xc) / n
    covariance += 1e-6 * np.trace(covariance) / d * np.eye(d)
    return covariance, [(xc.T * (weight * r)) @ xc / n for r in residual.T]


def curvature_directions(covariance, hessians, count):
    """The `count` most curved directions, columns of (d, .), the strongest first."""
    lower = np.linalg.cholesky(covariance)
    hessians = [np.linalg.solve(lower, np.linalg.solve(lower, h).T) for h in hessians]
    # Outputs are pooled by squares; a single Hessian keeps its signs, which tell apart
    # the two directions of a saddle.
    pooled = hessians[0] if len(hessians) == 1 else sum(h @ h for h in hessians)
    values, vectors = np.linalg.eigh(pooled)
    strongest = np.argsort(-np.abs(values), kind="stable")[:count]
    return oriented(np.linalg.solve(lower.T, vectors[:, strongest]))


def principal_directions(covariance, coef):
    """Up to eight directions along which the fitted values of `coef` (d, K) vary most, columns of (d, .)."""
    values, vectors = np.linalg.eigh(coef.T @ covariance @ coef)
    strongest = np.argsort(-values, kind="stable")[:8]
    return oriented(coef @ vectors[:, strongest[values[strongest] > 1e-9 * values.max()]])


def oriented(directions):
    """Directions of length one, the largest coefficient positive."""
    directions = directions / np.linalg.norm(directions, axis=0)
    largest = np.argmax(np.abs(directions), axis=0)
    return directions * np.sign(directions[largest, np.arange(directions.shape[1])])


def quantile_cuts(scores, weight, max_thresholds, min_samples_leaf, between=(-np.inf, np.inf)):
    """Sizes of the left side: the valid boundaries nearest to the weighted quantiles, of all samples or of those
    between two thresholds.

    `scores` ascend. Scores closer than 1e-10 of their range are one score.
    """
    n = len(scores)
    size = np.flatnonzero(np.diff(scores) > 1e-10 * np.ptp(scores)) + 1
    size = size[(size >= min_samples_leaf) & (size <= n - min_samples_leaf)]
    size = size[(scores[size] > between[0]) & (scores[size - 1] < between[1])]
    if len(size) <= max_thresholds:
        return size
    below = np.cumsum(weight)[size - 1]
    ends = (0, weight.sum()) if np.isinf(between).all() else (below[0], below[-1])
    targets = ends[0] + (ends[1] - ends[0]) * np.arange(1, max_thresholds + 1) / (max_thresholds + 1)
    distance = np.abs(below - targets[:, np.newaxis])
    return np.unique(size[np.argmax(distance <= distance.min(axis=1, keepdims=True) + 1e-12 * weight.sum(), axis=1)])


@dataclass
class LiteralCurvatureTree:
    """The literal tree. Parameters as in `fctree.FCODTRegressor`."""

    alpha: float = 1.0
    max_depth: int = 3
    min_samples_leaf: int = 1
    directions: tuple = KINDS
    n_curvature: int = 2
    max_coef: int | None = None
    max_thresholds: int = 32
    parent_weight: float = 3.0
    split_margin: float = 0.75
    feature_concatenation: bool = True
    refines_cuts: bool = True
    root_: CurvatureNode | None = field(default=None, init=False)

    def fit(self, X, y, sample_weight=None, count=None):
        """`count` says how many samples a row is where weights are not numbers of samples."""
        self.X = np.asarray(X, dtype=np.float64)
        self.Y = np.asarray(y, dtype=np.float64).reshape(len(self.X), -1)
        self.weight = np.ones(len(self.X)) if sample_weight is None else sample_weight
        self.unit = np.ones(len(self.X)) if count is None else self.weight / np.maximum(count, 1)
        rows = np.flatnonzero(self.weight > 0)
        self.mean_weight = 1.0 if count is None else self.weight.sum() / count[rows].sum()
        self.root_ = CurvatureNode(rows, 0, self._model(rows, [], None), [])
        for node in self.root_.walk():  # children join the walk as they appear
            self._split(node)
        return self

    @property
    def margin(self):
        """The closest call of the whole tree: two programs may only be asked for the same
        tree where rounding cannot decide."""
        return min(node.margin for node in self.root_.walk())

    def _data(self, rows):
        return self.X[rows], self.Y[rows], self.weight[rows]

    def _pooled(self, rows, parent):
        """Some rows, and their parent's with its fitted values as targets and a total weight
        of `parent_weight`."""
        x, y, weight = self._data(rows)
        if parent is None or self.parent_weight == 0:
            return x, y, weight
        lent, _, share = self._data(parent.rows)
        return (np.vstack([x, lent]), np.vstack([y, parent.model.predict(lent)]),
                np.append(weight, self.parent_weight * self.mean_weight * share / share.sum()))

    def _penalty(self, scores):
        d = self.X.shape[1]
        W = np.column_stack([np.zeros(d), *scores])
        return self.alpha * np.linalg.inv(np.eye(d) + W @ W.T)

    def _model(self, rows, scores, parent):
        """The ridge of some rows and what their parent lends them."""
        x, y, weight = self._pooled(rows, parent)
        penalty = self._penalty(scores)
        mean_x, mean_y = weight @ x / weight.sum(), weight @ y / weight.sum()
        xc = x - mean_x
        inverse = np.linalg.inv(xc.T @ (weight[:, None] * xc) + penalty)
        coef = inverse @ (xc.T @ (weight[:, None] * (y - mean_y)))
        return RidgeModel(coef, mean_y - mean_x @ coef, inverse, mean_x, 1 / weight.sum())

    def _candidates(self, node):
        """(kind, direction) in the order in which they are tried."""
        x, y, weight = self._data(node.rows)
        found = []
        if "ridge" in self.directions:
            found += [("ridge", column) for column in self._ridge_directions(node).T]
        if "curvature" in self.directions:
            problem = curvature_problem(x, y - node.model.predict(x), weight)
            for column in curvature_directions(*problem, self.n_curvature).T:
                if self.max_coef is not None:
                    column, margin = sparse_curvature(*problem, column, self.max_coef)
                    node.margin = min(node.margin, margin)
                found.append(("curvature", column))
        if "axis" in self.directions:
            found += [("axis", axis) for axis in np.eye(x.shape[1])[np.ptp(x, axis=0) > 0]]
        return found

    def _ridge_directions(self, node):
        """(d, .): those of the node's model, or the ridge of `max_coef` features each."""
        if self.max_coef is None and self.Y.shape[1] > 8:
            x, y, weight = self._data(node.rows)
            return principal_directions(curvature_problem(x, y, weight)[0], node.model.coef)
        if self.max_coef is None:
            return node.model.coef
        x, y, weight = self._pooled(node.rows, node.parent)
        x, y = x - weight @ x / weight.sum(), y - weight @ y / weight.sum()
        root = np.sqrt(weight)[:, None]
        x, y, penalty = root * x, root * y, self._penalty(node.scores)
        columns = []
        for target, direction in zip(y.T, node.model.coef.T, strict=True):
            def solve(features, _, target=target):
                part = x[:, features]
                system = part.T @ part + penalty[np.ix_(features, features)]
                found = np.zeros(x.shape[1])
                found[features] = np.linalg.solve(system, part.T @ target)
                return found

            found, margin = eliminate(direction, (x**2).sum(axis=0), self.max_coef, solve)
            node.margin = min(node.margin, margin)
            columns.append(found)
        return np.column_stack(columns)

    def _cuts_along(self, node, direction, between):
        """(loss, threshold, goes_left) of every cut along a direction between two thresholds."""
        x, _, weight = self._data(node.rows)
        score = x @ direction
        order = np.argsort(score, kind="stable")
        for size in quantile_cuts(score[order], weight[order], self.max_thresholds,
                                  self.min_samples_leaf, between):
            goes_left = np.zeros(len(x), dtype=bool)
            goes_left[order[:size]] = True
            models = self._child_models(node, goes_left)
            loss = sum(gcv_loss(m, *self._data(node.rows[side]), self.mean_weight)
                       for m, side in zip(models, (goes_left, ~goes_left), strict=True))
            yield loss, score[order[size - 1:size + 1]].mean(), goes_left

    def _best_along(self, node, direction, own, tried, between=(-np.inf, np.inf)):
        """(loss, threshold, goes_left, the thresholds tried beside it), None without a cut below `own`."""
        cuts, best = list(self._cuts_along(node, direction, between)), None
        tried += [(loss, goes_left) for loss, _, goes_left in cuts]
        for at, (loss, threshold, goes_left) in enumerate(cuts):
            if loss < (own if best is None else best[0]) - TIE * own:
                beside = (cuts[at - 1][1] if at > 0 else between[0],
                          cuts[at + 1][1] if at + 1 < len(cuts) else between[1])
                best = (loss, threshold, goes_left, beside)
        return best

    def _refined(self, node, candidates, own, tried):
        """The best cut along each candidate, and for the best of each kind others closer and closer to it."""
        cuts = [self._best_along(node, direction, own, tried) for _, direction in candidates]
        for kind in KINDS:
            best = None
            for at, (of_kind, _) in enumerate(candidates):
                if of_kind == kind and cuts[at] is not None and (
                        best is None or cuts[at][0] < cuts[best][0] - TIE * own):
                    best = at
            for _ in range(3 if self.refines_cuts and best is not None else 0):
                closer = self._best_along(node, candidates[best][1], own, tried, cuts[best][3])
                if closer is None or not closer[0] < cuts[best][0] - TIE * own:
                    break
                cuts[best] = closer
        return cuts

    def _child_scores(self, node):
        return [*node.scores, node.model.coef] if self.feature_concatenation else []

    def _child_models(self, node, goes_left):
        scores = self._child_scores(node)
        return [self._model(node.rows[side], scores, node) for side in (goes_left, ~goes_left)]

    def _split(self, node):
        x, y, weight = self._data(node.rows)
        if node.depth == self.max_depth or len(x) < 2 * self.min_samples_leaf:
            return
        if weight.sum() < (1 - 1e-9) * self.mean_weight * x.shape[1]:
            return
        own = gcv_loss(node.model, x, y, weight, self.mean_weight)
        candidates = self._candidates(node)
        least, chosen, tried = own, None, []
        cuts = self._refined(node, candidates, own, tried)
        for (kind, direction), cut in zip(candidates, cuts, strict=True):
            if cut is not None and cut[0] < least - TIE * own:
                least, chosen = cut[0], (kind, direction, *cut[1:3])
        if not tried:
            return
        kept = np.ones(len(x), bool) if chosen is None else chosen[3]
        others = [abs(loss - least) for loss, side in tried
                  if not (np.array_equal(side, kept) or np.array_equal(side, ~kept))]
        closest = min([*others, own if chosen is None else own - least])
        node.margin = min(node.margin, closest / own)
        if chosen is None:
            return
        kind, direction, threshold, goes_left = chosen
        models = self._child_models(node, goes_left)
        if not self._passes_leave_one_out(node, goes_left, models, len(candidates)):
            return
        node.kind, node.direction, node.threshold = kind, direction, threshold
        node.children = tuple(
            CurvatureNode(node.rows[side], node.depth + 1, model, self._child_scores(node), node)
            for model, side in zip(models, (goes_left, ~goes_left), strict=True))

    def _passes_leave_one_out(self, node, goes_left, models, n_directions):
        """Whether the leave-one-out errors fall by more than the best of many does by luck."""
        x, y, weight = self._data(node.rows)
        unit = self.unit[node.rows]
        decrease = leave_one_out(node.model, x, y, unit)
        for model, side in zip(models, (goes_left, ~goes_left), strict=True):
            decrease[side] -= leave_one_out(model, x[side], y[side], unit[side])
        count = weight / unit
        decrease = limited_decreases(unit * decrease, count, self.mean_weight * variance(y, weight))
        deviation = np.sqrt(count @ (decrease - np.average(decrease, weights=count)) ** 2)
        luck = np.sqrt(2 * np.log(max(2, n_directions * min(self.max_thresholds, 256))))
        surplus = count @ decrease - self.split_margin * luck * deviation
        node.margin = min(node.margin, abs(surplus) / (luck * deviation))
        return surplus > 0

    def predict(self, X):
        """(n, K) predictions, one row at a time."""
        values = []
        for x in np.asarray(X, dtype=np.float64):
            node = self.root_
            while node.children:
                node = node.children[0 if x @ node.direction <= node.threshold else 1]
            values.append(node.model.predict(x))
        return np.array(values)
