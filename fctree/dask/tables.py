"""Categories on Dask: encoders fitted from sums over partitions, which stay where they are.

A partition's columns are read on its worker; the categories of all make the numbers of categories.
All that an encoder learns is a sum of integers over the partitions, so that it is, byte for byte,
that of all rows in one place.
"""

from dataclasses import dataclass

import numpy as np

from fctree._tables.columns import read_columns, sort_key
from fctree._tables.encoder import TableEncoder
from fctree._tables.estimators import (
    column_names,
    constrained_columns,
    indicator_limits,
    wanted_categories,
)
from fctree._tables.fitting import fit_encoder
from fctree._tables.frames import raw_columns, table_of
from fctree._tables.numbers import numbers_of
from fctree._tables.sums import TablePart
from fctree.dask.checks import check_boosting_rows
from fctree.dask.cluster import from_parts, gather, map_parts
from fctree.dask.partitions import Partition, is_dask, is_dask_frame


def is_table(estimator, X):
    """Whether columns of ``X`` have to be read one by one."""
    chosen = getattr(estimator, "categorical_features", None)
    if chosen is not None and not isinstance(chosen, str) and len(chosen):
        return True
    if is_dask_frame(X):
        return table_of(X._meta) is not None
    if is_dask(X):
        return X.dtype.kind not in "fiub"
    return table_of(X) is not None


@dataclass(eq=False)
class ReadPartition:
    """Rows whose categories are numbered as they come; `values` of the categories by column.

    Only categories of some row are among them; None for a column of numbers.
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    values: list
    y_unused: np.ndarray | None

    def __len__(self):
        return len(self.X)


def _read(part, wanted, names):
    """A partition of a table, read column by column."""
    X = part.X
    if table_of(X) is None and not any(wanted):
        X = check_boosting_rows(X).astype(np.float64, copy=False)  # means are not rounded to float32
        return ReadPartition(X, part.y, part.weight, [None] * X.shape[1], part.y_unused)
    coded, categories = np.empty(X.shape, order="F"), []
    for j, (_, column) in enumerate(read_columns(raw_columns(X), names, wanted)):
        if column.values is None:
            coded[:, j] = column.numbers
            categories.append(None)
            continue
        seen, codes = np.unique(column.codes, return_inverse=True)
        coded[:, j] = np.where(seen < 0, np.nan, np.cumsum(seen >= 0) - 1.0)[codes]
        categories.append([column.values[code] for code in seen if code >= 0])
    return ReadPartition(coded, part.y, part.weight, categories, part.y_unused)


def _describe(part):
    """Categories of the columns, and which have missing values; None without rows."""
    return (part.values, np.isnan(part.X).any(axis=0)) if len(part) else None


def _numbered(part, categories):
    """The partition with the numbers that its categories have among these."""
    X = part.X.copy()
    for j, (values, known) in enumerate(zip(part.values, categories, strict=True)):
        if known is not None:
            X[:, j] = numbers_of(values or [], known)[np.where(np.isnan(X[:, j]), -1, X[:, j]).astype(np.int64)]
    return Partition(X, part.y, part.weight, part.y_unused)


def read_tables(client, partitions, wanted, names):
    """Futures of `ReadPartition`s that agree on which columns hold categories, and tuples (values,
    has_missing) of the partitions with rows."""

    def read(wanted):
        futures = map_parts(client, _read, partitions, wanted, names)
        return futures, [found for found in from_parts(client, _describe, futures) if found is not None]

    futures, described = read(wanted)
    kinds = [[values is not None for values in found[0]] for found in described]
    if any(of_part != kinds[0] for of_part in kinds):  # text, or values, in some partitions only
        columns = zip(*(found[0] for found in described), strict=True)
        futures, described = read([_holds_categories(values) for values in columns])
    return futures, described


def _holds_categories(values):
    """Whether a column does, by its categories in each partition: none are of a column that is empty there,
    None are of numbers."""
    return any(values) or None not in values


class Partitions:
    """The places of a table's samples: partitions on workers (`fctree._tables.sums.OnePlace`)."""

    def __init__(self, client, partitions, lengths, encode):
        begins = np.cumsum([0, *lengths]).tolist()
        self.client = client
        self.encode = encode
        self.parts = [(p, b, n) for p, b, n in zip(partitions, begins, lengths, strict=False) if n]
        self.folds = None

    def _answers(self, function, arguments):
        given = self.client.submit(_same, arguments, pure=False)
        return gather(
            self.client,
            [
                self.client.submit(_apply, function, part, begin, self.encode, self.folds_of(begin, n), given, pure=False)
                for part, begin, n in self.parts
            ],
        )

    def add(self, function, *arguments):
        return np.sum(self._answers(function, arguments), axis=0)

    def largest(self, function, *arguments):
        return np.max(self._answers(function, arguments), axis=0)

    def rows(self, function, *arguments):
        return np.concatenate(self._answers(function, arguments))

    def divide(self, folds):
        self.folds = folds

    def folds_of(self, begin, n):
        """Folds that n samples from this one on are given, if any."""
        return None if self.folds is None else self.folds[begin : begin + n]


def _same(value):
    return value


def _table_part(part, begin, encode, folds):
    return TablePart(part.X, encode(part.y), part.weight, begin, folds)


def _apply(function, part, begin, encode, folds, arguments):
    return function(_table_part(part, begin, encode, folds), *arguments)


def _encoded(part, begin, encode, folds, learnt):
    """A training partition with encoded columns."""
    encoder, by_fold = learnt
    X = encoder.encode_part(_table_part(part, begin, encode, folds), by_fold) if len(part) else part.X
    return _with_width(part, X, encoder)


def _with_width(part, X, encoder):
    X = X if len(part) else np.empty((0, len(encoder.layout())))
    return Partition(X, part.y, part.weight)


def _transformed(part, encoder):
    X = encoder.transform(part.X) if len(part) else part.X
    return _with_width(part, X, encoder)


class PartitionedTable:
    """The encoding of an estimator's partitions, where its rows are tables like ``X``.

    It sets ``encoder_``, None where rows are plain numbers. With ``impute`` missing numbers become means,
    as oblique trees need.
    """

    def __init__(self, client, estimator, X, *, impute):
        self.client = client
        self.estimator = estimator
        self.impute = impute
        self.is_read = impute or is_table(estimator, X)
        estimator.encoder_ = None
        self.names = column_names(estimator)

    def read(self, partitions):
        """Partitions of the fit with numbers for categories, which are known then."""
        if not self.is_read:
            return partitions
        names = getattr(self.estimator, "feature_names_in_", None)
        wanted = wanted_categories(self.estimator, names, self.estimator.n_features_in_)
        read, described = read_tables(self.client, partitions, wanted, self.names)
        if not described:
            raise ValueError("X has no samples with a positive weight")
        categories = [
            None if of_column[0] is None else sorted(set().union(*of_column), key=sort_key)
            for of_column in zip(*(values for values, _ in described), strict=True)
        ]
        encoder = TableEncoder(categories, self.impute)
        encoder.has_missing = np.any([missing for _, missing in described], axis=0)
        self.estimator.encoder_ = encoder
        return self._number(read)

    def read_evaluation(self, partitions):
        """Partitions of an evaluation set with the numbers of the fit's categories."""
        if not self.is_read:
            return partitions
        wanted = [values is not None for values in self.estimator.encoder_.categories]
        return self._number(read_tables(self.client, partitions, wanted, self.names)[0])

    def _number(self, read):
        categories = self.estimator.encoder_.categories
        return map_parts(self.client, _numbered, read, categories)

    def encode(self, partitions, lengths, encode_targets, n_classes):
        """Fits the encoder; the partitions with encoded columns."""
        if not self.is_read:
            return partitions
        places = Partitions(self.client, partitions, lengths, encode_targets)
        encoder = self.estimator.encoder_
        by_fold = fit_encoder(
            encoder, places, n_classes, constrained_columns(self.estimator), indicator_limits(self.estimator)
        )
        learnt = self.client.submit(_same, (encoder, by_fold), pure=False)
        begins = np.cumsum([0, *lengths]).tolist()
        return [
            self.client.submit(_encoded, part, begin, encode_targets, places.folds_of(begin, n), learnt, pure=False)
            for part, begin, n in zip(partitions, begins, lengths, strict=False)
        ]

    def encode_evaluation(self, partitions):
        """The partitions of an evaluation set with encoded columns."""
        if not self.is_read:
            return partitions
        return map_parts(self.client, _transformed, partitions, self.estimator.encoder_)
