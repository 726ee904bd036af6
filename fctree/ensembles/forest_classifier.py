"""The forest classifier of oblique trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from fctree._parameters import set_parameters, shares_documentation
from fctree._training.class_weights import CLASS_WEIGHT_CONSTRAINTS
from fctree._training.target_units import TargetUnits
from fctree._typing import ArrayLike, RandomState
from fctree._validation import check_labels, encode_labels
from fctree.ensembles.forest import BaseCurvatureForest
from fctree.ensembles.forest_regressor import CurvatureForestRegressor
from fctree.ensembles.forest_samples import judged_samples
from fctree.oblique.calibration import even_share, find_calibration, raised
from fctree.oblique.class_scores import IndicatorScores, class_indicators


@shares_documentation(CurvatureForestRegressor)
class CurvatureForestClassifier(IndicatorScores, ClassifierMixin, BaseCurvatureForest):
    """Classification forest of curvature trees with ridge leaves, mixed with step trees if these help.

    The trees are grown independently and in parallel on random draws of the samples, with random features for each
    split. The mean of their predicted class indicators is projected onto the probability simplex and then calibrated
    (`exponent_`).

    Parameters
    ----------
    n_estimators
        As in `CurvatureForestRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights: a dict (missing classes have weight 1),
        or "balanced" for equal total weights.
    max_samples, max_features, bootstrap, oob_score, max_depth, alpha, \
            min_samples_leaf, max_coef, extrapolation, step_trees, tree, categorical_features, warm_start, verbose, \
            n_jobs, random_state
        As in `CurvatureForestRegressor`.

    Attributes
    ----------
    trees_, estimators_, step_share_, split_margin_, residual_trees_
        As in `CurvatureForestRegressor`.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
    oob_score_ : float
        Accuracy of the out-of-bag predictions, weighted by `sample_weight` only, or the value of the `oob_score`
        function for the labels; only with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        Probabilities predicted by the trees grown without the sample (all trees for samples of weight 0); NaN if
        there are none. Only with `oob_score`.
    exponent_ : float or None
        Exponent of the predicted class scores (plus 0.01) in `predict_proba`, chosen together with `class_shifts_` to
        minimise the out-of-bag log-loss; None if no tree left a sample out.
    class_shifts_ : ndarray of shape (n_classes,) or None
        Shift of each class, added to ``exponent_ * log(p + 0.01)`` before the softmax; None if no tree left a sample out.
    feature_importances_, encoder_
        As in `CurvatureForestRegressor`.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fctree import CurvatureForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = CurvatureForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> forest.predict_proba(X[:1]).shape
    (1, 3)
    """

    _classification = True

    _parameter_constraints = {
        **BaseCurvatureForest._parameter_constraints,
        **CLASS_WEIGHT_CONSTRAINTS,
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        max_samples: int | float | None = None,
        max_features: int | float | str | None = 1.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        max_depth: int | None = None,
        alpha: float | str | None = None,
        min_samples_leaf: int | float | None = None,
        max_coef: int | None = None,
        extrapolation: float | None = 0.0,
        step_trees: bool = True,
        tree: Any = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())

    def _units(self, targets, weight):
        return TargetUnits(np.ones(targets.shape[1]))

    def _impurity_scale(self):
        return 2.0 if self.n_classes_ <= 2 else 1.0

    def _encode_targets(self, y, *, reset):
        check_labels(y)
        if reset:
            self.classes_ = np.unique(y)
            self.n_classes_ = len(self.classes_)
        return class_indicators(encode_labels(y, self.classes_), self.n_classes_)

    def _learn_out_of_bag(self, samples, left_out):
        self.exponent_ = self.class_shifts_ = None
        judged, weight = judged_samples(left_out, samples.weight)
        if self.n_classes_ > 1 and np.any(judged):
            found, truth = super()._probabilities(left_out[judged]), super()._probabilities(samples.targets[judged])
            self.exponent_, self.class_shifts_ = find_calibration(found, truth, weight)

    def _probabilities(self, scores):
        probabilities = super()._probabilities(scores)
        return probabilities if self.exponent_ is None else raised(probabilities, self.exponent_, self.class_shifts_)

    @property
    def _even_score(self):
        return 0.5 if self.exponent_ is None else even_share(self.exponent_, self.class_shifts_)

    def _decision(self, scores):
        if self.n_classes_ > 2 and self.exponent_ is not None:
            return np.log(self._probabilities(scores))
        return super()._decision(scores)

    def _labels(self, scores):
        if self.n_classes_ == 1 or self.exponent_ is None:
            return super()._labels(scores)
        return self.classes_[self._probabilities(scores).argmax(axis=1)]

    def _keep_out_of_bag(self, scores, targets, weight):
        self.oob_decision_function_ = np.full((len(scores), self.n_classes_), np.nan)
        known = ~np.isnan(scores[:, 0])
        self.oob_decision_function_[known] = self._probabilities(scores[known])
        judged, weight = judged_samples(scores, weight)
        truth = self._labels(targets[judged])
        found = self._labels(scores[judged])
        self.oob_score_ = self._score_by(accuracy_score, truth, found, weight)
