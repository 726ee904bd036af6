"""Wald intervals, one-sided tests, and when they are not valid.

An importance is a difference of two scores of the same samples. Its influence function vanishes
with it: at 0 the interval is too short and the test rejects too often or never (Williamson,
Gilbert, Simon and Carone, 2023, section 3.4). Scores on disjoint halves of the test samples have
influence functions that do not vanish: the test uses that error, or a part of it, at the price of power.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm, t

# Within so many half-widths of its interval from 0 an importance is near 0. At 0, the difference
# of the two models' own errors moves the estimate by about 2 stderr: delta^2 compared with 2 sigma
# delta / sqrt(n), delta a tenth of the noise sigma and n a thousand.
_NEAR = 2.0
# Samples that judge: of fewer, errors are not known and means are not normal.
_FEWEST = 10


@dataclass(frozen=True, eq=False)
class Interval:
    """Standard errors, limits, tests and whether to trust them; one entry per group."""

    stderr: np.ndarray
    limits: np.ndarray
    p_values: np.ndarray
    trusted: np.ndarray


def wald(values, stderr, level, null_stderr, n_samples, *, valid_at_0=False):
    """Intervals of estimates (n_groups,) with normal errors, at a confidence level.

    ``null_stderr`` are standard errors that are valid at 0 too; the test uses them, with the tails of Student's t as
    ``n_samples`` judge a model. Where an error is 0, p is NaN.
    """
    quantile = norm.ppf(0.5 + level / 2)
    limits = np.stack([values - quantile * stderr, values + quantile * stderr], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(null_stderr > 0, values / null_stderr, np.nan)
    p_values = np.where(values == 0, 0.5, t.sf(ratio, n_samples - 1))
    trusted = (stderr > 0) & (valid_at_0 | (values > _NEAR * quantile * stderr)) & (n_samples >= _FEWEST)
    return Interval(stderr, limits, p_values, trusted)


def doubts(names, trusted, n_samples, remedy=""):
    """The warning of the groups whose interval is not to be trusted, if there are any."""
    if n_samples < _FEWEST:
        return [f"{n_samples} test samples are too few for intervals and p-values: {_FEWEST} are needed (test_fraction)"]
    near = [name for name, is_trusted in zip(names, trusted, strict=True) if not is_trusted]
    text = f"importances near 0, or without a standard error, whose intervals are too narrow{remedy}: "
    return [text + ", ".join(near)] if near else []
