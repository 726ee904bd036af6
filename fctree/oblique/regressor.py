"""Regression with one oblique tree."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin

from fctree._intervals.trees import TreeIntervals, samples_per_error
from fctree._sklearn import fit_context
from fctree._tables.estimators import encode_training
from fctree._training.target_units import TargetUnits, find_units
from fctree._training.targets import NumericTargets
from fctree._tree import ObliqueTree
from fctree._typing import ArrayLike, Self
from fctree._validation import check_training_data, fitted_whole


class TreeRegressor(NumericTargets, TreeIntervals, RegressorMixin):
    """Mixin that fits and predicts numeric targets; precedes a subclass of `BaseObliqueTree`."""

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN for missing values; or a table with categories (`categorical_features`).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets. With several outputs every node fits one ridge regression per output, and splits
            minimise the sum of their losses. Curvature trees divide each loss by the variance of its
            output, so the splits do not depend on the units of `y`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. A weight of 2 counts as two samples, except in limits such as
            `min_samples_leaf`; samples of weight 0 are ignored. If the mean weight is below about 0.7, all
            weights are multiplied by the power of two that brings it closest to 1, so that penalties keep
            their strength.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For infinity in `X`, NaN or infinity in `y`, inconsistent shapes, negative or all-zero weights.
        """
        with fitted_whole(self) as fitted:
            X, y, sample_weight = check_training_data(fitted, X, y, sample_weight, multi_output=True)
            targets = np.ascontiguousarray(fitted._encode_targets(y, reset=True).T)
            X = encode_training(fitted, X, targets.T, sample_weight, n_classes=None)
            scales = fitted._fixed["scales_scores"]
            units = find_units(targets, sample_weight) if scales else TargetUnits(np.ones(fitted.n_outputs_))
            scaled = targets / units.of_outputs
            left_out = np.full(targets.shape, np.nan)
            leaf = np.full(len(X), -1)
            soft = fitted.leaf_model == "soft"  # which compares the errors of all samples
            arrays = fitted._grow(
                X,
                scaled,
                sample_weight,
                impurity_scale=1.0 / fitted.n_outputs_,
                target_unit=units.of_single,
                left_out=left_out,
                leaf=leaf,
                whole=True,
                one_in=1 if soft else samples_per_error(len(X)),
            )
            arrays["value"] = arrays["value"][:, :, None]
            grown = ObliqueTree(**arrays)
            tree = fitted._finish(grown, X, scaled, sample_weight, left_out, whole=True)
            if tree is not grown:
                leaf = np.where(leaf < 0, -1, tree.leaf_index[tree.apply(X)])
            fitted.tree_ = tree if fitted.n_outputs_ == 1 else ObliqueTree(**units.restored(tree._copied_fields()))
            fitted._keep_intervals(targets, sample_weight, left_out * units.of_outputs, leaf)
        return self
