"""The boosting regressor of oblique trees."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval

from fctree._intervals.boosted import BoostedIntervals
from fctree._training.losses import loss_constraints
from fctree._typing import ArrayLike, NDArray, RandomState
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.symmetric.targets import NumericTargets


class CurvatureBoostingRegressor(
    NumericTargets, BoostedIntervals, RegressorMixin, BaseCurvatureBoosting
):
    """Gradient boosting of curvature trees with ridge leaves.

    Each tree is a shallow oblique tree for the loss's Newton step: splits along
    curvature directions, axes or the ridge direction, linear models in the leaves. On smooth
    targets a hundred of them do the work of a thousand ordinary trees. On step-like targets
    ordinary trees do better: each round grows one of them too and keeps
    the tree that does better on the samples left out of both.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", \
            "tweedie"}, default="squared_error"
        Loss to minimise. ``"poisson"``, ``"tweedie"`` (both y >= 0) and ``"gamma"`` (y > 0)
        predict ``exp(raw score)``.
    quantile : float in (0, 1) or None, default=None
        The quantile for ``loss="quantile"``, required there. For ``"huber"`` the share of
        residuals in the quadratic part (None: 0.9). Must be None for other losses.
    power : float in (1, 2) or None, default=None
        The variance power for ``loss="tweedie"`` (None: 1.5): near 1 for counts, near 2 for
        amounts. Must be None for other losses.
    learning_rate : float, default=0.05
        Factor applied to each tree's scores.
    max_iter : int, default=300
        Number of trees; with `warm_start` in total. A third of them at twice the learning rate is
        slightly less accurate in a third of the time.
    subsample : float, default=0.7
        Share of the samples used for each tree. Equal samples are drawn together.
    colsample : float, default=1.0
        Share of the features used for each tree.
    l2_leaf_reg : float, default=1.0
        Weight of pseudo-samples with target 0 that shrink each leaf's mean.
    extrapolation : float or None, default=0.0
        How far predictions may leave the leaf's training range, as a multiple of it; None sets no
        limit.
    step_depth : int or None, default=8
        Depth of the ordinary trees (splits along axes, constant leaves) that compete in each
        round; None grows none. They need ``subsample < 1``: left-out samples decide. With more
        than 65,536 samples thresholds lie between 256 bins of each feature.
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
        ``CurvatureTreeRegressor(n_screened=4, max_thresholds=9, split_margin=0.0,
        feature_concatenation=False)``.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Features that are categories: those whose column has a categorical or text type, or a list
        of names or indices, or a mask; None for none.
    early_stopping : bool, default=False
        Whether to stop when the validation loss has not fallen by `tol` for
        `n_iter_no_change` rounds, and to keep the trees up to its minimum.
    validation_fraction : float or int, default=0.1
        Share or number of samples held out for early stopping without an `eval_set`.
    n_iter_no_change : int, default=10
    tol : float, default=1e-7
    calibration_fraction : float or None, default=None
        Share of the samples that `predict_interval` is calibrated on; None fits no intervals. They
        take two more models, of quantiles, on the rest of the samples.
    warm_start : bool, default=False
        Whether `fit` continues the last fit, up to `max_iter` trees in total. T trees and then
        T more give the same bytes as 2 T at once.
    verbose : int, default=0
        1 shows a progress bar, 2 one line per round.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the samples and the validation split.

    Attributes
    ----------
    trees_ : ObliqueTrees
        All trees as flat arrays; `estimators_` gives them one by one.
    tree_kinds_ : ndarray of shape (n_iter_,), int64
        0 for a curvature tree, 1 for one with constant leaves.
    baseline_ : ndarray of shape (n_outputs,)
        The raw score to which trees are added.
    alpha_ : float
        The penalty used.
    n_iter_ : int
        Number of trees.
    train_score_, validation_score_ : ndarray
        Negative mean loss before the first round and after each; the second is empty without
        validation samples. Rounds removed by early stopping are included.
    interval_trees_ : list of two
        With `calibration_fraction`: the trees of the quantile models.
    feature_importances_ : ndarray of shape (n_features,)
    encoder_ : TableEncoder
        How categories and missing values become the features that trees have.
    n_features_in_, feature_names_in_, n_outputs_

    Examples
    --------
    >>> from fctree import CurvatureBoostingRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=1000, random_state=0)
    >>> model = CurvatureBoostingRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _parameter_constraints = {
        **BaseCurvatureBoosting._parameter_constraints,
        **loss_constraints("regression"),
        "calibration_fraction": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        quantile: float | None = None,
        power: float | None = None,
        learning_rate: float = 0.05,
        max_iter: int = 300,
        max_depth: int | None = None,
        alpha: float | str | None = None,
        min_samples_leaf: int | float | None = None,
        max_coef: int | None = None,
        step_depth: int | None = 8,
        subsample: float = 0.7,
        colsample: float = 1.0,
        l2_leaf_reg: float = 1.0,
        extrapolation: float | None = 0.0,
        tree: Any = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: int | float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        calibration_fraction: float | None = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.power = power
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_depth = max_depth
        self.alpha = alpha
        self.min_samples_leaf = min_samples_leaf
        self.max_coef = max_coef
        self.step_depth = step_depth
        self.subsample = subsample
        self.colsample = colsample
        self.l2_leaf_reg = l2_leaf_reg
        self.extrapolation = extrapolation
        self.tree = tree
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.calibration_fraction = calibration_fraction
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        """
        return self._inverse_link(self._raw_predict(X))
