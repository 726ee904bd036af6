"""The frame of a boosted fit: what is checked, held out and drawn before trees are grown."""

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from fctree._native_input import native_params
from fctree._tables.estimators import TABLE_CONSTRAINTS, TakesTables, encode_samples
from fctree._training.constraints import TRAINING_CONSTRAINTS
from fctree._training.losses import choose_loss
from fctree._training.samples import Samples, check_init_score, validation_samples
from fctree._validation import check_sample_weight, unchanged_on_failure

ROUND_CONSTRAINTS = {
    "learning_rate": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "subsample": [Interval(Real, 0, 1, closed="right")],
    "colsample": [Interval(Real, 0, 1, closed="right")],
    "l2_leaf_reg": [Interval(Real, 0, None, closed="left")],
    **TRAINING_CONSTRAINTS,
    **TABLE_CONSTRAINTS,
}


class BaseBoosting(TakesTables, BaseEstimator):
    """Boosted trees of any kind.

    A family has _check_data, what validates its X and y, and _boost(train, validation,
    continuing=), which grows trees_; an estimator has _encode_targets(y, reset=), y as float64
    (n_targets, n_samples).
    """

    _classification = False

    def _fit_rounds(self, X, y, sample_weight, eval_set, init_score):
        with unchanged_on_failure(self):
            continuing = self.warm_start and hasattr(self, "trees_")
            X, y = self._check_data(X, y, reset=not continuing, classification=self._classification)
            targets = self._encode_targets(y, reset=not continuing)
            weight = check_sample_weight(sample_weight, X)
            initial = check_init_score(init_score, len(X), self.n_outputs_)
            train = Samples(X, targets, weight, initial).without_zero_weights()
            if not continuing:
                self._random_seed = int(
                    check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64)
                )
            train, validation = validation_samples(self, train, eval_set)
            n_classes = self.n_classes_ if self._classification else None
            encode_samples(self, train, validation, n_classes=n_classes, continuing=continuing)
            self._boost(train, validation, continuing=continuing)
            if self.n_iter_ == 0:
                warnings.warn(
                    "early stopping kept no round: the validation loss was least before the first, "
                    "so that predictions are the constant baseline_; a smaller learning_rate, or "
                    "more validation samples, may help",
                    UserWarning,
                    stacklevel=4,
                )
            self._after_fit(train)
        return self

    def _after_fit(self, train):
        """Set further fitted attributes; for subclasses."""

    def _rounds_done(self, continuing):
        """The rounds of the model to continue, of which there may not be too many."""
        done = self.trees_.n_trees if continuing else 0
        if self.max_iter < done:
            raise ValueError(
                f"max_iter={self.max_iter} must be at least the {done} rounds that a warm "
                f"start continues from"
            )
        return done

    def _round_params(self, n_rounds):
        """The core's parameters that all boosted trees have."""
        params = {
            "learning_rate": self.learning_rate,
            "max_iter": n_rounds,
            "subsample": self.subsample,
            "colsample": self.colsample,
            "l2_leaf_reg": self.l2_leaf_reg,
            "early_stopping": self.early_stopping,
            "n_iter_no_change": self.n_iter_no_change,
            "tol": self.tol,
            "seed": self._random_seed,
        }
        return native_params(params)

    def _choose_loss(self):
        return choose_loss(self)
