"""Which features matter, and how sure that is: importances and Shapley values."""

from fctree.inspection.importance import variable_importance
from fctree.inspection.results import ImportanceResult, ShapleyResult
from fctree.inspection.shapley import shapley_importance
from fctree.inspection.warm_start import RoundByRound, Samples, WarmStartModel

__all__ = [
    "ImportanceResult",
    "RoundByRound",
    "Samples",
    "ShapleyResult",
    "WarmStartModel",
    "shapley_importance",
    "variable_importance",
]
