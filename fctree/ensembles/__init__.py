"""Ensembles of curvature trees: boosting and forests of oblique trees with ridge leaves.

docs/algorithms/ensembles.md has the formulas and what they cost.
"""

from fctree.ensembles.boosting_classifier import FCODTBoostingClassifier
from fctree.ensembles.boosting_regressor import FCODTBoostingRegressor
from fctree.ensembles.forest_classifier import FCODTForestClassifier
from fctree.ensembles.forest_regressor import FCODTForestRegressor
from fctree.ensembles.trees import ObliqueTrees

__all__ = [
    "FCODTBoostingClassifier",
    "FCODTBoostingRegressor",
    "FCODTForestClassifier",
    "FCODTForestRegressor",
    "ObliqueTrees",
]
