"""Boosting with symmetric (oblivious) trees."""

from fctree.symmetric.classifier import SymmetricBoostingClassifier
from fctree.symmetric.regressor import SymmetricBoostingRegressor
from fctree.symmetric.trees import SymmetricTrees

__all__ = ["SymmetricBoostingClassifier", "SymmetricBoostingRegressor", "SymmetricTrees"]
