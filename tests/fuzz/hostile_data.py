"""Hostile data: samples, tables, targets and weights of any scale, type and layout."""

import numpy as np
import pandas as pd
import polars
from scipy import sparse

from fuzz.outcomes import Refused, outcome

_TYPES = ["f4", "f2", "i8", "i4", ">f8", ">i4", "bool", "O", "U8", "S6", "g", "c16", "M8[s]", "m8[s]",
          "u1", "i1", "u8", "V8"]
_CATEGORIES = [["a", "b", "c"], ["b"], [3, 1, 2], [1.5, 0.5], [True, False], list("abcdefghij"),
               ["", " ", "\0", "é" * 3], [0, "0"], [2**70, 1]]


def pick(chance, values):
    return values[chance.integers(len(values))]


def numbers(chance, shape):
    """Finite numbers of some scale, or with what is not finite."""
    values = chance.standard_normal(shape)
    kind = chance.integers(14)
    if kind == 0:
        values = np.round(values)
    elif kind == 1:
        values = np.zeros(shape) + pick(chance, [0.0, 1.0, -1e300, 5e-324])
    elif kind == 2:
        values = values * pick(chance, [1e300, 1e150, 1e-150, 1e-310, 1e16])
    elif kind == 3 and values.size:
        extremes = [1e308, -1e308, 5e-324, 0.0, 1.7976931348623157e308]
        values = _scattered(chance, values, extremes, 3)
    elif kind == 4 and values.size:
        values = _scattered(chance, values, [np.nan, np.inf, -np.inf], 1)
    elif kind == 5:
        values = 1e9 + values
    elif kind == 6 and values.ndim == 2:
        values[:, :] = values[:, :1]
    elif kind == 7 and values.ndim == 2:
        values = values * 10.0 ** chance.integers(-150, 150, size=values.shape[1])
    elif kind == 8 and values.ndim == 2 and len(values):
        values = values[chance.integers(1 + len(values) // 4, size=len(values))]
    return values


def _scattered(chance, values, extremes, n):
    flat = values.ravel()
    for _ in range(n):
        flat[chance.integers(flat.size)] = pick(chance, extremes)
    return flat.reshape(values.shape)


def in_some_type(values, chance):
    """The same numbers as another type, layout or container."""
    kind = chance.integers(20)
    with np.errstate(all="ignore"):
        if kind < 6:
            changed, _ = outcome(values.astype, pick(chance, _TYPES))
            return values if isinstance(changed, Refused) else changed
    if kind == 6:
        return np.asfortranarray(values)
    if kind == 7:
        return values.tolist()
    if kind == 8 and values.ndim == 2:
        return pd.DataFrame(values, columns=[f"c{j}" for j in range(values.shape[1])])
    if kind == 9 and values.ndim == 2:
        return pick(chance, [sparse.csr_matrix, sparse.coo_array, np.matrix])(values)
    if kind == 10:
        return np.repeat(values, 2, axis=0)[::2][::-1][::-1]
    if kind == 11:
        values.flags.writeable = False
    if kind == 12:
        return values.ravel().view(np.uint8).tobytes()
    if kind == 13 and values.size:
        return _unaligned(values)
    if kind == 14:
        return np.ma.masked_array(values, mask=values > 1)
    if kind == 15 and values.ndim == 2:
        return polars.DataFrame({f"c{j}": values[:, j] for j in range(values.shape[1])})
    return values


def _unaligned(values):
    space = np.zeros(values.nbytes + 1, dtype=np.uint8)
    shifted = space[1:].view(np.float64).reshape(values.shape)
    shifted[...] = values
    return shifted


def table(chance, n, d):
    """A table with columns of numbers and of categories, as a data frame or an array of objects."""
    columns = {f"c{j}": _column(chance, n) for j in range(d)}
    kind = chance.integers(4)
    if kind == 0:
        return np.array([[columns[name][i] for name in columns] for i in range(n)],
                        dtype=object).reshape(n, d)
    if kind == 1:
        frame, _ = outcome(_polars_frame, columns)
        if not isinstance(frame, Refused):
            return frame
    types = ["category", "object", "string", "Int64", "boolean", "Float64", None, None]
    series = {name: _as_series(values, pick(chance, types)) for name, values in columns.items()}
    return pd.DataFrame(series, index=range(n))


def _polars_frame(columns):
    try:
        return polars.DataFrame(columns, strict=False)
    except Exception as error:  # of polars, whatever it is: not what is tested here
        raise TypeError("polars has no such frame") from error


def _as_series(values, dtype):
    try:
        return pd.Series(values, dtype=dtype)
    except Exception:  # of pandas, likewise
        return pd.Series(values, dtype=object)


def _column(chance, n):
    if chance.random() < 0.4:
        return [float(value) for value in numbers(chance, n)]
    levels = pick(chance, _CATEGORIES)
    values = [levels[i] for i in chance.integers(len(levels), size=n)]
    if n and chance.random() < 0.4:
        missing = pick(chance, [None, np.nan, pd.NA, pd.NaT])
        values[chance.integers(n)] = missing
    return values


def samples(chance, n, d):
    """Rows to fit or to predict."""
    if chance.random() < 0.25:
        return table(chance, n, d)
    return in_some_type(numbers(chance, (n, d)), chance)


def targets(chance, n, classification):
    """Targets that suit the task, mostly."""
    kind = chance.integers(8)
    if kind == 0:
        return in_some_type(numbers(chance, (n, pick(chance, [1, 2, 0]))), chance)
    if kind == 1:
        return in_some_type(numbers(chance, n), chance)
    if classification or kind == 2:
        labels = chance.integers(pick(chance, [1, 2, 3, 5]), size=n)
        words = np.array(["a", "b", "c", "d", "e"], dtype=object)[labels]
        names = [labels, labels.astype(str), labels.astype(float), labels > 0,
                 labels.astype(object), words, pd.Series(words, dtype="category"),
                 labels.astype("u1"), labels - 2**62, labels * 1e300, labels.astype("f2"),
                 list(words), pd.Series(labels, dtype="Int64"), labels.astype(">i8")]
        return pick(chance, names)
    return np.abs(numbers(chance, n)) if chance.random() < 0.3 else numbers(chance, n)


def weights(chance, n):
    """Sample weights, or None."""
    kind = chance.integers(16)
    values = chance.random(n)
    if kind < 6:
        return None
    if kind == 6:
        return np.zeros(n)
    if kind == 7:
        return np.full(n, pick(chance, [1e308, 1e-320, 1e-300, 1e200, 1.0, 5e-324]))
    if kind == 8:
        return chance.integers(3, size=n)
    if kind == 9:
        return in_some_type(numbers(chance, n), chance)
    if kind == 10:
        return values[: max(n - 1, 0)]
    if kind == 11 and n:
        values[chance.integers(n)] = pick(chance, [1e308, 0.0, -1.0, np.nan])
    if kind == 12:
        return pick(chance, [1.0, 0, "balanced", [], np.zeros((n, 2)), np.array(3.0)])
    if kind == 13:
        return values * 1e-310
    return values
