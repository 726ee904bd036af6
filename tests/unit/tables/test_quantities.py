"""Text that looks like numbers, of any country's way to write them."""

import numpy as np
import pandas as pd
import pytest
from fctree._tables.columns import quantities, read_column
from fctree._tables.quantities import are_quantities

NUMBERS = np.random.default_rng(0).uniform(10.0, 5000.0, 60)


def german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize("write", [
    "{:.1f}".format,
    "${:,.2f}".format,
    "{:.1f}%".format,
    "{:,.2f} USD".format,
    lambda number: f"{number:.2f}".replace(".", ","),
    lambda number: f"{-number:.2f} EUR".replace(".", ","),
    german,
    lambda number: f"{german(1000.0 * number)} €",
    lambda number: f"{number / 5000:.4f}".replace(".", ","),
])  # fmt: skip
def test_numbers_as_text(write):
    texts = np.array([write(number) for number in NUMBERS], dtype=object)
    assert are_quantities(read_column(texts, "price", None)), texts[:3]


@pytest.mark.parametrize("n_values, n_each, found", [(21, 9, True), (20, 9, False), (21, 10, False)])
def test_many_samples_of_few_numbers_are_categories(n_values, n_each, found):
    texts = np.array([f"{number:.1f}" for number in np.arange(n_values) + 0.5] * n_each, dtype=object)
    assert are_quantities(read_column(texts, "size", None)) == found


@pytest.mark.parametrize("n_each, found", [(1, True), (2, False)])
def test_whole_numbers_that_repeat_are_codes(n_each, found):
    texts = np.array([str(number) for number in range(100, 140)] * n_each, dtype=object)
    assert are_quantities(read_column(texts, "code", None)) == found


@pytest.mark.parametrize("write", [
    "{:.0f},1,2".format, "192.168.100.{:.0f}".format, "{:.0f} B12".format, "{:.0f} apt".format, "{:.0f},x".format,
    "0{:.0f}".format, "1.2,{:.0f}.5".format,
])  # fmt: skip
def test_lists_addresses_and_codes(write):
    texts = np.array([write(number) for number in NUMBERS], dtype=object)
    assert not are_quantities(read_column(texts, "code", None)), texts[:3]


def test_truths_are_numbers_but_no_quantities():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for values in ([True, None, False], [None, None]):
        raw = pd.Series(values, dtype=object)
        assert quantities(raw, "x") is None
        columns = [raw.astype("boolean"), pl.Series(values, dtype=pl.Boolean), pa.chunked_array([values], pa.bool_())]
        for column in columns:
            numbers = read_column(column, "x", None).numbers
            np.testing.assert_array_equal(numbers, np.array(values, dtype=float))
