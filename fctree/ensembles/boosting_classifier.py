"""The boosting classifier of oblique trees."""

from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from fctree.symmetric.targets import ClassTargets
from fctree.ensembles.boosting import BaseFCODTBoosting


class FCODTBoostingClassifier(ClassTargets, ClassifierMixin, BaseFCODTBoosting):
    """Gradient boosting of curvature trees with ridge leaves, for classes.

    Each tree is a shallow oblique tree for the log-loss's Newton step, with
    more than two classes a vector in each leaf: splits along
    curvature directions, axes or the ridge direction, linear models in the leaves. A hundred of
    them do what gradient boosting needs a thousand ordinary trees for where the truth is smooth.
    Where it is made of steps, ordinary trees do better: each round grows one of them too, and
    the tree stays that does better on the samples that neither has seen.

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
    quantile : None
        For regression losses only.
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
        Held out for early stopping where `fit` is given no `eval_set`, stratified by class.
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
        The raw score, the log-odds or centred log-frequencies, that trees are added to.
    alpha_ : float
        The penalty that was used.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    n_iter_ : int
        Number of trees.
    train_score_, validation_score_ : ndarray
        Minus the mean loss before the first round and after each; the second is empty without
        validation samples. Early stopping leaves the rounds in that it has cut off.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_, n_outputs_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fctree import FCODTBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FCODTBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    _parameter_constraints = {
        **BaseFCODTBoosting._parameter_constraints,
        "loss": [StrOptions({"log_loss"})],
    }

    def __init__(
        self,
        *,
        loss="log_loss",
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        subsample=0.7,
        colsample=1.0,
        standardize=True,
        l2_leaf_reg=3.0,
        extrapolation=1.0,
        step_depth=8,
        step_min_samples_leaf=5,
        alpha=1.0,
        max_depth=3,
        min_samples_split=2,
        min_samples_leaf=20,
        min_impurity_decrease=0.0,
        feature_concatenation=False,
        leaf_model="ridge",
        fit_intercept=True,
        directions="all",
        n_curvature=2,
        max_coef=None,
        split_criterion="ridge",
        max_thresholds=9,
        n_screened=4,
        parent_weight=3.0,
        split_margin=0.0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        parameters = locals().copy()
        del parameters["self"]
        BaseFCODTBoosting.__init__(self, **parameters)

    def _loss_kind(self):
        return "binary_log_loss" if self.n_classes_ <= 2 else "multiclass_log_loss"
