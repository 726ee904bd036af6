"""A progress bar, callbacks and metrics that follow the rounds of a fit and may stop it."""

import inspect

import numpy as np

from fctree._training.eval_metrics import score
from fctree.callbacks import TimeLimit


def check_callbacks(callbacks):
    """Callbacks as a tuple, from one, a list or None."""
    if callbacks is None:
        return ()
    given = tuple(callbacks) if isinstance(callbacks, (list, tuple)) else (callbacks,)
    for callback in given:
        if not callable(callback):
            raise TypeError(
                f"callbacks must be a function callback(round, scores) or a list of them, got "
                f"{callback!r}"
            )
        try:
            inspect.signature(callback).bind(1, {})
        except ValueError:  # a callable that does not tell
            pass
        except TypeError as error:
            raise TypeError(
                f"a callback is called as callback(round, scores), which {callback!r} does not take: {error}"
            ) from error
    return given


def _stops(callback, n_rounds, scores):
    answer = callback(n_rounds, scores)
    if answer is None or isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    raise TypeError(
        f"a callback returns True to stop, and False or None to go on; {callback!r} returned "
        f"{answer!r}"
    )


class RoundWatch:
    """Progress, callbacks and metrics of a fit, which the core calls round by round.

    ``callbacks`` hear of each round, ``scorers`` by name judge the estimator on the ``eval_sets``
    (`fctree._training.eval_metrics.EvalSet`).
    """

    def __init__(self, callbacks=(), scorers=None):
        self.callbacks = callbacks
        self.scorers = scorers or {}
        self.eval_sets = []
        self._judged = []  # a list of dicts a round, of each set; first those before the first round

    def share_time(self, n_models):
        """Tell time limits that the fit grows this many models, of as many rounds each."""
        for callback in self.callbacks:
            if isinstance(callback, TimeLimit):
                callback.start_fit(n_models)

    def listener(self, progress):
        """The function for the core to call after each round, or None if nobody listens."""
        if not self.callbacks and (progress is None or not self.scorers):
            return progress

        def told(iteration, train_loss, eval_loss):
            judged = self._judged[-1] if self._judged else [{"loss": eval_loss}] * len(self.eval_sets)
            if progress is not None:
                metrics = {name: judged[0][name] for name in self.scorers}
                progress(iteration, train_loss, eval_loss, metrics)
            stops = [
                _stops(callback, iteration + 1, _by_set(train_loss, judged))
                for callback in self.callbacks
            ]
            return any(stops)

        return told

    def judge(self, estimator):
        """The function that tells the core what early stopping goes by, or None for the loss."""
        if not self.scorers and len(self.eval_sets) <= 1:
            return None

        def judged_by(losses, raw_scores):
            self._judged.append([
                {"loss": loss, **score(estimator, self.scorers, eval_set, raw)}
                for eval_set, loss, raw in zip(self.eval_sets, losses, raw_scores, strict=True)
            ])
            return -self._judged[-1][0][next(iter(self.scorers))] if self.scorers else None

        return judged_by

    def results(self, estimator, n_before):
        """Losses and metrics after each round of a fit, by set and name, of a fitted estimator."""
        later = slice(n_before + 1, None)
        found = {"training": {"loss": -estimator.train_score_[later]}}
        if self._judged:
            for i, names in enumerate(self._judged[0]):
                found[f"valid_{i}"] = {
                    name: np.array([sets[i][name] for sets in self._judged[1:]]) for name in names
                }
        elif len(estimator.validation_score_):
            found["valid_0"] = {"loss": -estimator.validation_score_[later]}
        return found


def _by_set(train_loss, judged):
    """Scores of a round by the name of the set."""
    sets = {f"valid_{i}": dict(scores) for i, scores in enumerate(judged)}
    return {"training": {"loss": train_loss}, **sets}


UNWATCHED = RoundWatch()
