"""The boosting regressor of oblique trees."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.base import RegressorMixin

from fctree._intervals.boosted import BoostedIntervals
from fctree._parameters import set_parameters, shares_documentation
from fctree._sklearn import Interval
from fctree._training.losses import has_log_link, loss_constraints
from fctree._training.targets import BoostedTargets
from fctree._typing import ArrayLike, CustomLossFunction, RandomState
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.symmetric.regressor import SymmetricBoostingRegressor


@shares_documentation(SymmetricBoostingRegressor)
class CurvatureBoostingRegressor(
    BoostedTargets, BoostedIntervals, RegressorMixin, BaseCurvatureBoosting
):
    """Gradient boosting of curvature trees with ridge leaves.

    Each tree is a shallow oblique tree fitted to the Newton step of the loss, with splits along curvature directions,
    axes or the ridge direction and linear models in the leaves. Such trees suit smooth targets. For targets with
    steps each round also grows a step tree (axis-parallel splits, constant leaves) and keeps the tree with the larger
    out-of-bag gain, after subtracting in-bag gain that later trees could also achieve.

    Parameters
    ----------
    loss, quantile
        As in `SymmetricBoostingRegressor`.
    learning_rate : float or "auto", default="auto"
        Factor applied to the scores of each tree. "auto" starts at 0.05 and is doubled after 100, 150 and 200 rounds,
        as long as the steps of the previous 50 rounds also reduced the loss on out-of-bag samples; with
        ``subsample=1`` it stays at 0.05. For a quantile q it starts at 0.1 sqrt(q (1 - q)), but not below 0.02.
    max_iter : int, default=300
        Number of trees, in total with `warm_start`. 100 trees with ``learning_rate=0.1`` take 40 to 50 % of the time
        and are slightly less accurate.
    subsample : float, default=0.7
        Share of the samples drawn for each tree. Identical samples are drawn together.
    colsample : float, default=1.0
        Share of the features used for each tree.
    l2_leaf_reg : float, default=1.0
        Weight of pseudo-samples with target 0 that shrink the mean of each leaf; `alpha` shrinks the
        slopes.
    extrapolation : float or None, default=0.0
        How far predictions of a leaf may leave the range of its training predictions, as a multiple of that range.
        None sets no limit, except that a step on the scale of a log link never exceeds 4.
    step_depth : int or None, default=8
        Depth of the step trees that are candidates in each round; None grows none. Step trees of
        three levels are also candidates. Step trees need ``subsample < 1``, because out-of-bag samples decide
        between the candidates. Each uses four fifths of the features. With more than 65,536 samples their thresholds
        are the edges of 256 histogram bins per feature.
    max_depth : int or None, default=None
        Maximum number of splits on a path of a tree, except in step trees. For this and the next three parameters,
        None means the value of `tree`: by default 3 splits, ``alpha=1``, 20 samples and no limit on features.
    alpha : float, "loo" or None, default=None
        Ridge penalty; "loo" chooses it by leave-one-out errors.
    min_samples_leaf : int, float or None, default=None
        Minimum number of samples in a leaf; a float is a fraction of the training samples of a tree, rounded up. The
        limit in step trees is a tenth of this number, or a quarter for losses with a log link. ``loss="quantile"``
        needs at least ``5 / min(quantile, 1 - quantile)`` in all trees, except for the median.
    max_coef : int or None, default=None
        Maximum number of features in a split.
    tree : CurvatureTreeRegressor, FCODTRegressor or their classifiers, default=None
        Unfitted tree whose parameters all trees use. None means
        ``CurvatureTreeRegressor(n_screened=4, max_thresholds=8, split_margin=0.0, feature_concatenation=False)``, with
        ``split_margin=0.5`` for losses with a log link.
    categorical_features
        As in `SymmetricBoostingRegressor`.
    early_stopping : bool, default=False
        Whether to stop when the validation loss has not fallen by more than `tol` for `n_iter_no_change` rounds, and
        keep the trees up to the round with the lowest loss.
    validation_fraction : float or int, default=0.1
        Share or number of samples held out for early stopping without an `eval_set`.
    n_iter_no_change : int, default=10
        Rounds without improvement before stopping.
    tol : float, default=1e-7
        Smallest decrease of the loss that counts as an improvement.
    calibration_fraction, warm_start, verbose, n_jobs
        As in `SymmetricBoostingRegressor`.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn samples and features and of the validation split.

    Attributes
    ----------
    trees_ : ObliqueTrees
        All trees as flat arrays.
    estimators_ : sequence of ObliqueTree
        The trees one by one.
    tree_kinds_ : ndarray of shape (n_iter,), int64
        0 for a curvature tree, 1 for a step tree, 3 for one of three levels, 2 for a curvature tree fitted to the residuals
        of a linear model of all features, with that model added to its leaves, 4 for a linear model alone.
    step_sums_ : ndarray of shape (n_iter, 2, n_outputs, 2)
        Sums for a line search: for curvature trees (0, 2 and 4) and step trees (1 and 3), and for each output (score of
        a class), the decrease in loss by the tree's full step and the curvature of the loss along that step, on
        out-of-bag samples, cumulated over the rounds in which such a tree was grown. Their ratio, limited to 0 to 1,
        multiplies the steps of these trees in addition to the learning rate. For quantiles other than the median the
        sums are 0 and the factor is 1.
    learning_rates_ : ndarray of shape (n_iter,)
        Learning rate of each round.
    baseline_
        As in `SymmetricBoostingRegressor`.
    alpha_ : float
        Ridge penalty used.
    n_iter_ : int
        Number of trees.
    train_score_, validation_score_ : ndarray
        Negative mean loss before the first round and after each round, including removed rounds. `validation_score_`
        is empty without validation samples.
    evals_result_, interval_trees_
        As in `SymmetricBoostingRegressor`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the explained error that each feature accounts for; they sum to 1.
    encoder_ : TableEncoder
        Encoder of categories and missing values.
    n_features_in_, feature_names_in_, n_outputs_

    Examples
    --------
    >>> from fctree import CurvatureBoostingRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=1000, random_state=0)
    >>> model = CurvatureBoostingRegressor(max_iter=100, random_state=0).fit(X, y)
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
        loss: str | tuple[str, float] | list[Any] | CustomLossFunction = "squared_error",
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

    def _changed_defaults(self, samples):
        # Where second derivatives of the loss change with the scores, splits that gain by chance cost more.
        return {"split_margin": 0.5} if has_log_link(self.loss) else {}
