"""Probabilities of classes from predicted indicators, calibrated by one temperature or one exponent.

Scores of ridge models of class indicators can leave [0, 1]. Probabilities are the softmax of the
scores times a temperature t (for two classes, the logistic function of ``2 t (s - 1/2)``), which
keeps the order of the classes. t minimises the log-loss of the training samples, each
scored by its leaf's model fitted without it.

A forest's probabilities p, in effect means over trees, are less certain than so many trees together should be, and can be 0. They
become ``(p + FLOOR) ** t`` over its sum: a temperature of the logarithms, found on out-of-bag predictions.
"""

import numpy as np
from scipy.optimize import brentq

from fctree._native import probabilities as _native
from fctree._native.probabilities import softmax
from fctree.oblique.class_scores import class_scores

# Temperature if no leave-one-out score is known: the probability of one of two classes is its score, near 1/2.
_UNINFORMED = 2.0
_MAX_LOG_TEMPERATURE = 7.0
FLOOR = 0.01


def calibrated(scores, temperature):
    """Probabilities, (n_samples, n_classes), for `class_scores`."""
    return softmax(temperature * scores)


def raised(probabilities, exponent):
    """Probabilities to this power, but no 0, over their sum."""
    return _native.raised(probabilities, FLOOR, exponent)


def find_exponent(probabilities, shares, sample_weight):
    """Find the exponent of `raised` with the smallest log-loss; arguments as in `find_temperature`."""
    return find_temperature(np.log(probabilities + FLOOR), shares, sample_weight)


def least_squares_loss(scores, shares, weight):
    """The sum of the samples' log-losses at the temperature of `find_temperature`; where scores are not known, that
    of the mean shares."""
    temperature = find_temperature(scores, shares, weight)
    p = np.broadcast_to(weight @ shares / weight.sum(), shares.shape).copy()
    known = np.isfinite(scores).all(axis=1)
    p[known] = calibrated(class_scores(scores[known]), temperature)
    return -(weight @ (shares * np.log(np.maximum(p, np.finfo(float).tiny))).sum(axis=1))


def find_temperature(scores, shares, sample_weight):
    """Find the temperature with the smallest log-loss.

    An additional misclassified sample keeps it finite if all samples are classified correctly. ``scores``
    (n_samples, n_outputs) are leave-one-out ones, rows with NaN are ignored; ``shares`` (n_samples,
    n_classes) are 1 for the class of the sample and 0 for others, or probabilities.
    """
    known = np.isfinite(scores).all(axis=1)
    if sample_weight is not None:
        known &= sample_weight > 0.0
    if not np.any(known):
        return _UNINFORMED
    scores, shares = class_scores(scores[known]), shares[known]
    weight = np.ones(len(shares)) if sample_weight is None else sample_weight[known]
    misclassified = np.eye(scores.shape[1])[:2]
    scores, shares = np.vstack([scores, misclassified[0]]), np.vstack([shares, misclassified[1]])
    weight = np.append(weight, min(weight.mean(), 1.0))
    own = (shares * scores).sum(axis=1)

    def slope(logarithm):
        """Slope of the loss, which is convex in the temperature."""
        expected = (softmax(np.exp(logarithm) * scores) * scores).sum(axis=1)
        return weight @ (expected - own)

    most = _MAX_LOG_TEMPERATURE
    if slope(-most) >= 0.0:
        return float(np.exp(-most))
    if slope(most) <= 0.0:
        return float(np.exp(most))
    return float(np.exp(brentq(slope, -most, most, xtol=1e-13)))
