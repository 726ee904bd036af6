"""Columns of numbers or dates that were read as text."""

import re
from math import isfinite

import numpy as np

from fctree._warnings import warn

_FEW, _NEARLY_ALL = 20, 0.9  # categories; of these
_MANY, _MANY_WHOLE = 10, 2  # samples of a category
_PARSED = 1000  # categories, at most
# Currencies and percent signs, and marks between thousands: commas, or points before a decimal comma.
_BESIDE_DIGITS = r"^[$€£]|\s*[%€]$|\s[A-Z]{3}$|,(?=\d{3}(\D|$))|\.(?=\d{3}(\.\d{3})*,)"
_DATE = r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d)"


def are_quantities(column):
    """Whether categories look like a quantity that was read as text: more than 20, nine tenths of them the text of
    numbers or dates, of less than 10 samples each, or 2 where most are whole numbers, as codes are. Digits after a
    leading 0 are a code; `_BESIDE_DIGITS` is left out, and a comma that remains is a decimal point."""
    n_values = len(column.values)
    n_each = np.count_nonzero(column.codes >= 0) / max(n_values, 1)
    if n_values <= _FEW or n_each >= _MANY:
        return False
    some = column.values[:: -(-n_values // _PARSED)]
    if sum(bool(re.match(_DATE, str(value))) for value in some) >= _NEARLY_ALL * len(some):
        return True
    numbers = [number for number in map(_number, some) if isfinite(number)]
    whole = sum(number.is_integer() for number in numbers)
    return len(numbers) >= _NEARLY_ALL * len(some) and (n_each < _MANY_WHOLE or 2 * whole < len(numbers))


def _number(value):
    """The number that a category says, NaN where it is none."""
    text = str(value).strip()
    try:
        return np.nan if re.match(r"0\d", text) else float(re.sub(_BESIDE_DIGITS, "", text).replace(",", "."))
    except (ValueError, OverflowError):
        return np.nan


def warn_of_quantities(names):
    """Warn of columns that `are_quantities`."""
    warn(
        f"columns {names[:10]} hold text and are taken as categories, but nearly all of their values look like numbers or dates: "
        'convert them, such as by pandas.to_numeric(X[column], errors="coerce"), where currencies and decimal commas have been '
        "replaced, or pandas.to_datetime(X[column]), or name them in categorical_features if they are categories",
    )
