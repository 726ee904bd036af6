"""Targets that are cut off where they are wild, for the statistics of robust losses: in the mean of a category a
wild target would count as it does not in the loss."""

import numpy as np

_REACH = 3.0  # interquartile ranges beyond the quartiles: Tukey's far fences
_TAILS = (1 / 4, 1 / 16, 1 / 64, 0.0)


def target_limits(y, weight):
    """Limits at which targets (n_outputs, n_samples) are cut off, below and above: (n_outputs, 2)."""
    return np.array([_limits(row, np.ones(len(row)) if weight is None else weight) for row in y])


def _limits(row, weight):
    """Limits of one target; where half of the values are the same, wider quantiles take the place of the quartiles."""
    places = np.argsort(row, kind="stable")
    totals = np.cumsum(weight[places])
    for tail in _TAILS:
        shares = np.array([tail, 1.0 - tail]) * totals[-1]
        low, high = row[places[np.minimum(np.searchsorted(totals, shares), len(row) - 1)]]
        if low < high:
            break
    reach = _REACH * (high - low)
    return low - reach, high + reach


def cut_off(y, limits):
    """Targets within their limits; as they are where there are none."""
    return y if limits is None else np.clip(y, limits[:, :1], limits[:, 1:])
