"""Curvature trees: oblique trees that split where a linear model does not fit.

A node may be split along a curvature direction (in which the residuals of its ridge model bend most), along
its ridge direction, or along the axis of a feature. A cut is chosen by the ridge models of its two sides.
It is kept only if it passes a leave-one-out test, so growth stops by itself. docs/algorithms/oblique.md has
the formulas and what they cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from fctree._parameters import set_parameters, shares_documentation
from fctree._typing import ArrayLike, RandomState
from fctree.oblique.base import BaseObliqueTree
from fctree.oblique.classifier import TreeClassifier
from fctree.oblique.parameters import CURVATURE_CONSTRAINTS, CURVATURE_FIXED
from fctree.oblique.regressor import TreeRegressor


class BaseCurvatureTree(BaseObliqueTree):
    """The parameters of a curvature tree."""

    _parameter_constraints = CURVATURE_CONSTRAINTS
    _fixed = CURVATURE_FIXED

    def __init__(
        self,
        *,
        max_depth: int | None = 3,
        alpha: float | str = 1.0,
        min_samples_leaf: int | float = 20,
        max_coef: int | None = None,
        standardize: bool = True,
        directions: str | Sequence[str] = "all",
        n_curvature: int = 2,
        n_screened: int | None = 8,
        max_thresholds: int = 32,
        parent_weight: float = 3.0,
        split_margin: float = 0.75,
        feature_concatenation: bool = True,
        leaf_model: str = "ridge",
        categorical_features: ArrayLike | str | None = "from_dtype",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())


class CurvatureTreeRegressor(TreeRegressor, BaseCurvatureTree):
    """Oblique regression tree with linear models in its leaves.

    A split lies along a curvature direction, the ridge direction or the axis of a feature; the tree chooses
    the split whose two sides are fitted best by two ridge models. A split is kept only if it passes a
    leave-one-out test, so a larger depth rarely raises the error. Features need no scaling, and the fitted
    tree is in the units of `X`.

    Parameters
    ----------
    max_depth : int or None, default=3
        Maximum number of splits on a path. None grows until no split passes the leave-one-out test; 0 fits
        one ridge regression.
    alpha : float or "loo", default=1.0
        Ridge penalty, as in `sklearn.linear_model.Ridge`; with `standardize` it acts on the coefficients of
        standardised features. 0 gives least squares (the minimum-norm solution for collinear columns).
        ``"loo"`` chooses the penalty from 1e-4, 10^-3.5, .., 1e3 that minimises the leave-one-out error of
        the root's ridge regression.
    min_samples_leaf : int or float, default=20
        Minimum number of samples in a leaf; a float is a fraction of the training
        samples, rounded up.
    max_coef : int or None, default=None
        Maximum number of features in a split; a direction with more nonzero coefficients is replaced by a
        sparse one of the same kind. Linear models in the leaves remain dense. None sets no limit.
    standardize : bool, default=True
        Whether to grow the tree on features of mean 0 and variance 1. If there are more than 7 + n_outputs
        features, the most relevant ones are also selected. Coefficients, thresholds and leaf models are in
        the units of `X` in both cases.
    directions : {"ridge", "curvature", "axis", "all"} or tuple of them, default="all"
        Candidate directions of splits: the ridge direction, the curvature directions, the axes of the
        features, or all of these.
    n_curvature : int, default=2
        Number of curvature directions per node.
    n_screened : int or None, default=8
        Number of features whose axes are searched exactly, selected by a cheaper screening; None searches
        all.
    max_thresholds : int, default=32
        Number of cuts tried along each direction, at quantiles of the projected samples; a single tree then
        refines the best cuts. With more than 32 features it is limited to 1,024 / n_features, but not below
        4.
    parent_weight : float, default=3.0
        Number of pseudo-samples that shrink a child's model towards its parent's; 0 means no shrinkage. In
        boosting a pseudo-sample has the mean weight of the tree's samples.
    split_margin : float, default=0.75
        Minimum decrease in leave-one-out error for a split, relative to the decrease that the best of equally
        many random candidates would reach by chance. 0 accepts any decrease (with constant leaves, any
        split).
    feature_concatenation : bool, default=True
        Whether a node's ridge predictions become extra features of its children; for one target they are in
        units of half the standard deviation of `y`.
    leaf_model : {"ridge", "constant", "soft"}, default="ridge"
        Model of the leaves: a ridge regression, or the mean of the leaf's samples. Splits are chosen and
        tested for leaves of this kind. ``"soft"`` blends ridge models across soft boundaries: after growth,
        splits, boundary widths and leaf models are optimised jointly, and the result is kept if it clearly
        lowers the leave-one-out error. The optimisation amplifies rounding: fits that should be equal
        (weights instead of copies, reordered rows, other units of features) agree only to about 1e-2 standard
        deviations of `y`.
    categorical_features : "from_dtype", array-like of str, int or bool, or None, \
            default="from_dtype"
        Categorical features: the columns of a categorical or text type, a list of names or indices, or a
        mask; None for none.
    n_jobs : int or None, default=None
        Number of threads; None is 1 unless set by a `joblib.parallel_config`, -1 is all cores. Results do
        not depend on it.
    random_state : int, RandomState instance or None, default=None
        Has no effect, because growing a single tree is deterministic; present for API consistency.

    Attributes
    ----------
    tree_ : ObliqueTree
        The tree as plain arrays, in the units of `X`; a sample goes left if ``coef @ x <= threshold``.
    alpha_ : float
        The ridge penalty used: `alpha`, or the one chosen by leave-one-out.
    interval_scores_, interval_levels_, interval_scales_ : arrays
        Data for `predict_interval`: conformity scores, the confidence level for which each one suffices, and
        the scales of the leaves.
    encoder_ : TableEncoder
        Encoder of categories and missing values.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if `X` has string column names.
    n_outputs_ : int
        Number of columns of `y`.
    feature_importances_ : array of shape (n_features,)
        Share of the explained error that each feature accounts for; they sum to 1.

    See Also
    --------
    CurvatureBoostingRegressor, CurvatureForestRegressor : Ensembles of such trees.
    FCODTRegressor : The published FC-ODT tree.

    Examples
    --------
    >>> from fctree import CurvatureTreeRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> tree = CurvatureTreeRegressor().fit(X, y)
    >>> bool(tree.score(X, y) > 0.9)
    True

    Splits of at most three features:

    >>> tree = CurvatureTreeRegressor(max_depth=2, max_coef=3).fit(X, y)
    >>> int((tree.tree_.coef[tree.tree_.children_left >= 0] != 0).sum(axis=1).max())
    3
    """


@shares_documentation(CurvatureTreeRegressor)
class CurvatureTreeClassifier(TreeClassifier, BaseCurvatureTree):
    """Oblique classification tree with linear models in its leaves.

    The tree is grown like a `CurvatureTreeRegressor` on class indicators: one per class, or only that of
    ``classes_[1]`` if there are two classes. Its leaves then get logistic models of the same features, each
    shrunk towards the model of all samples; `decision_function` returns their logits.

    Parameters
    ----------
    max_depth : int or None, default=3
        Maximum number of splits on a path. None grows until no split passes the leave-one-out test; 0 fits
        one logistic regression, or the class frequencies if these predict better.
    alpha, min_samples_leaf, max_coef, standardize, directions, n_curvature, \
            n_screened, max_thresholds, parent_weight, split_margin, feature_concatenation
        As in `CurvatureTreeRegressor`.
    leaf_model : {"ridge", "constant", "soft"}, default="ridge"
        Model of the leaves: a ridge regression on the indicators while the tree grows, then a logistic
        regression; or the class fractions of the leaf's samples. ``"soft"`` blends ridge models across soft
        boundaries: splits, boundary widths and leaf models are optimised jointly, and the result is kept if
        it clearly lowers the leave-one-out error. The optimisation amplifies rounding: fits that should be
        equal differ slightly.
    categorical_features, n_jobs, random_state
        As in `CurvatureTreeRegressor`.

    Attributes
    ----------
    tree_ : ObliqueTree
        The tree as plain arrays, in the units of `X`.
    alpha_
        As in `CurvatureTreeRegressor`.
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
    temperature_ : float or None
        Factor of the scores in the softmax that gives the probabilities; 1 for logistic models. None for
        constant leaves, whose probabilities are the class fractions.
    encoder_, n_features_in_, feature_names_in_, feature_importances_
        As in `CurvatureTreeRegressor`.

    See Also
    --------
    CurvatureBoostingClassifier, CurvatureForestClassifier : Ensembles of such trees.
    FCODTClassifier : The published FC-ODT tree.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fctree import CurvatureTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = CurvatureTreeClassifier().fit(X, y)
    >>> bool(tree.score(X, y) > 0.95)
    True
    """

    _logistic_leaves = True
