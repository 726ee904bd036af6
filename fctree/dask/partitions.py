"""Dask collections as rows in partitions: aligned, validated, held in the workers' memory."""

from dataclasses import dataclass, replace

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from sklearn.utils.validation import check_array, validate_data

from fctree._sklearn import get_feature_names
from fctree._tables.frames import taken, without_mask
from fctree._tables.targets import plain_targets
from fctree._training.weight_scale import WeightScale, are_whole
from fctree.dask.checks import check_boosting_rows, check_sample_weight_part
from fctree.dask.cluster import from_parts, map_parts

# Rows of a chunk that a NumPy array is cut into.
_CHUNK_ROWS = 100_000


@dataclass(eq=False)
class Partition:
    """Rows as the core takes them; `y` as the user gave it, weights positive or None, `y_unused` of rows of weight 0."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    y_unused: np.ndarray | None = None

    def __len__(self):
        return len(self.X)

    def __sizeof__(self):
        arrays = (self.X, self.y, self.weight, self.y_unused)
        return sum(getattr(array, "nbytes", 0) for array in arrays)


def join_partitions(partitions):
    """All rows of partitions, which are in order, as one."""
    filled = [part for part in partitions if len(part)] or partitions[:1]
    weight = None
    if filled[0].weight is not None:
        weight = np.concatenate([part.weight for part in filled])
    y = np.concatenate([part.y for part in filled])
    return Partition(_join_rows([part.X for part in filled]), y, weight)


def _join_rows(parts):
    if not hasattr(parts[0], "iloc"):
        return np.concatenate(parts)
    import pandas as pd
    from pandas.api.types import union_categoricals

    joined = {}
    for name in parts[0].columns:
        columns = [part[name] for part in parts]
        if all(hasattr(column, "cat") for column in columns):
            joined[name] = union_categoricals(columns)
        else:
            joined[name] = pd.concat(columns, ignore_index=True)
    return pd.DataFrame(joined)


def is_dask(collection):
    """Whether this is a Dask array or data frame; TypeError for another Dask collection."""
    if not dask.is_dask_collection(collection):
        return False
    of_rows = isinstance(collection, da.Array) or hasattr(collection, "divisions")
    if isinstance(collection, Delayed) or not of_rows:  # a Delayed has every attribute
        raise TypeError(
            "X, y and sample_weight must be Dask arrays or data frames, or arrays in memory, got a "
            f"{type(collection).__module__}.{type(collection).__name__}: a bag's to_dataframe() and "
            "dask.array.from_delayed make some"
        )
    return True


def is_dask_frame(collection):
    """Whether a Dask collection is of pandas objects."""
    return is_dask(collection) and hasattr(collection, "npartitions") and hasattr(
        collection, "divisions"
    )


def feature_names(X):
    """The names of the columns, or None where they are not strings."""
    return get_feature_names(X._meta if is_dask_frame(X) else X)


def count_features(X):
    """Columns of a collection or array of two dimensions."""
    if not hasattr(X, "shape"):
        raise TypeError(f"X must be a Dask array or data frame, or an array or frame in memory, got {type(X).__name__}")
    if len(X.shape) != 2:
        raise ValueError(f"X must have two dimensions, got {len(X.shape)}")
    return int(X.shape[1]) if not is_dask_frame(X) else len(X.columns)


def refuse_other_columns(estimator, X):
    """ValueError where these are not the columns that an estimator was fitted to."""
    if is_dask_frame(X) or not is_dask(X):
        validate_data(estimator, X._meta if is_dask(X) else X, reset=False, skip_check_array=True)
    elif X.ndim != 2 or X.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has the shape {X.shape}, expected (n_samples, {estimator.n_features_in_})")


def remember_features(estimator, X):
    """Sets ``n_features_in_`` and, where the columns have names, ``feature_names_in_``."""
    names = feature_names(X)
    estimator.n_features_in_ = count_features(X)
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _row_chunks(collection):
    """The lengths of the row chunks if all are known, else None."""
    if is_dask_frame(collection):
        return None
    lengths = collection.chunks[0]
    return None if any(np.isnan(n) for n in lengths) else lengths


def _cut(X):
    """Blocks of rows of what is in memory, and their lengths."""
    X = X.to_pandas() if hasattr(X, "to_pandas") else X
    X = X if hasattr(X, "iloc") else np.asanyarray(X)
    starts = range(0, max(len(X), 1), _CHUNK_ROWS)
    parts = [taken(X, slice(start, start + _CHUNK_ROWS)) for start in starts]
    return [dask.delayed(part, pure=False) for part in parts], tuple(map(len, parts))


def _row_blocks(collection, chunks, name):
    """One delayed object for each block of rows; cut like X where the lengths are known."""
    if is_dask_frame(collection):
        if hasattr(collection, "simplify"):
            # All of Dask's optimisations would join partitions of a file of which few columns are
            # read: those of y would no longer be those of X.
            return list(collection.simplify().to_delayed(optimize_graph=False))
        return list(collection.to_delayed())
    if collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    own = _row_chunks(collection)
    if chunks is not None and own is not None and own != chunks:
        if sum(own) != sum(chunks):
            raise ValueError(f"X has {sum(chunks)} rows, but {name} has {sum(own)}")
        collection = collection.rechunk({0: chunks})
    return list(np.ravel(collection.to_delayed()))


def _partition(X, y, weight, names):
    """One block of rows, checked but for the columns of a table; runs on a worker."""
    X = without_mask(with_columns(X, names["columns"]))
    X = X if names["table"] else check_boosting_rows(X)
    y = check_array(
        plain_targets(y, numeric=False),
        dtype=None,
        ensure_2d=False,
        ensure_min_samples=0,
        ensure_all_finite=np.asarray(y).dtype.kind == "f",
        input_name=names["y"],
    )
    if len(y) != len(X):
        raise ValueError(f"a partition of X has {len(X)} rows, that of {names['y']} {len(y)}")
    if weight is None:
        return Partition(X, y, None)
    weight = check_sample_weight_part(weight, y)
    if names["all_rows"]:
        return Partition(X, y, weight)
    used = np.flatnonzero(weight)
    X = X.iloc[used] if hasattr(X, "iloc") else X[used]
    return Partition(X, y[used], weight[used], y[weight == 0.0])


def with_columns(X, columns):
    """A partition of a frame with the collection's columns in their order, as Dask itself aligns them; others are a
    ValueError."""
    own = list(getattr(X, "columns", ()))
    if columns is None or own == columns:
        return X
    if len(own) != len(columns) or set(own) != set(columns):
        raise ValueError(f"a partition of X has the columns {own[:10]}, the collection {columns[:10]}")
    return X[columns]


def partition_rows(client, X, y, sample_weight, *, target_name="y", table, all_rows=False):
    """Futures of `Partition`s, in the order of the rows. Sources are read once.

    With ``table`` the rows of `X` are taken as they are, to be read column by column. Rows of weight 0 are left out but
    with ``all_rows``.

    Raises
    ------
    ValueError
        For numbers of rows or partitions that disagree, and targets that are None.
    """
    if y is None:
        raise ValueError(f"{target_name} must have the targets of X, got None")
    columns = list(X.columns) if is_dask_frame(X) else None
    names = {"y": target_name, "table": table, "columns": columns, "all_rows": all_rows}
    if is_dask(X):
        chunks = _row_chunks(X)
        blocks = [_row_blocks(X, chunks, "X")]
    else:
        of_rows, chunks = _cut(X)
        blocks = [of_rows]
    for values, name in ((y, target_name), (sample_weight, "sample_weight")):
        if values is None:
            blocks.append([None] * len(blocks[0]))
            continue
        if not is_dask(values):
            values = np.asarray(values)
            if chunks is None:
                raise ValueError(
                    f"{name} is in memory and X has chunks of unknown lengths: give {name} as a "
                    "Dask collection with the partitions of X"
                )
            if values.ndim == 0 and name == "sample_weight":  # the same for all
                values = np.broadcast_to(values, (sum(chunks),))
            elif values.ndim == 0:
                raise ValueError(f"{name} must have a value for each row of X, got {values}")
            if len(values) != sum(chunks):
                raise ValueError(f"X has {sum(chunks)} rows, but {name} has {len(values)}")
            values = da.from_array(values, chunks=(chunks, *values.shape[1:]))
        found = _row_blocks(values, chunks, name)
        if len(found) != len(blocks[0]):
            raise ValueError(
                f"X has {len(blocks[0])} partitions, but {name} has {len(found)}: they must hold "
                "the same rows, partition by partition"
            )
        blocks.append(found)
    make = dask.delayed(_partition, pure=False)
    delayed = [make(*of_rows, names) for of_rows in zip(*blocks, strict=True)]
    return client.compute(delayed)


def rescale_partitions(client, partitions):
    """Partitions with small weights scaled up, as those of all rows in one place are (`rescale_small_weights`), and the sum of
    their weights, the same for any partitions."""
    largest, counts, whole = zip(*from_parts(client, _extent, partitions), strict=True)
    if not any(counts):
        return partitions, 0.0
    scale = WeightScale(max(largest), sum(counts))
    words = sum(from_parts(client, _words, partitions, scale))
    scale.warn_if_large(words, all(whole))
    exponent = scale.exponent(words)
    if exponent != 0:
        partitions = map_parts(client, _scaled, partitions, exponent)
    return partitions, scale.total(words)


def _extent(part):
    """The largest weight, the number of weights, and whether they are whole numbers."""
    return part.weight.max(initial=0.0), len(part), are_whole(part.weight)


def _words(part, scale):
    return scale.words(part.weight)


def _scaled(part, exponent):
    return replace(part, weight=np.ldexp(part.weight, exponent))
