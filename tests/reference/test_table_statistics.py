"""Target statistics against the literal twin, and against worked numbers."""

import numpy as np
import pandas as pd
import pytest
from fctree import SymmetricBoostingRegressor
from fctree._tables.encoder import IndicatorLimits, TableEncoder
from fctree._tables.statistics import (
    MAX_TARGETS,
    N_FOLDS,
    TargetStatistics,
    fold_numbers,
    shrinkage,
    possible_targets,
    statistic_targets,
    target_rows,
)
from reference import literal_tables


def drawn(seed, n=300, n_categories=25, effect=1.0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_categories, n)
    codes[0] = n_categories - 1
    target = effect * rng.normal(size=n_categories)[codes] + rng.normal(size=n) + 100.0
    return codes, target, rng.exponential(size=n)


class OfCodes:
    """Statistics of the codes of one column."""

    def __init__(self, codes, target, weight, prior):
        self.codes, self.folds = codes, fold_numbers(len(codes))
        cells, n = codes * N_FOLDS + self.folds, codes.max() + 1
        centred = target - prior
        weights, sums = (
            np.bincount(cells, values, n * N_FOLDS).reshape(n, N_FOLDS)
            for values in (weight, weight * centred)
        )
        squares = np.sum(weight * centred**2)
        self.strength = shrinkage(weights.sum(axis=1), sums.sum(axis=1), squares, len(codes))
        self.found = TargetStatistics(weights, sums, prior=prior, strength=self.strength)

    def of_samples(self):
        return self.found.of_folds()[self.codes, self.folds]

    def of_levels(self):
        return self.found.of_levels()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("effect", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_statistics_are_those_of_the_twin(seed, effect, weighted):
    codes, target, weight = drawn(seed, effect=effect)
    weight = weight / weight.mean() if weighted else np.ones(len(codes))
    own, of_categories, prior, a = literal_tables.statistics(
        codes.tolist(), target.tolist(), weight.tolist()
    )
    prior_found = np.average(target, weights=weight)
    found = OfCodes(codes, target, weight, prior=prior_found)
    np.testing.assert_allclose(found.strength, a, rtol=1e-7)
    np.testing.assert_allclose(found.of_samples(), own, rtol=1e-10)
    expected = [of_categories.get(c, prior) for c in range(codes.max() + 1)]
    np.testing.assert_allclose(found.of_levels(), expected, rtol=1e-10)


def test_folds_are_those_of_the_twin_and_nearly_equal():
    folds = fold_numbers(2000)
    assert folds.tolist() == [literal_tables.fold(i) for i in range(2000)]
    assert np.all(np.abs(np.bincount(folds) - 400) < 80)


def test_the_encoder_has_the_statistics_of_the_twin():
    codes, target, weight = drawn(7)
    encoder = TableEncoder([[str(c) for c in range(25)]], impute=False)
    encoded, _ = encoder.fit_transform(codes[:, None].astype(float), target[None], None, weight)
    unit = literal_tables.deviation(target.tolist(), weight.tolist())
    np.testing.assert_allclose(encoder.units, [unit], rtol=1e-12)
    own, of_categories, prior, _ = literal_tables.statistics(
        codes.tolist(), target.tolist(), weight.tolist()
    )
    np.testing.assert_allclose(unit * encoded[:, 0], own, rtol=1e-10)
    new = encoder.transform(np.array([[3.0], [24.0], [-1.0]]))
    expected = [of_categories[3], of_categories[24], prior]
    np.testing.assert_allclose(unit * new[:, 0], expected, rtol=1e-10)
    shares = [np.mean(codes == c) for c in (3, 24)]
    np.testing.assert_allclose(new[:, 1], [*shares, 0.0], rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
def test_statistics_of_robust_losses_are_those_of_the_twin(loss, weighted):
    codes, target, weight = drawn(8, effect=3.0)
    target[::30] = 1e4 * np.sin(target[::30])
    weight = weight if weighted else np.ones(len(codes))
    X = pd.DataFrame({"c": [f"{code:02}" for code in codes]})
    encoder = SymmetricBoostingRegressor(loss=loss, max_iter=1).fit(X, target, weight).encoder_
    cut = literal_tables.cut_off(target.tolist(), weight.tolist())
    _, of_categories, prior, a = literal_tables.statistics(codes.tolist(), cut, weight.tolist())
    unit = literal_tables.deviation(cut, weight.tolist())
    np.testing.assert_allclose(encoder.units, [unit], rtol=1e-12)
    np.testing.assert_allclose(unit * encoder.priors, [prior], rtol=1e-10)
    np.testing.assert_allclose(encoder.strengths[0], [a], rtol=1e-7)
    expected = [of_categories[code] for code in range(25)]
    np.testing.assert_allclose(unit * encoder.statistics[0][:, 0], expected, rtol=1e-10)


@pytest.mark.parametrize("effect", [0.0, 0.1, 0.2, 0.3, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_few_categories_are_indicators_where_the_twin_says_so(seed, effect):
    codes, target, weight = drawn(seed, n_categories=9, effect=effect)
    names = [str(c) for c in range(9)]
    encoder = TableEncoder([names], impute=False)
    encoder.fit_transform(codes[:, None].astype(float), target[None], None, weight, limits=IndicatorLimits(12))
    *_, a = literal_tables.statistics(codes.tolist(), target.tolist(), weight.tolist())
    is_weak = literal_tables.counts_little(a, n_samples=300, n_levels=9)
    expected = [f"c = {name}" for name in names] if is_weak else ["c (target mean)", "c (share)"]
    assert encoder.feature_names(["c"]) == expected


@pytest.mark.parametrize(("n_categories", "n", "both"), [(5, 74, False), (5, 75, True), (8, 120, True), (9, 3000, False)])
def test_few_categories_have_indicators_beside_their_statistic(n_categories, n, both):
    codes = np.arange(n) % n_categories
    encoder = TableEncoder([[str(c) for c in range(n_categories)]], impute=True)
    encoder.fit_transform(codes[:, None].astype(float), codes[None].astype(float), None, None, limits=IndicatorLimits(12, 8))
    indicators = [f"c = {c}" for c in range(n_categories)] if both else []
    assert encoder.feature_names(["c"]) == ["c (target mean)", *indicators]
    assert encoder.transform(codes[:, None].astype(float)).sum(axis=1).tolist() == pytest.approx(
        encoder.statistics[0][codes, 0] + both)


@pytest.mark.parametrize(("n_columns", "beside"), [(6, True), (7, False)])
def test_no_more_than_fifty_indicators_stand_beside_statistics(n_columns, beside):
    codes = np.random.default_rng(0).integers(8, size=(3000, n_columns)).astype(float)
    encoder = TableEncoder([[str(c) for c in range(8)]] * n_columns, impute=True)
    encoder.fit_transform(codes, codes.sum(axis=1)[None], None, None, limits=IndicatorLimits(12, 8))
    assert (encoder.indicated is not None) == beside


def test_categories_that_decide_the_target_are_believed():
    codes = np.repeat(np.arange(20), 10)
    target = codes.astype(float)
    found = OfCodes(codes, target, np.ones(200), prior=target.mean())
    assert found.strength == 0.0
    np.testing.assert_allclose(found.of_levels(), np.arange(20), atol=1e-12)


@pytest.mark.parametrize("codes", [np.arange(50), np.zeros(50, dtype=np.int64)])
def test_categories_of_one_sample_or_only_one_say_nothing(codes):
    target = np.random.default_rng(0).normal(size=50)
    found = OfCodes(codes, target, np.ones(50), prior=target.mean())
    assert found.strength == np.inf
    np.testing.assert_array_equal(found.of_samples(), target.mean())


def variances(labels, n_classes):
    return np.array([(labels == number).var() for number in range(n_classes)])


def test_classes_have_an_indicator_each_but_one():
    labels = np.random.default_rng(0).choice(4, p=[0.1, 0.5, 0.3, 0.1], size=400)[None] * 1.0
    assert statistic_targets(variances(labels, 2), 2).tolist() == [1]
    numbers = statistic_targets(variances(labels, 4), 4)
    assert len(numbers) == 3 and {1, 2} <= set(numbers)
    rows = target_rows(labels, 4, numbers)
    np.testing.assert_array_equal(rows, [labels[0] == number for number in numbers])


@pytest.mark.parametrize("n_classes", [12, 20, 300, 1024, 1025, 3000])
def test_many_classes_have_statistics_of_halves_that_tell_them_apart(n_classes):
    numbers = possible_targets(1, n_classes)
    assert len(numbers) == max(MAX_TARGETS, np.ceil(np.log2(n_classes))) and np.all(numbers >= n_classes)
    np.testing.assert_array_equal(statistic_targets(np.ones(len(numbers)), n_classes), np.arange(len(numbers)))
    labels = np.arange(n_classes)
    rows = target_rows(labels[np.newaxis].astype(float), n_classes, numbers)
    expected = [[bin(label & int(number - n_classes)).count("1") % 2 for label in labels] for number in numbers]
    np.testing.assert_array_equal(rows, expected)
    assert len({tuple(column) for column in rows.T}) == n_classes


def test_numbers_of_classes_in_older_files_keep_their_meaning():
    rows = target_rows(np.array([[0.0, 3.0, 14.0]]), 15, np.array([3, 14]))
    np.testing.assert_array_equal(rows, [[0, 1, 0], [0, 0, 1]])


def test_outputs_have_statistics_each():
    y = np.random.default_rng(0).normal(size=(3, 50))
    assert statistic_targets(y.var(axis=1), None).tolist() == [0, 1, 2]
