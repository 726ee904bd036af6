"""Tables as users pass them: NumPy arrays, lists, and frames of pandas, polars and pyarrow.

None of these libraries is needed: a table is asked for what it can do.
"""

from collections.abc import Mapping
from contextlib import contextmanager
from importlib import import_module

import numpy as np
from scipy.sparse import issparse

NUMERIC_KINDS = "fiub"


def table_of(X):
    """``X`` as it can be read column by column, or None where all of it is plain numbers.

    Frames are themselves, lists with text become arrays of objects.
    """
    if isinstance(X, np.ndarray):
        return None if X.ndim != 2 or X.dtype.kind in NUMERIC_KINDS + "c" else X
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
    """"pandas", "polars", "pyarrow" or "dask" where the class of ``values``, or one that it inherits from, is theirs, else ""."""
    libraries = {kind.__module__.partition(".")[0] for kind in type(values).__mro__}
    return next((name for name in ("pandas", "polars", "pyarrow", "dask") if name in libraries), "")


def is_frame(X):
    """Whether ``X`` is a frame of pandas or polars, or a table of pyarrow."""
    return _columns_are_numeric(X) is not None


def check_frame(X):
    """``X``, of a batch of pyarrow the table, of a collection of Dask what it computes; TypeError for sparse matrices and a lazy
    frame of polars, ValueError for columns that share a name, and for none."""
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
    if library == "dask":
        X = X.compute()
        library = library_of(X)
    if library == "pyarrow" and type(X).__name__ == "RecordBatch":
        X = import_module("pyarrow").Table.from_batches([X])
    if library == "pyarrow" and not hasattr(X, "column_names"):
        raise TypeError(f"X is a {type(X).__name__} of pyarrow, not a Table; a RecordBatchReader's read_all() is one")
    if library == "pyarrow":
        for place, of_column in enumerate(X.schema.types):
            if str(of_column) in _ARROW_VIEWS:  # for which pyarrow lacks functions
                X = X.set_column(place, X.column_names[place], X.column(place).cast(_ARROW_VIEWS[str(of_column)]))
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


def single_precision(X):
    """A frame whose columns are all float32 as such an array, or None; scikit-learn, which sees that only in columns of NumPy,
    would make float64 of it."""
    library = library_of(X)
    if library not in ("pandas", "polars", "pyarrow") or not is_frame(X):
        return None
    types = X.schema.types if library == "pyarrow" else X.dtypes
    if not {str(of_column) for of_column in types} <= _SINGLE:
        return None
    return np.column_stack([np.asarray(raw, dtype=np.float32) for raw in raw_columns(X)])


def without_mask(X):
    """``X``; of a masked array of NumPy with missing values where it hides something, since other code reads what is hidden."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if not np.ma.is_masked(X):
        return X.data
    if X.dtype.kind in NUMERIC_KINDS:
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
        return [getattr(dtype, "kind", "O") in NUMERIC_KINDS for dtype in X.dtypes]
    if library == "polars" and hasattr(X, "get_columns"):
        return [str(dtype) in _POLARS_NUMBERS for dtype in X.dtypes]
    if library == "pyarrow" and hasattr(X, "column_names"):
        return [
            str(column.type) in ARROW_NUMBERS and not column.null_count for column in X.columns
        ]
    return None


_POLARS_NUMBERS = {
    *(f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)),
    "Float32",
    "Float64",
}
ARROW_NUMBERS = {
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "halffloat",
    "float",
    "double",
}
_SINGLE = {"Float32", "float", "float[pyarrow]"}  # float32 as polars, pandas and pyarrow call it
_ARROW_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}


def raw_columns(X):
    """The columns of a frame or an array with two axes, as their library has them."""
    if hasattr(X, "get_columns"):
        return X.get_columns()
    if hasattr(X, "column_names"):
        return X.columns
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return list(X.T)


def plain_rows(X):
    """A frame as it is, or an array of the rows as they were passed, with missing values where they hide something."""
    X = without_mask(check_frame(X))
    table = table_of(X)
    return X if is_frame(X) else np.asarray(X) if table is None else table


def taken(X, rows):
    """The rows of these numbers, of a frame or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[rows].reset_index(drop=True)
    return X.take(rows) if hasattr(X, "column_names") else X[rows]


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
