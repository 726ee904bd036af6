"""FC-ODT: oblique decision trees with ridge splits and feature concatenation.

At each node a ridge regression of the targets on the features gives the direction of the
split, the threshold is the one that lowers the squared error of constant children most,
and the score along the direction is handed to the children as one more feature, so that
what a node has learnt is not learnt again below it. Leaves predict with their own ridge
model, or with a constant.

Source: S.-H. Lyu et al., "Enhance Learning Efficiency of Oblique Decision Tree via
Feature Concatenation", arXiv:2502.00465 (2025). docs/algorithms/oblique.md has the
formulas and what they cost.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from fctree._native import oblique as _native
from fctree._tree import ObliqueTree
from fctree._validation import (
    check_features,
    check_targets,
    check_training_data,
    count_samples,
    count_threads,
)

_UNLIMITED_DEPTH = 2**31


class _FCODT(BaseEstimator):
    """What the regressor and the classifier share: parameters, growing, reading the tree."""

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_depth": [Interval(Integral, 0, None, closed="left"), None],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
        "min_impurity_decrease": [Interval(Real, 0, None, closed="left")],
        "feature_concatenation": ["boolean"],
        "leaf_model": [StrOptions({"ridge", "constant"})],
        "fit_intercept": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        alpha=1.0,
        max_depth=3,
        min_samples_split=2,
        min_samples_leaf=1,
        min_impurity_decrease=0.0,
        feature_concatenation=True,
        leaf_model="ridge",
        fit_intercept=True,
        n_jobs=None,
        random_state=None,
    ):
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.feature_concatenation = feature_concatenation
        self.leaf_model = leaf_model
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _grow(self, X, targets, sample_weight, *, impurity_scale):
        """The arrays of a tree grown on validated data, by name."""
        n_samples = len(X)
        params = {
            "alpha": self.alpha,
            "max_depth": _UNLIMITED_DEPTH if self.max_depth is None else self.max_depth,
            "min_samples_split": max(count_samples(self.min_samples_split, n_samples), 2),
            "min_samples_leaf": count_samples(self.min_samples_leaf, n_samples),
            "min_impurity_decrease": self.min_impurity_decrease,
            "feature_concatenation": self.feature_concatenation,
            "ridge_leaves": self.leaf_model == "ridge",
            "fit_intercept": self.fit_intercept,
            "impurity_scale": impurity_scale,
        }
        return _native.grow(
            X, targets, sample_weight, params=params, n_threads=count_threads(self.n_jobs)
        )

    def _predict_scores(self, X):
        """The leaf models' values, (n_samples, n_outputs)."""
        check_is_fitted(self)
        X = check_features(self, X)
        return self.tree_.predict(X, n_threads=count_threads(self.n_jobs))

    def apply(self, X):
        """The leaf that each sample reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        leaves : array of shape (n_samples,), int64
            Node ids in ``tree_``.
        """
        check_is_fitted(self)
        X = check_features(self, X)
        return self.tree_.apply(X, n_threads=count_threads(self.n_jobs))

    def decision_path(self, X):
        """The nodes that each sample passes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        indicator : sparse CSR matrix of shape (n_samples, n_nodes)
            1 where the sample passes the node.
        """
        check_is_fitted(self)
        X = check_features(self, X)
        return self.tree_.decision_path(X, n_threads=count_threads(self.n_jobs))

    def get_depth(self):
        """The number of splits on the longest path from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """The number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self):
        """Share of the explained error that each feature accounts for, (n_features,).

        Each split's decrease of impurity, and each ridge leaf's, is divided among the
        features in proportion to ``|coef_j|`` times the feature's standard deviation in
        the node. They sum to 1, or are all 0 where nothing was explained.
        """
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()


class FCODTRegressor(RegressorMixin, _FCODT):
    """An oblique regression tree with ridge splits and feature concatenation (FC-ODT).

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of every ridge regression, with the meaning it has in
        `sklearn.linear_model.Ridge`: it acts on the squared coefficients, so it is not
        free of the features' scales; standardise or rescale them first. 0 gives least
        squares, with the least-norm solution where columns are collinear.
    max_depth : int or None, default=3
        Largest number of splits on a path; None grows until nothing can be split. 0 is
        one ridge regression.
    min_samples_split : int or float, default=2
        Smallest number of samples that a node needs to be split; a float is a fraction
        of the training samples, rounded up.
    min_samples_leaf : int or float, default=1
        Smallest number of samples that a leaf may hold, likewise. Ridge leaves are
        models of ``n_features + 1`` numbers: a few times as many samples serve them well.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the impurity, weighted by the share of samples in the node,
        for which a node is split.
    feature_concatenation : bool, default=True
        Whether the score of a node is handed to its children as one more feature. False
        gives a plain oblique tree with ridge splits.
    leaf_model : {"ridge", "constant"}, default="ridge"
        What leaves predict with: their own ridge regression (its features concatenated
        as for a split), or the mean of their samples.
    fit_intercept : bool, default=True
        Whether ridge regressions are centred within the node. False gives the paper's
        uncentred form.
    n_jobs : int or None, default=None
        Number of OpenMP threads. None means 1 unless in a `joblib.parallel_config`
        context, -1 means all cores. Trees and predictions are the same to the last bit
        for any number.
    random_state : int, RandomState instance or None, default=None
        Growing a single tree draws no random numbers; accepted for a uniform interface.

    Attributes
    ----------
    tree_ : ObliqueTree
        The tree as plain arrays.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where `X` had names that are all strings.
    n_outputs_ : int
        Number of columns of `y`.
    feature_importances_ : array of shape (n_features_in_,)
        See the property.

    References
    ----------
    S.-H. Lyu, Y.-X. He, Y. Wang, Z. Qu, B. Tang and B. Ye, "Enhance Learning Efficiency
    of Oblique Decision Tree via Feature Concatenation", arXiv:2502.00465, 2025.

    Examples
    --------
    >>> from fctree import FCODTRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> tree = FCODTRegressor(max_depth=2, min_samples_leaf=20).fit(X, y)
    >>> tree.get_n_leaves()
    4
    >>> tree.predict(X[:3]).shape
    (3,)
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers; missing values are refused.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets. With several outputs every node fits one ridge regression per output
            and splits along the one whose best cut lowers the summed squared error most.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. A weight of 2 counts as two samples, except for the
            limits on numbers of samples; a sample of weight 0 is left out.

        Returns
        -------
        self : FCODTRegressor

        Raises
        ------
        ValueError
            For NaN or infinity, shapes that disagree, negative or all-zero weights.
        """
        X, y, sample_weight = check_training_data(self, X, y, sample_weight, multi_output=True)
        targets = check_targets(y)
        n_outputs = targets.shape[1]
        arrays = self._grow(X, targets, sample_weight, impurity_scale=1.0 / n_outputs)
        arrays["value"] = arrays["value"][:, :, np.newaxis]
        self.tree_ = ObliqueTree(**arrays)
        self.n_outputs_ = n_outputs
        self._single_target = y.ndim == 1
        return self

    def predict(self, X):
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        """
        values = self._predict_scores(X)
        return values[:, 0] if self._single_target else values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class FCODTClassifier(ClassifierMixin, _FCODT):
    """An oblique classification tree with ridge splits and feature concatenation (FC-ODT).

    Ridge regressions are on class indicators: one indicator a class, or the single one of
    ``classes_[1]`` where there are two. Each indicator's direction is a candidate, and
    the decrease of the Gini impurity picks the cut.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of every ridge regression, with the meaning it has in
        `sklearn.linear_model.Ridge`: it acts on the squared coefficients, so it is not
        free of the features' scales; standardise or rescale them first.
    max_depth : int or None, default=3
        Largest number of splits on a path; None grows until nothing can be split.
    min_samples_split : int or float, default=2
        Smallest number of samples that a node needs to be split; a float is a fraction
        of the training samples, rounded up.
    min_samples_leaf : int or float, default=1
        Smallest number of samples that a leaf may hold, likewise.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the Gini impurity, weighted by the share of samples in the
        node, for which a node is split.
    feature_concatenation : bool, default=True
        Whether the score of a node is handed to its children as one more feature.
    leaf_model : {"ridge", "constant"}, default="ridge"
        What leaves predict with: their own ridge regression on the indicators, or the
        class fractions of their samples.
    fit_intercept : bool, default=True
        Whether ridge regressions are centred within the node.
    n_jobs : int or None, default=None
        Number of OpenMP threads, as in `FCODTRegressor`.
    random_state : int, RandomState instance or None, default=None
        Growing a single tree draws no random numbers; accepted for a uniform interface.

    Attributes
    ----------
    tree_ : ObliqueTree
        The tree as plain arrays.
    classes_ : array of shape (n_classes_,)
        The classes, sorted.
    n_classes_ : int
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where `X` had names that are all strings.
    feature_importances_ : array of shape (n_features_in_,)
        See the property.

    References
    ----------
    S.-H. Lyu et al., "Enhance Learning Efficiency of Oblique Decision Tree via Feature
    Concatenation", arXiv:2502.00465, 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fctree import FCODTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = FCODTClassifier(max_depth=1).fit(scale(X), y)
    >>> bool(tree.score(scale(X), y) > 0.95)
    True
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers; missing values are refused.
        y : array-like of shape (n_samples,)
            Class labels: numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; a sample of weight 0 is left out.

        Returns
        -------
        self : FCODTClassifier

        Raises
        ------
        ValueError
            For NaN or infinity, shapes that disagree, targets that are not classes,
            negative or all-zero weights.
        """
        X, y, sample_weight = check_training_data(self, X, y, sample_weight, multi_output=False)
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        n_classes = len(classes)
        columns = np.arange(n_classes) if n_classes > 2 else np.array([1])
        targets = (labels[:, np.newaxis] == columns).astype(np.float64)
        impurity_scale = 1.0 if n_classes > 2 else 2.0
        arrays = self._grow(X, targets, sample_weight, impurity_scale=impurity_scale)
        fractions = arrays["value"]
        if n_classes == 2:
            fractions = np.hstack([1.0 - fractions, fractions])
        elif n_classes == 1:
            fractions = np.ones_like(fractions)
        arrays["value"] = fractions[:, np.newaxis, :]
        self.tree_ = ObliqueTree(n_classes=n_classes, **arrays)
        self.classes_ = classes
        self.n_classes_ = n_classes
        return self

    def decision_function(self, X):
        """The scores of the classes: the leaf models' values, not probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            With two classes ``2 * s - 1``, s the predicted indicator of ``classes_[1]``,
            positive where that class is predicted; else one column a class.
        """
        scores = self._predict_scores(X)
        return 2.0 * scores[:, 0] - 1.0 if self.n_classes_ <= 2 else scores

    def predict_proba(self, X):
        """Class probabilities.

        The leaf's predicted indicators, moved to the nearest point (in Euclidean
        distance) of the probability simplex: ridge predictions can leave [0, 1].

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
        """
        scores = self._predict_scores(X)
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        if self.n_classes_ == 2:
            scores = np.hstack([1.0 - scores, scores])
        return _project_to_simplex(scores)

    def predict(self, X):
        """Predict the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        scores = self._predict_scores(X)
        if self.n_classes_ <= 2:
            return self.classes_[(scores[:, 0] > 0.5).astype(np.intp)]
        return self.classes_[np.argmax(scores, axis=1)]


def _project_to_simplex(scores):
    """The nearest probability vector of each row, in Euclidean distance.

    It is ``max(score - shift, 0)`` with the shift that makes a row sum to 1, found from
    the sorted scores (Held, Wolfe and Crowder 1974). The order of the classes is kept.
    """
    n_classes = scores.shape[1]
    ordered = -np.sort(-scores, axis=1)
    shifts = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, n_classes + 1)
    n_positive = np.count_nonzero(ordered > shifts, axis=1)
    shift = np.take_along_axis(shifts, n_positive[:, np.newaxis] - 1, axis=1)
    return np.maximum(scores - shift, 0.0)
