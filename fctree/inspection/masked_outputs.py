"""Predictions of models without some features, mask by mask."""

import time
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, parallel_config

from fctree._threads import count_threads, one_thread
from fctree.inspection.scores import target_of


@dataclass(eq=False)
class MaskedOutputs:
    """Predictions of a model without some features for the test part, and their cost.

    ``n_iter`` are rounds of training, ``stopped_early`` says whether validation ended it.
    """

    outputs: np.ndarray
    n_iter: int
    seconds: float
    stopped_early: bool


class MaskedModels:
    """An untrained model of the warm-start protocol and its continuations, one by one.

    ``n_jobs`` masks are processed at a time; linear algebra runs on one thread in each, so results are the
    same bytes for any number. ``workers`` are Dask workers that train the models, or None.
    """

    def __init__(self, model, n_jobs, workers):
        self.untrained = model
        self.n_jobs = n_jobs
        self.workers = workers

    def fit(self, parts):
        """The full model, on the training part."""
        self.parts = parts
        if self.workers is None:
            self.full = _fit_full(parts, self.untrained)
        else:
            self.workers.keep("parts", parts)
            (self.full,) = self.workers.each(_fit_full, ["parts"], [self.untrained])
            self.workers.keep("full", self.full)
            self.workers.keep("untrained", self.untrained)
        if self.full is None:
            raise TypeError(f"{type(self.untrained).__name__}.fit must return self")
        self.n_iter_ = self.full.n_iter_
        self.stopped_early_ = self.full.stopped_early_
        return self

    def full_outputs(self):
        """Predictions of the full model for the test part."""
        with one_thread():
            return self.full.predict(self.parts.test.X)

    def constant_outputs(self):
        """Predictions of the best constant: the mean of the training targets, or the class
        frequencies."""
        target = target_of(self.parts.train)
        values = target.y if target.n_classes is None else np.eye(target.n_classes)[target.y]
        mean = target.mean(values)
        return np.broadcast_to(mean, (len(self.parts.test), *np.shape(mean))).copy()

    def masked_outputs(self, masked, method, progress):
        """Test predictions of the models without the features of each mask, in order; see
        `MaskedBoosting.masked_outputs`."""
        if self.workers is not None:
            model = "untrained" if method == "retrain" else "full"
            items = [(mask, method) for mask in masked]
            for result in self.workers.each(_run_on_worker, [model, "parts"], items):
                progress()
                yield result
            return
        model = self.untrained if method == "retrain" else self.full
        n_jobs = min(count_threads(self.n_jobs), len(masked))
        calls = (delayed(_run_mask)(model, self.parts, mask, method) for mask in masked)
        # Threads for models that say so, whose work is outside the interpreter.
        backend = "threading" if getattr(model, "prefers_threads", False) else "loky"
        if n_jobs == 1:
            backend = "sequential"
        limits = {"inner_max_num_threads": 1} if backend == "loky" else {}
        with one_thread(), parallel_config(backend=backend, **limits):
            for result in Parallel(n_jobs=n_jobs, return_as="generator")(calls):
                progress()
                yield result


def _fit_full(parts, untrained):
    with one_thread():
        return untrained.copy().fit(parts.train, parts.validation)


def _run_on_worker(model, parts, item):
    return _run_mask(model, parts, *item)


def _run_mask(model, parts, mask, method):
    """`MaskedOutputs` of one mask. The caller holds linear algebra to one thread: a limit takes longer to set than a
    linear model to fit."""
    begun = time.perf_counter()
    test = parts.test.replace(mask, parts.replacement)
    n_iter, stopped_early = 0, True
    if method != "dropout":
        train = parts.train.replace(mask, parts.replacement)
        validation = parts.validation.replace(mask, parts.replacement)
        model = model.copy()
        trained = model.fit if method == "retrain" else model.continue_fit
        trained(train, validation)
        n_iter, stopped_early = model.n_iter_, model.stopped_early_
    outputs = model.predict(test.X)
    return MaskedOutputs(outputs, n_iter, time.perf_counter() - begun, stopped_early)
