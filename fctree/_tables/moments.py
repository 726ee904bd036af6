"""Weights, means and deviations of numbers and targets, from sums over samples in many places."""

import math
from dataclasses import dataclass

import numpy as np

from fctree._tables.statistics import possible_targets, statistic_targets, target_rows
from fctree._tables.sums import FixedPoint

# Statistics are features, of which kernels and trees compute squares.
_LARGEST_TARGET = 1e140
_ROUNDING = 1e-12  # of a target's magnitude: its least unit, unless it is constant


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets that statistics are of, and their moments.

    Attributes
    ----------
    n_classes : int or None
    numbers : array of shape (n_statistics,), int64
    units : array of shape (n_statistics,)
        Standard deviations of the training targets, 1 of constants and of classes. All else is in these units.
    priors : array of shape (n_statistics,)
    deviations : array of shape (n_statistics,)
    bounds : array of shape (n_statistics,)
        At least the magnitudes of the targets less their priors.
    """

    n_classes: int | None
    numbers: np.ndarray
    units: np.ndarray
    priors: np.ndarray
    deviations: np.ndarray
    bounds: np.ndarray

    def centred(self, part):
        """Targets in their units less their priors, (n_statistics, n_samples)."""
        rows = target_rows(part.y, self.n_classes, self.numbers)
        return rows / self.units[:, np.newaxis] - self.priors[:, np.newaxis]


@dataclass(frozen=True)
class Weighting:
    """The numbers of samples and of different ones, the unit of their weights, the factor that makes the mean weight of
    different samples 1 in these units, and the largest weight then."""

    n_samples: int
    n_different: int
    unit: float
    factor: float
    largest: float

    def fixed(self, bound):
        """Fixed-point numbers for weighted values of this bound."""
        return FixedPoint(bound * self.largest, self.n_samples)

    def fixed_share(self, bound):
        """Fixed-point numbers for values of this bound times shares of the weight."""
        return FixedPoint(bound * self.largest / self.n_different, self.n_samples)

    def of(self, part):
        """The weights of the samples of a part."""
        return part.weights / self.unit * self.factor

    def shares(self, part):
        """Their shares of the weight of all samples."""
        return part.weights / self.unit * (self.factor / self.n_different)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Moments of columns of numbers over the samples that have finite ones.

    Attributes
    ----------
    columns : array of shape (n_columns,), int64
    bounds : array of shape (n_columns,)
        The largest magnitudes.
    present : array of shape (n_columns,)
        The share of the weight that has them.
    means : array of shape (n_columns,)
        NaN where there are none.
    """

    columns: np.ndarray
    bounds: np.ndarray
    present: np.ndarray
    means: np.ndarray


def _count(part):
    return np.array([len(part)])


def _largest_weight(part):
    """The largest weight, and 1 if there are weights at all."""
    return np.array([1.0, 0.0] if part.weight is None else [part.weight.max(initial=0.0), 1.0])


def _weight_sum(part, fixed, unit):
    return fixed.total(part.weights / unit)


def _largest_numbers(part, columns):
    return part.magnitudes[columns]


def _number_sums(part, columns, weighting, bounds):
    """Words of the sums of each column and of the shares of the samples that have it."""
    shares, whole = weighting.shares(part), weighting.fixed_share(1.0)
    totals = weighting.fixed_share(bounds).column_totals(part, columns, shares)
    of_all = whole.total(shares) if part.weight is not None else len(part) * whole.total(shares[:1])
    counted = np.repeat(of_all[:, np.newaxis], len(columns), axis=1)
    for place in np.flatnonzero(part.incomplete[columns]):
        counted[:, place] = whole.total(shares * np.isfinite(part.X[:, columns[place]]))
    return np.stack([totals, counted]).transpose(2, 0, 1)


def _square_sums(part, numbers, weighting):
    """Words of the sums of squares of centred numbers, in units of twice their bounds."""
    shares, found = weighting.shares(part), []
    for column, bound, mean in zip(numbers.columns, numbers.bounds, numbers.means, strict=True):
        values = part.X[:, column]
        centred = np.where(np.isfinite(values), values - mean, 0.0) / max(2.0 * bound, np.finfo(float).tiny)
        found.append(weighting.fixed_share(1.0).total(shares * centred**2))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _ends_of_targets(part):
    """The largest targets and the largest of minus the targets, (2, n_targets)."""
    y = np.asarray(part.y, dtype=np.float64)
    return np.stack([y.max(axis=1, initial=-np.inf), (-y).max(axis=1, initial=-np.inf)])


def _target_sums(part, n_classes, numbers, weighting, moments):
    """Words of the weighted sums of the moments (fixed, power, unit, centre) of targets."""
    rows = target_rows(part.y, n_classes, numbers)
    weights = weighting.of(part)
    return np.array(
        [
            fixed.total(weights * (row / unit - centre) ** power)
            for row, (fixed, power, unit, centre) in zip(rows, moments, strict=True)
        ]
    )


def count_samples(places):
    """Their number."""
    return int(places.add(_count)[0])


def weigh(places, n=None, n_different=None):
    """The `Weighting` of all samples: n, counted if that is None, of which so many are different."""
    n = n or count_samples(places)
    n_different = n_different or n
    largest, weighted = places.largest(_largest_weight).tolist()
    if not weighted:
        return Weighting(n, n_different, 1.0, n_different / n, n_different / n)
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)  # a power of two: no rounding
    fixed = FixedPoint(2.0, n)
    factor = n_different / float(fixed.value(places.add(_weight_sum, fixed, unit)))
    return Weighting(n, n_different, unit, factor, largest / unit * factor)


def find_numbers(places, columns, weighting):
    """Means of columns of numbers."""
    columns = np.array(columns, dtype=np.int64)
    bounds = places.largest(_largest_numbers, columns)
    words = places.add(_number_sums, columns, weighting, bounds)
    present = weighting.fixed_share(1.0).value(words[:, 1].T)
    totals = weighting.fixed_share(bounds).value(words[:, 0].T)
    unknown = np.full(len(columns), np.nan)
    means = np.divide(totals, present, out=unknown, where=present > 0.0)
    return Numbers(columns, bounds, present, means)


def find_deviations(places, numbers, weighting):
    """Standard deviations of columns of numbers, 0 where there are none."""
    words = places.add(_square_sums, numbers, weighting)
    squares, none = weighting.fixed_share(1.0).value(words.T), np.zeros(len(numbers.columns))
    variances = np.divide(squares, numbers.present, out=none, where=numbers.present > 0.0)
    return 2.0 * numbers.bounds * np.sqrt(variances)


def find_targets(places, n_classes, weighting, known=None):
    """`Targets`, which are chosen by their variances; ``known`` are their numbers, units and priors.

    ValueError for targets whose statistics, as features, would overflow.
    """
    ends = places.largest(_ends_of_targets)
    largest = np.abs(ends).max(axis=0)
    if n_classes is None and np.any(largest > _LARGEST_TARGET):
        raise ValueError(
            f"y is too large beside columns of categories: its values may be {_LARGEST_TARGET:g} at most; rescale y"
        )

    def average(numbers, power, units, centres, bounds):
        fixed = [weighting.fixed(bound**power) for bound in bounds]
        moments = [*zip(fixed, [power] * len(fixed), units, centres, strict=True)]
        words = places.add(_target_sums, n_classes, numbers, weighting, moments)
        values = [f.value(word) for f, word in zip(fixed, words, strict=True)]
        return np.array(values) / weighting.n_different

    numbers, units, priors = _choose_targets(average, ends, n_classes) if known is None else known
    bounds = (np.ones(len(numbers)) if n_classes is not None else largest[numbers] / units) + np.abs(priors)
    variances = average(numbers, 2, units, priors, bounds)
    return Targets(n_classes, numbers, units, priors, np.sqrt(variances), bounds)


def _choose_targets(average, ends, n_classes):
    """Numbers, units and priors of the targets to take statistics of."""
    numbers = possible_targets(ends.shape[1], n_classes)
    scales = bounds = np.ones(len(numbers))
    if n_classes is None:  # powers of two: no rounding
        scales = np.ldexp(1.0, np.frexp(np.abs(ends).max(axis=0))[1])
    means = average(numbers, 1, scales, np.zeros(len(numbers)), bounds)
    if n_classes is None:
        bounds = np.maximum(ends[0] / scales - means, ends[1] / scales + means)
    else:
        bounds = bounds + np.abs(means)
    deviations = np.sqrt(average(numbers, 2, scales, means, bounds))
    chosen = statistic_targets((deviations * scales) ** 2, n_classes)
    units = np.ones(len(numbers))
    if n_classes is None:
        varies = ends[0] + ends[1] > 0.0
        units[varies] = (np.maximum(deviations, _ROUNDING * np.abs(ends / scales).max(axis=0)) * scales)[varies]
    return numbers[chosen], units[chosen], (means * (scales / units))[chosen]
