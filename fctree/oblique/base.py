"""What the FC-ODT estimators share: parameters, growing a tree, reading it."""

from numbers import Integral, Real

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from fctree._native import oblique as _native
from fctree._tree import SPLIT_KINDS
from fctree._native_input import native_params
from fctree._validation import check_features, check_predictions, count_samples, count_threads

_UNLIMITED = 2**31


class BaseFCODT(BaseEstimator):
    """An oblique tree with ridge splits; subclasses bring the targets and the prediction."""

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"loo"})],
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
        "directions": [StrOptions({*SPLIT_KINDS, "all"}), tuple, list],
        "n_curvature": [Interval(Integral, 1, None, closed="left")],
        "max_coef": [Interval(Integral, 1, None, closed="left"), None],
        "split_criterion": [StrOptions({"constant", "ridge"})],
        "max_thresholds": [Interval(Integral, 1, None, closed="left")],
        "n_screened": [Interval(Integral, 1, None, closed="left"), None],
        "parent_weight": [Interval(Real, 0, None, closed="left")],
        "split_margin": [Interval(Real, 0, None, closed="left")],
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
        directions="ridge",
        n_curvature=2,
        max_coef=None,
        split_criterion="constant",
        max_thresholds=32,
        n_screened=8,
        parent_weight=3.0,
        split_margin=0.75,
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
        self.directions = directions
        self.n_curvature = n_curvature
        self.max_coef = max_coef
        self.split_criterion = split_criterion
        self.max_thresholds = max_thresholds
        self.n_screened = n_screened
        self.parent_weight = parent_weight
        self.split_margin = split_margin
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _chosen_directions(self):
        """``directions`` as a list of names."""
        if isinstance(self.directions, str):
            return list(SPLIT_KINDS) if self.directions == "all" else [self.directions]
        chosen = list(self.directions)
        if not chosen or not all(name in SPLIT_KINDS for name in chosen):
            raise ValueError(
                f"directions must be 'all', one of {SPLIT_KINDS} or a non-empty tuple of them, "
                f"got {self.directions!r}"
            )
        return chosen

    def _grow(self, X, targets, sample_weight, *, impurity_scale):
        """The arrays of a tree grown on validated data, by name; sets ``alpha_``."""
        n_samples = len(X)
        directions = self._chosen_directions()
        choose_alpha = isinstance(self.alpha, str)
        params = {
            "alpha": 0.0 if choose_alpha else self.alpha,
            "choose_alpha": choose_alpha,
            "max_depth": _UNLIMITED if self.max_depth is None else self.max_depth,
            "min_samples_split": max(count_samples(self.min_samples_split, n_samples), 2),
            "min_samples_leaf": count_samples(self.min_samples_leaf, n_samples),
            "min_impurity_decrease": self.min_impurity_decrease,
            "feature_concatenation": self.feature_concatenation,
            "ridge_leaves": self.leaf_model == "ridge",
            "fit_intercept": self.fit_intercept,
            "impurity_scale": impurity_scale,
            "ridge_directions": "ridge" in directions,
            "curvature_directions": "curvature" in directions,
            "axis_directions": "axis" in directions,
            "n_curvature": self.n_curvature,
            "max_coef": _UNLIMITED if self.max_coef is None else self.max_coef,
            "n_screened": _UNLIMITED if self.n_screened is None else self.n_screened,
            "ridge_criterion": self.split_criterion == "ridge",
            "max_thresholds": self.max_thresholds,
            "parent_weight": self.parent_weight,
            "split_margin": self.split_margin,
            "node_features": {"max_features": _UNLIMITED, "seed": 0, "tree": 0},
        }
        arrays, self.alpha_ = _native.grow(
            X,
            targets,
            sample_weight,
            params=native_params(params),
            n_threads=count_threads(self.n_jobs),
        )
        return arrays

    def _predict_scores(self, X):
        """The leaf models' values, (n_samples, n_outputs)."""
        check_is_fitted(self)
        X = check_features(self, X)
        return check_predictions(self.tree_.predict(X, n_threads=count_threads(self.n_jobs)))

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
