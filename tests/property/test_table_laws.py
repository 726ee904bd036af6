"""That which holds for the encoding of every table."""

import numpy as np
import pytest
from fctree import CurvatureBoostingRegressor, SymmetricBoostingClassifier, SymmetricBoostingRegressor
from fctree._tables.encoder import IndicatorLimits, TableEncoder, renumber
from fctree._tables.linear_effects import fit_linear_model
from fctree._tables.moments import find_numbers, find_targets, weigh
from fctree._tables.statistics import N_FOLDS, TargetStatistics, fold_numbers
from fctree._tables.sums import FixedPoint, OnePlace, TablePart
from hypothesis import given
from hypothesis import strategies as st


@st.composite
def coded_samples(draw):
    """Numbers of categories, targets and weights."""
    seed = draw(st.integers(0, 2**32 - 1))
    n_categories = draw(st.integers(1, 30))
    n = draw(st.integers(2, 200))
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_categories, n)
    target = rng.normal(size=n) + draw(st.floats(0, 3)) * codes
    weight = rng.exponential(size=n) + 0.01 if draw(st.booleans()) else np.ones(n)
    return codes, n_categories, target, weight / weight.mean()


@given(coded_samples(), st.integers(0, 199))
def test_a_statistic_does_not_know_the_samples_own_target(samples, which):
    """With the prior and the strength as they are: all else that it is made of is of others."""
    codes, n_categories, target, weight = samples
    which %= len(codes)
    prior = float(np.average(target, weights=weight))
    before = of_folds(codes, n_categories, target - prior, weight, prior)[which]
    other = target - prior
    other[which] += 1e6
    assert of_folds(codes, n_categories, other, weight, prior)[which] == before


def of_folds(codes, n_categories, centred, weight, prior, strength=1.5):
    """The statistics of training samples."""
    folds = fold_numbers(len(codes))
    cells, shape = codes * N_FOLDS + folds, (n_categories, N_FOLDS)
    weights, sums = (
        np.bincount(cells, values, n_categories * N_FOLDS).reshape(shape)
        for values in (weight, weight * centred)
    )
    found = TargetStatistics(weights, sums, prior=prior, strength=strength)
    return found.of_folds()[codes, folds]


@given(coded_samples())
def test_statistics_lie_between_the_prior_and_the_targets(samples):
    codes, n_categories, target, weight = samples
    encoder = TableEncoder([[f"{c:03}" for c in range(n_categories)]], False)
    encoded, _ = encoder.fit_transform(codes[:, None].astype(float), target[None], None, weight)
    if not encoder.has_statistics(0):
        return
    tolerance, prior = 1e-9 * (1 + np.abs(target).max()), np.average(target, weights=weight)
    folds = fold_numbers(len(codes))
    outside = [folds != fold for fold in range(N_FOLDS) if np.any(folds != fold)]
    shift = max(abs(np.average(target[rest], weights=weight[rest]) - prior) for rest in outside)
    for values, more in ((encoder.units * encoded[:, 0], shift), (encoder.units * encoder.statistics[0], 0.0)):
        assert np.all(values >= target.min() - tolerance - more)
        assert np.all(values <= target.max() + tolerance + more)


@given(coded_samples(), st.integers(0, N_FOLDS - 1), st.floats(-5, 5))
def test_a_fold_does_not_know_its_mean(samples, fold, constant):
    """A constant more in all the others changes nothing."""
    codes, n_categories, target, weight = samples
    inside = fold_numbers(len(codes)) == fold
    before, after = (
        of_folds(codes, n_categories, centred, weight, 0.0)[inside]
        for centred in (target, np.where(inside, target, target + constant))
    )
    np.testing.assert_allclose(after, before, atol=1e-9 * (1 + np.abs(target).max()))


def words_of_cells(fixed, cells, values, n_cells):
    found = [np.bincount(cells, word, minlength=n_cells) for word in fixed.words(values)]
    return np.stack(found).astype(np.int64)


@given(coded_samples(), st.integers(1, 5))
def test_sums_are_the_same_of_any_parts(samples, n_parts):
    codes, n_categories, target, weight = samples
    values = weight * target * 1e3
    fixed = FixedPoint(np.abs(values).max(), len(values))
    whole = words_of_cells(fixed, codes, values, n_categories)
    order = np.random.default_rng(0).permutation(len(codes))
    parts = np.array_split(order, n_parts)
    words = sum(words_of_cells(fixed, codes[part], values[part], n_categories) for part in parts)
    np.testing.assert_array_equal(words, whole)
    expected = np.bincount(codes, values, n_categories)
    np.testing.assert_allclose(fixed.value(whole), expected, atol=1e-12 * np.abs(values).sum())


@given(coded_samples(), st.integers(1, 9), st.booleans())
def test_sums_of_columns_are_those_of_each_number(samples, width, single):
    _, _, target, weight = samples
    rng = np.random.default_rng(len(target))
    X = target[:, None] * rng.lognormal(0.0, 9.0, size=(len(target), width))
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0, 0] = np.inf
    X = X.astype(np.float32) if single else X
    part, finite = TablePart(X, target[None], weight), np.where(np.isfinite(X), X, 0.0).astype(float)
    np.testing.assert_array_equal(part.magnitudes, np.abs(finite).max(axis=0))
    np.testing.assert_array_equal(part.incomplete, ~np.isfinite(X).all(axis=0))
    for columns in (np.arange(width), np.arange(0, width, 2)):
        bounds = part.magnitudes[columns] * weight.max()
        expected = [
            FixedPoint(bound, len(X)).total(weight * finite[:, c])
            for bound, c in zip(bounds, columns, strict=True)
        ]
        found = FixedPoint(bounds, len(X)).column_totals(part, columns, weight)
        np.testing.assert_array_equal(found, np.transpose(expected))


@given(coded_samples())
def test_means_are_of_the_numbers_that_are_there(samples):
    codes, _, target, weight = samples
    X = np.column_stack([target, np.where(codes > 0, target, np.nan)])
    places = OnePlace(TablePart(X, target[None], weight))
    means = find_numbers(places, [0, 1], weigh(places)).means
    there = codes > 0
    expected = np.average(target[there], weights=weight[there]) if there.any() else np.nan
    np.testing.assert_allclose(means, [np.average(target, weights=weight), expected], atol=1e-12)
    ones = OnePlace(TablePart(X, target[None], np.ones(len(X))))
    none = OnePlace(TablePart(X, target[None], None))
    np.testing.assert_array_equal(
        find_numbers(none, [0, 1], weigh(none)).means, find_numbers(ones, [0, 1], weigh(ones)).means
    )


@given(coded_samples(), st.integers(0, 199))
def test_the_linear_model_of_a_fold_does_not_know_the_folds_targets(samples, which):
    codes, _, target, weight = samples
    which %= len(codes)
    X = np.column_stack([codes, np.cos(codes)]).astype(float)
    part = TablePart(X, target[None], weight)
    places = OnePlace(part)
    weighting = weigh(places)
    targets = find_targets(places, None, weighting)
    before = fit_linear_model(places, [0, 1], targets, weighting).coef[part.folds[which]]
    part.y[0, which] += 3.0
    after = fit_linear_model(places, [0, 1], targets, weighting).coef[part.folds[which]]
    np.testing.assert_array_equal(after, before)


@given(coded_samples(), st.floats(0.01, 100))
def test_statistics_do_not_depend_on_the_unit_of_weights(samples, factor):
    codes, n_categories, target, weight = samples
    names = [f"{number:03}" for number in range(n_categories)]
    encoded = [
        TableEncoder([list(names)], False).fit_transform(
            codes[:, None].astype(float), target[None], None, unit * weight
        )[0]
        for unit in (1.0, factor)
    ]
    np.testing.assert_allclose(encoded[1], encoded[0], rtol=1e-6, atol=1e-6)


@given(coded_samples(), st.booleans())
def test_the_layout_says_how_many_columns_there_are(samples, impute):
    codes, n_categories, target, weight = samples
    X = np.column_stack([codes.astype(float), target])
    X[:: 1 + len(codes) // 3] = np.nan
    encoder = TableEncoder([[f"{c:03}" for c in range(n_categories)], None], impute)
    encoded, numbers = encoder.fit_transform(X, target[None], None, weight, limits=IndicatorLimits(12))
    X = renumber(X, numbers)
    assert encoded.shape == (len(codes), len(encoder.layout()))
    assert len(encoder.feature_names(["a", "b"])) == len(set(encoder.feature_names(["a", "b"])))
    assert encoder.transform(X).shape == encoded.shape
    assert np.all(np.diff(encoder.sources) >= 0)
    assert not np.isnan(encoded).any() or not impute
    if not encoder.has_statistics(0):  # no targets in them: training samples are as new
        np.testing.assert_array_equal(encoder.transform(X), encoded)


@given(coded_samples())
def test_a_warm_start_encodes_the_same_samples_alike(samples):
    codes, n_categories, target, weight = samples
    X = codes[:, None].astype(float)
    encoder = TableEncoder([[f"{c:03}" for c in range(n_categories)]], False)
    first, numbers = encoder.fit_transform(X, target[None], None, weight, limits=IndicatorLimits(12))
    coded = numbers[0][codes][:, None]
    np.testing.assert_array_equal(
        encoder.refit_transform(coded, target[None], None, weight), first
    )


def noisy_table(n, n_levels, seed):
    """A table whose one category says nothing about the target."""
    rng = np.random.default_rng(seed)
    names = np.array([f"level {number}" for number in range(n_levels)], dtype=object)
    table = np.empty((n, 2), dtype=object)
    table[:, 0] = names[rng.integers(0, n_levels, n)]
    table[:, 1] = rng.normal(size=n)
    return table, table[:, 1].astype(float) + rng.normal(size=n)


@pytest.mark.parametrize(
    "model",
    [
        SymmetricBoostingRegressor(max_iter=60, max_depth=3, random_state=0),
        CurvatureBoostingRegressor(max_iter=20, random_state=0),
    ],
    ids=["symmetric", "oblique"],
)
@pytest.mark.parametrize("seed", range(2))
def test_a_category_of_noise_gives_no_lift_on_training_rows(model, seed):
    table, y = noisy_table(3000, 1000, seed)
    encoder_lift = model.fit(table, y).score(table, y)
    assert np.isinf(model.encoder_.strengths[0][0]) or model.encoder_.strengths[0][0] > 20
    without = model.fit(table[:, 1:].astype(float), y).score(table[:, 1:].astype(float), y)
    random = table.copy()
    random[:, 0] = np.random.default_rng(99).normal(size=len(y))
    by_chance = model.fit(random.astype(float), y).score(random.astype(float), y)
    assert encoder_lift < max(without, by_chance) + 0.02


def test_classes_leak_no_more():
    """No more than as many columns of noise as three classes have statistics and a share."""
    table, _ = noisy_table(3000, 1000, 5)
    labels = np.random.default_rng(1005).integers(0, 3, len(table))
    model = SymmetricBoostingClassifier(max_iter=40, max_depth=3, random_state=0)
    lift = model.fit(table[:, :1], labels).score(table[:, :1], labels)
    X = np.random.default_rng(1).normal(size=(len(table), 3))
    assert lift < model.fit(X, labels).score(X, labels) + 0.02
