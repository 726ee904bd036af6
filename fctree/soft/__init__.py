"""Soft trees with conditional computation: the tree ensemble layer as estimators."""

from fctree.soft.classifier import SoftTreeClassifier
from fctree.soft.regressor import SoftTreeRegressor

__all__ = ["SoftTreeClassifier", "SoftTreeRegressor"]
