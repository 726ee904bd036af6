"""Who hears of the rounds of a fit, and may stop it: a progress bar, callbacks."""

import numpy as np


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
    """The part that the caller of a fit takes in its rounds."""

    def __init__(self, callbacks=()):
        self.callbacks = callbacks

    def listener(self, progress):
        """The function for the core to call after each round, or None if nobody listens."""
        if not self.callbacks:
            return progress

        def told(iteration, train_loss, eval_loss):
            if progress is not None:
                progress(iteration, train_loss, eval_loss)
            scores = _scores(train_loss, eval_loss)
            return any([_stops(callback, iteration + 1, scores) for callback in self.callbacks])

        return told


def _scores(train_loss, eval_loss):
    scores = {"training": {"loss": train_loss}}
    if not np.isnan(eval_loss):
        scores["valid_0"] = {"loss": eval_loss}
    return scores


UNWATCHED = RoundWatch()
