"""Fits encoders: target statistics from sums over samples, which may lie in many places."""

from copy import copy

import numpy as np

from fctree._tables.copies import find_different
from fctree._tables.linear_effects import effect_sums, fit_linear_model
from fctree._tables.moments import count_samples, find_numbers, find_targets, weigh
from fctree._tables.pairs import choose_pairs
from fctree._tables.statistics import N_FOLDS, TargetStatistics, shrinkage, whole_sums


def _level_sums(part, encoder, keys, targets, weighting):
    """Words of the weights and of the weighted sums of centred targets, of each level and fold of
    these columns or pairs, one after the other."""
    weights = weighting.of(part)
    terms = [weighting.fixed(1.0).words(weights)]
    if len(targets.numbers):
        for row, bound in zip(targets.centred(part), targets.bounds, strict=True):
            terms.append(weighting.fixed(bound).words(weights * row))
    found = []
    for key in keys:
        cells, words_of = encoder.levels(part.X, key) * N_FOLDS + part.folds, terms
        seen = cells >= 0  # all but some of a warm start on other samples
        if not seen.all():
            cells, words_of = cells[seen], [[word[seen] for word in words] for words in terms]
        size = encoder.n_cells(key) * N_FOLDS
        found.extend(np.bincount(cells, word, minlength=size) for words in words_of for word in words)
    return np.concatenate(found).astype(np.int64)


def _level_counts(part, encoder, keys, first):
    """The numbers of different samples of each level; ``first`` are those that are counted, None for all."""
    rows = slice(None) if first is None else part.inside(first)
    return np.concatenate(
        [np.bincount(encoder.levels(part.X[rows], key), minlength=encoder.n_cells(key)) for key in keys]
    )


def level_sums(places, encoder, keys, targets, weighting):
    """For each column or pair the weights of its levels, and the sums of centred targets with each target:
    lists of arrays (n_levels, N_FOLDS)."""
    if not keys:
        return []
    words = places.add(_level_sums, encoder, keys, targets, weighting)
    scales = [weighting.fixed(bound) for bound in (1.0, *targets.bounds)]
    tables, begin = [], 0
    for key in keys:
        shape = (2, encoder.n_cells(key), N_FOLDS)
        ends = begin + np.prod(shape) * np.arange(1, 1 + len(scales))
        parts = np.split(words[begin : ends[-1]], ends[:-1] - begin)
        tables.append([f.value(part.reshape(shape)) for f, part in zip(scales, parts, strict=True)])
        begin = ends[-1]
    return tables


def _statistics(tables, effects, targets, weighting, known):
    """Statistics of a column or pair with each target, and of what a linear model of the numbers leaves of each.

    ``tables`` as of `level_sums`, ``effects`` as of `effect_sums`. Returns the strengths, which may be known, and the
    values of the levels for new samples, and for training samples of each fold.
    """
    weights, *sums = tables
    n = weighting.n_different
    moments = [*zip(sums, n * targets.deviations**2, targets.priors, strict=True)]
    moments += [(of_effect, squares, 0.0) for of_effect, squares in effects]
    strengths = known if len(known) else np.array(
        [shrinkage(weights.sum(axis=1), whole_sums(own), squares, n) for own, squares, _ in moments]
    )
    found = [
        TargetStatistics(weights, own, prior=prior, strength=strength)
        for (own, _, prior), strength in zip(moments, strengths, strict=True)
    ]
    of_levels = np.stack([one.of_levels() for one in found], axis=1)
    return strengths, of_levels, np.stack([one.of_folds() for one in found], axis=2)


def _fit_statistics(encoder, places, targets, weighting, tables):
    """Sets the statistics of columns from their sums; gives the values by key and fold."""
    columns = [key for key in tables if encoder.has_statistics(key[0])]
    numeric = [c for c, values in enumerate(encoder.categories) if values is None]
    model = fit_linear_model(places, numeric, targets, weighting)
    known = len(encoder.strengths[columns[0][0]]) if columns else 0
    if model is not None and not (known > len(targets.numbers) if known else np.any(model.scales)):
        model = None  # no number varies, or none did in the first fit
    effects = effect_sums(places, encoder, columns, model, targets, weighting)
    by_fold = {}
    for (column,), of_effects in zip(columns, effects, strict=True):
        encoder.strengths[column], encoder.statistics[column], by_fold[column,] = _statistics(
            tables[column,], of_effects, targets, weighting, encoder.strengths[column]
        )
    return by_fold


def _fit_pairs(encoder, places, targets, weighting):
    """Sets the statistics of the chosen pairs; gives the values by key and fold."""
    keys = [tuple(pair) for pair in encoder.pairs.tolist()]
    tables = level_sums(places, encoder, keys, targets, weighting)
    known = encoder.pair_strengths or [()] * len(keys)
    encoder.pair_strengths, encoder.pair_statistics, by_fold = [], [], {}
    for key, of_key, strengths in zip(keys, tables, known, strict=True):
        strengths, of_levels, by_fold[key] = _statistics(of_key, (), targets, weighting, strengths)
        encoder.pair_strengths.append(strengths)
        encoder.pair_statistics.append(of_levels)
    return by_fold


def _divide(places, *, has_folds=True):
    """Give copies one fold, if there are folds; returns the `Weighting`, and the numbers of different samples, None for all."""
    n = count_samples(places)
    different = find_different(places, n) if has_folds else None
    if different is None:
        return weigh(places, n), None
    places.divide(different.folds)
    return weigh(places, n, len(different)), different.first


def fit_encoder(encoder, places, n_classes, unpaired, limits):
    """Fit a `TableEncoder` whose categories are those of the training samples.

    Columns that are ``unpaired`` take no part in pairs; ``limits`` are the `IndicatorLimits`.
    Returns what training samples of each fold get, by column ``(c,)`` or pair ``(a, b)``: arrays (n_levels, N_FOLDS, n_statistics).
    """
    keys = [(c,) for c, values in enumerate(encoder.categories) if values is not None]
    weighting, first = _divide(places, has_folds=bool(keys))
    numeric = [c for c, values in enumerate(encoder.categories) if values is None]
    encoder.clear()
    if encoder.impute:
        encoder.means[numeric] = find_numbers(places, numeric, weighting).means
    if not keys:
        return {}
    targets = find_targets(places, n_classes, weighting)
    tables = dict(zip(keys, level_sums(places, encoder, keys, targets, weighting), strict=True))
    counts = np.split(places.add(_level_counts, encoder, keys, first), np.cumsum([*map(encoder.n_cells, keys)])[:-1])
    for (column,), count in zip(keys, counts, strict=True):
        encoder.shares[column] = count / weighting.n_different
    if not encoder.choose_statistics(targets, n_classes):
        return {}
    by_fold = _fit_statistics(encoder, places, targets, weighting, tables)
    encoder.edges, encoder.pairs = choose_pairs(encoder, places, targets, weighting, first, unpaired)
    for column in encoder.choose_indicators(weighting.n_different, limits):
        del by_fold[column,]
    return by_fold | _fit_pairs(encoder, places, targets, weighting)


def refit_encoder(encoder, places, n_classes):
    """Statistics that training samples of each fold get in a warm start, by column or pair.

    Categories, units, priors, strengths and pairs stay; so the samples of the first fit get what they got.
    """
    if not len(encoder.targets):
        return {}
    weighting, _ = _divide(places)
    units = np.ones(len(encoder.targets)) if encoder.units is None else encoder.units
    targets = find_targets(places, n_classes, weighting, (encoder.targets, units, encoder.priors))
    kept = copy(encoder)  # with lists of its own
    keys = [(c,) for c in range(encoder.n_features_in) if encoder.has_statistics(c)]
    tables = dict(zip(keys, level_sums(places, kept, keys, targets, weighting), strict=True))
    by_fold = _fit_statistics(kept, places, targets, weighting, tables)
    return by_fold | _fit_pairs(kept, places, targets, weighting)
