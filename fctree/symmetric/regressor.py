"""The symmetric boosting regressor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import Any, Literal, overload

from sklearn.base import RegressorMixin

from fctree._intervals.boosted import BoostedIntervals
from fctree._parameters import set_parameters
from fctree._sklearn import Interval
from fctree._training.losses import loss_constraints
from fctree._training.targets import BoostedTargets
from fctree._typing import ArrayLike, CustomLossFunction, FloatArray, RandomState
from fctree.symmetric.base import BaseSymmetricBoosting
from fctree.symmetric.posterior import posterior_std, sample_posterior


class SymmetricBoostingRegressor(
    BoostedTargets, BoostedIntervals, RegressorMixin, BaseSymmetricBoosting
):
    """Gradient boosting of symmetric (oblivious) regression trees.

    All nodes of a level share one split, so a tree of depth m consists of m splits and a table of 2^m leaf
    values, and is fast to evaluate [1]_. Features are binned into at most `max_bins` histogram bins. With
    noise in scores and leaf values, boosting samples from a Gaussian process [2]_ (`posterior_samples`).

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", \
            "tweedie"}, tuple or callable, default="squared_error"
        Loss to minimise. ``"poisson"``, ``"tweedie"`` (both y >= 0) and ``"gamma"`` (y > 0) predict
        ``exp(raw score)``. The variance power of ``"tweedie"`` is 1.5; the tuple (or list)
        ``("tweedie", 1.7)`` sets another value between 1 (counts) and 2 (amounts). A function
        ``loss(y_true, raw_prediction)`` returns the gradient and the non-negative hessian of each sample with
        respect to its raw prediction, in the shape of `y`, without weights; raw predictions start at 0 and
        are returned as predictions.
    quantile : float in (0, 1) or None, default=None
        Quantile of ``loss="quantile"``, for which it is required. For ``"huber"`` the share of residuals in
        the quadratic part; None means 0.9. Must be None for other losses.
    learning_rate : float, default=0.1
        Shrinkage factor of the leaf values.
    max_iter : int, default=100
        Number of trees, in total with `warm_start`.
    max_depth : int, default=6
        Depth of the trees, at most 16.
    max_bins : int, default=254
        Maximum number of bins per feature, not counting missing values.
    l2_leaf_reg : float, default=3.0
        L2 penalty on leaf values, added to the weight (or the hessian) of a leaf. For losses whose leaves are
        quantiles (``"absolute_error"``, ``"quantile"``, ``"huber"``) it affects only the choice of splits.
    min_samples_leaf : int, default=1
        Minimum number of samples in every non-empty leaf. ``loss="quantile"`` needs at least
        ``5 / min(quantile, 1 - quantile)``, except for the median.
    posterior_samples : int, default=0
        Number of posterior samples for ``predict(X, return_std=True)``, 0 or at least 2; each requires
        fitting a further model. The standard deviation of the prior is 0.1 times that of `y`, the one of the
        assumed noise 0.01 times. Squared error only.
    random_strength : float, default=1.0
        Scale of the noise added to the scores of candidate splits. With more than 32,768 samples and
        ``score_noise="normal"``, splits are searched on a part of the samples, drawn for each tree in all
        rounds, and noise is added only as far as this sampling varies scores less. All samples are searched
        if `random_strength` is 0, `subsample` below 1 or `min_samples_leaf` above 1.
    score_noise : {"normal", "gumbel"}, default="normal"
        ``"normal"``: with standard deviation ``random_strength * RMS(gradients) * q / (1 + q)``,
        ``q = n exp(-iteration * learning_rate)``, as in CatBoost; it fades over the rounds. It is added to
        the cosine score, or to the square root of the l2 score. ``"gumbel"``: the split is drawn from the
        softmax of ``score / n / random_strength`` over all unused candidates (Ustimenko et al., 2023).
    score_function : {"l2", "cosine"}, default="l2"
        Score of a split: the decrease of the squared error, or the cosine of the angle between gradients
        and leaf values.
    subsample : float in (0, 1], default=1.0
        Probability that a sample is used for a tree.
    colsample : float in (0, 1], default=1.0
        Share of the features that a tree may use.
    monotonic_cst : array-like of int of shape (n_features,) or dict, default=None
        Constraint on each feature: 1 if predictions must not decrease as it grows, -1 if they must not
        increase, 0 for none. One target only.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of int or str, or None, default=None
        Columns that a tree may combine: those of one of the sets of indices or names (columns in no set form
        another set), any two (``"pairwise"``), or only one (``"no_interactions"``). If set, pairs of
        categorical columns are not encoded.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Categorical features: the columns of a categorical or text type, a list of names or indices, or a
        mask; None for none.
    early_stopping : bool, default=False
        Whether to stop when the loss on `eval_set`, or on held-out samples, has not fallen by more than `tol`
        for `n_iter_no_change` rounds, and keep the model of the best round. With several sets the first one
        counts; with `eval_metric`, the first metric replaces the loss.
    validation_fraction : float or int, default=0.1
        Share or number of samples held out for early stopping without an `eval_set`.
    n_iter_no_change : int, default=10
        Rounds without improvement before stopping.
    tol : float, default=1e-7
        Smallest decrease of the mean loss that counts as an improvement. For squared and absolute errors,
        quantiles and the Huber loss it refers to standardised targets if their standard deviation is below 1;
        for losses with a log link deviances are divided by the dispersion.
    calibration_fraction : float or None, default=None
        Share of the samples on which `predict_interval` is calibrated; None fits no intervals. Intervals need
        a second model fitted to the other samples and two smaller quantile models of its errors, so a fit
        takes about three times as long.
    warm_start : bool, default=False
        Whether `fit` continues the last fit, up to `max_iter` trees in total; the result is the same as
        from a single fit.
    verbose : int, default=0
        1 shows a progress bar, 2 prints one line per round, with the losses and the metrics of the first evaluation set,
        n > 2 a line for every n-th round.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise, the drawn samples and the validation split.

    Attributes
    ----------
    trees_ : SymmetricTrees
        The trees as plain arrays.
    bin_thresholds_ : list of n_features arrays
        Candidate thresholds of each feature, followed by ``inf`` if the feature has missing values.
    baseline_ : ndarray of shape (n_outputs,)
        Raw scores to which the trees are added.
    n_iter_ : int
        Number of trees.
    train_score_, validation_score_ : ndarray
        Negative mean loss, summed over the outputs, before the first round and after each round.
        `validation_score_` is empty without validation samples, and NaN for rounds of a warm start that had
        none. Rounds removed by early stopping are included; a warm start continues from the last round
        kept.
    evals_result_ : dict of dict of ndarray
        Loss and metrics after each round, by data set (``"training"``, ``"valid_0"``, ``"valid_1"``, ..)
        and name (``"loss"`` and the names of `eval_metric`).
    interval_trees_ : list of three
        Trees of the second model and of the two quantile models of its errors; only with
        `calibration_fraction`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the total gain that each feature accounts for; the shares sum to 1.
    encoder_ : TableEncoder or None
        Encoder of the categories; None without categories.
    n_features_in_, feature_names_in_, n_outputs_

    References
    ----------
    .. [1] Prokhorenkova, Gusev, Vorobev, Dorogush and Gulin, "CatBoost: unbiased boosting with
       categorical features", NeurIPS 2018.
    .. [2] Ustimenko, Beliakov and Prokhorenkova, "Gradient boosting performs Gaussian process
       inference", ICLR 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fctree import SymmetricBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SymmetricBoostingRegressor(max_iter=50, max_depth=3).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    """

    _parameter_constraints = {
        **BaseSymmetricBoosting._parameter_constraints,
        **loss_constraints("regression"),
        "posterior_samples": [Interval(Integral, 0, None, closed="left")],
        "calibration_fraction": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        loss: str | tuple[str, float] | list[Any] | CustomLossFunction = "squared_error",
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_depth: int = 6,
        max_bins: int = 254,
        l2_leaf_reg: float = 3.0,
        min_samples_leaf: int = 1,
        posterior_samples: int = 0,
        random_strength: float = 1.0,
        score_noise: str = "normal",
        score_function: str = "l2",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        interaction_cst: Sequence[Collection[int | str]] | str | None = None,
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

    def _choose_loss(self):
        if self.posterior_samples and self.loss != "squared_error":
            raise ValueError(f"posterior_samples needs loss='squared_error', got {self.loss!r}")
        if self.posterior_samples and self.interaction_cst is not None:
            raise ValueError("posterior_samples and interaction_cst exclude each other")
        if self.posterior_samples == 1:
            raise ValueError("posterior_samples must be 0 or at least 2, got 1")
        return super()._choose_loss()

    def _after_fit(self, train):
        super()._after_fit(train)
        if self.posterior_samples:
            sample_posterior(self, train)
        elif hasattr(self, "posterior_trees_"):
            del self.posterior_trees_  # those of an earlier fit

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> FloatArray: ...

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...

    @overload
    def predict(self, X: ArrayLike, return_std: bool) -> FloatArray | tuple[FloatArray, FloatArray]: ...

    def predict(
        self,
        X: ArrayLike,
        return_std: bool = False,
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return the knowledge uncertainty as well: the standard deviation over the posterior
            samples, which grows away from the training data.

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        std : array of the same shape, with ``return_std=True``

        Raises
        ------
        ValueError
            For ``return_std=True`` without `posterior_samples`.
        """
        predictions = self._inverse_link(self._raw_predict(X))
        if not return_std:
            return predictions
        if not hasattr(self, "posterior_trees_"):  # the parameter may have changed since the fit
            raise ValueError("return_std=True needs a model fitted with posterior_samples")
        std = posterior_std(self, X)
        return predictions, std[:, 0] if self._single_target else std
