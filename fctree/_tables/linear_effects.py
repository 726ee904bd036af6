"""Mean residuals by category of a linear model of the numbers.

The mean target of a category mixes its own effect with that of the numbers that go with it (large
diamonds are seldom clear). Its mean residual of a ridge regression on the numbers does not, and varies less. The
samples of a fold take residuals of the other folds from a model of the other folds. Numbers and
targets of the model are rounded to 1/64 of their deviation and cut off at 8 deviations, so that
its moments are integers.
"""

from dataclasses import dataclass, replace

import numpy as np

from fctree._tables.moments import find_deviations, find_numbers
from fctree._tables.statistics import N_FOLDS

MAX_NUMBERS = 100
_UNIT = 64.0
_CUT = 8.0
_WEIGHT_UNITS = 512.0
_ROWS = 1 << 20  # at once: sums of their products stay below 2^53
_PENALTY = 0.01


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Coefficients of standardised numbers, for each fold that is left out and for none.

    Attributes
    ----------
    columns : array of shape (n_numbers,), int64
    means, scales : array of shape (n_numbers,)
    coef : array of shape (N_FOLDS + 1, n_numbers + 1, n_statistics)
        Of whole units, an intercept last; targets are in units of the targets' deviations.
    """

    columns: np.ndarray
    means: np.ndarray
    scales: np.ndarray
    coef: np.ndarray | None = None

    def standardized(self, part):
        """Numbers of samples in whole units, and a column of ones, (n_samples, n_numbers + 1)."""
        Z = np.full((len(part), len(self.columns) + 1), _UNIT)
        for place, column in enumerate(self.columns):
            Z[:, place] = _units(part.X[:, column], self.means[place], self.scales[place])
        return Z

    def bounds(self, targets):
        """At least the magnitudes of residuals."""
        reach = np.abs(self.coef).sum(axis=1).max(axis=0) * _CUT * _UNIT
        return targets.bounds + reach * targets.deviations


def _units(values, mean, scale):
    """Standardised values in whole units; 0 where they are missing or do not vary."""
    if not scale > 0.0 or not np.isfinite(scale):
        return np.zeros(len(values))
    standardized = np.where(np.isfinite(values), (values - mean) / scale, 0.0)
    return np.rint(np.clip(standardized, -_CUT, _CUT) * _UNIT)


def _products(part, model, targets, weighting):
    """Z' W Z and Z' W t by fold: integers."""
    Z = model.standardized(part)
    rows = targets.centred(part)
    T = np.stack([_units(r, 0.0, s) for r, s in zip(rows, targets.deviations, strict=True)], axis=1)
    units = np.rint(part.weights / weighting.unit * _WEIGHT_UNITS)  # of weights such as 1, 2 and 3 exact multiples
    width = Z.shape[1]
    sums = np.zeros((N_FOLDS, width, width + T.shape[1]), dtype=np.int64)
    for fold in range(N_FOLDS):
        inside = np.flatnonzero(part.folds == fold)
        for begin in range(0, len(inside), _ROWS):
            rows = inside[begin : begin + _ROWS]
            both = np.hstack([Z[rows], T[rows]])
            sums[fold] += ((Z[rows] * units[rows, np.newaxis]).T @ both).astype(np.int64)
    return sums


def fit_linear_model(places, numeric, targets, weighting):
    """The `LinearModel` of columns of numbers, None where there are none.

    Of more than `MAX_NUMBERS` the first are taken.
    """
    if not numeric:
        return None
    numbers = find_numbers(places, numeric[:MAX_NUMBERS], weighting)
    deviations = find_deviations(places, numbers, weighting)
    scales = np.where(deviations > 1e-12 * numbers.bounds, deviations, 0.0)
    model = LinearModel(numbers.columns, numbers.means, scales)
    sums = places.add(_products, model, targets, weighting)
    total = sums.sum(axis=0)
    coef = [_solve(total - of_fold) for of_fold in [*sums, np.zeros_like(total)]]
    return replace(model, coef=np.stack(coef))


def _solve(sums):
    """Ridge coefficients, the intercept not shrunk."""
    width = len(sums)
    gram, right = sums[:, :width].astype(np.float64), sums[:, width:].astype(np.float64)
    weight = gram[-1, -1] if gram[-1, -1] > 0.0 else 1.0
    penalty = np.full(width, _PENALTY * weight)
    penalty[-1] = 1e-9 * weight
    return np.linalg.solve(gram + np.diag(penalty), right) / _UNIT


def _effect_sums(part, encoder, keys, model, targets, weighting):
    """Words of the sums of residuals of each level, less those of a fold, and of their squares."""
    Z, weights, bounds = model.standardized(part), weighting.of(part), model.bounds(targets)
    centred = targets.centred(part)
    levels = [encoder.levels(part.X, key) for key in keys]
    found = [[] for _ in keys]
    squares = []
    for target, bound in enumerate(bounds):
        for fold, coef in enumerate(model.coef[:, :, target]):
            fitted = np.sum(Z * coef, axis=1) * targets.deviations[target]
            residuals = centred[target] - fitted
            others = weights * (part.folds != fold)
            words = weighting.fixed(bound).words(others * residuals)
            for place, key in enumerate(keys):
                known = levels[place] >= 0
                found[place].extend(
                    np.bincount(levels[place][known], word[known], encoder.n_cells(key))
                    for word in words
                )
        squares.append(weighting.fixed(bound**2).total(weights * residuals**2))
    sums = [np.concatenate(of_key) for of_key in found]
    return np.concatenate([np.concatenate(squares), *sums]).astype(np.int64)


def effect_sums(places, encoder, keys, model, targets, weighting):
    """Sums of residuals for statistics, of each column and target; empty lists without a model.

    These are tuples ``(sums, squares)``: the sums of the residuals of each level, (n_levels, N_FOLDS + 1),
    of all samples but the fold's, and of all; and the sum of squares of all.
    """
    if model is None:
        return [[] for _ in keys]
    words = places.add(_effect_sums, encoder, keys, model, targets, weighting)
    bounds = model.bounds(targets)
    n = len(bounds)
    squares = [
        weighting.fixed(bound**2).value(words[2 * t : 2 * t + 2]) for t, bound in enumerate(bounds)
    ]
    found, begin = [], 2 * n
    for key in keys:
        shape = (n, N_FOLDS + 1, 2, encoder.n_cells(key))
        end = begin + int(np.prod(shape))
        of_key = words[begin:end].reshape(shape)
        sums = [weighting.fixed(b).value(of_key[t].swapaxes(0, 1)) for t, b in enumerate(bounds)]
        found.append([(s.T, squares[t]) for t, s in enumerate(sums)])
        begin = end
    return found
