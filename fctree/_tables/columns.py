"""Columns of tables, of any library: their numbers, or their categories."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from numbers import Complex, Number, Real

import numpy as np

from fctree._tables.frames import ARROW_NUMBERS, NUMERIC_KINDS

_REMEDY = (
    'pass categorical_features="from_dtype", or name the column in categorical_features, or '
    "encode it"
)
_CONTAINERS = {"list", "tuple", "set", "dict", "ndarray"}


@dataclass(eq=False)
class Column:
    """A column as it was read: of numbers, (n_samples,) float64 with NaN where missing; or of categories.

    ``values`` are the distinct ones, str, int or float, ``codes`` (n_samples,) int64 their numbers, -1
    where missing.
    """

    numbers: np.ndarray | None = None
    values: list | None = None
    codes: np.ndarray | None = None


def read_column(raw, name, wanted, remedy=_REMEDY):
    """A column of any library; ``wanted`` says whether it holds categories, None asks its type.

    A column of objects without a value holds categories too, where its type is asked: in other samples
    it may hold text. ValueError for text in a column that is to be numbers and for complex numbers,
    TypeError for what is neither text nor number; ``name`` and ``remedy`` are for these.
    """
    if wanted is not True and _kind(raw) in "mM":
        raise NoNumbers({name: raw.dtype})
    if str(getattr(raw, "dtype", "")).startswith("dictionary"):  # of pyarrow in pandas
        raw = raw.array.__arrow_array__()
    if hasattr(raw, "cat") and hasattr(raw, "iloc"):  # a categorical of pandas
        values, codes = _used(raw.cat.categories, raw.cat.codes.to_numpy())
        values = values.tolist()
    elif hasattr(raw, "chunks") and str(raw.type).startswith("dictionary"):
        raw = raw.unify_dictionaries().combine_chunks()
        codes = raw.indices.cast("int64").fill_null(-1)  # which may be unsigned
        values, codes = _used(raw.dictionary, codes.to_numpy(zero_copy_only=False))
        values = values.to_pylist()
    elif wanted is not True and _is_numeric(raw):
        return Column(numbers=_numbers(raw))
    else:
        values, codes = _factorized(raw)
        if wanted is None and not (_holds_text(values, name) or all(map(is_missing, values))):
            return Column(numbers=_looked_up(values, codes))
    if wanted is False:
        if _holds_text(values, name):
            raise ValueError(f"column {name!r} holds text where numbers are expected: {remedy}")
        return Column(numbers=_looked_up(values, codes))
    values, numbers = _canonical(values, name)
    codes = np.append(numbers, -1)[codes.astype(np.int64)]
    return Column(values=values, codes=codes)


def read_columns(columns, names, wanted, *remedy):
    """Yield each of the columns as `read_column` reads it; one TypeError for all that hold neither text nor numbers."""
    kinds = {}
    for raw, name, want in zip(columns, names, wanted, strict=True):
        try:
            column = read_column(raw, name, want, *remedy)
        except NoNumbers as error:
            kinds |= error.kinds
            continue
        if not kinds:
            yield raw, column
    if kinds:
        raise NoNumbers(kinds)


def _used(values, codes):
    """Categories without those that no sample has, where there are more than samples, and each sample's number."""
    if len(codes) >= len(values):
        return values, codes
    used = np.unique(codes[codes >= 0])
    return values.take(used), np.where(codes < 0, -1, np.searchsorted(used, codes))


def quantities(raw, name):
    """A column's numbers, (n_samples,) float64 with NaN where missing; None where it holds categories,
    truths or nothing."""
    truths = str(getattr(raw, "dtype", getattr(raw, "type", ""))).lower() in ("bool", "boolean")
    if truths or all(isinstance(value, (bool, np.bool_)) or is_missing(value) for value in raw):
        return None
    return read_column(raw, name, None).numbers


def _is_numeric(raw):
    """Whether the type of a column says that it is numbers or truths."""
    dtype = getattr(raw, "dtype", None)
    if hasattr(dtype, "is_numeric"):  # polars
        return dtype.is_numeric() or str(dtype) == "Boolean"
    if dtype is None:  # pyarrow
        return str(raw.type) in ARROW_NUMBERS or str(raw.type) == "bool"
    return _kind(raw) in NUMERIC_KINDS


def _kind(raw):
    """NumPy's letter for the type of a column's values, "O" for types of other libraries."""
    return getattr(getattr(raw, "dtype", None), "kind", "O")


def _numbers(raw):
    """A numeric column as float64, NaN where missing."""
    if isinstance(raw, np.ndarray):
        return raw.astype(np.float64)
    if hasattr(raw, "iloc"):
        return raw.to_numpy(dtype=np.float64, na_value=np.nan)
    if hasattr(raw, "chunks"):
        return np.asarray(raw.cast("float64", safe=False).to_numpy(), dtype=np.float64)
    return np.array(raw.cast(float).to_numpy(), dtype=np.float64)


def _factorized(raw):
    """The distinct values of a column, among them missing ones, and each sample's number."""
    if isinstance(raw, np.ndarray) and raw.dtype.kind in NUMERIC_KINDS + "SU":
        values, codes = np.unique(raw, return_inverse=True)
        return values.tolist(), codes.reshape(-1)
    items = raw
    try:
        if hasattr(raw, "chunks"):
            encoded = raw.combine_chunks().dictionary_encode()
            values = encoded.dictionary.to_pylist()
            return values, encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        if hasattr(raw, "iloc"):
            if isinstance(raw.dtype, np.dtype) and not raw.dtype.isnative:  # of the other byte order
                raw = raw.astype(raw.dtype.newbyteorder("="))
            codes, values = raw.factorize()
            return values.tolist(), codes
        items = raw.to_list() if hasattr(raw, "to_list") else raw.tolist()
        table = dict.fromkeys(items)
    # Some value is not hashable, or a list of pyarrow, or text, or missing ones beside unsigned numbers of categories,
    # that some versions of pandas cannot encode.
    except (TypeError, NotImplementedError, UnicodeEncodeError, OverflowError):
        items = raw.to_pylist() if hasattr(raw, "chunks") else list(items)
        return items, np.arange(len(items))
    values = list(table)
    for number, value in enumerate(values):
        table[value] = number
    return values, np.fromiter(map(table.__getitem__, items), dtype=np.int64, count=len(items))


def sort_key(value):
    """The order of categories: numbers by value, then text."""
    return isinstance(value, str), value


def is_categorical(raw):
    """Whether the type of a column says that it holds categories."""
    kind = str(getattr(raw, "dtype", getattr(raw, "type", ""))).lower()
    return kind.startswith(("categor", "enum", "dictionary"))


def is_missing(value):
    """Whether the value is None, NaN, NaT, or one of pandas' missing values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal, np.datetime64, np.timedelta64)) and value != value


def _holds_text(values, name):
    """Whether some values are text; an error for what is neither text, real number nor missing."""
    text = False
    for value in values:
        if isinstance(value, (str, bytes)):
            text = True
        elif _is_complex(value):
            raise _complex(name, value)
        elif not (is_missing(value) or _is_number(value)):
            raise NoNumbers({name: type(value).__name__})
    return text


def _is_number(value):
    """Whether the value is a number or a truth; NumPy's durations are integers to it, but no numbers."""
    return isinstance(value, (Number, np.bool_)) and not isinstance(value, np.timedelta64)


def _is_complex(value):
    return isinstance(value, Complex) and not isinstance(value, Real)


def _complex(name, value):
    return ValueError(f"Complex data not supported: column {name!r} holds {value}")


class NoNumbers(TypeError):
    """Columns that hold neither text nor numbers; ``kinds`` are the types of their values by name."""

    def __init__(self, kinds):
        super().__init__(kinds)
        self.kinds = kinds

    def __str__(self):
        names, kinds = list(self.kinds), dict.fromkeys(map(str, self.kinds.values()))
        held = f"column {names[0]!r} holds" if len(names) == 1 else f"columns {names[:10]} hold"
        needed = []
        if kinds.keys() & _CONTAINERS:
            needed.append(", but an argument must be a string or a real number: make a column for each of their entries")
        if kinds.keys() - _CONTAINERS:
            needed.append(
                ": make numbers of them, such as days since a date (of pandas (X[column] - X[column].min()).dt.days, of "
                'polars X[column].dt.epoch("d"))'
            )
        chosen = "it" if len(names) == 1 else "them"
        return f"{held} values of type {', '.join(kinds)}{'; others'.join(needed)}, or name {chosen} in categorical_features"


def _looked_up(values, codes):
    """float64 numbers of numeric values."""
    numbers = np.array(
        [np.nan if is_missing(value) else float(value) for value in values] + [np.nan]
    )
    return numbers[codes]


def _canonical(values, name):
    """Distinct categories as plain text and numbers, and the number of each of ``values``.

    Text is str; True and 1.0 are 1, whatever library the column is from; others, such as intervals,
    are their text. Missing values have the number -1. ValueError for complex numbers in the column ``name``.
    """
    found, numbers = {}, np.full(len(values), -1, dtype=np.int64)
    for index, value in enumerate(values):
        if not is_missing(value):
            numbers[index] = found.setdefault(_plain(value, name), len(found))
    return list(found), numbers


def _plain(value, name):
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if type(value) is timedelta:  # as pandas writes its own
        clock = str(value - timedelta(value.days))
        return f"{value.days} days {'+' * (value.days < 0)}{'0' * (clock[1] == ':')}{clock}"
    if not _is_number(value):
        return str(value)
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    if _is_complex(value):
        raise _complex(name, value)
    value = float(value)
    return int(value) if value.is_integer() else value
