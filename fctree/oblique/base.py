"""What the FC-ODT estimators share: parameters, growing a tree, reading it."""

from numbers import Integral, Real

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from fctree._native import oblique as _native
from fctree._validation import check_features, count_samples, count_threads

_UNLIMITED_DEPTH = 2**31


class BaseFCODT(BaseEstimator):
    """An oblique tree with ridge splits; subclasses bring the targets and the prediction."""

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
