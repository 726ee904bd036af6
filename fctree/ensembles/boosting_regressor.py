"""The boosting regressor of oblique trees."""

from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from fctree.symmetric.targets import REGRESSION_LOSSES, NumericTargets
from fctree.ensembles.boosting import BaseFCODTBoosting


class FCODTBoostingRegressor(NumericTargets, RegressorMixin, BaseFCODTBoosting):
    """Gradient boosting of curvature trees with ridge leaves.

    Each tree is a shallow oblique tree for the loss's Newton step: splits along
    curvature directions, axes or the ridge direction, linear models in the leaves. A hundred of
    them do what gradient boosting needs a thousand ordinary trees for where the truth is smooth.
    Where it is made of steps, ordinary trees do better: each round grows one of them too, and
    the tree stays that does better on the samples that neither has seen.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"}, \
            default="squared_error"
        What is minimised. ``"poisson"`` (y >= 0) and ``"gamma"`` (y > 0) predict
        ``exp(raw score)``.
    quantile : float in (0, 1) or None, default=None
        The quantile of ``loss="quantile"``, which needs it. For ``"huber"`` the share of
        residuals that count squared (None: 0.9), the larger ones linearly.
    learning_rate : float, default=0.1
        What each tree's scores are multiplied by.
    max_iter : int, default=100
        Number of trees. With `warm_start` that of the whole model.
    subsample : float, default=0.7
        Share of the samples that each tree is grown on. Equal samples are drawn together, and
        fewer than 50 distinct ones are not sampled.
    colsample : float, default=1.0
        Share of the features that each tree is grown on.
    standardize : bool, default=True
        Whether trees are grown on features of mean 0 and variance 1; the fitted trees are in
        the features as they came.
    l2_leaf_reg : float, default=3.0
        By how much weight of targets 0 each leaf's mean is drawn to 0.
    extrapolation : float or None, default=1.0
        How far a leaf may answer beyond the range of its model's scores on the samples that it
        was fitted to, in lengths of that range; None sets no bound.
    step_depth : int or None, default=8
        Depth of the trees with splits along axes and constant leaves that take part in each
        round; None leaves them out. They need ``subsample < 1``: there is nothing to judge by
        without. With more than 65,536 samples they cut between 256 bins of each feature.
    step_min_samples_leaf : int or float, default=5
        Smallest number of samples in their leaves.
    alpha : float or "loo", default=1.0
        Penalty of every ridge regression; with `standardize` it acts on the coefficients of
        standardised features. ``"loo"`` takes the one with the least leave-one-out error at the
        root of the first tree, for all trees,
        from 1e-4, 10^-3.5, .., 1e3.
    max_depth : int or None, default=3
    min_samples_split, min_samples_leaf, min_impurity_decrease, feature_concatenation, \
            leaf_model, fit_intercept, directions, n_curvature, max_coef, split_criterion, \
            max_thresholds, n_screened, parent_weight, split_margin
        Of every tree, as in `FCODTRegressor`; the defaults differ.
    early_stopping : bool, default=False
        Whether to stop when the validation loss has not fallen by `tol` for
        `n_iter_no_change` rounds, and to keep the trees up to its least value.
    validation_fraction : float or int, default=0.1
        Held out for early stopping where `fit` is given no `eval_set`.
    n_iter_no_change : int, default=10
    tol : float, default=1e-7
    warm_start : bool, default=False
        Whether `fit` continues the last fit, up to `max_iter` trees in all. T trees and then
        T more are the same bytes as 2 T at once.
    verbose : int, default=0
        1 shows a progress bar, 2 a line a round.
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
        The raw score that trees are added to.
    alpha_ : float
        The penalty that was used.
    n_iter_ : int
        Number of trees.
    train_score_, validation_score_ : ndarray
        Minus the mean loss before the first round and after each; the second is empty without
        validation samples. Early stopping leaves the rounds in that it has cut off.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_, n_outputs_

    Examples
    --------
    >>> from fctree import FCODTBoostingRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=1000, random_state=0)
    >>> model = FCODTBoostingRegressor(max_iter=50, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _parameter_constraints = {
        **BaseFCODTBoosting._parameter_constraints,
        "loss": [StrOptions(REGRESSION_LOSSES)],
    }

    def _loss_kind(self):
        return self.loss

    def predict(self, X):
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        """
        return self._inverse_link(self._raw_predict(X))
