"""Kernel ridge regression and classification with tree neural tangent kernels."""

from fctree.kernel_ridge.cross_validation import TreeNTKClassifierCV, TreeNTKRegressorCV
from fctree.kernel_ridge.estimators import TreeNTKClassifier, TreeNTKRegressor

__all__ = [
    "TreeNTKClassifier",
    "TreeNTKClassifierCV",
    "TreeNTKRegressor",
    "TreeNTKRegressorCV",
]
