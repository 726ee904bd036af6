"""Boosting with symmetric (oblivious) trees."""

from fctree.boosting.classifier import SymmetricBoostingClassifier
from fctree.boosting.regressor import SymmetricBoostingRegressor
from fctree.boosting.trees import SymmetricTrees

__all__ = ["SymmetricBoostingClassifier", "SymmetricBoostingRegressor", "SymmetricTrees"]
