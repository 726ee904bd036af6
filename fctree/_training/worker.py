"""The part of a worker in a fit: all of it, or that of the samples that it holds (`fctree.dask.distributed_fit`)."""

from fctree._training.progress import progress_listener


class OnlyWorker:
    """A fit whose samples are all here."""

    places = None

    def listener(self, estimator, n_rounds):
        """A context whose value hears of each round, or None."""
        return progress_listener(estimator.verbose, n_rounds, type(estimator).__name__)

    def placed(self, train, evals):
        """Places of the samples of oblique trees among those of all workers, or None."""
        return None


ONLY_WORKER = OnlyWorker()
