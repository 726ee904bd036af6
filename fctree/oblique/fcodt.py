"""FC-ODT: oblique decision trees with ridge splits and feature concatenation.

At each node a ridge regression of the targets on the features gives the direction of the split. The
threshold is the one that lowers the squared error of constant children most. The score along the direction
is passed to the children as one more feature. Leaves predict with their own ridge model, or with a
constant.

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

    Splits are along ridge directions, the score of a node is passed to its children as one more feature
    (feature concatenation), and leaves predict with ridge models. This class is the published method;
    `CurvatureTreeRegressor` extends it with other directions, a criterion for ridge leaves and a
    leave-one-out test.

    Parameters
    ----------
    alpha : float or "loo", default=1.0
        Ridge penalty, as in `sklearn.linear_model.Ridge`. It acts on the squared coefficients, so
        standardise the features first. 0 gives least squares (the minimum-norm solution for collinear
        columns). ``"loo"`` chooses the penalty from 1e-4, 10^-3.5, .., 1e3 that minimises the leave-one-out
        error of the root's ridge regression.
    max_depth : int or None, default=3
        Maximum number of splits on a path. None grows until no node can be split; 0 fits one ridge
        regression.
    min_samples_split : int or float, default=2
        Minimum number of samples in a node for it to be split; a float is a fraction of the training samples,
        rounded up.
    min_samples_leaf : int or float, default=1
        Minimum number of samples in a leaf; a float is a fraction of the training samples, rounded up. A
        ridge leaf has ``n_features + 1`` parameters; a few times that number is a good choice.
    min_impurity_decrease : float, default=0.0
        Minimum decrease in impurity for a split, weighted by the node's share of the samples.
    feature_concatenation : bool, default=True
        Whether the score of a node is passed to its children as one more feature. It is in the unit of `y`,
        so the tree depends on that unit: standardise `y` too. False gives a plain oblique tree with ridge
        splits.
    leaf_model : {"ridge", "constant"}, default="ridge"
        Model of the leaves: a ridge regression on the features and the ancestors' scores, or the mean of
        the leaf's samples.
    fit_intercept : bool, default=True
        Whether ridge regressions are centred within the node; False gives the paper's uncentred form.
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

    Ridge regressions predict class indicators: one per class, or only that of ``classes_[1]`` if there are
    two classes. The direction for each indicator is a candidate; the cut with the largest decrease in Gini
    impurity is chosen.

    Parameters
    ----------
    alpha, max_depth, min_samples_split, min_samples_leaf, min_impurity_decrease, \
            feature_concatenation
        As in `FCODTRegressor`.
    leaf_model : {"ridge", "constant"}, default="ridge"
        Model of the leaves: a ridge regression on the indicators, or the class fractions of the leaf's
        samples.
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
        Factor of the scores in the softmax that gives the probabilities. None for constant leaves, whose
        probabilities are the class fractions.
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
