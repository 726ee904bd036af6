"""Copies among training samples: they share a fold and a side of every split, and are one sample of statistics.

A copy elsewhere would tell a sample its own target. Equal samples of few different rows, or of a table where many samples of equal
features have different targets, are coincidences (native/ensembles/equal_rows.hpp), of which each stands for itself.
"""

from dataclasses import dataclass

import numpy as np

from fctree._native import ensembles as _native
from fctree._tables.statistics import fold_numbers
from fctree._tables.sums import OnePlace, TablePart

_MOST_COMPARED = 1 << 17


@dataclass(frozen=True, eq=False)
class Different:
    """The different samples of a table with copies.

    Attributes
    ----------
    first : array of shape (n_different,), int64
        The number of the first sample of each.
    members : array of shape (n_samples,), int64
        Which of them each sample is.
    """

    first: np.ndarray
    members: np.ndarray

    def __len__(self):
        return len(self.first)

    @property
    def folds(self):
        """The fold of each sample, that of its first copy."""
        return fold_numbers(len(self))[self.members]

    def rows(self, some):
        """The numbers of all samples that are copies of those with these numbers, ascending."""
        wanted = np.zeros(len(self), dtype=bool)
        wanted[self.members[some]] = True
        return np.flatnonzero(wanted[self.members])


def _hashes(part, one_of):
    """Hashes of samples, (n, 2); only of those that are one of so many different features."""
    found = np.empty((len(part), 2), dtype=np.uint64)
    for rows, values in part.blocks(range(part.X.shape[1])):
        found[rows] = _native.hash_samples(values, np.ascontiguousarray(part.y[:, rows], dtype=np.float64))
    return found[found[:, 0] % np.uint64(one_of) == 0]


def find_different(places, n_samples):
    """The `Different` samples of ``n_samples``, None where there are no copies.

    Of more than `_MOST_COMPARED` samples a share says whether there are.
    """
    one_of = max(-(-n_samples // _MOST_COMPARED), 1)
    hashes = places.rows(_hashes, one_of)
    if len(np.unique(hashes[:, 1])) == len(hashes) or _native.are_coincidences(hashes):
        return None
    hashes = hashes if one_of == 1 else places.rows(_hashes, 1)
    _, first, members = np.unique(hashes[:, 1], return_index=True, return_inverse=True)
    order = np.argsort(first)
    places_in_order = np.empty(len(first), dtype=np.int64)
    places_in_order[order] = np.arange(len(first))
    return Different(first[order], places_in_order[members])


def different_samples(X, y):
    """The `Different` samples of features (n_samples, d) and targets (n_targets, n_samples), each by itself without copies."""
    found = find_different(OnePlace(TablePart(X, y, None)), len(X))
    every = np.arange(len(X))
    return found if found is not None and len(found) > 1 else Different(every, every)
