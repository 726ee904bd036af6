"""Probabilities of classes from predicted indicators, calibrated by one temperature.

Ridge models of class indicators give scores that leave [0, 1]. Probabilities are the softmax of the
scores times a temperature t (of two classes, the logistic function of ``2 t (s - 1/2)``), which
keeps the order of the classes. t is the one of the least log-loss on the training samples, each
scored by its leaf's model as fitted without it.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

# Slope 1 where two classes are even: a score of a half and a bit is a probability of so much.
_UNINFORMED = 2.0
_MOST = 1e3


def class_scores(scores):
    """A column a class, (n_samples, n_classes), from the one column of two classes, too."""
    return np.hstack([1.0 - scores, scores]) if scores.shape[1] == 1 else scores


def calibrated(scores, temperature):
    """Probabilities, (n_samples, n_classes), for `class_scores`."""
    return softmax(temperature * scores, axis=1)


def find_temperature(scores, labels, sample_weight):
    """The temperature of the least log-loss.

    One more sample whose score is all for a wrong class keeps it finite where all are right.

    Parameters
    ----------
    scores : array of shape (n_samples, n_outputs)
        Leave-one-out scores; rows with NaN say nothing.
    labels : array of shape (n_samples,), int
    sample_weight : array of shape (n_samples,) or None

    Returns
    -------
    temperature : float
    """
    known = np.isfinite(scores).all(axis=1)
    if sample_weight is not None:
        known &= sample_weight > 0.0
    if not np.any(known):
        return _UNINFORMED
    scores, labels = class_scores(scores[known]), labels[known]
    weight = np.ones(len(labels)) if sample_weight is None else sample_weight[known]
    scores = np.vstack([scores, np.eye(scores.shape[1])[:1]])
    labels, weight = np.append(labels, 1), np.append(weight, min(weight.mean(), 1.0))
    rows = np.arange(len(labels))

    def loss(logarithm):
        return -weight @ log_softmax(np.exp(logarithm) * scores, axis=1)[rows, labels]

    found = minimize_scalar(
        loss, bounds=(-np.log(_MOST), np.log(_MOST)), method="bounded", options={"xatol": 1e-6}
    )
    return float(np.exp(found.x))
