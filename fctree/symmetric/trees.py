"""Symmetric trees as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fctree._native import symmetric as _native
from fctree._native_input import (
    REAL,
    CheckedArrays,
    check_array,
    check_output,
    check_parts,
    check_range,
    check_rows,
    check_threads,
    require,
)
from fctree._typing import FloatArray, NDArray

MOST_LEVELS = 16
_DTYPES = {"split_feature": np.int32, "missing_right": np.bool_}


@dataclass(eq=False, frozen=True, repr=False)
class SymmetricTrees(CheckedArrays):
    """Sequence of symmetric (oblivious) trees: one split per level, shared by all nodes.

    Bit ``depth - 1 - level`` of a leaf's index is set where ``x[feature] > threshold`` at that level; a
    missing value follows ``missing_right``. A tree that stops early has feature -1 at the unused levels, and
    their bits stay 0.

    Attributes
    ----------
    split_feature : ndarray of shape (n_trees, depth), int32
        Feature of each level's split, -1 for none; read-only.
    split_threshold : ndarray of shape (n_trees, depth), float64
        Threshold of the split; ``inf`` separates missing values from all others.
    missing_right : ndarray of shape (n_trees, depth), bool
        Whether missing values count as above the threshold.
    split_gain : ndarray of shape (n_trees, depth), float64
        Increase of the sum over leaves of ``S^2 / (W + l2_leaf_reg)`` by the split, with S the sum of
        weighted gradients and W the sum of weights in a leaf.
    leaf_values : ndarray of shape (n_trees, 2**depth, n_outputs), float64
        Contributions of the leaves to the raw scores, learning rate included.

    Raises
    ------
    ValueError, TypeError
        If the arrays do not describe trees: wrong types, inconsistent shapes, more than 16 levels, a
        feature below -1, a split below a level without one, a threshold that is NaN.
    """

    split_feature: np.ndarray
    split_threshold: np.ndarray
    missing_right: np.ndarray
    split_gain: np.ndarray
    leaf_values: np.ndarray

    _structure = ("split_feature",)

    def __post_init__(self):
        check_array("the trees' split_feature", self.split_feature, np.int32, (None, None))
        n_trees, depth = self.split_feature.shape
        require(1 <= depth <= MOST_LEVELS, f"trees have {depth} levels, expected 1 to {MOST_LEVELS}")
        for name, array in self._arrays():
            shape = (n_trees, depth)
            if name == "leaf_values":
                shape = (n_trees, 2**depth, None)
            check_array(f"the trees' {name}", array, _DTYPES.get(name, np.float64), shape)
            object.__setattr__(self, name, np.ascontiguousarray(array))
        require(self.n_outputs >= 1, f"leaf_values of shape {self.leaf_values.shape} lack outputs")
        used = self.split_feature >= 0
        require(np.all(self.split_feature >= -1), "a tree splits by a feature below -1")
        require(not np.any(used[:, 1:] & ~used[:, :-1]), "a tree has a split below a missing one")
        require(not np.any(np.isnan(self.split_threshold)), "a tree has a threshold that is NaN")
        self._protect()

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return self.split_feature.shape[0]

    @property
    def depth(self) -> int:
        """Number of levels that the arrays hold, the most that a tree may have."""
        return self.split_feature.shape[1]

    @property
    def n_outputs(self) -> int:
        """Number of raw scores of a leaf."""
        return self.leaf_values.shape[2]

    def __repr__(self) -> str:
        return f"SymmetricTrees(n_trees={self.n_trees}, depth={self.depth}, n_outputs={self.n_outputs})"

    def __len__(self) -> int:
        return self.n_trees

    def __getitem__(self, selection: int | slice | NDArray[Any]) -> SymmetricTrees:
        """The trees of a slice or an array of indices, as views where NumPy gives views."""
        if isinstance(selection, (int, np.integer)):
            index = range(self.n_trees)[selection]
            selection = slice(index, index + 1)
        return SymmetricTrees(**{name: array[selection] for name, array in self._arrays()})

    def first(self, n: int) -> SymmetricTrees:
        """The first n trees, as views.

        Parameters
        ----------
        n : int
            From 0 to `n_trees`.

        Returns
        -------
        trees : SymmetricTrees

        Raises
        ------
        ValueError, TypeError
            If `n` is out of range, or no integer.
        """
        check_range(0, n, self.n_trees)
        return self[:n]

    def add_to(
        self,
        X: NDArray[Any],
        scores: FloatArray,
        *,
        first: int = 0,
        last: int | None = None,
        n_threads: int = 1,
    ) -> None:
        """Add the leaf values of trees ``first`` to ``last - 1`` for each row of `X` to `scores`.

        Parameters
        ----------
        X : float32 or float64 array of shape (n, n_features), any memory layout
        scores : C-contiguous float64 array of shape (n, n_outputs)
            Changed in place.
        first, last : int, default=0, None
            ``0 <= first <= last <= n_trees``; None is `n_trees`.
        n_threads : int, default=1

        Raises
        ------
        ValueError, TypeError
            For arrays of other types or shapes, trees that split by a feature that `X` lacks, or tree
            numbers out of range.
        """
        last = self.n_trees if last is None else last
        X = self._checked(X)
        check_output(scores, (len(X), self.n_outputs))
        check_range(first, last, self.n_trees)
        trees = self if last - first == self.n_trees else self[first:last]
        _native.add_trees(trees, X, scores, check_threads(n_threads))

    def _scores_from(self, start, X, n_threads):
        """Raw scores (n, n_outputs) that begin with ``start``, and whether all are finite."""
        start = np.ascontiguousarray(start, dtype=np.float64)
        require(start.shape == (self.n_outputs,), f"expected {self.n_outputs} scores to begin with")
        return _native.find_scores(self, self._checked(X), start, check_threads(n_threads))

    def apply(self, X: NDArray[Any], *, n_threads: int = 1) -> NDArray[np.int32]:
        """Find the leaf of each row in each tree.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), float32 or float64
            Features, NaN for missing values.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_trees), int32
            Number of the leaf.

        Raises
        ------
        ValueError
            As in `add_to`.
        """
        return _native.apply(self, self._checked(X), check_threads(n_threads))

    def _checked(self, X):
        width = X.shape[1] if isinstance(X, np.ndarray) and X.ndim == 2 else "n_features"
        X = check_rows(X, width, dtypes=REAL, c_contiguous=False)
        largest = _native.largest_feature(self.split_feature)
        require(largest < width, f"a tree splits by feature {largest}, but X has {width} features")
        return X

    def with_depth(self, depth: int) -> SymmetricTrees:
        """The same trees in arrays with additional, unused levels.

        Parameters
        ----------
        depth : int
            Number of levels of the arrays, from the `depth` of these trees to 16.

        Returns
        -------
        trees : SymmetricTrees

        Raises
        ------
        ValueError, TypeError
            If `depth` is out of range, or no integer.
        """
        check_range(self.depth, depth, MOST_LEVELS)
        extra = depth - self.depth
        if extra == 0:
            return self
        padding = ((0, 0), (0, extra))
        leaf_values = np.zeros((self.n_trees, 2**depth, self.n_outputs))
        leaf_values[:, :: 2**extra] = self.leaf_values
        return SymmetricTrees(
            split_feature=np.pad(self.split_feature, padding, constant_values=-1),
            split_threshold=np.pad(self.split_threshold, padding),
            missing_right=np.pad(self.missing_right, padding),
            split_gain=np.pad(self.split_gain, padding),
            leaf_values=leaf_values,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[SymmetricTrees]) -> SymmetricTrees:
        """The trees of all parts, in order.

        Parameters
        ----------
        parts : sequence of SymmetricTrees

        Returns
        -------
        trees : SymmetricTrees

        Raises
        ------
        ValueError, TypeError
            Without parts, for parts of another class, and for parts that differ in outputs.
        """
        parts = check_parts(cls, parts)
        depth = max(part.depth for part in parts)
        parts = [part.with_depth(depth) for part in parts]
        names = [field.name for field in fields(cls)]
        return cls(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})

    def _arrays(self):
        return [(field.name, getattr(self, field.name)) for field in fields(self)]
