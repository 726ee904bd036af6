"""Symmetric boosting without some of its features: many masks in one native call."""

import numpy as np

from fctree._native import boosting as _native
from fctree._native.core import LossKind
from fctree._training.samples import Samples, check_directions
from fctree._validation import count_threads
from fctree.boosting.base import BaseSymmetricBoosting
from fctree.inspection.masked_outputs import MaskedOutputs

_BYTES_AT_ONCE = 2**28  # of test scores that a call holds


class MaskedBoosting:
    """A symmetric boosting model and its continuations on masked data.

    Parameters
    ----------
    estimator : unfitted SymmetricBoostingRegressor or SymmetricBoostingClassifier
    min_iter : int
        Rounds of a continuation before patience counts.
    n_jobs : int or None
    """

    # Whether the noise of the splits is as strong again when a model is continued as at its
    # beginning: CatBoost's way, which costs coverage (docs/results/importance.md).
    restarts_noise = False

    def __init__(self, estimator, min_iter, n_jobs):
        self.estimator = estimator.set_params(early_stopping=True, warm_start=False, verbose=0)
        self.min_iter = min_iter
        if n_jobs is not None:
            estimator.set_params(n_jobs=n_jobs)

    def fit(self, parts):
        """The full model, on the training part."""
        self.parts = parts
        train, validation = parts.train, parts.validation
        self.estimator.fit(
            train.X,
            train.y,
            sample_weight=train.sample_weight,
            eval_set=(validation.X, validation.y, validation.sample_weight),
        )
        self.n_iter_ = self.estimator.n_iter_
        n_rounds = len(self.estimator.validation_score_) - 1
        self.stopped_early_ = n_rounds < self.estimator.max_iter
        return self

    def full_outputs(self):
        """Predictions of the full model for the test part."""
        return self._outputs(self.estimator._raw_predict(self.parts.test.X))

    def constant_outputs(self):
        """Predictions of the best constant."""
        raw = np.tile(self.estimator.baseline_, (len(self.parts.test), 1))
        return self._outputs(raw)

    def masked_outputs(self, masked, method, progress):
        """Test predictions of the models without the features of each mask, in order.

        Parameters
        ----------
        masked : ndarray of shape (n_masks, n_features), bool
        method : {"early_stopping", "dropout", "retrain"}
        progress : callable
            Called when a mask is done.

        Yields
        ------
        MaskedOutputs
        """
        one = 8 * len(self.parts.test) * self.estimator.n_outputs_
        together = max(1, _BYTES_AT_ONCE // one)
        for first in range(0, len(masked), together):
            some = self._boost(masked[first : first + together], method, progress)
            for row in range(len(some["seconds"])):
                yield MaskedOutputs(
                    self._outputs(some["test_raw"][row]),
                    int(some["n_rounds"][row]),
                    float(some["seconds"][row]),
                    bool(some["n_rounds"][row] < self.estimator.max_iter),
                )

    def _outputs(self, raw):
        model = self.estimator
        if hasattr(model, "classes_"):
            return model._probabilities(raw)
        return model._inverse_link(raw.copy())

    def _samples(self, part):
        targets = self.estimator._encode_targets(part.y, reset=False)
        return Samples(part.X, targets, part.sample_weight, None).native(None)

    def _boost(self, masked, method, progress):
        model, trees = self.estimator, None
        if method != "retrain":
            found = model.trees_
            trees = (
                found.split_feature,
                found.split_threshold,
                found.missing_right.view(np.uint8),
                found.leaf_values,
            )
        return _native.boost_masked(
            self._samples(self.parts.train),
            self._samples(self.parts.validation),
            self.parts.test.X,
            masked=np.ascontiguousarray(masked).view(np.uint8),
            replacement=self.parts.replacement,
            trees=trees,
            thresholds=model.bin_thresholds_,
            monotone=check_directions(model, n_outputs=model.n_outputs_),
            baseline=None if trees is None else model.baseline_,
            loss=LossKind[model._loss_kind()].value,
            quantile=model._quantile_order(),
            n_outputs=model.n_outputs_,
            first_iteration=0 if trees is None or self.restarts_noise else model.n_iter_,
            min_rounds=self.min_iter,
            params=model._native_params(0 if method == "dropout" else model.max_iter),
            listener=lambda mask, n_rounds, loss: progress(),
            n_threads=count_threads(model.n_jobs),
        )


def is_boosting(estimator):
    """Whether masks of this estimator can be grown together."""
    return isinstance(estimator, BaseSymmetricBoosting)
