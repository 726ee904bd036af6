"""Choice of the pairs of columns that say more about the targets than each of the two.

Pairs of two categories, or of a category and a number that is cut into five parts. A pair is taken
where its cells explain more than the sum of an effect of each column, by an F-test on at most 5,000
samples, which are the same wherever the samples lie. The order is that of the variance explained.
"""

import numpy as np
from scipy.special import fdtrc

_MAX_ROWS = 5000
_MAX_COLUMNS = 20  # of categories, and of numbers
_MAX_CELLS = 100_000
_MAX_FEATURES = 8
_MAX_TARGETS = 3
_FALSE_PAIRS = 1e-5  # expected in a table of noise
_PRIOR_DEGREES = 10  # of the variance within cells, as it would be if the pair explained nothing
_QUANTILES = np.arange(1, 5) / 5
_SWEEPS = 4


def _sample(part, rows, targets, columns):
    """Levels and numbers of some samples, and their centred targets."""
    inside = part.inside(rows)
    X = part.X[inside][:, columns]
    return np.hstack([X, targets.centred(part)[:, inside].T])


def choose_pairs(encoder, places, targets, weighting, first, unpaired):
    """Pairs of columns to take statistics of, (n_pairs, 2) int64, the first of a pair with categories; and
    for each column where its numbers are cut, if it is in a pair. ``first`` are the numbers of different samples, None for all."""
    width = encoder.n_features_in
    edges, none = [np.empty(0) for _ in range(width)], np.empty((0, 2), dtype=np.int64)
    columns = [c for c in range(width) if c not in unpaired]
    if not any(map(encoder.has_statistics, columns)) or len(columns) < 2:
        return edges, none
    n = weighting.n_different
    rows = np.arange(n) if n <= _MAX_ROWS else n * np.arange(_MAX_ROWS) // _MAX_ROWS
    rows = rows if first is None else first[rows]
    drawn = places.rows(_sample, rows, targets, np.array(columns))
    sample = np.full((len(drawn), width), np.nan)
    sample[:, columns] = drawn[:, : len(columns)]
    residuals = drawn[:, len(columns) :][:, :_MAX_TARGETS].T
    for c in columns:
        if encoder.categories[c] is None:
            values = sample[:, c][np.isfinite(sample[:, c])]
            edges[c] = np.unique(np.quantile(values, _QUANTILES)) if len(values) else np.empty(0)
    found = _Screening(encoder, edges, sample, residuals).ordered(columns)
    kept = found[: max(1, _MAX_FEATURES // len(targets.numbers))]
    used = {column for pair in kept for column in pair}
    edges = [values if c in used else np.empty(0) for c, values in enumerate(edges)]
    return edges, np.array(kept, dtype=np.int64).reshape(-1, 2)


class _Screening:
    """The tests of pairs on drawn samples; `residuals` are centred targets."""

    def __init__(self, encoder, edges, sample, residuals):
        self.encoder = encoder
        trial = type(encoder)(encoder.categories, encoder.impute, encoder.has_missing)
        trial.edges = edges
        self.n_levels, self.levels = {}, {}
        for column in range(sample.shape[1]):
            if encoder.categories[column] is not None or len(edges[column]):
                self.n_levels[column] = trial.n_cells((column,))
                self.levels[column] = trial.levels(sample, (column,))
        self.residuals = residuals
        self.squares = np.sum(residuals**2, axis=1)

    def ordered(self, columns):
        """The pairs that pass, from the one that explains most on; those with a column of few categories come last."""
        known = [c for c in columns if c in self.levels and np.ptp(self.levels[c]) > 0]  # a constant tells nothing apart
        many = self._best([c for c in known if self.encoder.has_statistics(c)])
        others = self._best([c for c in known if not self.encoder.has_statistics(c)])  # numbers, and few categories
        candidates = [(a, b) for i, a in enumerate(many) for b in many[i + 1 :]]
        candidates += [(a, b) for a in many for b in others]
        tested = [(*self._test(*pair), pair) for pair in candidates]
        categories = self.encoder.categories
        passed = [
            (pair[1] in others and categories[pair[1]] is not None, -gain, pair)
            for gain, p, pair in tested if p * len(candidates) * len(self.residuals) < _FALSE_PAIRS
        ]
        return [pair for *_, pair in sorted(passed)]

    def _best(self, columns):
        """At most `_MAX_COLUMNS` columns, ascending: those that explain most."""
        if len(columns) <= _MAX_COLUMNS:
            return columns
        explained = [-self._explained(self.levels[c], self.n_levels[c])[0].max() for c in columns]
        best = np.argsort(explained, kind="stable")[:_MAX_COLUMNS]
        return sorted(columns[i] for i in best)

    def _explained(self, cells, n_cells, residuals=None):
        """The share of each target's variance that cells explain, and how many have samples."""
        residuals = self.residuals if residuals is None else residuals
        counts = np.bincount(cells, minlength=n_cells)
        seen = counts > 0
        sums = [np.bincount(cells, row, n_cells)[seen] for row in residuals]
        explained = np.array([np.sum(row**2 / counts[seen]) for row in sums])
        return explained / np.maximum(self.squares, 1e-300), np.count_nonzero(seen)

    def _test(self, a, b):
        """The variance that a pair explains beyond its two columns, and the chance of that by noise."""
        n_cells = self.n_levels[a] * self.n_levels[b]
        cells = self.levels[a] * self.n_levels[b] + self.levels[b]
        if n_cells > _MAX_CELLS:
            return 0.0, 1.0
        _, n_seen = self._explained(cells, n_cells)
        of_each = [np.count_nonzero(np.bincount(self.levels[c])) for c in (a, b)]
        more, within = n_seen - sum(of_each) + 1, len(cells) - n_seen
        if more < 1 or within < 1:
            return 0.0, 1.0
        rest = self._without(a, b)
        explained, _ = self._explained(cells, n_cells, rest)
        whole = np.sum(rest**2, axis=1) / np.maximum(self.squares, 1e-300)
        # Few samples share their cells at times, and by chance these are alike.
        left = whole - explained + _PRIOR_DEGREES * whole / (more + within)
        noise = np.maximum(left, 1e-12) / (within + _PRIOR_DEGREES)
        p = fdtrc(more, within, explained / more / noise).min()
        return float(np.sum(explained - more * noise)), float(p)

    def _without(self, a, b):
        """Residuals of the sum of an effect of each column."""
        rest = self.residuals.copy()
        for _ in range(_SWEEPS):
            for column in (a, b):
                levels = self.levels[column]
                counts = np.maximum(np.bincount(levels), 1)
                for row in rest:
                    row -= (np.bincount(levels, row) / counts)[levels]
        return rest
