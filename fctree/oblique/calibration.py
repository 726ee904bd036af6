"""Probabilities of classes from predicted indicators, calibrated by one temperature, or by an exponent and shifts.

Scores of ridge models of class indicators can leave [0, 1]. Probabilities are the softmax of the
scores times a temperature t (for two classes, the logistic function of ``2 t (s - 1/2)``), which
keeps the order of the classes. t minimises the log-loss of the training samples, each
scored by its leaf's model fitted without it.

A forest's probabilities p, in effect means over trees, are less certain than so many trees together should be, and can be 0;
those of rare classes with large weights are too small for samples that did not grow the trees. They become the softmax of
``t * log(p + FLOOR) + b``, with t and a b for each class that are found on out-of-bag predictions.
"""

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from fctree._native import probabilities as _native
from fctree._native.probabilities import softmax
from fctree.oblique.class_scores import class_scores

# Temperature if no leave-one-out score is known: the probability of one of two classes is its score, near 1/2.
_UNINFORMED = 2.0
_MAX_LOG_TEMPERATURE = 7.0
FLOOR = 0.01
_SHIFT_PENALTY = 3.0  # of half the squared shifts, as a number of samples
_MOST_STEPS = 100
_ROUNDING = 1e-15  # of the loss


def calibrated(scores, temperature):
    """Probabilities, (n_samples, n_classes), for `class_scores`."""
    return softmax(temperature * scores)


def raised(probabilities, exponent, shifts):
    """The softmax of ``exponent * log(probabilities + FLOOR) + shifts``."""
    return _native.raised(probabilities, FLOOR, exponent, shifts)


def even_share(exponent, shifts):
    """The share of the second of two classes to which `raised` gives 1/2; outside of [0, 1] if it gives that to none."""
    return float((1.0 + 2.0 * FLOOR) * expit((shifts[0] - shifts[1]) / exponent) - FLOOR)


def find_calibration(probabilities, shares, sample_weight):
    """Find the exponent and the shifts of `raised` with the smallest log-loss, penalised by the squares of the shifts.

    Arguments are those of `find_temperature`, without NaN and weights of 0, and so is the additional misclassified
    sample. The loss is convex in exponent and shifts: Newton's method.
    """
    weight = np.ones(len(shares)) if sample_weight is None else sample_weight
    loss = _ShiftedLoss(np.log(probabilities + FLOOR), shares, weight)
    least = np.exp(-_MAX_LOG_TEMPERATURE)
    found = np.append(1.0, np.zeros(shares.shape[1]))
    value, slope, curvature = loss(found)
    for _ in range(_MOST_STEPS):
        free = np.arange(len(found)) >= int(found[0] <= least and slope[0] >= 0.0)
        step = np.zeros(len(found))
        try:
            step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        except LinAlgError:  # beside a huge weight the others round to nothing
            break
        if not -slope @ step > _ROUNDING * value:
            break
        size = min(1.0, (least - found[0]) / step[0]) if found[0] + step[0] < least else 1.0
        whole = size
        while (tried := loss(found + size * step))[0] > value and size > _ROUNDING:
            size *= 0.5
        if size < whole and not tried[0] < value:  # beside a huge weight the gain is rounding
            break
        found = found + size * step
        found[0] = max(found[0], least)
        value, slope, curvature = tried
    return float(found[0]), found[1:]


class _ShiftedLoss:
    """Log-loss of the softmax of ``t * logarithms + b``, its slope and its second derivatives by (t, b)."""

    def __init__(self, logarithms, shares, weight):
        self.logarithms, self.shares, self.weight = logarithms, shares, weight[:, np.newaxis]
        self.unit = min(weight.mean(), 1.0)

    def __call__(self, parameters):
        exponent, shifts = parameters[0], parameters[1:]
        n_classes = len(shifts)
        logits = exponent * self.logarithms + shifts
        total = logsumexp(logits, axis=1, keepdims=True)
        p = np.exp(logits - total)
        penalty = _SHIFT_PENALTY * self.unit
        wrong = 1.0 / (1.0 + (n_classes - 1) * np.exp(-exponent))  # the additional sample's share of a class not its own
        value = (self.weight * self.shares * (total - logits)).sum() + 0.5 * penalty * (shifts @ shifts)
        value += self.unit * (exponent - np.log(wrong))
        error = self.weight * (p - self.shares)
        slope = np.append((error * self.logarithms).sum() + self.unit * wrong, error.sum(axis=0) + penalty * shifts)
        weighted = self.weight * p
        spread = weighted * (self.logarithms - (p * self.logarithms).sum(axis=1, keepdims=True))
        curvature = np.empty((1 + n_classes, 1 + n_classes))
        curvature[0, 0] = (spread * self.logarithms).sum() + self.unit * wrong * (1.0 - wrong)
        curvature[0, 1:] = curvature[1:, 0] = spread.sum(axis=0)
        of_classes = weighted.sum(axis=0)
        curvature[1:, 1:] = np.diag(of_classes + penalty) - weighted.T @ p
        curvature[1:, 1:] += of_classes.mean()  # keeps the sum of the shifts 0, beside weights of any size
        return value, slope, curvature


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
    with np.errstate(under="ignore"):
        if slope(-most) >= 0.0:
            return float(np.exp(-most))
        if slope(most) <= 0.0:
            return float(np.exp(most))
        return float(np.exp(brentq(slope, -most, most, xtol=1e-13)))
