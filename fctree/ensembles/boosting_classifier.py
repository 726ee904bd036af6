"""The boosting classifier of oblique trees."""

from sklearn.base import ClassifierMixin

from fctree._training.losses import loss_constraints
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.symmetric.targets import ClassTargets


class CurvatureBoostingClassifier(ClassTargets, ClassifierMixin, BaseCurvatureBoosting):
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
    learning_rate : float, default=0.05
        What each tree's scores are multiplied by.
    max_iter : int, default=300
        Number of trees, with `warm_start` that of the whole model. A third of them at twice the
        rate is a little less accurate in a third of the time.
    subsample : float, default=0.7
        Share of the samples that each tree is grown on. Equal samples are drawn together.
    colsample : float, default=1.0
        Share of the features that each tree is grown on.
    l2_leaf_reg : float, default=1.0
        By how much weight of targets 0 each leaf's mean is drawn to 0.
    extrapolation : float or None, default=0.0
        How far predictions may leave the range of a leaf's scores on its training samples, as a
        multiple of that range; None sets no bound.
    step_depth : int or None, default=8
        Depth of the trees with splits along axes and constant leaves that take part in each
        round; None leaves them out. They need ``subsample < 1``: there is nothing to judge by
        without. With more than 65,536 samples they cut between 256 bins of each feature.
    max_depth, alpha, min_samples_leaf, max_coef : default=None
        Of every tree, as in `CurvatureTreeRegressor`; what is not None wins over `tree`.
    tree : CurvatureTreeRegressor, FCODTRegressor or their classifiers, default=None
        An unfitted tree whose parameters the trees are grown by. None is
        ``CurvatureTreeRegressor(n_screened=4, max_thresholds=9, split_margin=0.0,
        feature_concatenation=False)``.
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
    >>> from fctree import CurvatureBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CurvatureBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    _parameter_constraints = {
        **BaseCurvatureBoosting._parameter_constraints,
        **loss_constraints("classification"),
    }

    def __init__(
        self,
        *,
        loss="log_loss",
        learning_rate=0.05,
        max_iter=300,
        max_depth=None,
        alpha=None,
        min_samples_leaf=None,
        max_coef=None,
        step_depth=8,
        subsample=0.7,
        colsample=1.0,
        l2_leaf_reg=1.0,
        extrapolation=0.0,
        tree=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.loss = loss
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
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
