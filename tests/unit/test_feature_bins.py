"""Bins of features and what is in them, which trees on rows in several places are grown from."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fctree._native import oblique_rounds as rounds
from fctree._native.oblique_shards import NodeRows


def draw(n, d, seed, n_values=None):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, size=d)
    return x if n_values is None else np.round(rng.random((n, d)) * n_values)


def bins_of(x):
    d = x.shape[1]
    return rounds.Bins(x, (np.arange(d), np.zeros(d), np.ones(d)), 1)


@settings(max_examples=30)
@given(st.integers(1, 700), st.integers(1, 4), st.integers(0, 10**6))
def test_a_bin_is_the_number_of_thresholds_below(n, d, seed):
    x = draw(n, d, seed)
    thresholds = bins_of(x).thresholds
    values = draw(300, d, seed + 1)
    found = rounds.find_bins(values, thresholds, 2)
    for j in range(d):
        np.testing.assert_array_equal(found[:, j], np.searchsorted(thresholds[j], values[:, j]))


def test_few_values_have_a_bin_each_and_many_about_as_many_samples():
    few = draw(5000, 1, 0, n_values=200)
    bins = rounds.find_bins(few, bins_of(few).thresholds, 1)
    np.testing.assert_array_equal(bins[:, 0], np.unique(few, return_inverse=True)[1].ravel())
    many = draw(51200, 1, 1)
    counts = np.bincount(rounds.find_bins(many, bins_of(many).thresholds, 1)[:, 0])
    assert len(counts) == 256
    assert counts.min() >= 199 and counts.max() <= 201


def test_constant_features_have_one_bin():
    x = np.column_stack([np.full(10, 7.0), np.arange(10.0)])
    alone = bins_of(np.ascontiguousarray(x[:, :1])).thresholds
    assert alone.shape == (1, 0)
    assert np.all(rounds.find_bins(np.ascontiguousarray(x[:, :1]), alone, 1) == 0)
    both = bins_of(x).thresholds
    assert np.all(np.isinf(both[0]))
    np.testing.assert_array_equal(both[1], np.arange(9) + 0.5)


def test_what_was_taken_from_a_feature_counts_as_rounding():
    """Two values that differ in the last digit of 10^9 are one."""
    x = np.arange(100.0)[:, np.newaxis] * 1e-7
    assert bins_of(x).thresholds.shape == (1, 99)
    taken = (np.arange(1), np.full(1, 1e9), np.ones(1))
    assert rounds.Bins(x, taken, 1).thresholds.shape[1] < 10


def sums_in_bins(x, y, weight, block_rows, n_threads=1):
    """(d, n_bins, 2 + K), integers, and what 1 stands for."""
    n = len(x)
    thresholds = bins_of(x).thresholds
    bins = rounds.find_bins(x, thresholds, n_threads)
    terms = np.column_stack([weight, weight[:, np.newaxis] * y])
    exponents = np.frexp(np.abs(terms).max(axis=0))[1] + 1022
    n_blocks = -(-n // block_rows)
    whole = [[0, 1 << (n_blocks - 1).bit_length()]]
    rows = NodeRows(x, y, weight, (block_rows, 0, n_blocks, whole), n_threads)
    rows.bin(bins, 1 + thresholds.shape[1], exponents, n)
    return rows.bin_sums(np.zeros(1, dtype=np.int64))[0], rounds.term_units(exponents, n), bins


@settings(max_examples=20)
@given(st.integers(1, 500), st.integers(1, 20), st.integers(1, 3), st.integers(0, 10**6))
def test_sums_in_bins_are_those_of_the_samples_in_any_blocks(n, d, n_outputs, seed):
    rng = np.random.default_rng(seed)
    x, y = draw(n, d, seed), rng.normal(size=(n, n_outputs))
    weight = rng.random(n) * (rng.random(n) < 0.8)
    weight[0] = 1.0
    sums, units, bins = sums_in_bins(x, y, weight, 64)
    used = weight > 0.0
    for j in range(d):
        of_bin = [np.bincount(bins[used, j], minlength=sums.shape[1])]
        for term in (weight, *(weight[:, np.newaxis] * y).T):
            of_bin.append(np.bincount(bins[used, j], term[used], minlength=sums.shape[1]))
        np.testing.assert_array_equal(sums[j, :, 0], of_bin[0])
        np.testing.assert_allclose(sums[j, :, 1:] * units, np.transpose(of_bin[1:]), 1e-10, 1e-10)
    order = rng.permutation(n)
    again, _, _ = sums_in_bins(x[order], y[order], weight[order], 17, n_threads=2)
    np.testing.assert_array_equal(again, sums)
