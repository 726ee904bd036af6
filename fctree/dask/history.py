"""What the client remembers of the rounds: their losses, and what to do when workers are lost."""

import numpy as np

from fctree.dask.placement import WorkerLost

# A fit that loses workers again and again is given up.
_MOST_LOSSES = 5


class History:
    """The losses of the rounds, and whether they have stopped to fall (as `boost` has it)."""

    def __init__(self, estimator, has_eval, measured):
        self.estimator = estimator
        self.has_eval = has_eval
        self.train_loss = [measured.loss]
        self.eval_loss = [measured.eval_loss] if has_eval else []
        self.best = self.patience_from = self._judged(measured)
        self.best_round = self.last_improvement = 0

    def _judged(self, measured):
        return measured.eval_loss if self.has_eval else measured.loss

    @property
    def n_rounds(self):
        return len(self.train_loss) - 1

    @property
    def has_ended(self):
        """Whether the last round was the last one."""
        if self.n_rounds == self.estimator.max_iter:
            return True
        waited = self.n_rounds - self.last_improvement
        return self.estimator.early_stopping and waited >= self.estimator.n_iter_no_change

    def take(self, measured):
        """Takes a round's losses in."""
        self.train_loss.append(measured.loss)
        if self.has_eval:
            self.eval_loss.append(measured.eval_loss)
        if not np.isfinite(measured.loss):
            raise ValueError(
                f"the training loss is not finite after {self.n_rounds} rounds: the targets or "
                "learning_rate are too large"
            )
        loss = self._judged(measured)
        if loss < self.patience_from - self.estimator.tol:
            self.patience_from, self.last_improvement = loss, self.n_rounds
        if loss < self.best:
            self.best, self.best_round = loss, self.n_rounds

    def best_iteration(self):
        """Trees to keep."""
        return self.best_round if self.estimator.early_stopping else self.n_rounds


def whatever_is_lost(growth, step, again):
    """What ``step()`` returns; where workers are lost in it, what ``again()`` does.

    Raises
    ------
    RuntimeError
        Where that happens more than a few times in one fit.
    """
    while True:
        try:
            return step()
        except WorkerLost as error:
            growth.losses += 1
            if growth.losses > _MOST_LOSSES:
                raise RuntimeError(
                    f"the fit lost workers {growth.losses} times and was given up after "
                    f"{len(growth.trees)} rounds: {error}"
                ) from error
            step = again
