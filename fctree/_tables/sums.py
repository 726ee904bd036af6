"""Sums that do not depend on the order of their terms, over samples in one place or in many.

A term is two integers, multiples of units that follow from a bound of all terms and their number;
float64 adds up such integers without rounding. So sums over parts of the samples merge to
the bytes of one sum over all.
"""

from dataclasses import dataclass

import numpy as np

from fctree._native import core as _native
from fctree._tables.statistics import fold_numbers

_LEAST_BOUND = 1e-250  # what is smaller counts as 0
_BLOCK_ROWS = 1 << 16  # of a table that has to be copied for native code


class FixedPoint:
    """Fixed-point numbers for `n` terms of a magnitude of at most `bound`, one or (n_columns,).

    Methods give the two words of a sum, int64, in the first axis; these add up over places.
    """

    def __init__(self, bound, n):
        bits = max(52 - int(n).bit_length(), 1)
        exponent = np.frexp(np.maximum(bound, _LEAST_BOUND))[1]
        self._high = np.ldexp(1.0, exponent - bits)
        self._low = np.ldexp(1.0, exponent - 2 * bits)

    def words(self, values):
        """The two words of each value, float64 integers."""
        high = np.rint(values / self._high)
        return high, np.rint((values - high * self._high) / self._low)

    def total(self, values):
        """Words of the sums along the last axis."""
        return np.stack([word.sum(axis=-1) for word in self.words(values)]).astype(np.int64)

    def column_totals(self, part, columns, shares):
        """Words of the sums of ``shares`` times the finite numbers of columns, (2, n_columns)."""
        words = np.zeros((2, len(columns)))
        if len(columns):
            for rows, values in part.blocks(columns):
                _native.add_words(values, shares[rows], self._high, self._low, words)
        return words.astype(np.int64)

    def value(self, words):
        """The sums that words stand for."""
        return words[0] * self._high + words[1] * self._low


class _Kept:
    """A property that is computed once. `functools.cached_property` has a lock before Python 3.12, of all instances, in which a
    fork by another thread would leave its child waiting."""

    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        if instance is None:
            return self
        value = vars(instance)[self.function.__name__] = self.function(instance)
        return value


@dataclass(eq=False)
class TablePart:
    """Samples of a table in one place.

    Attributes
    ----------
    X : array of shape (n_samples, n_features_in)
        Numbers, and the numbers of categories; NaN where missing.
    y : array of shape (n_targets, n_samples)
        Targets, or one row of class numbers.
    weight : array of shape (n_samples,) or None
        Positive.
    first : int
        The number of the first sample among those of all places.
    given_folds : array of shape (n_samples,), int64, or None
        Folds that are not those of the samples' numbers.
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    first: int = 0
    given_folds: np.ndarray | None = None

    def __len__(self):
        return len(self.X)

    @_Kept
    def weights(self):
        """The weights, 1 where there are none."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def blocks(self, columns):
        """Slices of samples, and their numbers in these columns as native code reads them."""
        if len(columns) == self.X.shape[1]:
            columns = slice(None)
        for begin in range(0, len(self), _BLOCK_ROWS):
            rows = slice(begin, begin + _BLOCK_ROWS)
            yield rows, np.require(self.X[rows, columns], np.float64, ["C", "ALIGNED"])

    @_Kept
    def _extents(self):
        found = np.zeros((2, self.X.shape[1]))
        for _, values in self.blocks(range(self.X.shape[1])):
            _native.largest_numbers(values, *found)
        return found

    @property
    def magnitudes(self):
        """The largest finite magnitude of each column."""
        return self._extents[0]

    @property
    def incomplete(self):
        """Whether each column has missing or infinite numbers."""
        return self._extents[1] > 0.0

    @_Kept
    def folds(self):
        """The fold of each sample."""
        return fold_numbers(len(self), self.first) if self.given_folds is None else self.given_folds

    def inside(self, rows):
        """Places here of samples with these numbers."""
        return rows[(rows >= self.first) & (rows < self.first + len(self))] - self.first


class OnePlace:
    """All samples in one place; other places have the same methods.

    ``function(part, *arguments)`` gives an array: `add` adds those of all places up,
    `largest` takes the largest elements, `rows` concatenates them in the order of the samples.
    `divide` gives the samples of all places folds.
    """

    def __init__(self, part):
        self._part = part

    def add(self, function, *arguments):
        return function(self._part, *arguments)

    largest = rows = add

    def divide(self, folds):
        self._part.given_folds = folds
