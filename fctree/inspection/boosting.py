"""Symmetric boosting without some of its features: many masks in one native call."""

import copy

import numpy as np

from fctree._native import symmetric as _native
from fctree._threads import count_threads
from fctree._training.class_weights import weigh_classes
from fctree._training.losses import refuse_function
from fctree._training.samples import Samples
from fctree._training.tree_constraints import check_interactions, check_monotone_constraints
from fctree.symmetric.base import BaseSymmetricBoosting
from fctree.inspection.masked_outputs import MaskedOutputs

_BYTES_AT_ONCE = 2**28  # of test scores that a call holds
_TASKS_A_THREAD = 4  # where masks are spread over workers


class MaskedBoosting:
    """A symmetric boosting model and its continuations on masked data, of at least ``min_iter`` rounds.

    ``workers`` are Dask workers that train the models instead of this process, or None.
    """

    def __init__(self, estimator, min_iter, n_jobs, workers=None):
        refuse_function(estimator.loss, "for importances of models that are trained again")
        self.estimator = estimator.set_params(early_stopping=True, warm_start=False, verbose=0)
        self.min_iter = min_iter
        self.workers = workers
        if n_jobs is not None:
            estimator.set_params(n_jobs=n_jobs)

    def fit(self, parts):
        """The full model, on the training part."""
        self.parts = parts
        if self.workers is None:
            self.estimator = _fit_full(parts, self.estimator)
        else:
            self.workers.keep("parts", parts)
            (self.estimator,) = self.workers.each(_fit_on_worker, ["parts"], [self.estimator])
            self.workers.keep("full", self.estimator)
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
        """Yield the `MaskedOutputs` of the models without the features of each mask (n_masks, n_features),
        in order; ``progress()`` is called when a mask is done."""
        one = 8 * len(self.parts.test) * self.estimator.n_outputs_
        together = max(1, _BYTES_AT_ONCE // one)
        if self.workers is not None:
            yield from self._spread(masked, method, together, progress)
            return
        for first in range(0, len(masked), together):
            some = self._boost(masked[first : first + together], method, progress)
            for row in range(len(some["seconds"])):
                yield MaskedOutputs(
                    self._outputs(some["test_raw"][row]),
                    int(some["n_rounds"][row]),
                    float(some["seconds"][row]),
                    bool(some["n_rounds"][row] < self.estimator.max_iter),
                )

    def _spread(self, masked, method, together, progress):
        """Trains with several masks per task: few enough tasks to share a binned matrix, enough
        to balance the load of the workers."""
        n_tasks = _TASKS_A_THREAD * self.workers.n_threads
        together = min(together, -(-len(masked) // n_tasks))
        items = [
            (masked[first : first + together], method, self.min_iter)
            for first in range(0, len(masked), together)
        ]
        for results in self.workers.each(_run_on_worker, ["full", "parts"], items):
            for result in results:
                progress()
                yield result

    def _outputs(self, raw):
        model = self.estimator
        if hasattr(model, "classes_"):
            return model._probabilities(raw)
        return model._inverse_link(raw.copy())

    def _samples(self):
        """Samples to train on and those held out, as the core takes them."""
        model = self.estimator
        train, held = (
            Samples(part.X, model._encode_targets(part.y, reset=False), part.sample_weight, None)
            for part in (self.parts.train, self.parts.validation)
        )
        train, (held,) = weigh_classes(model, train.without_zero_weights(), [held])
        return train.native(None), held.native(None)

    def _boost(self, masked, method, progress):
        model = self.estimator
        trees = None if method == "retrain" else model.trees_

        def told(*of_mask):
            progress()

        return _native.boost_masked(
            *self._samples(),
            self.parts.test.X,
            masked=np.ascontiguousarray(masked).view(np.uint8),
            replacement=self.parts.replacement,
            trees=trees,
            thresholds=model.bin_thresholds_,
            monotone=check_monotone_constraints(model, n_outputs=model.n_outputs_),
            interactions=check_interactions(model),
            baseline=None if trees is None else model.baseline_,
            loss=model._choose_loss(),
            n_outputs=model.n_outputs_,
            # A continuation resumes the fading noise of the splits.
            first_iteration=0 if trees is None else model.n_iter_,
            min_rounds=self.min_iter,
            params=model._native_params(0 if method == "dropout" else model.max_iter),
            listener=told,
            n_threads=count_threads(model.n_jobs),
        )


def is_boosting(estimator):
    """Whether masks of this estimator can be trained together: not of features made of categories."""
    return isinstance(estimator, BaseSymmetricBoosting) and not names_categories(estimator)


def names_categories(estimator):
    """Whether an estimator is told of columns that hold categories."""
    named = estimator.categorical_features
    return named is not None and not isinstance(named, str) and np.size(named) > 0


def _fit_full(parts, estimator):
    train, validation = parts.train, parts.validation
    return estimator.fit(
        train.X,
        train.y,
        sample_weight=train.sample_weight,
        eval_set=(validation.X, validation.y, validation.sample_weight),
    )


def _fit_on_worker(parts, estimator):
    from fctree.dask.cluster import threads_here

    n_jobs = estimator.n_jobs
    _fit_full(parts, estimator.set_params(n_jobs=threads_here()))
    return estimator.set_params(n_jobs=n_jobs)


def _run_on_worker(estimator, parts, item):
    """The outputs of some masks; each thread of a worker runs one task."""
    masked, method, min_iter = item
    # A copy: other tasks of this process have the same estimator.
    models = MaskedBoosting(copy.copy(estimator), min_iter, 1)
    models.parts = parts
    return list(models.masked_outputs(masked, method, lambda: None))
