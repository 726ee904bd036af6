"""A fit that workers do together: each runs the plain estimator's own on its rows, in lockstep.

All that depends on the rows of all goes through a `Collective`, from which every worker gets the same
bytes. So all take the same decisions and have the same model in the end. Where a worker is lost, the
others break off and return the rounds that are done; the fit goes on from them on the workers that are
there, as a warm start does.
"""

import uuid
from contextlib import contextmanager

import numpy as np
from distributed import CancelledError, KilledWorker, TimeoutError, secede, wait

from fctree._native.core import Places
from fctree._parameters import fitted_attributes
from fctree.dask.cluster import POLL_SECONDS, Watch, WorkerLost, settle, threads_here
from fctree.dask.collective import Collective, PeerLost, end_fit, listen, losses_since

# A fit that loses workers again and again is given up.
_MOST_LOSSES = 5


class FitWorker:
    """A worker's part in a fit, as the estimators know it (`fctree._training.worker`)."""

    def __init__(self, collective):
        self.places = Places(collective.reduce, collective.rank, collective.size)
        self.places.agree_on_instructions()
        self.collective = collective

    @contextmanager
    def listener(self, estimator, n_rounds):
        yield self.collective.tell

    def placed(self, train, evals):
        return train.blocks, [samples.blocks for samples in evals], train.sample


def _take_part(fit, addresses, local, train, evaluation):
    """A worker's part: returns what the estimator has learnt, and whether that is all.

    ``local`` is this task's own: Dask pickles arguments, also for workers of one process. ``train`` and
    ``evaluation`` are ``(parts, layout)``: `Partition`s, and what makes samples of them. ``evaluation`` is
    None for none at all, and empty where others have some.
    """
    secede()  # while it waits for others, another fit may have its turn
    local.n_jobs = threads_here()
    goes_on = hasattr(local, "trees_")
    with Collective(fit, addresses) as collective:
        worker = FitWorker(collective)
        samples = train[1].samples(train[0])
        evals = []
        if evaluation is not None:
            parts, layout = evaluation or (None, None)
            evals = [layout.samples(parts) if parts else samples.none()]
        try:
            local._boost(samples, evals, continuing=goes_on, worker=worker)
        except KeyboardInterrupt:
            raise worker.places.error from None
    is_broken_off, n_rounds = worker.places.history
    if n_rounds < 0:  # the best round is among those before
        local._keep_first(local.n_iter_ + n_rounds)
    return fitted_attributes(local), not is_broken_off


class DistributedFit:
    """A fit as the client sees it.

    ``local`` is the plain estimator, with all that is known before trees are grown; ``train`` and
    ``evaluation`` (or None) know where their rows are: ``place(client, workers)`` returns the
    ``(parts, layout)`` of each worker that has any.
    """

    def __init__(self, client, local, train, evaluation):
        self.client = client
        self.local = local
        self.train = train
        self.evaluation = evaluation
        self.name = uuid.uuid4().hex
        self.n_attempts = self.n_losses = self.n_told = 0

    def run(self, listener):
        """The fitted estimator; ``listener(iteration, train_loss, eval_loss)`` hears of the rounds.

        Raises
        ------
        RuntimeError
            Where workers are lost more than a few times.
        """
        while True:
            try:
                if self._attempt(listener):
                    break
                raise WorkerLost("workers lost each other")
            except WorkerLost as error:
                self.n_losses += 1
                if self.n_losses > _MOST_LOSSES:
                    raise RuntimeError(
                        f"the fit lost workers {self.n_losses} times and was given up after "
                        f"{getattr(self.local, 'n_iter_', 0)} rounds: {error}"
                    ) from error
        if listener is not None:
            self._tell_of_model(listener)
        return self.local

    def _tell_of_model(self, listener):
        scores = -self.local.train_score_, -self.local.validation_score_
        self._tell(listener, [
            (loss, scores[1][i] if len(scores[1]) else np.nan)
            for i, loss in enumerate(scores[0])
        ][1 + self.n_told :])

    def _tell(self, listener, losses):
        for train_loss, eval_loss in losses:
            listener(self.n_told, train_loss, eval_loss)
            self.n_told += 1

    def _attempt(self, listener):
        """Grows what rounds are missing on the workers that there are; whether all are done."""
        self.n_attempts += 1
        fit = f"{self.name}-{self.n_attempts}"
        workers, futures = self._submit(fit)
        try:
            self._wait(fit, workers, futures, listener)
            return self._take(futures)
        except BaseException as error:
            self.client.run(end_fit, fit, on_error="ignore")
            if isinstance(error, WorkerLost):
                self._take_from_survivors(workers, futures)
            raise
        finally:
            self.client.cancel(futures)

    def _submit(self, fit):
        train = self.train.place(self.client, None)
        workers = list(train)
        self.client.run(listen, workers=workers, on_error="ignore")
        evaluation = dict.fromkeys(workers)
        if self.evaluation is not None:
            evaluation = dict.fromkeys(workers, ())
            evaluation.update(self.evaluation.place(self.client, workers))
        futures = [
            self.client.submit(
                _take_part, fit, workers, self.local, train[worker], evaluation[worker],
                workers=[worker], pure=False,
            )
            for worker in workers
        ]
        return workers, futures

    def _wait(self, fit, workers, futures, listener):
        """Waits until all are done or one has failed."""
        watch = Watch(self.client, workers)
        n_grown = getattr(self.local, "n_iter_", 0)
        if listener is not None and n_grown > 0:
            self._tell_of_model(listener)  # the rounds of an attempt that lost a worker
        while any(future.status == "pending" for future in futures):
            try:
                wait(futures, timeout=POLL_SECONDS)
            except TimeoutError:
                watch.check()
                if any(future.status not in ("pending", "finished") for future in futures):
                    return
                if listener is not None:
                    first = workers[:1]
                    found = self.client.run(losses_since, fit, self.n_told - n_grown, workers=first, on_error="ignore")
                    self._tell(listener, found.get(workers[0], ()))
            except CancelledError as error:
                raise WorkerLost(str(error)) from error

    def _take(self, futures):
        """Takes in the model, or raises what a worker has raised first."""
        errors = [future.exception() for future in futures if future.status == "error"]
        try:
            for error in sorted(errors, key=lambda error: isinstance(error, PeerLost)):
                if isinstance(error, (PeerLost, KilledWorker)):
                    raise WorkerLost(str(error)) from error
                raise error
        finally:
            del errors  # in a cycle with its traceback it would keep the partitions
            error = None
        try:
            learnt, is_whole = futures[0].result()
        except (OSError, CancelledError) as error:
            raise WorkerLost(str(error)) from error
        vars(self.local).update(learnt)
        return is_whole

    def _take_from_survivors(self, workers, futures):
        """Takes in the rounds that are done, from any worker that has them."""
        for worker, future in zip(workers, futures, strict=True):
            try:
                settle(self.client, [future], [worker])
                if future.status == "finished":
                    self._take([future])
                    return
            except WorkerLost:
                continue
