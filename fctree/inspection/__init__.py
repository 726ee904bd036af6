"""Which features matter, and how sure that is: importances and Shapley values."""

from fctree.inspection.importance import variable_importance
from fctree.inspection.results import ImportanceResult
from fctree.inspection.warm_start import RoundByRound, Samples, WarmStartModel

__all__ = [
    "ImportanceResult",
    "RoundByRound",
    "Samples",
    "WarmStartModel",
    "variable_importance",
]
