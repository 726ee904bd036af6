"""The boosting regressor of oblique trees."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.base import RegressorMixin

from fctree._intervals.boosted import BoostedIntervals
from fctree._parameters import set_parameters, shares_documentation
from fctree._sklearn import Interval
from fctree._training.losses import loss_constraints
from fctree._training.targets import BoostedTargets
from fctree._typing import ArrayLike, CustomLossFunction, RandomState
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.symmetric.regressor import SymmetricBoostingRegressor


@shares_documentation(SymmetricBoostingRegressor)
class CurvatureBoostingRegressor(
    BoostedTargets, BoostedIntervals, RegressorMixin, BaseCurvatureBoosting
):
    """Gradient boosting of curvature trees with ridge leaves.

    Each tree is a shallow oblique tree for the loss's Newton step: splits along
    curvature directions, axes or the ridge direction, linear models in the leaves. On smooth
    targets a hundred of them do the work of a thousand ordinary trees. On step-like targets
    ordinary trees do better: each round grows one of them too and keeps
    the tree that does better on the samples left out of both.

    Parameters
    ----------
    loss, quantile
        As in `SymmetricBoostingRegressor`.
    learning_rate : float or "auto", default="auto"
        Factor applied to each tree's scores. "auto" is 0.05 at first and doubled, three times at most,
        as long as steps are too short: after 100 rounds and then every 50 the loss of some samples
        that no tree has seen must have fallen by 30 % in the last 50. With fewer than about 800
        samples, or ``subsample=1``, none are held out and it stays 0.05. A quantile q starts at
        0.1 sqrt(q (1 - q)), and not below 0.02.
    max_iter : int, default=300
        Number of trees; with `warm_start` in total. 100 with ``learning_rate=0.1`` are slightly less
        accurate in a third of the time.
    subsample : float, default=0.7
        Share of the samples used for each tree. Equal samples are drawn together.
    colsample : float, default=1.0
        Share of the features used for each tree.
    l2_leaf_reg : float, default=1.0
        Weight of pseudo-samples with target 0 that shrink each leaf's mean; slopes shrink by `alpha`.
    extrapolation : float or None, default=0.0
        How far predictions may leave the leaf's training range, as a multiple of it; None sets no
        limit.
    step_depth : int or None, default=8
        Depth of the step trees (ordinary ones: splits along axes, constant leaves) that compete in each
        round; None grows none. They need ``subsample < 1``: left-out samples decide. Each sees four
        fifths of the features. With more than 65,536 samples thresholds lie between 256 bins of
        each feature.
    max_depth : int or None, default=None
        Maximum number of splits on a path of a tree, but for step trees. Here and in the next three None leaves
        what `tree` says.
    alpha : float, "loo" or None, default=None
        Penalty of every ridge regression; "loo" chooses it by leave-one-out errors.
    min_samples_leaf : int, float or None, default=None
        Minimum number of samples in a leaf; a float is a fraction of a tree's training samples,
        rounded up. Step trees need a quarter of it. For ``loss="quantile"`` at least
        ``5 / min(quantile, 1 - quantile)`` in all trees, five beyond the quantile.
    max_coef : int or None, default=None
        Maximum number of features in a split.
    tree : CurvatureTreeRegressor, FCODTRegressor or their classifiers, default=None
        An unfitted tree with the parameters of all trees. None is
        ``CurvatureTreeRegressor(n_screened=4, max_thresholds=8, split_margin=0.0,
        feature_concatenation=False)``.
    categorical_features
        As in `SymmetricBoostingRegressor`.
    early_stopping : bool, default=False
        Whether to stop when the validation loss has not fallen by `tol` for
        `n_iter_no_change` rounds, and to keep the trees up to its minimum.
    validation_fraction : float or int, default=0.1
        Share or number of samples held out for early stopping without an `eval_set`; classes are
        stratified.
    n_iter_no_change : int, default=10
    tol : float, default=1e-7
    calibration_fraction, warm_start, verbose, n_jobs
        As in `SymmetricBoostingRegressor`.
    random_state : int, RandomState instance or None, default=None
        Seeds the samples and the validation split.

    Attributes
    ----------
    trees_ : ObliqueTrees
        All trees as flat arrays; `estimators_` gives them one by one.
    tree_kinds_ : ndarray of shape (n_iter,), int64
        0 for a curvature tree, 1 for one with constant leaves.
    step_sums_ : ndarray of shape (n_iter, 2)
        Sums over the rounds so far of what trees' full steps do on the samples left out: the decrease
        of the loss and its curvature along them. Their ratio, between 0 and 1, is the share that is
        taken of the next step, beside `learning_rate`; 0, where the whole step is taken, for losses whose
        leaves are quantiles.
    learning_rates_ : ndarray of shape (n_iter,)
        The learning rate of each round.
    baseline_
        As in `SymmetricBoostingRegressor`.
    alpha_ : float
        The penalty used.
    n_iter_ : int
        Number of trees.
    train_score_, validation_score_ : ndarray
        Negative mean loss before the first round and after each; the second is empty without
        validation samples. Rounds removed by early stopping are included.
    evals_result_, interval_trees_
        As in `SymmetricBoostingRegressor`.
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
        loss: str | tuple[str, float] | CustomLossFunction = "squared_error",
        quantile: float | None = None,
        learning_rate: float | str = "auto",
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
        set_parameters(self, locals())
