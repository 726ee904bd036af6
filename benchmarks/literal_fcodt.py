"""FC-ODT written down literally in NumPy: the algorithm of the paper, without the moments.

Lyu et al., "Enhance Learning Efficiency of Oblique Decision Tree via Feature Concatenation".
At each node the design is Z = [X, scores of the ancestors]; the direction is the ridge
solution on Z, centred within the node; the threshold is the midpoint between two distinct
scores that decreases the mean squared error with constant children most. It is a peer for the
fit times (what a careful NumPy program reaches) and a check on the errors.

Cost of a level: O(n (d + depth)^2 / 2) for the Gram matrices and O(n log n) for the sorts.
"""

import numpy as np


def ridge(Z, y, alpha):
    """Ridge coefficients and intercept, centred, the intercept not penalised."""
    z_mean, y_mean = Z.mean(axis=0), y.mean()
    centred = Z - z_mean
    gram = centred.T @ centred
    gram[np.diag_indices_from(gram)] += alpha
    coef = np.linalg.solve(gram, centred.T @ (y - y_mean))
    return coef, y_mean - z_mean @ coef


def best_threshold(scores, y, min_samples_leaf):
    """The threshold of the largest decrease of squared error, or None if no cut decreases it."""
    n = len(y)
    order = np.argsort(scores, kind="stable")
    s = scores[order]
    left_sum = np.cumsum(y[order] - y.mean())[:-1]
    n_left = np.arange(1, n)
    gain = left_sum**2 * n / (n_left * (n - n_left))
    allowed = (s[1:] > s[:-1]) & (n_left >= min_samples_leaf) & (n - n_left >= min_samples_leaf)
    if not allowed.any():
        return None
    cut = int(np.argmax(np.where(allowed, gain, -np.inf)))
    return 0.5 * (s[cut] + s[cut + 1]) if gain[cut] > 0 else None


class LiteralFCODTRegressor:
    """One-output FC-ODT; the parameters are those of `fctree.FCODTRegressor`."""

    def __init__(self, *, alpha=1.0, max_depth=3, min_samples_leaf=1,
                 feature_concatenation=True, leaf_model="ridge"):
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.feature_concatenation = feature_concatenation
        self.leaf_model = leaf_model

    def fit(self, X, y):
        self.root_ = self._grow(np.asarray(X, dtype=float), np.asarray(y, dtype=float), 0)
        return self

    def _grow(self, Z, y, depth):
        """A nested dict: `coef` and `intercept`; a split also has `threshold` and children."""
        is_deepest = depth == self.max_depth or len(y) < 2 * self.min_samples_leaf
        if is_deepest and self.leaf_model == "constant":
            return {"coef": None, "intercept": y.mean()}
        coef, intercept = ridge(Z, y, self.alpha)
        scores = Z @ coef
        threshold = None if is_deepest else best_threshold(scores, y, self.min_samples_leaf)
        if threshold is None:
            if self.leaf_model == "constant":
                return {"coef": None, "intercept": y.mean()}
            return {"coef": coef, "intercept": intercept}
        if self.feature_concatenation:
            Z = np.column_stack([Z, scores])
        left = scores <= threshold
        return {"coef": coef, "intercept": intercept, "threshold": threshold,
                "left": self._grow(Z[left], y[left], depth + 1),
                "right": self._grow(Z[~left], y[~left], depth + 1)}

    def predict(self, X):
        X = np.asarray(X, dtype=float)
        prediction = np.empty(len(X))
        self._route(self.root_, X, np.arange(len(X)), prediction)
        return prediction

    def _route(self, node, Z, rows, prediction):
        if node["coef"] is None:
            prediction[rows] = node["intercept"]
            return
        scores = Z @ node["coef"]
        if "threshold" not in node:
            prediction[rows] = scores + node["intercept"]
            return
        if self.feature_concatenation:
            Z = np.column_stack([Z, scores])
        left = scores <= node["threshold"]
        self._route(node["left"], Z[left], rows[left], prediction)
        self._route(node["right"], Z[~left], rows[~left], prediction)
