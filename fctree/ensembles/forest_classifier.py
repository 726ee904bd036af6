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
    n_estimators : int, default=100
        Number of trees; with `warm_start` in total.
    max_samples : int, float or None, default=None
        Mean number, or share, of the samples drawn for a tree; None is all.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Number, or share, of the features considered for a split, drawn for each node. The models
        in nodes and leaves use all features.
    bootstrap : bool, default=True
        Whether samples are drawn with replacement: each counts a Poisson number of times, with
        mean `max_samples` over the number of samples. Otherwise each is taken with that
        probability. Equal samples are drawn together.
    oob_score : bool, default=False
        Whether to compute the out-of-bag score.
    extrapolation : float or None, default=0.0
        How far predictions may leave the leaf's training range, as a multiple of it; None sets no
        limit.
    max_depth : int or None, default=None
        Maximum number of splits on a path of a tree. Here and in the next three None leaves what
        `tree` says.
    alpha : float, "loo" or None, default=None
        Penalty of every ridge regression; "loo" chooses it by leave-one-out errors.
    min_samples_leaf : int, float or None, default=None
        Minimum number of samples in a leaf; a float is a fraction of a tree's training samples,
        rounded up.
    max_coef : int or None, default=None
        Maximum number of features in a split.
    tree : CurvatureTreeRegressor, FCODTRegressor or their classifiers, default=None
        An unfitted tree with the parameters of all trees. None is
        ``CurvatureTreeRegressor(max_depth=8, min_samples_leaf=10, n_screened=4,
        max_thresholds=9, split_margin=0.0, feature_concatenation=False)``.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Features that are categories: those whose column has a categorical or text type, or a list
        of names or indices, or a mask; None for none.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the last fit, up to `n_estimators` in total; the same
        bytes as all at once.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the draws.

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
