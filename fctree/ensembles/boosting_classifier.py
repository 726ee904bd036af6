"""The boosting classifier of oblique trees."""

from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from fctree.boosting.targets import ClassTargets
from fctree.ensembles.boosting import BaseFCODTBoosting


class FCODTBoostingClassifier(ClassTargets, ClassifierMixin, BaseFCODTBoosting):
    """Gradient boosting of curvature trees with ridge leaves, for classes."""

    _parameter_constraints = {
        **BaseFCODTBoosting._parameter_constraints,
        "loss": [StrOptions({"log_loss"})],
    }

    def _loss_kind(self):
        return "binary_log_loss" if self.n_classes_ <= 2 else "multiclass_log_loss"
