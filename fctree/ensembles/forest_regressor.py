"""The forest regressor of oblique trees."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from fctree._validation import check_targets
from fctree.ensembles.forest import BaseFCODTForest


class FCODTForestRegressor(RegressorMixin, BaseFCODTForest):
    """A forest of curvature trees with ridge leaves."""

    def _impurity_scale(self):
        return 1.0 / self.n_outputs_

    def _encode_targets(self, y, *, reset):
        targets = check_targets(y)
        if reset:
            self.n_outputs_ = targets.shape[1]
            self._single_target = np.ndim(y) == 1
        elif targets.shape[1] != self.n_outputs_:
            raise ValueError(
                f"y has {targets.shape[1]} outputs, but {self.n_outputs_} were expected"
            )
        return targets

    def _shaped(self, scores):
        return scores[:, 0] if self._single_target else scores

    def _keep_out_of_bag(self, scores, judged, targets, weight):
        self.oob_prediction_ = self._shaped(scores)
        weight = None if weight is None else weight[judged]
        self.oob_score_ = float(r2_score(targets[judged], scores[judged], sample_weight=weight))

    def predict(self, X):
        """Predict the targets: the mean over the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,) or (n_samples, n_outputs), as in `fit`
        """
        return self._shaped(self._scores(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
