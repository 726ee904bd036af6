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

    def __init__(
        self,
        *,
        loss="log_loss",
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        subsample=0.7,
        colsample=1.0,
        standardize=True,
        extrapolation=1.0,
        step_depth=6,
        step_min_samples_leaf=5,
        alpha=1.0,
        max_depth=3,
        min_samples_split=2,
        min_samples_leaf=20,
        min_impurity_decrease=0.0,
        feature_concatenation=False,
        leaf_model="ridge",
        fit_intercept=True,
        directions="all",
        n_curvature=2,
        max_coef=None,
        split_criterion="ridge",
        max_thresholds=9,
        n_screened=4,
        parent_weight=0.0,
        split_margin=0.0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        parameters = locals().copy()
        del parameters["self"]
        BaseFCODTBoosting.__init__(self, **parameters)

    def _loss_kind(self):
        return "binary_log_loss" if self.n_classes_ <= 2 else "multiclass_log_loss"
