"""FC-ODT: oblique decision trees with ridge splits and feature concatenation.

At each node a ridge regression of the targets on the features gives the direction of the
split, the threshold is the one that lowers the squared error of constant children most,
and the score along the direction is handed to the children as one more feature, so that
what a node has learnt is not learnt again below it. Leaves predict with their own ridge
model, or with a constant.

Source: S.-H. Lyu et al., "Enhance Learning Efficiency of Oblique Decision Tree via
Feature Concatenation", arXiv:2502.00465 (2025). docs/algorithms/oblique.md has the
formulas and what they cost.
"""

from fctree.oblique.classifier import FCODTClassifier
from fctree.oblique.regressor import FCODTRegressor

__all__ = ["FCODTClassifier", "FCODTRegressor"]
