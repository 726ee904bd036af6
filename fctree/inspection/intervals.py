"""Wald intervals, one-sided tests, and where neither is to be trusted.

An importance is a difference of two scores of the same samples. Its influence function vanishes
with it: at 0 the interval is too short and the test rejects too often or never (Williamson,
Gilbert, Simon and Carone, 2023, section 3.4). Scores on disjoint halves of the test samples have
influence functions that do not vanish; the error of that comparison also tells whether an
importance is far enough from 0 for the shorter interval.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm


@dataclass(frozen=True, eq=False)
class Interval:
    """Standard errors, limits, tests and whether to trust them; an entry a group."""

    stderr: np.ndarray
    limits: np.ndarray
    p_values: np.ndarray
    trusted: np.ndarray


def wald(values, stderr, level, null_stderr):
    """Intervals of estimates with normal errors.

    Parameters
    ----------
    values, stderr : ndarray of shape (n_groups,)
    level : float
        Confidence level.
    null_stderr : ndarray of shape (n_groups,)
        Standard errors that hold at 0 too: an estimate that they do not part from 0 is near it.
        The test is by these.
    """
    quantile = norm.ppf(0.5 + level / 2)
    limits = np.stack([values - quantile * stderr, values + quantile * stderr], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(null_stderr > 0, values / null_stderr, np.sign(values) * np.inf)
    p_values = np.where(values == 0, 0.5, norm.sf(ratio))
    trusted = values > quantile * null_stderr
    return Interval(stderr, limits, p_values, trusted)
