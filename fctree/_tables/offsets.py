"""Targets relative to the scores that samples start from (`init_score`): what statistics are of.

A model adds to these scores, so that the mean target of a category would mix its own effect with that of its scores F.
"""

import numpy as np
from scipy.special import softmax

from fctree._training.losses import LOSSES

_MOST_LOG = 100.0  # exp of scores beyond would make statistics overflow
_LEAST_VARIANCE = 1e-4  # of a class


def relative_targets(y, weight, initial, loss, n_classes):
    """Targets (n_outputs, n_samples) relative to scores of the same shape, and their weights.

    ``loss`` is a name and a parameter. Of an identity link y - F. Of a log link y / exp(F), weighted by exp(F) to the
    power of 2 - p, p being that of the mean in the variance (1 of Poisson, 2 of gamma), as in a fit to
    counts per exposure, where only ratios of weights matter. Of classes with probabilities q at F their working
    responses (y - q) / (1 - sum of q**2), which are weighted by the divisor; of two classes those of the second.
    """
    weight = np.ones(y.shape[1]) if weight is None else weight
    name, parameter = loss
    if LOSSES[name].link == "log":
        scores = np.clip(initial, -_MOST_LOG, _MOST_LOG)
        power = {"poisson": 1.0, "gamma": 2.0}.get(name, parameter)
        level = scores.mean(axis=0)
        return y * np.exp(-scores), weight * np.exp((2.0 - power) * (level - level.max()))
    if n_classes is None:
        return y - initial, weight
    if len(initial) == 1:
        initial = np.concatenate([np.zeros_like(initial), initial])
    chances = softmax(initial, axis=0)
    variance = np.maximum(1.0 - np.sum(chances**2, axis=0), _LEAST_VARIANCE)
    responses = ((np.arange(n_classes)[:, np.newaxis] == y) - chances) / variance
    return responses[1:] if n_classes == 2 else responses, weight * variance
