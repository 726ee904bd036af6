"""Scores of rounds, over fits that continue each other."""

import numpy as np


def joined_scores(before, now, done, grown):
    """Scores before the first round and after each, those of a model of ``done`` rounds and of
    the ``grown`` ones that continue it as one; NaN for rounds that were not measured."""
    if len(before) == 0 and len(now) == 0:
        return before
    if len(before) == 0:
        return np.concatenate([np.full(done, np.nan), now])
    later = now[1:] if len(now) else np.full(grown, np.nan)
    return np.concatenate([before[: done + 1], later])
