"""The fitted oblique tree: a set of plain NumPy arrays.

Fitted oblique estimators have an `ObliqueTree` in ``tree_``. It is like scikit-learn's ``tree_``, except
that an internal node compares the projection ``coef[node] @ x`` of a sample, not one feature, with its
threshold.

Words: a *node* is a row of the arrays, the root is node 0 and nodes are numbered
breadth-first, so that a parent's number is below its children's; a *leaf* is a node
without children; the *direction* of an internal node is its row of ``coef``; a *leaf
model* is the affine function (or the constant) that predicts inside a leaf.
"""

from __future__ import annotations

from html import escape

import numpy as np
from scipy.sparse import csr_matrix

from fctree._native import oblique as _oblique
from fctree._native_input import (
    CheckedArrays,
    check_leaf_numbers,
    check_rows,
    check_threads,
    check_tree_links,
    plain_array,
    require,
)
from fctree._typing import ArrayLike, FloatArray, NDArray

_MOST_NODES_SHOWN = 64
# Names of the values that ``split_kind`` takes; -1 marks leaves.
SPLIT_KINDS = _oblique.direction_kinds()


def direction_bits(names):
    """Kinds of candidate directions as the core takes them: bit k for ``SPLIT_KINDS[k]``."""
    return sum(1 << SPLIT_KINDS.index(name) for name in set(names))


class ObliqueTree(CheckedArrays):
    """A binary tree whose splits are hyperplanes.

    A sample x goes to the left child of an internal node if ``coef[node] @ x <= threshold[node]``, else to
    the right child. A leaf predicts with its own affine model, or with the mean of its training samples.

    Parameters
    ----------
    children_left, children_right : array of shape (n_nodes,), int64
        Node numbers of the children, above that of their parent; -1 at leaves.
    threshold : array of shape (n_nodes,), float64
        Threshold of the projection, in the units of ``coef @ x``; NaN at leaves.
    coef : array of shape (n_nodes, n_features), float64
        Directions of the splits in the original features. At the leaves of a tree with one output and ridge
        leaves, the linear model of the leaf; at other leaves 0.
    intercept : array of shape (n_nodes,), float64
        Intercept of the model in `coef`; 0 if `coef` is not a model.
    split_output : array of shape (n_nodes,), int64
        The output whose ridge direction won the split, -1 at leaves and for other directions.
    leaf_coef : array of shape (n_leaves, n_outputs, n_features), float64
        Linear models of the leaves; shape (0, n_outputs, n_features) if leaves are constant.
    leaf_intercept : array of shape (n_leaves, n_outputs), float64
        Intercepts of the leaf models; the means of the leaves if leaves are constant.
    leaf_index : array of shape (n_nodes,), int64
        Row of each leaf in `leaf_coef` and `leaf_intercept`, -1 at internal nodes.
    value : array of shape (n_nodes, n_outputs, 1) or (n_nodes, 1, n_classes), float64
        Weighted means of y (regression) or weighted class fractions (classification).
    impurity : array of shape (n_nodes,), float64
        Gini index (classification), or variance of y averaged over the outputs (regression), in the units
        of y squared. In curvature trees with several outputs each variance is divided by that of the
        training targets.
    n_node_samples : array of shape (n_nodes,), int64
        Number of training samples of positive weight.
    weighted_n_node_samples : array of shape (n_nodes,), float64
        Their total weight.
    feature_gain : array of shape (n_features,), float64
        Decrease of impurity credited to each feature, not normalised.
    n_classes : int or None, default=None
        Number of classes; None for regression.
    split_kind : array of shape (n_nodes,), int64, default=None
        Kind of each direction, an index into ``("ridge", "curvature", "axis")``; -1 at leaves. None if
        unknown.
    feature_scale : array of shape (n_features,), float64, default=None
        Standard deviation of each feature in training, 1 for constant ones; `export_text` and `plot_tree`
        order terms by `coef` times it. None if unknown.
    boundary_width : array of shape (n_nodes,), float64, default=None
        Widths of soft boundaries, in the units of `threshold`; NaN at leaves. `predict` sends the share
        ``1 / (1 + exp((coef @ x - threshold) / boundary_width))`` of a sample to the left and the rest to
        the right, and weights the leaf models by the shares; `apply` and `decision_path` follow the larger
        share. None for hard splits.

    Raises
    ------
    ValueError
        If the arrays do not describe one tree: inconsistent shapes, a node with one
        child, a child numbered below its parent, a leaf without a model.

    Notes
    -----
    The object holds only these arrays and `n_classes`. They are checked once: attributes cannot be
    replaced, and `children_left`, `children_right` and `leaf_index` are read-only. The values of the other
    arrays may be changed.

    References
    ----------
    S.-H. Lyu, Y.-X. He, Y. Wang, Z. Qu, B. Tang and B. Ye, "Enhance Learning Efficiency
    of Oblique Decision Tree via Feature Concatenation", arXiv:2502.00465, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from fctree import CurvatureTreeRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> tree = CurvatureTreeRegressor(max_depth=2).fit(X, np.maximum(X @ [1, 2], 0)).tree_
    >>> tree.coef.shape == (tree.node_count, 2)
    True
    >>> bool(np.all(tree.children_left[tree.apply(X)] == -1))
    True
    """

    _structure = ("children_left", "children_right", "leaf_index")

    def __init__(
        self,
        *,
        children_left: ArrayLike,
        children_right: ArrayLike,
        threshold: ArrayLike,
        coef: ArrayLike,
        intercept: ArrayLike,
        split_output: ArrayLike,
        leaf_coef: ArrayLike,
        leaf_intercept: ArrayLike,
        leaf_index: ArrayLike,
        value: ArrayLike,
        impurity: ArrayLike,
        n_node_samples: ArrayLike,
        weighted_n_node_samples: ArrayLike,
        feature_gain: ArrayLike,
        n_classes: int | None = None,
        split_kind: ArrayLike | None = None,
        feature_scale: ArrayLike | None = None,
        boundary_width: ArrayLike | None = None,
    ) -> None:
        n_nodes = np.size(children_left)
        node = (n_nodes,)
        self.children_left = plain_array("children_left", children_left, np.int64, node)
        self.children_right = plain_array("children_right", children_right, np.int64, node)
        self.threshold = plain_array("threshold", threshold, np.float64, node)
        self.coef = plain_array("coef", coef, np.float64, (n_nodes, None))
        self.intercept = plain_array("intercept", intercept, np.float64, node)
        self.split_output = plain_array("split_output", split_output, np.int64, node)
        self.leaf_intercept = plain_array(
            "leaf_intercept", leaf_intercept, np.float64, (n_nodes - n_nodes // 2, None)
        )
        outputs = (self.n_outputs, self.n_features)
        n_models = 0 if np.shape(leaf_coef)[:1] == (0,) else self.n_leaves
        self.leaf_coef = plain_array("leaf_coef", leaf_coef, np.float64, (n_models, *outputs))
        self.leaf_index = plain_array("leaf_index", leaf_index, np.int64, node)
        self.n_classes = None if n_classes is None else int(n_classes)
        width = (self.n_outputs, 1) if n_classes is None else (1, self.n_classes)
        self.value = plain_array("value", value, np.float64, (n_nodes, *width))
        self.impurity = plain_array("impurity", impurity, np.float64, node)
        self.n_node_samples = plain_array("n_node_samples", n_node_samples, np.int64, node)
        self.weighted_n_node_samples = plain_array(
            "weighted_n_node_samples", weighted_n_node_samples, np.float64, node
        )
        self.feature_gain = plain_array("feature_gain", feature_gain, np.float64, outputs[1:])
        if split_kind is not None:
            split_kind = plain_array("split_kind", split_kind, np.int64, node)
        self.split_kind = split_kind
        if feature_scale is not None:
            feature_scale = plain_array("feature_scale", feature_scale, np.float64, outputs[1:])
        self.feature_scale = feature_scale
        if boundary_width is not None:
            boundary_width = plain_array("boundary_width", boundary_width, np.float64, node)
        self.boundary_width = boundary_width
        self._check_structure()
        self._protect()

    def __setattr__(self, name, value):
        if vars(self).get(name, value) is not value:  # `tree.coef *= 2` sets what it is already
            raise AttributeError(
                f"{name} of an ObliqueTree cannot be replaced, as its arrays are checked together: make "
                "another tree of them"
            )
        super().__setattr__(name, value)

    def _copied_fields(self):
        """Copies of the arrays, and the number of classes, to make another tree of."""
        fields = {name: np.array(value) for name, value in vars(self).items() if value is not None}
        return {**fields, "n_classes": self.n_classes}

    # The sizes ------------------------------------------------------------------------

    @property
    def node_count(self) -> int:
        """Number of nodes, leaves included."""
        return self.children_left.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features of a sample."""
        return self.coef.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of columns that `predict` returns.

        The number of targets in regression. In classification 1 for two classes (the score of the second
        one), otherwise the number of classes.
        """
        return self.leaf_intercept.shape[1]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.leaf_intercept.shape[0]

    @property
    def max_depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf."""
        return int(self.node_depth().max())

    def node_depth(self) -> NDArray[np.int64]:
        """Number of splits above each node.

        Returns
        -------
        depth : array of shape (n_nodes,), int64
        """
        depth = np.zeros(self.node_count, dtype=np.int64)
        for internal, children in self._levels():
            depth[children] = np.tile(depth[internal] + 1, 2)
        return depth

    def _levels(self):
        """The internal nodes of each level, from the root on, and their children: the left ones, then the right ones."""
        level = np.zeros(1, dtype=np.int64)
        while (internal := level[self.children_left[level] >= 0]).size:
            level = np.concatenate([self.children_left[internal], self.children_right[internal]])
            yield internal, level

    def parents(self) -> NDArray[np.int64]:
        """Parent of each node.

        Returns
        -------
        parent : array of shape (n_nodes,), int64
            -1 at the root.
        """
        parent = np.full(self.node_count, -1, dtype=np.int64)
        internal = np.flatnonzero(self.children_left >= 0)
        parent[self.children_left[internal]] = internal
        parent[self.children_right[internal]] = internal
        return parent

    # Where samples go -----------------------------------------------------------------

    def apply(self, X: FloatArray, *, n_threads: int = 1) -> NDArray[np.int64]:
        """Find the leaf of each sample.

        Parameters
        ----------
        X : C-contiguous float64 array of shape (n_samples, n_features)
            Finite values; the estimators check them.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        leaf : array of shape (n_samples,), int64
            Node number of the leaf that each sample reaches.

        Raises
        ------
        ValueError
            If `X` is not of that type, layout and width.
        """
        X = check_rows(X, self.n_features)
        return _oblique.apply(self, X, check_threads(n_threads))

    def predict(self, X: FloatArray, *, n_threads: int = 1) -> FloatArray:
        """Evaluate the leaf models.

        Parameters
        ----------
        X : C-contiguous float64 array of shape (n_samples, n_features)
            As in `apply`.
        n_threads : int, default=1
            As in `apply`.

        Returns
        -------
        prediction : array of shape (n_samples, n_outputs), float64
            In the units of y; for a classifier the raw scores, not probabilities.

        Raises
        ------
        ValueError
            If `X` is not of that type, layout and width.
        """
        X = check_rows(X, self.n_features)
        return _oblique.predict(self, X, check_threads(n_threads))

    def decision_path(self, X: FloatArray, *, n_threads: int = 1) -> csr_matrix:
        """Mark the nodes that each sample visits.

        Parameters
        ----------
        X : C-contiguous float64 array of shape (n_samples, n_features)
            As in `apply`.
        n_threads : int, default=1
            As in `apply`.

        Returns
        -------
        indicator : csr_matrix of shape (n_samples, n_nodes), int64
            1 where the sample passes through the node, its leaf included.

        Raises
        ------
        ValueError
            If `X` is not of the required type, layout and width.
        """
        node = self.apply(X, n_threads=n_threads)
        shape = (node.shape[0], self.node_count)
        indptr = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(self.node_depth()[node] + 1, out=indptr[1:])
        indices = np.empty(indptr[-1], dtype=np.int64)
        # All samples climb together from their leaves, one level a turn: O(entries).
        # Parents have lower numbers, so filling backwards leaves each row sorted.
        parent = self.parents()
        position = indptr[1:] - 1
        while node.size:
            indices[position] = node
            node = parent[node]
            climbing = node >= 0
            node, position = node[climbing], position[climbing] - 1
        data = np.ones(indices.shape[0], dtype=np.int64)
        return csr_matrix((data, indices, indptr), shape=shape)

    def compute_feature_importances(self, normalize: bool = True) -> FloatArray:
        """Impurity-based importance of the features.

        Parameters
        ----------
        normalize : bool, default=True
            Scale the importances to sum to 1. They are all 0 if impurity never decreased, as in a constant
            tree without a split.

        Returns
        -------
        importances : array of shape (n_features,), float64
        """
        importances = self.feature_gain.copy()
        if normalize:
            total = importances.sum()
            if total > 0.0:
                importances /= total
        return importances

    def __repr__(self) -> str:
        sizes = ["node_count", "n_leaves", "max_depth", "n_features", "n_outputs"]
        sizes += [] if self.n_classes is None else ["n_classes"]
        return f"ObliqueTree({', '.join(f'{s}={getattr(self, s)}' for s in sizes)})"

    def _repr_html_(self):
        from fctree.plotting import export_text  # which knows of this class

        text = f"\n{export_text(self)}" if self.node_count < _MOST_NODES_SHOWN else ""
        return f"<pre>{escape(repr(self) + text)}</pre>"

    # Checks ---------------------------------------------------------------------------

    def _check_structure(self):
        """O(n_nodes): the native code follows these numbers without further checks."""
        require(self.node_count >= 1, "a tree has at least one node")
        offsets = np.array([0, self.node_count])
        leaf, tree = check_tree_links(offsets, self.children_left, self.children_right)
        check_leaf_numbers(leaf, self.leaf_index, tree, np.full(len(tree), self.n_leaves))
        require(np.count_nonzero(leaf) == self.n_leaves, "a leaf has no model")
        internal = np.flatnonzero(~leaf)
        if np.any(np.isnan(self.threshold[internal])):
            raise ValueError("threshold must not be NaN at internal nodes")
        if self.boundary_width is not None:
            width = self.boundary_width[internal]
            require(np.all((width > 0.0) & (width < np.inf)), "boundary_width must be positive")
        kinds = np.zeros(0) if self.split_kind is None else self.split_kind[internal]
        if np.any((kinds < 0) | (kinds >= len(SPLIT_KINDS))):
            raise ValueError(f"split_kind must index {SPLIT_KINDS} at internal nodes")
