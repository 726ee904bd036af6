"""Assignment of partitions to workers, and waiting for workers that may die."""

import time
from contextlib import contextmanager

import numpy as np
from distributed import CancelledError, KilledWorker, TimeoutError, default_client, get_worker, wait, worker_client
from distributed.comm import CommClosedError

# A worker may hold this many times its share of the rows before partitions are moved elsewhere.
_IMBALANCE = 1.25
POLL_SECONDS = 0.5
# Workers that are lost are replaced by their nanny, if they have one: wait for this long for any.
_PATIENCE_SECONDS = 60.0


class WorkerLost(RuntimeError):
    """A worker that held a part of the fit is gone."""


def threads_here():
    """Threads that a task may use: a fit runs one task at a time on a worker."""
    return get_worker().state.nthreads


def workers_of(client):
    """The addresses of all workers, or `WorkerLost` if there are none."""
    workers = sorted(client.nthreads())
    if not workers:
        raise WorkerLost("no workers are left")
    return workers


def assign(client, partitions, lengths, workers):
    """Worker addresses with the indices of their partitions, in the order of the rows.

    Partitions stay where they are unless a worker has far more than its share. ``workers`` are those
    that may have any, or None for all.
    """
    workers = workers_of(client) if workers is None else workers
    holders = client.who_has(partitions)
    share = _IMBALANCE * sum(lengths) / len(workers)
    load = dict.fromkeys(workers, 0)
    of_worker = {worker: [] for worker in workers}
    for index in np.argsort(lengths, kind="stable")[::-1]:
        if lengths[index] == 0:
            continue
        held_by = [w for w in holders[partitions[index].key] if w in load]
        best = min(held_by or workers, key=load.get)
        if load[best] + lengths[index] > share:
            best = min(workers, key=load.get)
        load[best] += lengths[index]
        of_worker[best].append(int(index))
    return [(worker, sorted(indices)) for worker, indices in of_worker.items() if indices]


@contextmanager
def client_of_fit():
    """The client of a fit; where this is a task itself, another may have its thread meanwhile."""
    try:
        get_worker()
    except ValueError:
        yield default_client()
        return
    with worker_client() as client:
        yield client


class Watch:
    """Checks now and then that the workers of a part of a fit are still there."""

    def __init__(self, client, workers):
        self.client = client
        self.workers = set(workers)
        self.deadline = None

    def check(self):
        """Raises `WorkerLost` where one is gone, `RuntimeError` where there are none for long."""
        alive = set(self.client.nthreads())
        if not self.workers <= alive:
            raise WorkerLost(f"lost {sorted(self.workers - alive)}")
        if alive:
            self.deadline = None
        elif self.deadline is None:
            self.deadline = time.monotonic() + _PATIENCE_SECONDS
        elif time.monotonic() > self.deadline:
            raise RuntimeError("the fit has no workers left to run on")


def settle(client, futures, workers=()):
    """Waits until futures that run on these workers have finished or failed; or raises `WorkerLost`."""
    watch = Watch(client, workers)
    while True:
        try:
            wait(futures, timeout=POLL_SECONDS)
            return
        except TimeoutError:
            watch.check()
        except CancelledError as error:  # what they need was lost, and cannot be made again
            raise WorkerLost(str(error)) from error


def map_parts(client, function, parts, *arguments):
    """Futures of ``function(part, *arguments)``."""
    return [client.submit(function, part, *arguments, pure=False) for part in parts]


def from_parts(client, function, parts, *arguments):
    """The results of `map_parts`, or `WorkerLost`."""
    return gather(client, map_parts(client, function, parts, *arguments))


def gather(client, futures):
    """The results of futures, or `WorkerLost`. What a task raises is raised here."""
    settle(client, futures)
    try:
        return client.gather(futures)
    except (KilledWorker, CancelledError, CommClosedError) as error:
        raise WorkerLost(str(error)) from error
