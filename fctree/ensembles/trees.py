"""The trees of an ensemble as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np

from fctree._native import ensembles as _native
from fctree._native.core import is_finite
from fctree._native_input import (
    REAL,
    CheckedArrays,
    check_array,
    check_leaf_numbers,
    check_offsets,
    check_output,
    check_parts,
    check_range,
    check_rows,
    check_threads,
    check_tree_links,
    require,
)
from fctree._tree import SPLIT_KINDS, ObliqueTree
from fctree._typing import FloatArray, NDArray

_OF_NODES = (
    "children_left", "children_right", "split_kind", "threshold", "coef", "value", "impurity",
    "n_node_samples", "weighted_n_node_samples", "leaf_index",
)  # fmt: skip
_OF_LEAVES = ("leaf_coef", "leaf_intercept", "leaf_lower", "leaf_upper")
_OFFSETS = ("node_offsets", "leaf_offsets")
_INTEGERS = (
    *_OFFSETS, "children_left", "children_right", "split_kind", "n_node_samples", "leaf_index",
)  # fmt: skip


@dataclass(eq=False, frozen=True, repr=False)
class ObliqueTrees(CheckedArrays):
    """Sequence of oblique trees, stored one after the other in each array.

    Tree t has the nodes from ``node_offsets[t]`` up to but excluding ``node_offsets[t + 1]``, and likewise
    the leaves by ``leaf_offsets``. Within a tree both are numbered from 0, breadth-first. A sample goes
    left where ``coef @ x <= threshold``. A leaf adds the score of its linear model, clipped to its bounds,
    to the raw scores. Children, offsets and leaf numbers are read-only.

    Attributes
    ----------
    node_offsets, leaf_offsets : ndarray of shape (n_trees + 1,), int64
    children_left, children_right : ndarray of shape (n_nodes,), int64
        Numbers within the tree, -1 at leaves.
    split_kind : ndarray of shape (n_nodes,), int64
        Index into ``("ridge", "curvature", "axis")``, -1 at leaves.
    threshold : ndarray of shape (n_nodes,), float64
    coef : ndarray of shape (n_nodes, n_features), float64
        Directions of the splits, in the units of `X`.
    value : ndarray of shape (n_nodes, n_outputs), float64
        Weighted means of the tree's targets, on the scale of its leaves.
    impurity : ndarray of shape (n_nodes,), float64
        Variance of the tree's targets; with several outputs each is divided by the variance of that output
        of `y`.
    n_node_samples, weighted_n_node_samples : ndarray of shape (n_nodes,)
        Training samples of the tree, and their weights in its least-squares problem.
    leaf_index : ndarray of shape (n_nodes,), int64
        Number of the leaf within the tree, -1 at internal nodes.
    leaf_coef : ndarray of shape (n_leaves, n_outputs, n_features), float64
    leaf_intercept, leaf_lower, leaf_upper : ndarray of shape (n_leaves, n_outputs), float64
        Linear models of the leaves and their bounds; in boosting the learning rate is included.
    feature_gain : ndarray of shape (n_trees, n_features), float64
        Decrease of impurity credited to each feature, as in `ObliqueTree`.

    Raises
    ------
    ValueError, TypeError
        If the arrays do not describe trees: wrong types, inconsistent shapes, offsets that are not
        ascending, a child outside its tree, leaves that are not numbered from 0.
    """

    node_offsets: np.ndarray
    leaf_offsets: np.ndarray
    children_left: np.ndarray
    children_right: np.ndarray
    split_kind: np.ndarray
    threshold: np.ndarray
    coef: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    leaf_index: np.ndarray
    leaf_coef: np.ndarray
    leaf_intercept: np.ndarray
    leaf_lower: np.ndarray
    leaf_upper: np.ndarray
    feature_gain: np.ndarray

    _structure = (*_OFFSETS, "children_left", "children_right", "leaf_index")

    def __post_init__(self):
        n_trees, n_nodes = np.size(self.node_offsets) - 1, np.size(self.children_left)
        n_leaves = np.shape(self.leaf_intercept)[0] if np.ndim(self.leaf_intercept) else None
        n_features = np.shape(self.coef)[-1] if np.ndim(self.coef) else None
        n_outputs = np.shape(self.leaf_intercept)[-1] if np.ndim(self.leaf_intercept) else None
        shapes = {name: (n_nodes,) for name in _OF_NODES}
        shapes |= {name: (n_leaves, n_outputs) for name in _OF_LEAVES}
        shapes |= {name: (n_trees + 1,) for name in _OFFSETS}
        shapes |= {
            "coef": (n_nodes, n_features),
            "value": (n_nodes, n_outputs),
            "leaf_coef": (n_leaves, n_outputs, n_features),
            "feature_gain": (n_trees, n_features),
        }
        for field in fields(self):
            array = getattr(self, field.name)
            dtype = np.int64 if field.name in _INTEGERS else np.float64
            check_array(f"the trees' {field.name}", array, dtype, shapes[field.name])
            object.__setattr__(self, field.name, np.ascontiguousarray(array))
        require(self.n_outputs >= 1 and self.n_features >= 1, "trees lack outputs or features")
        self._check_structure()
        self._protect()

    def _check_structure(self):
        check_offsets("node_offsets", self.node_offsets, len(self.children_left))
        check_offsets("leaf_offsets", self.leaf_offsets, len(self.leaf_intercept))
        leaf, tree = check_tree_links(self.node_offsets, self.children_left, self.children_right)
        sizes = np.diff(self.leaf_offsets)
        check_leaf_numbers(leaf, self.leaf_index, self.leaf_offsets[:-1][tree], sizes[tree])
        require(np.count_nonzero(leaf) == len(self.leaf_intercept), "a leaf has no model")
        require(not np.any(np.isnan(self.threshold[~leaf])), "a split's threshold is NaN")
        kinds = self.split_kind[~leaf]
        require(
            not np.any((kinds < 0) | (kinds >= len(SPLIT_KINDS))),
            f"split_kind must index {SPLIT_KINDS} at internal nodes",
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.node_offsets) - 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.coef.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of raw scores of a leaf."""
        return self.leaf_intercept.shape[1]

    def __repr__(self) -> str:
        return f"ObliqueTrees(n_trees={self.n_trees}, n_nodes={len(self.children_left)}, n_features={self.n_features}, n_outputs={self.n_outputs})"

    def __len__(self) -> int:
        return self.n_trees

    @overload
    def __getitem__(self, index: int) -> ObliqueTree: ...
    @overload
    def __getitem__(self, index: slice) -> ObliqueTrees: ...
    def __getitem__(self, index: int | slice) -> ObliqueTree | ObliqueTrees:
        """One tree as an `ObliqueTree`, to draw, print or evaluate on its own; or the trees of a slice.

        The arrays of a single tree are views of those of this object, except `coef`. The tree has no bounds:
        far outside the training data its predictions may differ from its contribution to the ensemble.
        """
        if isinstance(index, slice):
            return self.take(range(self.n_trees)[index])
        tree = range(self.n_trees)[index]
        nodes = slice(self.node_offsets[tree], self.node_offsets[tree + 1])
        leaves = slice(self.leaf_offsets[tree], self.leaf_offsets[tree + 1])
        coef = self.coef[nodes].copy()
        intercept = np.zeros(len(coef))
        leaf = self.children_left[nodes] < 0
        if self.n_outputs == 1:
            own = self.leaf_index[nodes][leaf]
            coef[leaf] = self.leaf_coef[leaves][own, 0]
            intercept[leaf] = self.leaf_intercept[leaves][own, 0]
        return ObliqueTree(
            children_left=self.children_left[nodes],
            children_right=self.children_right[nodes],
            threshold=self.threshold[nodes],
            coef=coef,
            intercept=intercept,
            split_output=np.where(leaf, -1, 0),
            leaf_coef=self.leaf_coef[leaves],
            leaf_intercept=self.leaf_intercept[leaves],
            leaf_index=self.leaf_index[nodes],
            value=self.value[nodes][:, :, np.newaxis],
            impurity=self.impurity[nodes],
            n_node_samples=self.n_node_samples[nodes],
            weighted_n_node_samples=self.weighted_n_node_samples[nodes],
            feature_gain=self.feature_gain[tree],
            split_kind=self.split_kind[nodes],
        )

    def first(self, n: int) -> ObliqueTrees:
        """The first n trees, as views.

        Parameters
        ----------
        n : int
            From 0 to `n_trees`.

        Returns
        -------
        trees : ObliqueTrees

        Raises
        ------
        ValueError, TypeError
            If `n` is out of range, or no integer.
        """
        check_range(0, n, self.n_trees)
        ends = dict.fromkeys(_OFFSETS, n + 1)
        ends.update(dict.fromkeys(_OF_NODES, self.node_offsets[n]))
        ends.update(dict.fromkeys(_OF_LEAVES, self.leaf_offsets[n]))
        return ObliqueTrees(feature_gain=self.feature_gain[:n],
                            **{name: getattr(self, name)[:end] for name, end in ends.items()})

    def take(self, trees: Sequence[int]) -> ObliqueTrees:
        """The trees with these numbers, in this order.

        Parameters
        ----------
        trees : sequence of int
            From 0 to ``n_trees - 1``.

        Returns
        -------
        trees : ObliqueTrees

        Raises
        ------
        ValueError, TypeError
            If a number is out of range, or no integer.
        """
        for tree in trees:
            check_range(tree, tree + 1, self.n_trees)
        trees = np.array(trees, dtype=np.int64)
        arrays = {"feature_gain": self.feature_gain[trees]}
        for offsets, names in (("node_offsets", _OF_NODES), ("leaf_offsets", _OF_LEAVES)):
            first, sizes = getattr(self, offsets)[trees], np.diff(getattr(self, offsets))[trees]
            arrays[offsets] = np.concatenate([[0], np.cumsum(sizes)])
            places = np.arange(arrays[offsets][-1]) + np.repeat(first - arrays[offsets][:-1], sizes)
            arrays |= {name: getattr(self, name)[places] for name in names}
        return ObliqueTrees(**arrays)

    @classmethod
    def concatenate(cls, parts: Sequence[ObliqueTrees]) -> ObliqueTrees:
        """The trees of all parts, in order.

        Parameters
        ----------
        parts : sequence of ObliqueTrees

        Returns
        -------
        trees : ObliqueTrees

        Raises
        ------
        ValueError, TypeError
            Without parts, for parts of another class, and for parts that differ in features or outputs.
        """
        parts = check_parts(cls, parts)
        arrays = {}
        for field in fields(cls):
            values = [getattr(part, field.name) for part in parts]
            if field.name in _OFFSETS:
                steps = np.concatenate([np.diff(offsets) for offsets in values])
                arrays[field.name] = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
            else:
                arrays[field.name] = np.concatenate(values)
        return cls(**arrays)

    def add_to(
        self,
        X: NDArray[Any],
        scores: FloatArray,
        *,
        first: int = 0,
        last: int | None = None,
        n_threads: int = 1,
    ) -> None:
        """Add the scores of trees ``first`` to ``last - 1`` for each row of `X` to `scores`.

        Parameters
        ----------
        X : C-contiguous float64 or float32 array of shape (n_samples, n_features)
        scores : C-contiguous float64 array of shape (n_samples, n_outputs)
            Changed in place.
        first, last : int, default=0, None
            ``0 <= first <= last <= n_trees``; None is `n_trees`.
        n_threads : int, default=1

        Raises
        ------
        ValueError, TypeError
            For arrays of other types or shapes, or tree numbers out of range.
        """
        last = self.n_trees if last is None else last
        X = check_rows(X, self.n_features, dtypes=REAL)
        check_output(scores, (len(X), self.n_outputs))
        check_range(first, last, self.n_trees)
        _native.add_trees(self, first, last, X, scores, check_threads(n_threads))

    def _scores_from(self, start, X, n_threads):
        """Raw scores (n, n_outputs) that begin with ``start``, and whether all are finite."""
        scores = np.empty((len(X), self.n_outputs))
        scores[:] = start
        self.add_to(X, scores, n_threads=n_threads)
        return scores, is_finite(scores, n_threads)

    def apply(self, X: FloatArray, *, n_threads: int = 1) -> NDArray[np.int64]:
        """Find the leaf of each row in each tree.

        Parameters
        ----------
        X : C-contiguous float64 array of shape (n_samples, n_features)
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        nodes : ndarray of shape (n_samples, n_trees), int64
            Number of the leaf among the nodes of its tree.

        Raises
        ------
        ValueError, TypeError
            As in `add_to`.
        """
        return _native.apply(self, check_rows(X, self.n_features), check_threads(n_threads))

    def _leaf_numbers(self, X: FloatArray, *, n_threads: int) -> NDArray[np.int64]:
        """Leaves as in `apply`, numbered over all trees."""
        X = check_rows(X, self.n_features)
        return _native.apply(self, X, check_threads(n_threads), over_all=True)

    def compute_feature_importances(self) -> FloatArray:
        """The features' shares of the sum of the trees' gains, each times the weight of its tree's samples."""
        sums = self.weighted_n_node_samples[self.node_offsets[:-1]] @ self.feature_gain
        return sums / sums.sum() if sums.sum() > 0.0 else sums
