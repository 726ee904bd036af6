"""Conformity scores of training samples, and the intervals that they give.

The conformity score of a sample is the absolute error of a model that has not seen it, divided by
the scale of the errors where it lies. An interval reaches as many scales to both sides of a
prediction as the share `confidence_level` of the scores does: conformal prediction (Vovk,
Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005), with one more sample at
infinity for the one that is predicted.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from fctree._typing import ArrayLike, FloatArray
from fctree._validation import check_fitted
from fctree._warnings import warn

# Scores that are kept. Of more samples the rest is rounded up to the next kept one, so that an
# interval is that of a confidence level at most 1 / MOST_SCORES higher.
MOST_SCORES = 4096
# Least reach, as a share of a prediction: sums over samples and trees leave so much of rounding, which the
# conformity scores of constant targets need not show.
_ROUNDING = 256 * np.finfo(np.float64).eps


def weight_unit(weight):
    """Weight of one more sample: the mean of those that there are."""
    return 1.0 if weight is None or len(weight) == 0 else float(np.mean(weight))


def rank_scores(scores, weight):
    """Sort conformity scores (n_samples, n_outputs), at least 0, and find the level that each suffices for.

    ``weight`` (n_samples,) is positive. Returns scores and levels, (n_kept, n_outputs) and ascending: an
    interval for a level up to ``levels[k]`` reaches ``scores[k]``.
    """
    n_samples = len(scores)
    kept = np.arange(n_samples)
    if n_samples > MOST_SCORES:
        kept = np.ceil(n_samples * np.arange(1, MOST_SCORES + 1) / MOST_SCORES).astype(int) - 1
    if np.all(weight == weight[:1]):
        extra = weight_unit(weight) / weight[0] if n_samples else 1.0
        levels = np.repeat((kept + 1.0)[:, np.newaxis] / (n_samples + extra), scores.shape[1], axis=1)
        return np.sort(scores, axis=0)[kept], levels
    order = np.argsort(scores, axis=0, kind="stable")
    counted = np.cumsum(weight[order], axis=0)
    levels = counted / (counted[-1:] + weight_unit(weight))
    return np.take_along_axis(scores, order, axis=0)[kept], levels[kept]


def score_at(scores, levels, confidence_level):
    """The score that suffices for a confidence level, one an output; infinity if none does."""
    if len(scores) == 0:
        return np.full(scores.shape[1], np.inf)
    # Levels are quotients: what is above by rounding alone is enough.
    reached = levels >= confidence_level * (1.0 - 1e-12)
    first = np.argmax(reached, axis=0)
    columns = np.arange(scores.shape[1])
    return np.where(reached[first, columns], scores[first, columns], np.inf)


def check_confidence_level(confidence_level):
    """The level as a float, or TypeError or ValueError."""
    if not isinstance(confidence_level, Real):
        raise TypeError(f"confidence_level must be a number, got {confidence_level!r}")
    if not 0.0 < confidence_level < 1.0:
        raise ValueError(
            f"confidence_level must be between 0 and 1, both excluded, got {confidence_level!r}"
        )
    return float(confidence_level)


class PredictsIntervals:
    """Mixin of regressors with intervals.

    A subclass has ``_centres_and_scales(X)``, arrays (n_samples, n_outputs) of which the second may
    be one for below and one for above, (2, n_samples, n_outputs), then predictions that intervals are to hold
    where these are not the centres, and sets ``interval_scores_`` and ``interval_levels_`` in `fit`. No bound is
    below its ``_least_target``.
    """

    _single_target: bool
    interval_scores_: FloatArray
    interval_levels_: FloatArray
    _centres_and_scales: Any
    _least_target = -np.inf

    def predict_interval(self, X: ArrayLike, confidence_level: float = 0.9) -> FloatArray:
        """Predict intervals that contain about a share `confidence_level` of new targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        confidence_level : float, default=0.9
            Between 0 and 1. The interval of a level lies inside that of any higher level.

        Returns
        -------
        interval : array of shape (n_samples, 2), or (n_samples, n_outputs, 2) for targets of two \
                axes
            Lower and upper bound in the units of the targets, separately for each output. Infinite, with a
            warning, if there are too few samples for the level: fewer than about
            ``confidence_level / (1 - confidence_level)``.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or the fit kept no conformity scores; the message states
            the reason.
        """
        check_fitted(self)
        level = check_confidence_level(confidence_level)
        self._prepare_intervals()
        if not hasattr(self, "interval_scores_"):
            raise ValueError(self._why_without_intervals())
        centres, scales, *predictions = self._centres_and_scales(X)
        score = score_at(self.interval_scores_, self.interval_levels_, level)
        # Infinity times a scale of 0 is infinity here.
        reach = np.where(np.isfinite(score), np.nan_to_num(score, posinf=0.0) * scales, np.inf)
        if not np.all(np.isfinite(score)):
            warn(
                f"intervals are infinite: confidence_level={level} needs about {level / (1.0 - level):.0f} conformity scores "
                f"or more, and there are {len(self.interval_scores_)}",
                RuntimeWarning,
            )
        reach = np.maximum(reach, _ROUNDING * np.abs(centres))
        below, above = reach if reach.ndim > centres.ndim else (reach, reach)
        with np.errstate(invalid="ignore"):  # of predictions that overflow intervals are all numbers
            lower, upper = centres - below, centres + above
        lower, upper = np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)
        lower = np.maximum(np.minimum.reduce([lower, *predictions]), self._least_target)
        interval = np.stack([lower, np.maximum.reduce([upper, *predictions])], axis=-1)
        return interval[:, 0] if self._single_target else interval

    def _prepare_intervals(self):
        """Compute what `fit` did not; for subclasses."""

    def _keep_conformity_scores(self, scores, weight):
        """Keep the scores of training samples whose error without them is known, given the weights of these."""
        self.interval_scores_, self.interval_levels_ = rank_scores(scores, weight)

    def _drop_intervals(self):
        """Forget those of an earlier fit."""
        for name in ("interval_scores_", "interval_levels_", "interval_scales_"):
            vars(self).pop(name, None)

    def _why_without_intervals(self):
        return (
            f"this {type(self).__name__} holds no conformity scores to predict intervals with: it "
            "was fitted by fctree 0.1, on Dask or by distill; fit it to targets in one process"
        )
