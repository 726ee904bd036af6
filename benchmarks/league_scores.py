"""Elo ratings, mean ranks and losses of a table of errors: sets down, programs across, NaN where not run.

An infinite error is a failed fit: it loses against every program that answered.
"""

import numpy as np
from scipy.stats import rankdata

ELO = 400.0 / np.log(10.0)
REFERENCE_ELO = 1000.0
TIE = 1e-6  # errors whose ratio is nearer to one are a draw


def games(errors):
    """Games won, (programs, programs): one a set and pair, draws half to each."""
    first, second = errors[:, :, np.newaxis], errors[:, np.newaxis, :]
    with np.errstate(invalid="ignore"):
        gap = np.where(first == second, 0.0, second - first)
        draw = np.abs(gap) <= TIE * np.minimum(np.abs(first), np.abs(second))
    won = np.where(draw | (gap == 0), 0.5, gap > 0)
    won[np.isnan(first) | np.isnan(second)] = 0.0
    won = won.sum(axis=0)
    np.fill_diagonal(won, 0.0)
    return won


def elo(won, reference):
    """Ratings of greatest likelihood, that of program `reference` set to 1000.

    Bradley and Terry's model by Newton's method; each pair that played has half a drawn game more, which keeps
    the rating of a program that always wins finite. A program without games has NaN.
    """
    played = (won + won.T) > 0
    won = won + 0.25 * played
    total = won + won.T
    active = played.any(axis=1)
    strength = np.zeros(len(won))
    for _ in range(100):
        chance = 1.0 / (1.0 + np.exp(strength[np.newaxis, :] - strength[:, np.newaxis]))
        gradient = (won - total * chance).sum(axis=1)
        weight = total * chance * (1.0 - chance)
        hessian = np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        strength += np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-10:
            break
    return np.where(active, REFERENCE_ELO + ELO * (strength - strength[reference]), np.nan)


def elo_intervals(errors, reference):
    """Ratings and the 2.5 and 97.5 per cent quantiles over sets drawn with replacement: (3, programs)."""
    rng = np.random.default_rng(0)
    drawn = [elo(games(errors[rng.integers(0, len(errors), len(errors))]), reference)
             for _ in range(200)]
    found = np.full((3, errors.shape[1]), np.nan)
    found[0] = elo(games(errors), reference)
    rated = np.isfinite(found[0])
    found[1:, rated] = np.nanquantile(np.array(drawn)[:, rated], [0.025, 0.975], axis=0)
    return found


def mean_ranks(errors):
    """Mean ranks of the programs with an error on every set, NaN for the others."""
    complete = ~np.isnan(errors).any(axis=0)
    found = np.full(errors.shape[1], np.nan)
    if complete.any():
        rounded = [rankdata([float(f"{error:.6g}") for error in row]) for row in errors[:, complete]]
        found[complete] = np.mean(rounded, axis=0)
    return found


def losses(errors, sets, programs, own):
    """For each set, the best rival of program `own` and the ratio of `own`'s error to its, largest first."""
    index = programs.index(own)
    rivals = [place for place, name in enumerate(programs) if place != index]
    found = {}
    for name, row in zip(sets, errors, strict=True):
        if not np.isfinite(row[index]) or not np.isfinite(row[rivals]).any():
            continue
        best = min((place for place in rivals if np.isfinite(row[place])), key=lambda place: row[place])
        found[name] = {"fctree": row[index], "rival": programs[best], "best rival": row[best],
                       "ratio": row[index] / max(row[best], 1e-12)}
    return dict(sorted(found.items(), key=lambda entry: -entry[1]["ratio"]))


def choose_ensemble(answers, loss, n_steps=25):
    """Weights (len(answers),) of a greedy selection with replacement of held-out answers."""
    counts, total = np.zeros(len(answers)), np.zeros_like(answers[0])
    best = np.inf, counts
    for step in range(n_steps):
        found = [loss((total + answer) / (step + 1)) for answer in answers]
        chosen = int(np.argmin(found))
        counts[chosen] += 1
        total = total + answers[chosen]
        if found[chosen] < best[0]:
            best = found[chosen], counts / counts.sum()
    return best[1]
