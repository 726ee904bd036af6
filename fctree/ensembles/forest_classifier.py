"""The forest classifier of oblique trees."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from fctree.ensembles.forest import BaseFCODTForest
from fctree.oblique.indicators import IndicatorScores, class_indicators


class FCODTForestClassifier(IndicatorScores, ClassifierMixin, BaseFCODTForest):
    """A forest of curvature trees with ridge leaves, for classes."""

    _classification = True

    def _impurity_scale(self):
        return 2.0 if self.n_classes_ <= 2 else 1.0

    def _encode_targets(self, y, *, reset):
        check_classification_targets(y)
        if reset:
            self.classes_ = np.unique(y)
            self.n_classes_ = len(self.classes_)
        else:
            unknown = np.setdiff1d(y, self.classes_)
            if len(unknown):
                raise ValueError(f"y has labels that the training data lack: {unknown[:10]}")
        return class_indicators(np.searchsorted(self.classes_, y), self.n_classes_)

    def _keep_out_of_bag(self, scores, judged, targets, weight):
        self.oob_decision_function_ = np.full((len(scores), self.n_classes_), np.nan)
        self.oob_decision_function_[judged] = self._probabilities(scores[judged])
        truth = self._labels(targets[judged])
        weight = None if weight is None else weight[judged]
        found = self._labels(scores[judged])
        self.oob_score_ = float(accuracy_score(truth, found, sample_weight=weight))

    def _predict_scores(self, X):
        return self._scores(X)
