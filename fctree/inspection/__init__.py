"""Feature importances and Shapley values with confidence intervals; trees that explain other models."""

from fctree.inspection.display import VariableImportanceDisplay
from fctree.inspection.distillation import distill
from fctree.inspection.importance import variable_importance
from fctree.inspection.results import ImportanceResult, ShapleyResult
from fctree.inspection.shapley import shapley_importance
from fctree.inspection.theory import (
    boosting_kernel,
    local_complexity,
    stopping_threshold,
)
from fctree.inspection.warm_start import RoundByRound, Samples, WarmStartModel

__all__ = [
    "ImportanceResult",
    "RoundByRound",
    "Samples",
    "ShapleyResult",
    "VariableImportanceDisplay",
    "WarmStartModel",
    "boosting_kernel",
    "distill",
    "local_complexity",
    "shapley_importance",
    "stopping_threshold",
    "variable_importance",
]
