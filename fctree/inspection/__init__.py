"""Feature importances with confidence intervals, Shapley values of predictions, distillation."""

from fctree.inspection.attributions import shap_values
from fctree.inspection.display import VariableImportanceDisplay
from fctree.inspection.distillation import compare_distilled, distill
from fctree.inspection.importance import variable_importance
from fctree.inspection.results import ImportanceResult, ShapleyResult
from fctree.inspection.shap_display import ShapDisplay
from fctree.inspection.shap_result import ShapValues
from fctree.inspection.shapley import shapley_importance
from fctree.inspection.warm_start import RoundByRound, Samples, WarmStartModel

__all__ = [
    "ImportanceResult",
    "RoundByRound",
    "Samples",
    "ShapDisplay",
    "ShapValues",
    "ShapleyResult",
    "VariableImportanceDisplay",
    "WarmStartModel",
    "compare_distilled",
    "distill",
    "shap_values",
    "shapley_importance",
    "variable_importance",
]
