"""Callbacks for boosting: functions that `fit` calls after each round and that can stop it.

A callback is any function ``callback(round, scores)``. ``round`` is the number of rounds that the
model has, ``scores`` the losses after the last one by data set and name, such as
``{"training": {"loss": 0.31}, "valid_0": {"loss": 0.35}}``. It returns True to stop.
"""

from __future__ import annotations

import math
import time
from numbers import Real

from fctree._typing import Callback, RoundScores

__all__ = ["max_time"]


def max_time(seconds: float) -> Callback:
    """Make a callback that stops a fit after some time.

    The rounds grown until then, at least one, are kept. Their number depends on the machine.

    Parameters
    ----------
    seconds : float
        Wall-clock time from this call on, positive; in later fits with the same callback, as in
        cross-validation, from their first round on. A started round is completed, so a fit can take a round
        longer. Further models of the fit (`posterior_samples`, `calibration_fraction`) have as many rounds;
        their time is estimated and reserved.

    Returns
    -------
    callback : callable
        Callback for `fit`, usable by one fit at a time.

    Raises
    ------
    TypeError
        If `seconds` is not a number.
    ValueError
        If it is not positive.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fctree import SymmetricBoostingRegressor
    >>> from fctree.callbacks import max_time
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SymmetricBoostingRegressor(max_iter=20).fit(X, y, callbacks=max_time(60))
    >>> model.n_iter_
    20
    """
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise TypeError(f"seconds must be a number, got {seconds!r}")
    if math.isnan(seconds) or seconds <= 0:
        raise ValueError(f"seconds must be positive, got {seconds!r}")
    return TimeLimit(float(seconds))


class TimeLimit:
    """Callback of `max_time`; the time is for ``n_models`` of as many rounds, grown one after the other."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.n_models = 1
        self._begun, self._last = time.monotonic(), 0.0

    def start_fit(self, n_models: int) -> None:
        """Expect a fit of so many models; that of a model that is continued begins with a later round."""
        self.n_models = n_models
        if self._last:
            self._last = math.inf

    def __call__(self, round: int, scores: RoundScores) -> bool:
        now = time.monotonic()
        if round <= self._last:  # of another fit
            self._begun = now
        self._last = round
        return (now - self._begun) * self.n_models >= self.seconds
