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


def joined_results(before, now, done, grown):
    """Joins dicts of scores after each round, by set and name."""
    joined = {}
    for data in [*before, *(data for data in now if data not in before)]:
        old, new = before.get(data, {}), now.get(data, {})
        joined[data] = {
            name: np.concatenate([
                old.get(name, np.full(done, np.nan))[:done], new.get(name, np.full(grown, np.nan))
            ])
            for name in [*old, *(name for name in new if name not in old)]
        }
    return joined
