"""Growing and reading one oblique tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator

from fctree._native import oblique as _native
from fctree._tables.estimators import TakesTables, feature_groups, summed_to_columns
from fctree._threads import count_threads, threads_for
from fctree._typing import ArrayLike, FloatArray, NDArray
from fctree._validation import check_features, check_fitted, check_predictions, in_parts
from fctree.oblique.parameters import native_tree_params
from fctree.oblique.soft_finish import soften


class BaseObliqueTree(TakesTables, BaseEstimator):
    """An oblique tree with ridge models.

    A subclass has parameters and ``_fixed``, the values of those that it lacks; further subclasses
    define the targets and the predictions.
    """

    _fixed: dict[str, Any] = {}

    def _settings(self):
        """All settings of a tree, by name."""
        return {**self._fixed, **{name: getattr(self, name) for name in self._parameter_constraints}}

    def _grow(self, X, targets, sample_weight, *, impurity_scale, target_unit=0.0, **left_out):
        """The arrays of a tree grown on validated data, by name; sets ``alpha_``.

        ``left_out`` are arrays that take the leaf models' leave-one-out scores and the samples'
        leaves (`_native.grow`).
        """
        n_counted = len(X) if sample_weight is None else np.count_nonzero(sample_weight)
        params = native_tree_params(
            self._settings(), n_counted, impurity_scale=impurity_scale, target_unit=target_unit
        )
        arrays, self.alpha_ = _native.grow(
            X,
            targets,
            sample_weight,
            params=params,
            n_threads=count_threads(self.n_jobs),
            groups=feature_groups(self),
            **left_out,
        )
        vars(self).pop("fidelity_", None)  # of a tree that `fctree.inspection.distill` has grown
        return arrays

    def _finish(self, tree, X, targets, sample_weight, left_out, *, whole=False):
        """The tree, softened where that is asked for and better; ``left_out`` is then replaced."""
        if self.leaf_model != "soft":
            return tree
        return soften(
            tree, X, targets, sample_weight, left_out, keep_zeros=self.max_coef is not None, whole=whole
        )

    @in_parts
    def _raw_predict(self, X):
        """The leaf models' values, (n_samples, n_outputs)."""
        check_fitted(self)
        X = check_features(self, X)
        return check_predictions(self.tree_.predict(X, n_threads=threads_for(self.n_jobs, X)))

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Find the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : array of shape (n_samples,), int64
            Node numbers in ``tree_``.
        """
        check_fitted(self)
        X = check_features(self, X)
        return self.tree_.apply(X, n_threads=count_threads(self.n_jobs))

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Find the nodes that each sample passes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        indicator : sparse CSR matrix of shape (n_samples, n_nodes)
            1 where the sample passes the node.
        """
        check_fitted(self)
        X = check_features(self, X)
        return self.tree_.decision_path(X, n_threads=count_threads(self.n_jobs))

    def get_depth(self) -> int:
        """Return the number of splits on the longest path from the root to a leaf."""
        check_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the explained error that each feature accounts for, (n_features,).

        The decrease of impurity by each split and each ridge leaf is divided among the features in
        proportion to ``(coef_j * sd_j)**2``, with ``sd_j`` the standard deviation of the feature in the
        node. Features that encode one column count by the variance of the sum of their terms. The shares
        sum to 1, or are all 0 if nothing is explained.
        """
        check_fitted(self)
        return summed_to_columns(self, self.tree_.compute_feature_importances())
