"""Fitted models as sums of trees, as attributions, exports and pictures read them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from fctree._tables.frames import taken, with_numbers
from fctree._threads import count_threads
from fctree._tree import SPLIT_KINDS, ObliqueTree
from fctree._typing import NDArray
from fctree._validation import check_boosting_features, check_features, check_fitted, check_predictions
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.ensembles.forest import BaseCurvatureForest
from fctree.ensembles.trees import ObliqueTrees
from fctree.oblique.base import BaseObliqueTree
from fctree.symmetric.base import BaseSymmetricBoosting
from fctree.symmetric.trees import SymmetricTrees


@dataclass(eq=False)
class ScoredTrees:
    """A model whose scores are ``offset + factor * (sum over trees)``, the offset being (n_outputs,).

    Scores are those of `decision_function` for classifiers; for regressors the predictions, or their
    logarithms where the loss has a log link.
    """

    model: Any
    trees: Any
    offset: np.ndarray
    factor: float

    @classmethod
    def of(cls, model):
        """Read a model.

        TypeError if it is not one of symmetric or oblique trees, ValueError if its splits are soft,
        NotFittedError if it has not been fitted.
        """
        known = (BaseSymmetricBoosting, BaseCurvatureBoosting, BaseCurvatureForest, BaseObliqueTree)
        if not isinstance(model, known):
            hint = "; pass its last step, and X as that step sees it" if hasattr(model, "steps") else ""
            raise TypeError(
                "expected a symmetric boosting model, or a tree, a forest or a boosting model of "
                f"curvature trees, got a {type(model).__name__}{hint}"
            )
        check_fitted(model)
        if isinstance(model, (BaseSymmetricBoosting, BaseCurvatureBoosting)):
            return cls(model, model.trees_, np.array(model.baseline_, dtype=np.float64), 1.0)
        tree = getattr(model, "tree_", None)
        if tree is not None and tree.boundary_width is not None:
            raise ValueError(
                'a tree with soft boundaries has no paths: fit one with leaf_model="ridge"'
            )
        trees = model.trees_ if hasattr(model, "trees_") else ensemble_of(model.tree_)
        offset, factor = np.zeros(trees.n_outputs), 1.0 / trees.n_trees
        if is_classifier(model) and model.n_classes_ <= 2:
            offset, factor = offset - 2.0 * model._even_score, 2.0 * factor
        return cls(model, trees, offset, factor)

    @property
    def is_symmetric(self):
        """Whether the trees are symmetric."""
        return isinstance(self.trees, SymmetricTrees)

    @property
    def n_players(self):
        """Columns of the table that the model was fitted on, and pairs of them that became features."""
        encoder = getattr(self.model, "encoder_", None)
        return self.model.n_features_in_ + (0 if encoder is None else len(encoder.pairs))

    @property
    def players(self) -> NDArray[np.int64]:
        """The column that each feature of the trees was made from, (n_features,) int64; pairs are numbered
        after the columns."""
        encoder = getattr(self.model, "encoder_", None)
        return np.arange(self.n_players) if encoder is None else encoder.players

    def shared_by_columns(self, values):
        """Values of the players (n_samples, n_players, n_outputs) as those of columns: a pair's are shared
        equally between its two."""
        n_columns = self.model.n_features_in_
        columns = values[:, :n_columns]
        for pair in range(n_columns, self.n_players):
            for column in self.model.encoder_.pairs[pair - n_columns]:
                columns[:, column] += 0.5 * values[:, pair]
        return np.ascontiguousarray(columns)

    def features(self, X):
        """The features of the trees, (n_samples, n_features)."""
        if self.is_symmetric:
            return self.trees._checked(check_boosting_features(self.model, X))
        return check_features(self.model, X)

    def mean_score(self, features, n_threads):
        """Mean score of samples, (n_outputs,)."""
        scores = np.zeros((len(features), self.trees.n_outputs))
        self.trees.add_to(features, scores, n_threads=n_threads)
        return self.offset + self.factor * check_predictions(scores).mean(axis=0)

    def partial_effect(self, X, columns, grids):
        """Mean scores of samples with two columns of numbers replaced by the values of two grids, (n_first,
        n_second, n_outputs)."""
        n_threads = count_threads(self.model.n_jobs)
        encoder = getattr(self.model, "encoder_", None)
        is_paired = encoder is not None and np.isin(columns, encoder.pairs).any()
        first = np.flatnonzero(self.players == columns[0])[0]
        n, size = len(X), len(grids[1])
        rows = taken(X, np.tile(np.arange(n), size))
        if isinstance(rows, np.ndarray) and rows.dtype != object:
            rows = rows.astype(np.float64)
        rows = with_numbers(rows, {columns[0]: np.full(n * size, grids[0][0]), columns[1]: np.repeat(grids[1], n)})
        features = np.array(self.features(rows), order="C")
        scores = np.empty((len(grids[0]), size, self.trees.n_outputs))
        for at, value in enumerate(grids[0]):
            if is_paired:  # other features are made of the column too
                features = self.features(with_numbers(rows, {columns[0]: np.full(n * size, value)}))
            else:
                features[:, first] = value
            found = np.zeros((len(features), self.trees.n_outputs))
            self.trees.add_to(features, found, n_threads=n_threads)
            scores[at] = found.reshape(size, n, -1).mean(axis=1)
        return self.offset + self.factor * scores

    def most_players(self):
        """The most columns that decide the way to a leaf, or the score of a leaf with bounds."""
        trees = self.trees
        internal = trees.children_left >= 0
        used = self._split_players()
        level = trees.node_offsets[:-1]
        first = np.repeat(level, np.diff(trees.node_offsets))
        while level.size:
            level = level[internal[level]]
            children = (trees.children_left + first)[level], (trees.children_right + first)[level]
            for child in children:
                used[child] |= used[level]
            level = np.concatenate(children)
        bounded = np.isfinite(trees.leaf_lower) | np.isfinite(trees.leaf_upper)
        cut = (trees.leaf_coef != 0.0) & bounded[:, :, np.newaxis]
        leaf = ~internal
        tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.node_offsets))
        rows = trees.leaf_index[leaf] + trees.leaf_offsets[tree[leaf]]
        used[leaf] |= self._columns_of(cut.any(axis=1))[rows]
        return int(used.sum(axis=1).max(initial=0))

    def widest_split(self):
        """The most columns that one split combines."""
        return int(self._split_players().sum(axis=1).max(initial=0))

    def _split_players(self):
        """The columns of each split, (n_nodes, n_players) bool; none at leaves."""
        internal = self.trees.children_left >= 0
        return self._columns_of((self.trees.coef != 0.0) & internal[:, np.newaxis])

    def _columns_of(self, features):
        """Sets of columns from sets of features, (.., n_features) bool."""
        member = self.players[:, np.newaxis] == np.arange(self.n_players)
        return (features.astype(np.float32) @ member.astype(np.float32)) > 0


def drawn_tree(model, number):
    """One tree of an ensemble as an `ObliqueTree`; TypeError for other models, NotFittedError if it has
    not been fitted, ValueError if it has no such tree."""
    trees = getattr(model, "trees_", None)
    if not isinstance(trees, (SymmetricTrees, ObliqueTrees)):
        if trees is None and isinstance(model, BaseEstimator):
            check_fitted(model)
        own = "has one" if hasattr(model, "tree_") else "has none with hard splits"
        raise TypeError(f"tree= chooses one of many trees, but a {type(model).__name__} {own}")
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise TypeError(f"tree must be an integer, got {number!r}")
    if not 0 <= number < len(trees):
        numbers = f"tree must be from 0 to {len(trees) - 1}" if len(trees) else "the model has no trees"
        raise ValueError(f"{numbers}, got {number}")
    one = trees[int(number)]
    if isinstance(one, ObliqueTree):
        return one
    return _oblique_of(one, len(ScoredTrees.of(model).players))


def missing_sides(model, number):
    """Sides of missing values at the nodes of one of an ensemble's trees, {node: whether right}.

    Empty but for symmetric trees, at whose nodes are those that split a feature with missing values in training.
    """
    trees, sides = getattr(model, "trees_", None), {}
    if isinstance(trees, SymmetricTrees):
        for level in np.flatnonzero(trees.split_feature[number] >= 0):
            if np.any(np.isinf(model.bin_thresholds_[trees.split_feature[number, level]])):
                nodes = range(2**level - 1, 2 ** (level + 1) - 1)
                sides.update(dict.fromkeys(nodes, bool(trees.missing_right[number, level])))
    return sides


def _oblique_of(tree: SymmetricTrees, n_features: int) -> ObliqueTree:
    """A symmetric tree as nodes, without numbers of samples and sides of missing values (`missing_sides`)."""
    n_levels = int(np.count_nonzero(tree.split_feature[0] >= 0))
    n_inner, n_leaves = 2**n_levels - 1, 2**n_levels
    number = np.arange(n_inner + n_leaves)
    inner = number < n_inner
    level = np.floor(np.log2(number + 1)).astype(np.int64)
    leaves = tree.leaf_values[0, :: 2 ** (tree.depth - n_levels)]
    value = np.zeros((len(number), tree.n_outputs))
    value[n_inner:] = leaves
    for node in range(n_inner - 1, -1, -1):
        value[node] = (value[2 * node + 1] + value[2 * node + 2]) / 2
    coef = np.zeros((len(number), n_features))
    coef[number[inner], tree.split_feature[0][level[inner]]] = 1.0
    thresholds = np.append(tree.split_threshold[0][:n_levels], np.nan)
    return ObliqueTree(
        children_left=np.where(inner, 2 * number + 1, -1),
        children_right=np.where(inner, 2 * number + 2, -1),
        threshold=thresholds[level],
        coef=coef,
        intercept=np.zeros(len(number)),
        split_output=np.where(inner, 0, -1),
        leaf_coef=np.zeros((0, tree.n_outputs, n_features)),
        leaf_intercept=leaves,
        leaf_index=np.where(inner, -1, number - n_inner),
        value=value[:, :, np.newaxis],
        impurity=np.zeros(len(number)),
        n_node_samples=np.zeros(len(number), dtype=np.int64),
        weighted_n_node_samples=0.5**level,
        feature_gain=np.zeros(n_features),
        split_kind=np.where(inner, SPLIT_KINDS.index("axis"), -1),
    )


def ensemble_of(tree: ObliqueTree) -> ObliqueTrees:
    """One tree as an ensemble, without bounds."""
    shape = tree.leaf_intercept.shape
    leaf_coef = tree.leaf_coef
    if len(leaf_coef) == 0:
        leaf_coef = np.zeros((*shape, tree.n_features))
    kind = np.where(tree.children_left < 0, -1, 0) if tree.split_kind is None else tree.split_kind
    return ObliqueTrees(
        node_offsets=np.array([0, tree.node_count]),
        leaf_offsets=np.array([0, tree.n_leaves]),
        children_left=tree.children_left,
        children_right=tree.children_right,
        split_kind=kind,
        threshold=tree.threshold,
        coef=tree.coef,
        value=np.zeros((tree.node_count, tree.n_outputs)),
        impurity=tree.impurity,
        n_node_samples=tree.n_node_samples,
        weighted_n_node_samples=tree.weighted_n_node_samples,
        leaf_index=tree.leaf_index,
        leaf_coef=leaf_coef,
        leaf_intercept=tree.leaf_intercept,
        leaf_lower=np.full(shape, -np.inf),
        leaf_upper=np.full(shape, np.inf),
        feature_gain=tree.feature_gain[np.newaxis],
    )
