"""fctree: shallow, fast and explained trees, used like scikit-learn."""

from fctree import datasets, kernels
from fctree._config import show_config
from fctree._tree import ObliqueTree
from fctree._version import __version__
from fctree.kernel_ridge import (
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from fctree.oblique import FCODTClassifier, FCODTRegressor
from fctree.plotting import export_text, plot_regions, plot_tree

__all__ = [
    "FCODTClassifier",
    "FCODTRegressor",
    "ObliqueTree",
    "TreeNTKClassifier",
    "TreeNTKClassifierCV",
    "TreeNTKRegressor",
    "TreeNTKRegressorCV",
    "__version__",
    "datasets",
    "export_text",
    "kernels",
    "plot_regions",
    "plot_tree",
    "show_config",
]
