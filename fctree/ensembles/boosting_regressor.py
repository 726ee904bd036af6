"""The boosting regressor of oblique trees."""

from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from fctree.boosting.targets import REGRESSION_LOSSES, NumericTargets
from fctree.ensembles.boosting import BaseFCODTBoosting


class FCODTBoostingRegressor(NumericTargets, RegressorMixin, BaseFCODTBoosting):
    """Gradient boosting of curvature trees with ridge leaves.

    Parameters
    ----------
    loss : str
    """

    _parameter_constraints = {
        **BaseFCODTBoosting._parameter_constraints,
        "loss": [StrOptions(REGRESSION_LOSSES)],
    }

    def _loss_kind(self):
        return self.loss

    def predict(self, X):
        """Predict the targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        """
        return self._inverse_link(self._raw_predict(X))
