"""FC-ODT: oblique decision trees with ridge splits and feature concatenation.

At each node a ridge regression of the targets on the features gives the direction of the
split, the threshold is the one that lowers the squared error of constant children most,
and the score along the direction is passed to the children as one more feature, so they
need not learn it again. Leaves predict with their own ridge
model, or with a constant.

Source: S.-H. Lyu et al., "Enhance Learning Efficiency of Oblique Decision Tree via
Feature Concatenation", arXiv:2502.00465 (2025). docs/algorithms/oblique.md has the
formulas and what they cost.
"""

from __future__ import annotations

from fctree._parameters import set_parameters, shares_documentation
from fctree._typing import ArrayLike, RandomState
from fctree.oblique.base import BaseObliqueTree
from fctree.oblique.classifier import TreeClassifier
from fctree.oblique.curvature import CurvatureTreeRegressor
from fctree.oblique.parameters import FCODT_CONSTRAINTS, FCODT_FIXED
from fctree.oblique.regressor import TreeRegressor


class BaseFCODT(BaseObliqueTree):
    """The parameters of the paper's tree."""

    _parameter_constraints = FCODT_CONSTRAINTS
    _fixed = FCODT_FIXED

    def __init__(
        self,
        *,
        alpha: float | str = 1.0,
        max_depth: int | None = 3,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        feature_concatenation: bool = True,
        leaf_model: str = "ridge",
        fit_intercept: bool = True,
        categorical_features: ArrayLike | str | None = "from_dtype",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        set_parameters(self, locals())


@shares_documentation(CurvatureTreeRegressor)
class FCODTRegressor(TreeRegressor, BaseFCODT):
    """The oblique regression tree of the FC-ODT paper.

    Splits are along ridge directions, a node's score is passed to its children as one more
    feature, and leaves predict with ridge models. `CurvatureTreeRegressor` finds better splits
    of the same kind of tree; this one is the published method, its parameters and defaults.

    Parameters
    ----------
    alpha : float or "loo", default=1.0
        Penalty of every ridge regression, as in
        `sklearn.linear_model.Ridge`: it acts on the squared coefficients, so it depends
        on the features' scales; standardise or rescale them first. 0 gives least
        squares, with the minimum-norm solution for collinear columns. ``"loo"`` chooses
        the penalty from 1e-4, 10^-3.5, .., 1e3 with the smallest leave-one-out error of the
        root's ridge regression.
    max_depth : int or None, default=3
        Maximum number of splits on a path; None grows until nothing can be split. 0 is
        one ridge regression.
    min_samples_split : int or float, default=2
        Minimum number of samples of a node to be split; a float is a fraction
        of the training samples, rounded up.
    min_samples_leaf : int or float, default=1
        Minimum number of samples in a leaf, likewise. Ridge leaves have
        ``n_features + 1`` parameters: a few times as many samples are a good choice.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the impurity, weighted by the share of samples in the node,
        for a split.
    feature_concatenation : bool, default=True
        Whether the score of a node is passed to its children as one more feature, in the unit of `y`: a
        tree grown on 3 `y` is not 3 times the tree grown on `y`, so standardise `y` too. False gives a plain oblique
        tree with ridge splits.
    leaf_model : {"ridge", "constant"}, default="ridge"
        Model of the leaves: their own ridge regression (its features concatenated
        as for a split), or the mean of their samples.
    fit_intercept : bool, default=True
        Whether ridge regressions are centred within the node. False gives the paper's
        uncentred form.
    categorical_features, n_jobs, random_state
        As in `CurvatureTreeRegressor`.

    Attributes
    ----------
    tree_ : ObliqueTree
        The tree as plain arrays.
    alpha_, interval_scores_, interval_levels_, interval_scales_, encoder_, n_features_in_, \
            feature_names_in_, n_outputs_, feature_importances_
        As in `CurvatureTreeRegressor`.

    References
    ----------
    S.-H. Lyu, Y.-X. He, Y. Wang, Z. Qu, B. Tang and B. Ye, "Enhance Learning Efficiency
    of Oblique Decision Tree via Feature Concatenation", arXiv:2502.00465, 2025.

    See Also
    --------
    CurvatureTreeRegressor

    Examples
    --------
    >>> from fctree import FCODTRegressor
    >>> from fctree.datasets import make_ridge_relu
    >>> X, y = make_ridge_relu(n_samples=500, random_state=0)
    >>> tree = FCODTRegressor(max_depth=2, min_samples_leaf=20).fit(X, y)
    >>> tree.get_n_leaves()
    4
    >>> tree.predict(X[:3]).shape
    (3,)
    """


@shares_documentation(FCODTRegressor)
class FCODTClassifier(TreeClassifier, BaseFCODT):
    """The oblique classification tree of the FC-ODT paper.

    Ridge regressions are on class indicators: one indicator a class, or the single one of
    ``classes_[1]`` where there are two. Each indicator's direction is a candidate, and
    the decrease of the Gini impurity picks the cut.

    Parameters
    ----------
    alpha, max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, \
            feature_concatenation
        As in `FCODTRegressor`.
    leaf_model : {"ridge", "constant"}, default="ridge"
        Model of the leaves: their own ridge regression on the indicators, or the
        class fractions of their samples.
    fit_intercept, categorical_features, n_jobs, random_state
        As in `FCODTRegressor`.

    Attributes
    ----------
    tree_, alpha_
        As in `FCODTRegressor`.
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_classes_ : int
    temperature_ : float or None
        Probabilities are the softmax of the scores times this. None for constant leaves, where they
        are the shares of the classes.
    encoder_, n_features_in_, feature_names_in_, feature_importances_
        As in `FCODTRegressor`.

    References
    ----------
    S.-H. Lyu et al., "Enhance Learning Efficiency of Oblique Decision Tree via Feature
    Concatenation", arXiv:2502.00465, 2025.

    See Also
    --------
    CurvatureTreeClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from fctree import FCODTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = FCODTClassifier(max_depth=1).fit(scale(X), y)
    >>> bool(tree.score(scale(X), y) > 0.95)
    True
    """
