"""The fitted state of a table: its categories, target statistics and means."""

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fctree._native_input import aligned
from fctree._tables.fitting import fit_encoder, refit_encoder
from fctree._tables.statistics import N_FOLDS
from fctree._tables.sums import OnePlace, TablePart

# Columns of so few categories become an indicator each in symmetric trees. Oblique trees combine all
# features, so that a feature more costs them more than it gains.
ONE_HOT_MAX_SIZE = 4
# Statistics say next to nothing where the prior counts more than this share of an average category.
_WEAK = 1 / 3
# Indicators beside statistics, together: no more than so many, and so many samples each.
_MOST_BESIDE, _SAMPLES_EACH = 50, 15
UNSEEN = -1.0


class IndicatorLimits(NamedTuple):
    """Most categories of a column that gets indicators although they are more features than its statistics.

    A statistic does not show what categories do in interactions, or to the spread.
    """

    instead: int = 0  # of statistics that say next to nothing
    beside: int = 0  # statistics, where there are few such columns


@dataclass(eq=False)
class TableEncoder:
    """The columns of a table as features of a model.

    A column of numbers stays; where `impute`, missing values become the training mean, with an indicator if training
    had any. A column of few categories (`one_hot_max_size`) becomes an indicator each (of two: of the second). One of
    more becomes a target statistic for each target and, where numbers vary, one for what a linear model of
    these leaves of each target; without `impute` the category's share of the samples too. `IndicatorLimits`
    may give it indicators instead, or as well. Pairs of columns that say more than each of them become target
    statistics. Missing values are a category of their own if training had any. An unseen category or pair gets
    neutral values: the training means of the indicators, the prior as its statistic, share 0.

    Attributes
    ----------
    categories : list of n_features_in lists or None
        Ascending, numbers before text; None for a column of numbers.
    impute : bool
    has_missing : ndarray of shape (n_features_in,), bool
        Whether the column had missing values in training.
    means : ndarray of shape (n_features_in,), float64
        Means of the columns of numbers, NaN where all values were missing.
    targets : ndarray of shape (n_targets,), int64
        The outputs, or classes, or halves of many classes (`possible_targets`), that statistics are of.
    priors : ndarray of shape (n_targets,), float64
    strengths : list of n_features_in arrays of shape (n_statistics,)
        Of the priors; empty for columns without statistics. There are n_targets statistics, or twice
        that with those of a linear model's residuals.
    statistics : list of n_features_in arrays of shape (n_levels, n_statistics)
        Levels are the categories, then the missing ones if training had any.
    shares : list of n_features_in arrays of shape (n_levels,)
        The levels' shares of the different training samples; empty for columns of numbers.
    pairs : ndarray of shape (n_pairs, 2), int64
        Columns, of which the first holds categories.
    edges : list of n_features_in arrays
        Where the numbers of pairs are cut.
    pair_strengths : list of n_pairs arrays of shape (n_targets,)
    pair_statistics : list of n_pairs arrays of shape (n_cells, n_targets)
        A cell is a level of the first column, and one of the second.
    limits : ndarray of shape (n_outputs, 2), or None
        Where targets are cut off (`target_limits`), of a robust loss.
    indicated : ndarray of shape (n_features_in,), bool, or None
        Columns that have indicators beside their statistics. None: no column.
    units : ndarray of shape (n_targets,), or None
        Of priors and statistics: standard deviations of the training targets, 1 of constants. None of classes, and of
        older models, whose statistics are in the units of the targets.
    """

    categories: list
    impute: bool
    has_missing: np.ndarray | None = None
    means: np.ndarray | None = None
    targets: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    priors: np.ndarray = field(default_factory=lambda: np.empty(0))
    strengths: list = field(default_factory=list)
    statistics: list = field(default_factory=list)
    shares: list = field(default_factory=list)
    pairs: np.ndarray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    edges: list = field(default_factory=list)
    pair_strengths: list = field(default_factory=list)
    pair_statistics: list = field(default_factory=list)
    limits: np.ndarray | None = None
    units: np.ndarray | None = None
    indicated: np.ndarray | None = None

    def __setstate__(self, state):
        vars(self).update(aligned(state))

    @property
    def n_features_in(self):
        """Number of the table's columns."""
        return len(self.categories)

    @property
    def has_categories(self):
        """Whether some column holds categories."""
        return any(values is not None for values in self.categories)

    @property
    def keeps_finite(self):
        """Whether finite numbers are encoded as they are."""
        plain = self.categories.count(None) == len(self.categories)
        return plain and np.count_nonzero(self.has_missing) == 0

    def one_hot_max_size(self, n_classes):
        """Most levels of a column of indicators: for oblique trees, where they are no more
        features than statistics are."""
        return max(2, n_classes or 2) if self.impute else ONE_HOT_MAX_SIZE

    def n_levels(self, column):
        """Categories of a column, with that of missing values; parts that its numbers are cut into."""
        if self.categories[column] is None:
            return len(self.edges[column]) + 2
        return len(self.categories[column]) + int(self.has_missing[column])

    def n_cells(self, key):
        """Levels of a column ``(c,)`` or of a pair ``(a, b)``."""
        return math.prod(self.n_levels(column) for column in key)

    def levels(self, X, key):
        """Level numbers of samples, (n_samples,) int64: -1 for what training had not."""
        found = [self._levels(X[:, column], column) for column in key]
        if len(found) == 1:
            return found[0]
        cells = found[0] * self.n_levels(key[1]) + found[1]
        return np.where((found[0] < 0) | (found[1] < 0), -1, cells)

    def _levels(self, values, column):
        if self.categories[column] is None:
            edges, missing = self.edges[column], np.isnan(values)
            return np.where(missing, len(edges) + 1, np.searchsorted(edges, values, "right"))
        missing = np.isnan(values)
        if missing.any():
            level = len(self.categories[column]) if self.has_missing[column] else UNSEEN
            values = np.where(missing, level, values)
        return values.astype(np.int64)

    def has_statistics(self, column):
        """Whether a column becomes target statistics."""
        return len(self.statistics[column]) > 0

    def has_indicators(self, column):
        """Whether a column of categories becomes indicators, alone or beside its statistics."""
        beside = self.indicated is not None and self.indicated[column]
        return self.categories[column] is not None and (beside or not self.has_statistics(column))

    def clear(self):
        """Forgets all statistics."""
        width = self.n_features_in
        self.means = np.full(width, np.nan)
        self.targets, self.priors, self.units = np.empty(0, dtype=np.int64), np.empty(0), None
        self.strengths = [np.empty(0) for _ in range(width)]
        self.statistics = [np.empty((0, 0)) for _ in range(width)]
        self.shares = [np.empty(0) for _ in range(width)]
        self.edges = [np.empty(0) for _ in range(width)]
        self.pairs = np.empty((0, 2), dtype=np.int64)
        self.pair_strengths, self.pair_statistics = [], []
        self.indicated = None

    def choose_statistics(self, targets, n_classes):
        """Makes room for the statistics of columns of many categories; whether there are some."""
        for column, values in enumerate(self.categories):
            if values is not None and self.n_levels(column) > self.one_hot_max_size(n_classes):
                self.statistics[column] = np.empty((self.n_levels(column), 0))
                self.targets, self.priors = targets.numbers, targets.priors
                self.units = targets.units if n_classes is None else None
        return len(self.targets) > 0

    def choose_indicators(self, n_samples, limits):
        """Give columns of statistics indicators within these limits; list those that have them instead."""
        weak, beside = [], []
        for column in filter(self.has_statistics, range(self.n_features_in)):
            n_levels = self.n_levels(column)
            if n_levels <= limits.instead and np.all(self.strengths[column] > _WEAK * n_samples / n_levels):
                self.strengths[column], self.statistics[column] = np.empty(0), np.empty((0, 0))
                weak.append(column)
            elif n_levels <= limits.beside:
                beside.append(column)
        if beside and sum(map(self.n_levels, beside)) <= min(n_samples / _SAMPLES_EACH, _MOST_BESIDE):
            self.indicated = np.isin(np.arange(self.n_features_in), beside)
        return weak

    def layout(self):
        """The encoded columns as (column, kind, index), kind one of ``"value"``, ``"missing"``,
        ``"level"``, ``"mean"``, ``"effect"``, ``"share"`` and ``"pair"``."""
        encoded, n_targets, of_pairs = [], len(self.targets), self.pairs[:, 0].tolist()
        for column, values in enumerate(self.categories):
            if values is None:
                encoded.append((column, "value", 0))
                if self.impute and self.has_missing[column] and not np.isnan(self.means[column]):
                    encoded.append((column, "missing", 0))
            if self.has_statistics(column):
                encoded.extend((column, "mean", t) for t in range(n_targets))
                more = self.statistics[column].shape[1] - n_targets
                encoded.extend((column, "effect", t) for t in range(more))
                if not self.impute:
                    encoded.append((column, "share", 0))
            if self.has_indicators(column):
                first = 1 if self.n_levels(column) == 2 else 0
                levels = range(first, self.n_levels(column))
                encoded.extend((column, "level", level) for level in levels)
            for pair in [pair for pair, first in enumerate(of_pairs) if first == column]:
                encoded.extend((column, "pair", pair * n_targets + t) for t in range(n_targets))
        return encoded

    @property
    def sources(self):
        """The table's column of each encoded column, (n_encoded,) int64; of pairs the first."""
        return np.array([column for column, _, _ in self.layout()], dtype=np.int64)

    @property
    def players(self):
        """Numbers of the columns as in `sources`; pairs have numbers of their own, after those of the columns."""
        n_targets, first = max(len(self.targets), 1), self.n_features_in
        return np.array([first + i // n_targets if kind == "pair" else column for column, kind, i in self.layout()], dtype=np.int64)

    def feature_names(self, names, classes=None):
        """Names of the encoded columns, from those of the table's, and labels for statistics of classes."""
        return [self._name(names, entry, classes) for entry in self.layout()]

    def _name(self, names, entry, classes):
        column, kind, index = entry
        name = names[column]
        if kind == "pair":
            pair, index = divmod(index, len(self.targets))
            name = f"{name} x {names[self.pairs[pair, 1]]}"
        if kind in ("mean", "effect", "pair"):
            of = self.targets[index]
            if classes is not None:
                of = classes[of] if of < len(classes) else f"half {index + 1} of the classes"
            words = "mean effect" if kind == "effect" else "target mean"
            return f"{name} ({words})" if len(self.targets) == 1 else f"{name} ({words}, {of})"
        if kind == "value":
            return str(name)
        if kind == "share":
            return f"{name} (share)"
        if kind == "missing" or index == len(self.categories[column]):
            return f"{name} is missing"
        return f"{name} = {self.category_names(column)[index]}"

    def category_names(self, column):
        """Text for each category of a column, in quotes where others, or what is none, would look the same."""
        texts = [str(value) for value in self.categories[column]]
        seen = Counter([*texts, "missing", "other"])
        return [repr(value) if seen[text] > 1 else text for value, text in zip(self.categories[column], texts, strict=True)]

    def summed_to_columns(self, importances):
        """Importances of the encoded columns, added up to those of the table's; a pair's are
        shared between its columns."""
        found = np.zeros(self.n_features_in)
        for (column, kind, index), value in zip(self.layout(), importances, strict=True):
            columns = self.pairs[index // len(self.targets)] if kind == "pair" else [column]
            for of_column in columns:
                found[of_column] += value / len(columns)
        return found

    def monotone_of_encoded(self, monotone, names):
        """Monotone constraints of the encoded columns, from those of the table's, which have ``names``; ValueError for one of
        categories."""
        for column in np.flatnonzero(monotone):
            if self.categories[column] is not None:
                raise ValueError(f"monotonic_cst must be 0 for categories, got {monotone[column]} for column {names[column]!r}")
        values = [kind == "value" for _, kind, _ in self.layout()]
        return np.where(values, np.asarray(monotone)[self.sources], 0)

    def fit_transform(self, X, y, n_classes, weight, unpaired=(), limits=IndicatorLimits()):
        """Learn from training samples (n_samples, n_features_in), numbers and the numbers of categories,
        and encode them; ``y`` is (n_targets, n_samples), ``unpaired`` are columns that take no part in
        pairs; ``limits`` are the `IndicatorLimits`.

        Returns the encoded samples, whose target statistics are those of other samples; and for each column
        of categories the number that each has got: only those of training samples are kept.
        """
        part = TablePart(X, y, weight)
        self.has_missing = part.incomplete
        for column in np.flatnonzero(self.has_missing):
            self.has_missing[column] = np.isnan(X[:, column]).any()
        renumbered = [self._keep_seen(column, X) for column in range(self.n_features_in)]
        if self.has_categories:
            part = TablePart(renumber(X, renumbered), y, weight)
        by_fold = fit_encoder(self, OnePlace(part), n_classes, unpaired, limits)
        if self.keeps_finite:
            return X, renumbered
        return self.encode_part(part, by_fold), renumbered

    def refit_transform(self, X, y, n_classes, weight):
        """Encode training samples again, by statistics of their own targets, for a warm start."""
        part = TablePart(X, y, weight)
        return self.encode_part(part, refit_encoder(self, OnePlace(part), n_classes))

    def encode_part(self, part, by_fold):
        """Encode training samples, with statistics by fold (`fit_encoder`)."""
        return self._encode(part.X, by_fold, part.folds if by_fold else None)

    def transform(self, X):
        """Encode samples that are not of the training data; `X` itself where nothing is to be done."""
        return self._encode(X, {}, None)

    def _keep_seen(self, column, X):
        """Drops the categories that no sample has; the new number of each."""
        values = self.categories[column]
        if values is None:
            return None
        codes = np.nan_to_num(X[:, column], nan=UNSEEN).astype(np.int64) + 1
        seen = np.bincount(codes, minlength=len(values) + 1)[1:] > 0
        numbers = np.where(seen, np.cumsum(seen) - 1, UNSEEN).astype(np.float64)
        self.categories[column] = [v for v, used in zip(values, seen, strict=True) if used]
        return numbers

    def _encode(self, X, by_fold, folds):
        """Encoded columns; statistics by fold where ``by_fold`` has some."""
        layout = self.layout()
        if not self.has_categories and not self.impute:
            return X
        if len(layout) == self.n_features_in and not self.has_categories:
            return self._imputed(X, slice(None))
        encoded = np.empty((len(X), len(layout)), dtype=X.dtype)
        known, levels = None, None
        for place, (column, kind, index) in enumerate(layout):
            if kind == "value":
                encoded[:, place] = self._imputed(X[:, column], column)
                continue
            if kind == "missing":
                encoded[:, place] = np.isnan(X[:, column])
                continue
            key, statistic, unseen = self._statistic(column, kind, index)
            if key != known:
                known, levels = key, self.levels(X, key)
            if key in by_fold and kind in ("mean", "effect", "pair"):
                table = np.append(by_fold[key][:, :, statistic], np.full((1, N_FOLDS), unseen), axis=0)
                encoded[:, place] = table.ravel()[levels * N_FOLDS + folds]
            else:
                encoded[:, place] = np.where(levels < 0, unseen, self._of_levels(key, kind, statistic)[levels])
        return encoded

    def level_values(self, entry):
        """The column or pair of an encoded column that is no number, and the values of its levels,
        that of unseen ones last."""
        key, statistic, unseen = self._statistic(*entry)
        return key, np.append(self._of_levels(key, entry[1], statistic), unseen)

    def _statistic(self, column, kind, index):
        """The column or pair of an encoded column, the number of its statistic, and what unseen
        levels get."""
        if kind == "pair":
            pair, target = divmod(index, len(self.targets))
            return tuple(self.pairs[pair].tolist()), target, self.priors[target]
        if kind == "mean":
            return (column,), index, self.priors[index]
        if kind == "effect":
            return (column,), len(self.targets) + index, 0.0
        return (column,), index, self.shares[column][index] if kind == "level" else 0.0

    def _of_levels(self, key, kind, statistic):
        """The values of the levels of a column or pair."""
        if kind == "pair":
            pair = np.flatnonzero((self.pairs == key).all(axis=1))[0]
            return self.pair_statistics[pair][:, statistic]
        if kind == "level":
            return (np.arange(self.n_levels(key[0])) == statistic).astype(np.float64)
        if kind == "share":
            return self.shares[key[0]]
        return self.statistics[key[0]][:, statistic]

    def _imputed(self, values, columns):
        """Numbers with their means where they are missing; 0 where training had none."""
        if not self.impute:
            return values
        means = self.means[columns]
        missing, empty = np.isnan(values), np.isnan(means)
        if not np.any(missing) and not np.any(empty):
            return values
        filled = np.where(missing, means.astype(values.dtype), values)
        return np.where(empty, np.zeros((), values.dtype), filled)


def renumber(X, numbers):
    """Samples with the numbers of `TableEncoder.fit_transform` for their categories."""
    if all(new is None or np.array_equal(new, np.arange(len(new))) for new in numbers):
        return X
    X = X.copy()
    for column, new in enumerate(numbers):
        if new is not None:
            codes = X[:, column]
            present = ~np.isnan(codes)
            X[present, column] = np.append(new, UNSEEN)[codes[present].astype(np.int64)]
    return X
