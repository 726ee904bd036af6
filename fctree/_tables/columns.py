"""Columns of tables: NumPy arrays, lists, and frames of pandas, polars and pyarrow.

None of these libraries is needed: a column is asked for what it can do.
"""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from numbers import Complex, Number, Real

import numpy as np
from scipy.sparse import issparse

_NUMERIC_KINDS = "fiub"
_REMEDY = (
    'pass categorical_features="from_dtype", or name the column in categorical_features, or '
    "encode it"
)


@dataclass(eq=False)
class Column:
    """A column as it was read: of numbers, (n_samples,) float64 with NaN where missing; or of categories.

    ``values`` are the distinct ones, str, int or float, ``codes`` (n_samples,) int64 their numbers, -1
    where missing.
    """

    numbers: np.ndarray | None = None
    values: list | None = None
    codes: np.ndarray | None = None


def table_of(X):
    """``X`` as it can be read column by column, or None where all of it is plain numbers.

    Frames are themselves, lists with text become arrays of objects.
    """
    if isinstance(X, np.ndarray):
        return None if X.ndim != 2 or X.dtype.kind in _NUMERIC_KINDS + "c" else X
    if isinstance(X, (list, tuple)):
        return _table_of_rows(X)
    numeric = _columns_are_numeric(X)
    return None if numeric is None or all(numeric) else X


def _table_of_rows(rows):
    rows_of_values = all(isinstance(row, (list, tuple)) for row in rows)
    if not rows_of_values or len({len(row) for row in rows}) != 1:
        return None
    if not any(isinstance(value, (str, bytes)) for row in rows for value in row):
        return None
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for number, row in enumerate(rows):
        table[number] = row
    return table


def library_of(values):
    """"pandas", "polars" or "pyarrow" where the class of ``values``, or one that it inherits from, is theirs, else ""."""
    libraries = {kind.__module__.partition(".")[0] for kind in type(values).__mro__}
    return next((name for name in ("pandas", "polars", "pyarrow") if name in libraries), "")


def is_frame(X):
    """Whether ``X`` is a frame of pandas or polars, or a table of pyarrow."""
    return _columns_are_numeric(X) is not None


def check_frame(X):
    """``X``, of a batch of pyarrow the table; TypeError for sparse matrices and a lazy frame of polars, ValueError for
    columns that share a name, and for none."""
    if issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required, such as X.toarray(). OneHotEncoder(sparse_output=False) "
            "and ColumnTransformer(sparse_threshold=0) give dense data; categories can also be passed as they are, without an encoder"
        )
    if isinstance(X, Mapping) or (isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)):
        raise TypeError(f"X is a {'dict' if isinstance(X, Mapping) else 'list of dicts'}: pandas.DataFrame(X) makes a table of it")
    if getattr(getattr(X, "dtype", None), "names", None):
        raise TypeError("X is a structured array: pandas.DataFrame(X) makes a table of it")
    library = library_of(X)
    if library == "pyarrow" and type(X).__name__ == "RecordBatch":
        X = import_module("pyarrow").Table.from_batches([X])
    if library == "pyarrow" and not hasattr(X, "column_names"):
        raise TypeError(f"X is a {type(X).__name__} of pyarrow, not a Table; a RecordBatchReader's read_all() is one")
    if library == "polars" and hasattr(X, "collect"):
        raise TypeError("X is a LazyFrame of polars: pass X.collect()")
    if library in ("pandas", "pyarrow"):
        names = list(X.column_names if library == "pyarrow" else getattr(X, "columns", ()))
        if len(set(names)) < len(names):
            repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
            raise ValueError(f"X has several columns of the same name: {repeated[:10]}")
        if names and hasattr(X, "sparse"):  # where all columns are
            X = X.sparse.to_dense()
    if is_frame(X) and X.shape[1] == 0:
        raise ValueError(f"Found a table with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required")
    return X


def without_mask(X):
    """``X``; of a masked array of NumPy with missing values where it hides something, since other code reads what is hidden."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    if X.dtype.kind in _NUMERIC_KINDS:
        return X.astype(np.result_type(X.dtype, np.float32)).filled(np.nan)
    return X.astype(object).filled(None)


# What scikit-learn's validation says of missing values, without their place.
_MISSING = {
    "y": ("Input contains NaN", "boolean value of NA is ambiguous"),
    "sample_weight": ("float() argument must be a string or a real number, not 'NAType'",),
}


@contextmanager
def naming_missing(name):
    """Errors of scikit-learn's validation about missing values of ``y`` or ``sample_weight`` say where these are."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if str(error) not in _MISSING[name]:
            raise
        raise ValueError(f"Input {name} contains NaN") from error


def refuse_mask(name, values):
    """ValueError for a masked array that hides something, where there are no missing values."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} is a masked array with {np.ma.count_masked(values)} masked values: leave these samples out")


def _columns_are_numeric(X):
    """Whether each column is plain numbers; None where ``X`` is no frame."""
    library = library_of(X)
    if library == "pandas" and hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:
        return [getattr(dtype, "kind", "O") in _NUMERIC_KINDS for dtype in X.dtypes]
    if library == "polars" and hasattr(X, "get_columns"):
        return [str(dtype) in _POLARS_NUMBERS for dtype in X.dtypes]
    if library == "pyarrow" and hasattr(X, "column_names"):
        return [
            str(column.type) in _ARROW_NUMBERS and not column.null_count for column in X.columns
        ]
    return None


_POLARS_NUMBERS = {
    *(f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)),
    "Float32",
    "Float64",
}
_ARROW_NUMBERS = {
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "halffloat",
    "float",
    "double",
}


def raw_columns(X):
    """The columns of a frame or an array with two axes, as their library has them."""
    if hasattr(X, "get_columns"):
        return X.get_columns()
    if hasattr(X, "column_names"):
        return X.columns
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return list(X.T)


def taken(X, rows):
    """The rows of these numbers, of a frame or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[rows].reset_index(drop=True)
    return X.take(rows) if hasattr(X, "column_names") else X[rows]


def read_column(raw, name, wanted, remedy=_REMEDY):
    """A column of any library; ``wanted`` says whether it holds categories, None asks its type.

    A column of objects without a value holds categories too, where its type is asked: in other samples
    it may hold text. ValueError for text in a column that is to be numbers and for complex numbers,
    TypeError for what is neither text nor number; ``name`` and ``remedy`` are for these.
    """
    if wanted is not True and _kind(raw) in "mM":
        raise _neither(name, raw.dtype)
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
        if wanted is None and not _may_hold_text(raw, values, name):
            return Column(numbers=_looked_up(values, codes))
    if wanted is False:
        if _holds_text(values, name):
            raise ValueError(f"column {name!r} holds text where numbers are expected: {remedy}")
        return Column(numbers=_looked_up(values, codes))
    values, numbers = _canonical(values, name)
    codes = np.append(numbers, -1)[codes.astype(np.int64)]
    return Column(values=values, codes=codes)


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


def with_numbers(X, numbers):
    """A frame or an array of objects in which ``numbers``, arrays (n_samples,), take the place of the
    columns of these indices."""
    if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
        for j, values in numbers.items():
            X.isetitem(j, values) if hasattr(X, "iloc") else X.__setitem__((slice(None), j), values)
        return X
    if hasattr(X, "column_names"):
        for j, values in numbers.items():
            X = X.set_column(j, X.column_names[j], [values])
        return X
    columns = X.get_columns()
    for j, values in numbers.items():
        columns[j] = type(columns[j])(columns[j].name, values)
    return type(X)(columns)


def _is_numeric(raw):
    """Whether the type of a column says that it is numbers or truths."""
    dtype = getattr(raw, "dtype", None)
    if hasattr(dtype, "is_numeric"):  # polars
        return dtype.is_numeric() or str(dtype) == "Boolean"
    if dtype is None:  # pyarrow
        return str(raw.type) in _ARROW_NUMBERS or str(raw.type) == "bool"
    return _kind(raw) in _NUMERIC_KINDS


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
    if isinstance(raw, np.ndarray) and raw.dtype.kind in _NUMERIC_KINDS + "SU":
        values, codes = np.unique(raw, return_inverse=True)
        return values.tolist(), codes.reshape(-1)
    items = raw
    try:
        if hasattr(raw, "chunks"):
            encoded = raw.combine_chunks().dictionary_encode()
            values = encoded.dictionary.to_pylist()
            return values, encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        if hasattr(raw, "iloc"):
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


def _may_hold_text(raw, values, name):
    """Whether some values are text, or none says that the column is anything else."""
    if _holds_text(values, name):
        return True
    return _kind(raw) in "OSU" and all(map(is_missing, values))


def _holds_text(values, name):
    """Whether some values are text; an error for what is neither text, real number nor missing."""
    text = False
    for value in values:
        if isinstance(value, (str, bytes)):
            text = True
        elif _is_complex(value):
            raise _complex(name, value)
        elif not (is_missing(value) or _is_number(value)):
            raise _neither(name, type(value).__name__)
    return text


def _is_number(value):
    """Whether the value is a number or a truth; NumPy's durations are integers to it, but no numbers."""
    return isinstance(value, (Number, np.bool_)) and not isinstance(value, np.timedelta64)


def _is_complex(value):
    return isinstance(value, Complex) and not isinstance(value, Real)


def _complex(name, value):
    return ValueError(f"Complex data not supported: column {name!r} holds {value}")


def _neither(name, kind):
    needed = ": make numbers of them, such as days since a date, or text by astype(str)"
    if kind in ("list", "tuple", "set", "dict", "ndarray"):
        needed = ", but an argument must be a string or a real number: make a column for each of their entries"
    return TypeError(
        f"column {name!r} holds values of type {kind}{needed}, or name it in categorical_features"
    )


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
    if not _is_number(value):
        return str(value)
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    if _is_complex(value):
        raise _complex(name, value)
    value = float(value)
    return int(value) if value.is_integer() else value
