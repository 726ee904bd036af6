"""Ensembles of curvature trees: boosting and forests of oblique trees with ridge leaves.

docs/algorithms/ensembles.md has the formulas and what they cost.
"""

from fctree.ensembles.boosting_classifier import CurvatureBoostingClassifier
from fctree.ensembles.boosting_regressor import CurvatureBoostingRegressor
from fctree.ensembles.forest_classifier import CurvatureForestClassifier
from fctree.ensembles.forest_regressor import CurvatureForestRegressor
from fctree.ensembles.trees import ObliqueTrees

__all__ = [
    "CurvatureBoostingClassifier",
    "CurvatureBoostingRegressor",
    "CurvatureForestClassifier",
    "CurvatureForestRegressor",
    "ObliqueTrees",
]
