"""Class indicators, and predictions from predicted indicators."""

from __future__ import annotations

import numpy as np

from fctree._native.probabilities import of_two, project_to_simplex
from fctree._training.targets import PredictedProbabilities
from fctree._typing import ArrayLike, FloatArray


def class_indicators(labels, n_classes):
    """Indicators of the classes that are predicted, from their numbers (n_samples,)."""
    return predicted_shares(np.eye(n_classes)[labels])


def predicted_shares(shares):
    """The columns that are predicted of shares of classes (n_samples, n_classes): all, or only that
    of class 1 if there are two."""
    n_classes = shares.shape[1]
    if n_classes == 1:
        return np.zeros((len(shares), 1))
    return np.ascontiguousarray(shares if n_classes > 2 else shares[:, 1:])


def class_scores(scores):
    """Scores of all classes, (n_samples, n_classes); for two classes from their single column."""
    return of_two(scores[:, 0]) if scores.shape[1] == 1 else scores


class IndicatorScores(PredictedProbabilities):
    """For a classifier whose scores are predicted indicators."""

    _even_score = 0.5

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Class scores; `predict` returns the class with the largest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            With two classes ``2 * s - 1``, s the predicted indicator of ``classes_[1]``,
            positive where that class is predicted; else one column per class. Of a `CurvatureTreeClassifier` with
            hard linear leaves the logits. Of a `CurvatureForestClassifier` with ``exponent_`` ``2 * (s - c)``, c the
            indicator that gives both classes the same probability, or the logarithms of `predict_proba`.
        """
        return self._decision(self._raw_predict(X))

    def _decision(self, scores):
        return 2.0 * scores[:, 0] - 2.0 * self._even_score if self.n_classes_ <= 2 else scores

    def _probabilities(self, scores):
        """The scores, projected on the probability simplex: ridge predictions can leave [0, 1]."""
        scores = self._finite(scores)
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        return project_to_simplex(class_scores(scores))
