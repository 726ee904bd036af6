"""Parameters that the trees of forests and of boosting share, and the trees as their estimators show them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from fctree._sklearn import Interval
from fctree._tables.estimators import summed_to_columns
from fctree._threads import count_threads
from fctree._tree import ObliqueTree
from fctree._typing import ArrayLike, FloatArray, NDArray
from fctree._validation import check_features, check_fitted
from fctree.ensembles.trees import ObliqueTrees
from fctree.oblique.base import BaseObliqueTree
from fctree.oblique.parameters import SHORTCUT_CONSTRAINTS, ensemble_tree_settings

MEMBER_CONSTRAINTS = {
    **SHORTCUT_CONSTRAINTS,
    "tree": [BaseObliqueTree, None],
    "extrapolation": [Interval(Real, 0, None, closed="left"), None],
}


class _Members(Sequence):
    """Trees that are made when they are asked for."""

    def __init__(self, trees):
        self._trees = trees

    def __len__(self):
        return len(self._trees)

    def __getitem__(self, index):
        numbers = range(len(self))[index]
        return [self._trees[number] for number in numbers] if isinstance(index, slice) else self._trees[numbers]

    def __repr__(self):
        return repr(list(self))


class HasObliqueTrees:
    """An estimator whose `trees_` are `ObliqueTrees`."""

    trees_: ObliqueTrees
    n_jobs: int | None
    extrapolation: float | None
    _default_tree: Any  # whose parameters trees have where `tree` is None

    def _changed_defaults(self, samples):
        """Parameters of the default tree that depend on the task and its samples."""
        return {}

    def _tree_settings(self, samples=None):
        changed = self._changed_defaults(samples)
        return ensemble_tree_settings(self, clone(self._default_tree).set_params(**changed))

    def _native_extrapolation(self):
        return np.inf if self.extrapolation is None else self.extrapolation

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """The leaf that each sample reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : array of shape (n_samples, n_trees), int64
            Node numbers within each tree.
        """
        check_fitted(self)
        X = check_features(self, X)
        return self.trees_.apply(X, n_threads=count_threads(self.n_jobs))

    @property
    def estimators_(self) -> Sequence[ObliqueTree]:
        """The trees as `ObliqueTree` objects, views of `trees_`, in order, each made when it is asked for.

        They say what a tree has learned. The estimator's prediction is not quite the sum or mean of
        theirs: it keeps a leaf's values within those of its training samples, as `extrapolation` says.
        """
        check_fitted(self)
        return _Members(self.trees_)

    @property
    def feature_importances_(self) -> FloatArray:
        """The features' shares of the error that the trees explain, (n_features,).

        Decreases of impurity as in `CurvatureTreeRegressor`, summed over the trees; they sum to 1, or are
        all 0 if nothing is explained.
        """
        check_fitted(self)
        return summed_to_columns(self, self.trees_.compute_feature_importances())
