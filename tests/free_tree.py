"""Oblique trees with every parameter of the core, in combinations that no public tree has too."""

from fctree.oblique.base import BaseObliqueTree
from fctree.oblique.classifier import TreeClassifier
from fctree.oblique.parameters import CURVATURE_CONSTRAINTS, FCODT_CONSTRAINTS
from fctree.oblique.regressor import TreeRegressor


class BaseFreeTree(BaseObliqueTree):
    """By default the paper's tree, with the search of a curvature tree at hand."""

    _fixed = {"scales_scores": False}
    _parameter_constraints = {
        **FCODT_CONSTRAINTS,
        **CURVATURE_CONSTRAINTS,
        "ridge_criterion": ["boolean"],
        "refines_cuts": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha=1.0,
        max_depth=3,
        min_samples_split=2,
        min_samples_leaf=1,
        min_impurity_decrease=0.0,
        feature_concatenation=True,
        leaf_model="ridge",
        fit_intercept=True,
        directions="ridge",
        n_curvature=2,
        max_coef=None,
        ridge_criterion=False,
        max_thresholds=32,
        refines_cuts=True,
        n_screened=8,
        parent_weight=3.0,
        split_margin=0.75,
        standardize=False,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
    ):
        parameters = locals().copy()  # by name, as the signature has them
        del parameters["self"]
        vars(self).update(parameters)


class FreeTreeRegressor(TreeRegressor, BaseFreeTree):
    """Regression."""


class FreeTreeClassifier(TreeClassifier, BaseFreeTree):
    """Classes."""
