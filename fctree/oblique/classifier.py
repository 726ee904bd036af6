"""Classification with one oblique tree: ridge regressions on class indicators, logistic models in the end."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin

from fctree._sklearn import fit_context
from fctree._tables.estimators import encode_training, feature_groups
from fctree._tree import ObliqueTree
from fctree._typing import ArrayLike, Self
from fctree._validation import check_labels, check_training_data, fitted_whole
from fctree.oblique.calibration import calibrated, find_temperature
from fctree.oblique.class_scores import IndicatorScores, class_scores, predicted_shares
from fctree.oblique.logistic_leaves import LogisticSettings, with_logistic_leaves


class TreeClassifier(IndicatorScores, ClassifierMixin):
    """Mixin that fits and predicts classes; precedes a subclass of `BaseObliqueTree`."""

    _logistic_leaves = False

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN for missing values; or a table with categories (`categorical_features`).
        y : array-like of shape (n_samples,)
            Class labels: numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; samples of weight 0 are ignored. If the mean weight is below about 0.7,
            all weights are multiplied by the power of two that brings it closest to 1, so that penalties
            keep their strength.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            For infinity in `X`, NaN or infinity in `y`, inconsistent shapes, targets that are not classes,
            negative or all-zero weights.
        """
        with fitted_whole(self) as fitted:
            X, y, sample_weight = check_training_data(fitted, X, y, sample_weight, multi_output=False)
            check_labels(y)
            classes, labels = np.unique(y, return_inverse=True)
            fitted._grow_classes(X, np.eye(len(classes))[labels], classes, sample_weight)
        return self

    def _grow_classes(self, X, shares, classes, sample_weight):
        """Grow the tree on validated samples and the share of each class in them, (n, n_classes)."""
        n_classes = len(classes)
        labels = shares.argmax(axis=1)
        X = encode_training(self, X, labels[np.newaxis], sample_weight, n_classes=n_classes)
        targets = predicted_shares(shares)
        impurity_scale = 1.0 if n_classes > 2 else 2.0
        left_out = np.full(targets.shape, np.nan)
        arrays = self._grow(
            X, targets, sample_weight, impurity_scale=impurity_scale, left_out=left_out
        )
        fractions = class_scores(arrays["value"]) if n_classes > 1 else np.ones_like(arrays["value"])
        arrays["value"] = fractions[:, np.newaxis, :]
        tree = ObliqueTree(n_classes=n_classes, **arrays)
        self.tree_ = self._finish(tree, X, targets, sample_weight, left_out)
        self.classes_ = classes
        self.n_classes_ = n_classes
        self.temperature_ = None
        if n_classes > 1 and self.leaf_model != "constant":
            self._find_probabilities(tree, X, shares, sample_weight, left_out)

    def _find_probabilities(self, grown, X, shares, sample_weight, left_out):
        """Set ``temperature_``, 1 where ``tree_`` becomes the tree as it was grown with logistic models in its leaves."""
        tree = None
        if self._logistic_leaves:
            # alpha="loo" was chosen for squared errors; logistic models start from the default penalty.
            alpha = 1.0 if self.alpha == "loo" else self.alpha_
            settings = LogisticSettings(
                alpha, self.standardize, self.parent_weight, competes=self.tree_.boundary_width is not None,
                groups=feature_groups(self),
            )
            tree = with_logistic_leaves(grown, X, shares, sample_weight, left_out, settings)
        if tree is None:
            self.temperature_ = find_temperature(left_out, shares, sample_weight)
        else:
            self.tree_, self.temperature_ = tree, 1.0

    def _probabilities(self, scores):
        if self.temperature_ is None:
            return super()._probabilities(scores)
        return calibrated(class_scores(self._finite(scores)), self.temperature_)
