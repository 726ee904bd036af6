"""The boosting classifier of oblique trees."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin

from fctree._parameters import set_parameters, shares_documentation
from fctree._training.losses import loss_constraints
from fctree._training.targets import BoostedClasses
from fctree._typing import ArrayLike, RandomState
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.ensembles.boosting_regressor import CurvatureBoostingRegressor


@shares_documentation(CurvatureBoostingRegressor)
class CurvatureBoostingClassifier(BoostedClasses, ClassifierMixin, BaseCurvatureBoosting):
    """Gradient boosting of curvature trees with ridge leaves, for classes.

    Each tree is a shallow oblique tree for the log-loss's Newton step, with
    more than two classes a vector in each leaf: splits along
    curvature directions, axes or the ridge direction, linear models in the leaves. On smooth
    targets a hundred of them do the work of a thousand ordinary trees. On step-like targets
    ordinary trees do better: each round grows one of them too and keeps
    the tree that does better on the samples left out of both.

    Parameters
    ----------
    loss : {"log_loss"}, default="log_loss"
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
        Share or number of samples held out for early stopping without an `eval_set`, stratified
        by class.
    n_iter_no_change : int, default=10
    tol : float, default=1e-7
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
    trees_, tree_kinds_
        As in `CurvatureBoostingRegressor`.
    baseline_ : ndarray of shape (n_outputs,)
        The raw score, the log-odds or centred log-frequencies, that trees are added to.
    alpha_
        As in `CurvatureBoostingRegressor`.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    n_iter_, train_score_, validation_score_, feature_importances_, encoder_, n_features_in_, \
            feature_names_in_, n_outputs_
        As in `CurvatureBoostingRegressor`.

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
        loss: str = "log_loss",
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
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())
