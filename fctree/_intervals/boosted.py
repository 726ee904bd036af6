"""Intervals of boosting: quantile models of the errors, made honest on samples not seen.

On a part of the samples a model like the fitted one is grown, and two models of the quantiles of
what it leaves: how far targets lie below and above its predictions. On the held-out samples it is
measured how many times as far an interval has to reach (conformalized quantile regression:
Romano, Patterson and Candès, NeurIPS 2019, for residuals). Intervals are about the predictions of that model,
which the held-out samples have not moved: one gross error among them would move the fitted one.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from fctree._intervals.conformity import PredictsIntervals
from fctree._threads import count_threads
from fctree._training.boosted import raw_scores
from fctree._training.losses import quantile_of
from fctree._training.samples import hold_out
from fctree._typing import FloatArray

QUANTILES = (0.1, 0.9)
# Rounds of the quantile models, as a share of the model's: errors have less structure than targets.
_ROUNDS = 1.0 / 3.0
# Smallest reach to a side, as a share of the mean one.
_LEAST_REACH = 0.1


class BoostedIntervals(PredictsIntervals):
    """Intervals of a boosting regressor with `calibration_fraction`."""

    calibration_fraction: float | None
    interval_trees_: list[Any]
    interval_baselines_: FloatArray
    interval_reach_: FloatArray
    n_iter_: int
    n_outputs_: int
    n_jobs: int | None
    trees_: Any
    baseline_: FloatArray
    _random_seed: int
    _check_rows: Any
    _inverse_link: Any
    _boost: Any

    def _after_fit(self, train):
        super()._after_fit(train)
        self._drop_intervals()
        if self.calibration_fraction is not None:
            self._calibrate(train)

    def _drop_intervals(self):
        super()._drop_intervals()
        for name in ("interval_trees_", "interval_baselines_", "interval_reach_"):
            vars(self).pop(name, None)

    def _calibrate(self, train):
        """Grow the models on a part of the samples, and rank the errors of the rest."""
        if train.initial is not None:
            raise ValueError("calibration_fraction and init_score exclude each other")
        grown, held = hold_out(
            train, False, self.calibration_fraction, self._random_seed, "calibration_fraction"
        )
        middle = {} if quantile_of(self) is None else {"loss": "quantile", "quantile": 0.5}
        centre = self._grown_on(grown, early_stopping=False, max_iter=max(self.n_iter_, 1), **middle)
        errors = grown.y.T - self._predicted(centre.trees_, centre.baseline_, grown.X)
        left = replace(grown, y=np.ascontiguousarray(errors.T))
        n_rounds = max(1, int(np.ceil(self.n_iter_ * _ROUNDS)))
        models = [
            self._grown_on(
                left, loss="quantile", quantile=quantile, early_stopping=False,
                max_iter=n_rounds, monotonic_cst=None,  # which is that of the prediction, not of its errors
            )
            for quantile in QUANTILES
        ]
        models = [centre, *models]
        self.interval_trees_ = [model.trees_ for model in models]
        self.interval_baselines_ = np.stack([model.baseline_ for model in models])
        self.interval_reach_ = np.zeros((2, self.n_outputs_))
        errors = held.y.T - self._predicted(centre.trees_, centre.baseline_, held.X)
        weight = np.ones(len(held.X)) if held.weight is None else held.weight
        mean = np.average(self._reaches(held.X), axis=1, weights=weight)
        unknown = np.average(np.abs(errors), axis=0, weights=weight)
        self.interval_reach_ = _LEAST_REACH * np.where(mean > 0.0, mean, unknown)
        below, above = self._reaches(held.X)
        reach = np.where(errors < 0.0, below, above)
        scores = np.abs(errors) / np.where(reach > 0.0, reach, 1.0)
        self._keep_conformity_scores(scores, weight)

    def _grown_on(self, samples, **settings):
        """A copy with other settings, fitted to these samples."""
        model = copy.copy(self)
        settings |= {"posterior_samples": 0, "verbose": 0}
        vars(model).update({k: v for k, v in settings.items() if hasattr(self, k)})
        model._boost(samples, [], continuing=False)
        return model

    def _predicted(self, trees, baseline, X):
        """Predictions of some trees for validated features, (n_samples, n_outputs)."""
        scores = raw_scores(trees, baseline, X, count_threads(self.n_jobs))
        return self._inverse_link(scores).reshape(len(X), -1)

    def _reaches(self, X):
        """Distances of targets below and above predictions, (2, n_samples, n_outputs)."""
        below, above = (
            raw_scores(trees, baseline, X, count_threads(self.n_jobs))
            for trees, baseline in zip(self.interval_trees_[1:], self.interval_baselines_[1:], strict=True)
        )
        return np.maximum(np.stack([-below, above]), self.interval_reach_[:, np.newaxis])

    @property
    def _least_target(self):
        return 0.0 if self._has_log_link else -np.inf

    def _centres_and_scales(self, X):
        X = self._check_rows(X)
        centres = self._predicted(self.interval_trees_[0], self.interval_baselines_[0], X)
        return centres, self._reaches(X), self._predicted(self.trees_, self.baseline_, X)

    def _why_without_intervals(self):
        return (
            f"this {type(self).__name__} was fitted without calibration_fraction: intervals need "
            "it, such as calibration_fraction=0.2, and another fit"
        )
