"""The forest classifier of oblique trees."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from fctree._parameters import shares_documentation
from fctree._validation import encode_labels
from fctree.ensembles.forest import BaseCurvatureForest
from fctree.ensembles.forest_regressor import CurvatureForestRegressor
from fctree.oblique.indicators import IndicatorScores, class_indicators


@shares_documentation(CurvatureForestRegressor)
class CurvatureForestClassifier(IndicatorScores, ClassifierMixin, BaseCurvatureForest):
    """A forest of curvature trees with ridge leaves, for classes.

    The mean of trees grown on random draws of the samples, with random features for each split.
    Trees are independent and grow in parallel.

    Parameters
    ----------
    n_estimators, max_samples, max_features, bootstrap, oob_score, extrapolation, max_depth, \
            alpha, min_samples_leaf, max_coef, tree, categorical_features, warm_start, n_jobs, \
            random_state
        As in `CurvatureForestRegressor`.

    Attributes
    ----------
    trees_
        As in `CurvatureForestRegressor`.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    oob_score_ : float
        With `oob_score`: accuracy of the out-of-bag predictions.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        With `oob_score`: the mean of the trees without the sample, NaN if there are none.
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

    def _impurity_scale(self):
        return 2.0 if self.n_classes_ <= 2 else 1.0

    def _encode_targets(self, y, *, reset):
        check_classification_targets(y)
        if reset:
            self.classes_ = np.unique(y)
            self.n_classes_ = len(self.classes_)
        return class_indicators(encode_labels(y, self.classes_), self.n_classes_)

    def _keep_out_of_bag(self, scores, judged, targets, weight):
        self.oob_decision_function_ = np.full((len(scores), self.n_classes_), np.nan)
        self.oob_decision_function_[judged] = self._probabilities(scores[judged])
        truth = self._labels(targets[judged])
        weight = None if weight is None else weight[judged]
        found = self._labels(scores[judged])
        self.oob_score_ = float(accuracy_score(truth, found, sample_weight=weight))
