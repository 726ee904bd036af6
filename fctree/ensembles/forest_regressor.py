"""The forest regressor of oblique trees."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from fctree._intervals.forests import ForestIntervals
from fctree._parameters import shares_documentation
from fctree._training.target_units import find_units
from fctree._training.targets import NumericTargets
from fctree.ensembles.boosting_regressor import CurvatureBoostingRegressor
from fctree.ensembles.forest import BaseCurvatureForest
from fctree.ensembles.forest_samples import judged_samples


@shares_documentation(CurvatureBoostingRegressor)
class CurvatureForestRegressor(
    NumericTargets, ForestIntervals, RegressorMixin, BaseCurvatureForest
):
    """Forest of curvature trees with ridge leaves, mixed with step trees if these help.

    The prediction is the mean of the predictions of trees grown on random draws of the samples, with random features
    for each split. Trees are independent and are grown in parallel.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees, in total with `warm_start`.
    max_samples : int, float or None, default=None
        Mean number or share of the samples drawn for a tree; None means all samples.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Number or share of the features considered for a split, drawn for each node. The models in nodes and
        leaves use all features of the tree. If the tree selects only the most relevant features, the same
        share of those is drawn.
    bootstrap : bool, default=True
        Whether samples are drawn with replacement: each counts a Poisson number of times, with mean
        ``max_samples / n_samples``. Otherwise each is taken with that probability. Identical samples are
        drawn together.
    oob_score : bool or callable, default=False
        Whether to compute the out-of-bag score. A function ``(y_true, y_pred)`` replaces the default score,
        without weights.
    extrapolation, alpha, max_coef
        As in `CurvatureBoostingRegressor`.
    max_depth : int or None, default=None
        Maximum depth of all trees. None means that of `tree`; without a `tree` it is 8 for curvature trees, and for
        step trees 24 with at most 4,096 samples, otherwise 12 (less for more than about 80 features, to limit
        memory).
    min_samples_leaf : int, float or None, default=None
        Minimum number or share of samples in a leaf, each counted once; None means that of `tree`, or 10 without a
        `tree`. The limit in step trees is a tenth of it, rounded up. In curvature trees unequal weights raise the
        default of 10 to 10 n sum w^2 / (sum w)^2, up to n / 40.
    step_trees : bool, default=True
        Whether a share of the trees may be step trees, with axis-parallel splits and constant leaves. The first 16
        trees are then grown as both kinds, and the share is chosen by out-of-bag errors; it is 0 if every tree sees
        all samples.
    tree : CurvatureTreeRegressor, FCODTRegressor or their classifiers, default=None
        Unfitted tree whose parameters all trees use; step trees take only `max_depth` and `min_samples_leaf` from it.
        None means, except for the depth of step trees, ``CurvatureTreeRegressor(max_depth=8, min_samples_leaf=10,
        n_screened=4, max_thresholds=8, split_margin=0.0, feature_concatenation=False)``, or this with
        ``split_margin=0.5`` if 16 such trees have lower out-of-bag errors.
    categorical_features
        As in `CurvatureBoostingRegressor`.
    warm_start : bool, default=False
        Whether `fit` adds trees to those of the last fit, up to `n_estimators` in total; the result is the
        same as from a single fit. `step_share_`, `split_margin_` and `residual_trees_` stay those of the first fit.
    verbose : int, default=0
        1 shows the progress over the trees.
    n_jobs
        As in `CurvatureBoostingRegressor`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Attributes
    ----------
    trees_, estimators_
        As in `CurvatureBoostingRegressor`.
    step_share_ : float
        Share of step trees, a multiple of .05 of at most .9; they are spread evenly.
    split_margin_ : float
        `split_margin` of the curvature trees: that of `tree`, or without a `tree` 0, or .5 if this gives lower
        out-of-bag errors.
    residual_trees_ : bool
        Whether curvature trees are fitted to the residuals of a linear model of all features, with that model added
        to their leaves. This is tried without a `tree` if they would use all of many features, and kept if it lowers
        out-of-bag errors.
    oob_score_ : float
        R² of the out-of-bag predictions, or the value of the `oob_score` function; only with `oob_score`.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction of the trees grown without the sample (all trees for samples of weight 0); NaN if there are
        none. Only with `oob_score`.
    feature_importances_
        As in `CurvatureBoostingRegressor`.
    interval_scores_, interval_levels_, interval_scales_ : arrays
        Data for `predict_interval`: conformity scores, the confidence level for which each one suffices, and the
        scales of the leaves.
    encoder_
        As in `CurvatureBoostingRegressor`.
    n_features_in_, feature_names_in_, n_outputs_

    Examples
    --------
    >>> from fctree import CurvatureForestRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> forest = CurvatureForestRegressor(n_estimators=20, max_depth=3, random_state=0).fit(X, y)
    >>> forest.predict(X[:2]).shape
    (2,)
    """

    def _impurity_scale(self):
        return 1.0 / self.n_outputs_

    _units = staticmethod(find_units)

    def _encode_targets(self, y, *, reset):
        return np.ascontiguousarray(super()._encode_targets(y, reset=reset).T)

    def _learn_out_of_bag(self, samples, left_out):
        if self._leaves_out(len(samples)):
            self._keep_intervals(samples, left_out)
        else:
            self._drop_intervals()

    def _why_without_intervals(self):
        return (
            f"{super()._why_without_intervals()}, or with trees of all samples: intervals need bootstrap=True or "
            "max_samples below 1"
        )

    def _keep_out_of_bag(self, scores, targets, weight):
        self.oob_prediction_ = self._inverse_link(scores)
        judged, weight = judged_samples(scores, weight)
        truth, found = self._inverse_link(targets[judged]), self.oob_prediction_[judged]
        self.oob_score_ = self._score_by(r2_score, truth, found, weight)
