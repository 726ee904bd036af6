"""fctree: shallow, fast, interpretable trees with a scikit-learn interface."""

from fctree import callbacks, datasets, export, inspection, kernels
from fctree._config import show_config
from fctree._tree import ObliqueTree
from fctree._version import __version__
from fctree.symmetric import (
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    SymmetricTrees,
)
from fctree.ensembles import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    ObliqueTrees,
)
from fctree.kernel_ridge import (
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from fctree.oblique import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
)
from fctree.persistence import load_model, save_model
from fctree.plotting import export_text, plot_regions, plot_tree
from fctree.soft import SoftTreeClassifier, SoftTreeRegressor

__all__ = [
    "CurvatureBoostingClassifier",
    "CurvatureBoostingRegressor",
    "CurvatureForestClassifier",
    "CurvatureForestRegressor",
    "CurvatureTreeClassifier",
    "CurvatureTreeRegressor",
    "FCODTClassifier",
    "FCODTRegressor",
    "ObliqueTree",
    "ObliqueTrees",
    "SoftTreeClassifier",
    "SoftTreeRegressor",
    "SymmetricBoostingClassifier",
    "SymmetricBoostingRegressor",
    "SymmetricTrees",
    "TreeNTKClassifier",
    "TreeNTKClassifierCV",
    "TreeNTKRegressor",
    "TreeNTKRegressorCV",
    "__version__",
    "callbacks",
    "datasets",
    "export",
    "export_text",
    "inspection",
    "kernels",
    "load_model",
    "plot_regions",
    "plot_tree",
    "save_model",
    "show_config",
]
