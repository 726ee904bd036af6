"""The fitted state of a table: its categories, target statistics and means."""

from dataclasses import dataclass, field

import numpy as np

from fctree._tables.statistics import (
    N_FOLDS,
    TargetStatistics,
    fold_numbers,
    statistic_targets,
    target_rows,
)

# Columns of so few categories become an indicator each. More indicators would cost oblique trees,
# which combine all features, more than they gain.
ONE_HOT_MAX_SIZE = 4
UNSEEN = -1.0


@dataclass(eq=False)
class TableEncoder:
    """The columns of a table as features of a model.

    A column of numbers stays; where `impute`, missing values become the training mean, with an
    indicator if training had any. A column of at most `ONE_HOT_MAX_SIZE` categories becomes an
    indicator each (of two: of the second). One of more becomes a target statistic for each target
    and the category's share of the training weight. Missing values are a category of their own
    if training had any. A category that training had not is what is known without it: the means of
    the indicators, the prior as its statistic; its share is 0.

    Attributes
    ----------
    categories : list of n_features_in lists or None
        Ascending, numbers before text; None for a column of numbers.
    impute : bool
    has_missing : ndarray of shape (n_features_in,), bool
        Whether the column had missing values in training.
    means : ndarray of shape (n_features_in,), float64
        Means of the columns of numbers, NaN where all values were missing.
    targets : ndarray of shape (n_statistics,), int64
        The outputs, or classes, that statistics are of.
    priors : ndarray of shape (n_statistics,), float64
    strengths : list of n_features_in arrays of shape (n_statistics,)
        Of the prior; empty for columns without statistics.
    statistics : list of n_features_in arrays of shape (n_levels, n_statistics)
        Levels are the categories, then the missing ones if training had any.
    shares : list of n_features_in arrays of shape (n_levels,)
        The levels' shares of the training weight; empty for columns of numbers.
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

    @property
    def n_features_in(self):
        """Number of the table's columns."""
        return len(self.categories)

    @property
    def has_categories(self):
        """Whether some column holds categories."""
        return any(values is not None for values in self.categories)

    def n_levels(self, column):
        """Categories of a column, with that of missing values."""
        return len(self.categories[column]) + int(self.has_missing[column])

    def has_statistics(self, column):
        """Whether a column becomes target statistics."""
        return len(self.statistics[column]) > 0

    def layout(self):
        """The encoded columns as (column, kind, index), kind one of ``"value"``, ``"missing"``,
        ``"level"``, ``"mean"`` and ``"share"``."""
        encoded = []
        for column, values in enumerate(self.categories):
            if values is None:
                encoded.append((column, "value", 0))
                if self.has_missing[column] and not np.isnan(self.means[column]):
                    encoded.append((column, "missing", 0))
            elif self.has_statistics(column):
                encoded.extend((column, "mean", t) for t in range(len(self.targets)))
                encoded.append((column, "share", 0))
            else:
                first = 1 if self.n_levels(column) == 2 else 0
                levels = range(first, self.n_levels(column))
                encoded.extend((column, "level", level) for level in levels)
        return encoded

    @property
    def sources(self):
        """The table's column of each encoded column, (n_encoded,) int64."""
        return np.array([column for column, _, _ in self.layout()], dtype=np.int64)

    def feature_names(self, names, classes=None):
        """Names of the encoded columns, from those of the table's.

        Parameters
        ----------
        names : sequence of str
        classes : array of shape (n_classes,), default=None
            Labels, for statistics of classes.
        """
        return [self._name(names[c], c, kind, i, classes) for c, kind, i in self.layout()]

    def _name(self, name, column, kind, index, classes):
        if kind == "value":
            return str(name)
        if kind == "share":
            return f"{name} (share)"
        if kind == "mean":
            if len(self.targets) == 1:
                return f"{name} (target mean)"
            of = self.targets[index] if classes is None else classes[self.targets[index]]
            return f"{name} (target mean, {of})"
        if kind == "missing" or index == len(self.categories[column]):
            return f"{name} is missing"
        return f"{name} = {self.categories[column][index]}"

    def summed_to_columns(self, importances):
        """Importances of the encoded columns, added up to those of the table's."""
        return np.bincount(self.sources, weights=importances, minlength=self.n_features_in)

    def directions_of_encoded(self, directions):
        """Monotone constraints of the encoded columns; ValueError for one of categories."""
        for column in np.flatnonzero(directions):
            if self.categories[column] is not None:
                raise ValueError(
                    f"monotonic_cst must be 0 for categories, got {directions[column]} for column "
                    f"{column}"
                )
        values = [kind == "value" for _, kind, _ in self.layout()]
        return np.where(values, np.asarray(directions)[self.sources], 0)

    def fit_transform(self, X, y, n_classes, weight):
        """Learn from training samples, and encode them.

        Parameters
        ----------
        X : array of shape (n_samples, n_features_in)
            Numbers, and the numbers of categories; NaN where missing.
        y : array of shape (n_targets, n_samples)
        n_classes : int or None
        weight : array of shape (n_samples,) or None

        Returns
        -------
        encoded : array of shape (n_samples, n_encoded)
            Target statistics are those of other samples.
        renumbered : list of n_features_in arrays or None
            The number that each category has got: only those of training samples are kept.
        """
        weight = _mean_one(weight, len(X))
        self.has_missing = np.isnan(X).any(axis=0)
        renumbered = [self._keep_seen(column, X) for column in range(self.n_features_in)]
        X = renumber(X, renumbered)
        self.means = self._means(X, weight)
        levels = self._all_levels(X)
        self.shares = [np.empty(0) for _ in range(self.n_features_in)]
        for column, found in levels.items():
            n_levels = self.n_levels(column)
            self.shares[column] = np.bincount(found, weight, minlength=n_levels) / weight.sum()
        self.strengths = [np.empty(0) for _ in range(self.n_features_in)]
        self.statistics = [np.empty((0, 0)) for _ in range(self.n_features_in)]
        own = {}
        many = [column for column in levels if self.n_levels(column) > ONE_HOT_MAX_SIZE]
        if many:
            self.targets = statistic_targets(y, n_classes)
            targets = target_rows(y, n_classes, self.targets)
            self.priors = np.average(targets, axis=1, weights=weight)
            folds = fold_numbers(len(X))
            for column in many:
                found = self._statistics(column, levels[column], folds, targets, weight)
                self.strengths[column] = np.array([one.strength for one in found])
                self.statistics[column] = _stacked(one.of_categories() for one in found)
                own[column] = _stacked(one.of_samples() for one in found)
        return self._encode(X, levels, own), renumbered

    def refit_transform(self, X, y, n_classes, weight):
        """Encode training samples again, by statistics of their own targets, for a warm start.

        Categories, priors and strengths stay; so the samples of the first fit get what they got.
        """
        levels, own = self._all_levels(X), {}
        if self._with_statistics():
            targets = target_rows(y, n_classes, self.targets)
            weight, folds = _mean_one(weight, len(X)), fold_numbers(len(X))
        for column in self._with_statistics():
            known = self.strengths[column]
            found = self._statistics(column, levels[column], folds, targets, weight, known)
            own[column] = _stacked(one.of_samples() for one in found)
        return self._encode(X, levels, own)

    def transform(self, X):
        """Encode samples that are not of the training data.

        Parameters
        ----------
        X : array of shape (n_samples, n_features_in)

        Returns
        -------
        encoded : array of shape (n_samples, n_encoded)
            `X` itself where nothing is to be done.
        """
        return self._encode(X, self._all_levels(X), {})

    def _with_statistics(self):
        """The columns that have target statistics in a fitted encoder."""
        return [column for column in range(self.n_features_in) if self.has_statistics(column)]

    def _keep_seen(self, column, X):
        """Drops the categories that no sample has; the new number of each."""
        values = self.categories[column]
        if values is None:
            return None
        codes = X[:, column]
        codes = codes[codes >= 0].astype(np.int64)
        seen = np.bincount(codes, minlength=len(values)) > 0
        numbers = np.where(seen, np.cumsum(seen) - 1, UNSEEN).astype(np.float64)
        self.categories[column] = [v for v, used in zip(values, seen, strict=True) if used]
        return numbers

    def _means(self, X, weight):
        """Weighted means of the columns of numbers over the samples that have them."""
        means = np.full(self.n_features_in, np.nan)
        if not self.impute:
            return means
        part = weight / weight.sum()
        for column, values in enumerate(self.categories):
            if values is None and not self.has_missing[column]:
                means[column] = np.sum(part * X[:, column])
            elif values is None:
                present = ~np.isnan(X[:, column])
                part_present = weight[present] / max(weight[present].sum(), np.finfo(float).tiny)
                if present.any():
                    means[column] = np.sum(part_present * X[present, column])
        return means

    def _all_levels(self, X):
        """Level numbers by column of categories, (n_samples,) int64: -1 for what training had
        not."""
        levels = {}
        for column, values in enumerate(self.categories):
            if values is not None:
                codes = X[:, column]
                missing = np.isnan(codes)
                if missing.any():
                    level = len(values) if self.has_missing[column] else UNSEEN
                    codes = np.where(missing, level, codes)
                levels[column] = codes.astype(np.int64)
        return levels

    def _statistics(self, column, levels, folds, targets, weight, strengths=None):
        """The statistics of a column with each target; of categories that are known."""
        if levels.min() < 0:  # of a warm start on other samples
            weight = weight * (levels >= 0)
            levels = np.maximum(levels, 0)
        strengths = [None] * len(targets) if strengths is None else strengths
        cells, n_levels = levels * N_FOLDS + folds, self.n_levels(column)
        return [
            TargetStatistics(cells, n_levels, target, weight, prior=prior, strength=strength)
            for target, prior, strength in zip(targets, self.priors, strengths, strict=True)
        ]

    def _encode(self, X, levels, own):
        """Encoded columns; statistics of the samples where ``own`` has some, else of the levels."""
        layout = self.layout()
        if not self.has_categories and not self.impute:
            return X
        if len(layout) == self.n_features_in and not self.has_categories:
            return self._imputed(X, slice(None))
        encoded = np.empty((len(X), len(layout)), dtype=X.dtype)
        for place, (column, kind, index) in enumerate(layout):
            if kind == "value":
                encoded[:, place] = self._imputed(X[:, column], column)
            elif kind == "missing":
                encoded[:, place] = np.isnan(X[:, column])
            elif kind == "mean" and column in own:
                unseen = levels[column] < 0
                encoded[:, place] = np.where(unseen, self.priors[index], own[column][:, index])
            else:
                encoded[:, place] = self._of_levels(column, kind, index)[levels[column]]
        return encoded

    def _of_levels(self, column, kind, index):
        """The values of the levels of a column, and last that of an unseen category."""
        if kind == "level":
            indicator = (np.arange(self.n_levels(column)) == index).astype(np.float64)
            return np.append(indicator, self.shares[column][index])
        if kind == "share":
            return np.append(self.shares[column], 0.0)
        return np.append(self.statistics[column][:, index], self.priors[index])

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


def _mean_one(weight, n_samples):
    return np.ones(n_samples) if weight is None else weight * (n_samples / weight.sum())


def _stacked(columns):
    return np.stack(list(columns), axis=1)


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
