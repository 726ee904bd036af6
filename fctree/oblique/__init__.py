"""One oblique tree: curvature trees and the FC-ODT tree that they started from."""

from fctree.oblique.curvature import CurvatureTreeClassifier, CurvatureTreeRegressor
from fctree.oblique.fcodt import FCODTClassifier, FCODTRegressor

__all__ = [
    "CurvatureTreeClassifier",
    "CurvatureTreeRegressor",
    "FCODTClassifier",
    "FCODTRegressor",
]
