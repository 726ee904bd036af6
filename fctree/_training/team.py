"""The participants of a fit: one process, or several that each hold some of the samples."""

from fctree._training.progress import progress_listener


class Alone:
    """A fit whose samples are all here."""

    places = None

    def listener(self, estimator, n_rounds):
        """A context whose value hears of each round, or None."""
        return progress_listener(estimator.verbose, n_rounds, type(estimator).__name__)

    def placed(self, train, evals):
        """Where the samples of oblique trees are among those of all places, or None."""
        return None

    def past_losses(self, estimator):
        """Losses that early stopping has gone by before, where the fit goes on that others broke off."""
        return ()


ALONE = Alone()
