"""Whether what was read describes how a table is encoded."""

from dataclasses import fields as dataclass_fields

import numpy as np

from fctree._native_input import require
from fctree._tables.columns import sort_key
from fctree._tables.encoder import TableEncoder
from fctree._tables.estimators import n_encoded
from fctree._tables.statistics import possible_targets


def _is_array(value, shape, dtype):
    return isinstance(value, np.ndarray) and value.shape == shape and value.dtype == dtype


def rebuild_table_encoder(fields):
    """The TableEncoder with these attributes; ValueError where they do not fit together."""
    names = {field.name for field in dataclass_fields(TableEncoder)}
    fields = {"limits": None, "units": None, "indicated": None, **fields}
    require(fields.keys() == names, f"a TableEncoder has the attributes {sorted(fields)}")
    encoder = TableEncoder(**fields)
    require(isinstance(encoder.categories, list), "an encoder's categories are not a list")
    require(type(encoder.impute) is bool, "an encoder's impute is not True or False")
    width, n_statistics = encoder.n_features_in, np.size(encoder.targets)
    for name, length, dtype in (
        ("has_missing", width, np.bool_),
        ("means", width, np.float64),
        ("targets", n_statistics, np.int64),
        ("priors", n_statistics, np.float64),
    ):
        valid = _is_array(getattr(encoder, name), (length,), dtype)
        require(valid, f"an encoder's {name} is not {length} of {np.dtype(dtype)}")
    require(np.all(encoder.targets >= 0), "an encoder's targets are not numbers of targets")
    for name in ("strengths", "statistics", "shares", "edges"):
        values = getattr(encoder, name)
        valid = isinstance(values, list) and len(values) == width
        require(valid, f"an encoder's {name} are not a list with an array for each column")
    for column in range(width):
        _check_column(encoder, column)
    _check_pairs(encoder)
    if encoder.limits is not None:
        shape = np.shape(encoder.limits)
        valid = len(shape) == 2 and shape[1] == 2 and _is_array(encoder.limits, shape, np.float64)
        require(valid, "an encoder's limits are not two for each output")
    if encoder.units is not None:
        valid = _is_array(encoder.units, (n_statistics,), np.float64)
        valid = valid and np.all(encoder.units > 0.0) and np.all(np.isfinite(encoder.units))
        require(valid, f"an encoder's units are not {n_statistics} positive numbers")
    if encoder.indicated is not None:
        valid = _is_array(encoder.indicated, (width,), np.bool_)
        valid = valid and all(map(encoder.has_statistics, np.flatnonzero(encoder.indicated)))
        require(valid, f"an encoder's indicated columns are not {width} of bool, those of statistics")
    return encoder


def _check_column(encoder, column):
    values = encoder.categories[column]
    shares = statistics = 0
    if values is not None:
        _check_categories(values, column)
        shares = encoder.n_levels(column)
        statistics = shares if encoder.has_statistics(column) else 0
        require(shares >= 1, f"column {column} of an encoder has no categories")
    n_statistics = len(encoder.targets) if statistics else 0
    if np.shape(encoder.strengths[column]) == (2 * n_statistics,):
        n_statistics *= 2  # those of residuals too
    edges = encoder.edges[column]
    valid = isinstance(edges, np.ndarray) and edges.dtype == np.float64 and edges.ndim == 1
    require(valid and np.all(np.diff(edges) > 0), f"edges of column {column} are not ascending")
    for name, shape in (
        ("shares", (shares,)),
        ("strengths", (n_statistics,)),
        ("statistics", (statistics, n_statistics)),
    ):
        valid = _is_array(getattr(encoder, name)[column], shape, np.float64)
        require(valid, f"{name} of column {column} of an encoder are not an array of shape {shape}")


def _check_pairs(encoder):
    """Whether pairs are of columns that the encoder has, with a statistic for each cell."""
    pairs, width = encoder.pairs, encoder.n_features_in
    valid = isinstance(pairs, np.ndarray) and pairs.dtype == np.int64 and pairs.ndim == 2
    require(valid and pairs.shape[1] == 2, "an encoder's pairs are not an array of two columns")
    require(np.all((pairs >= 0) & (pairs < width)), "an encoder's pairs are not of its columns")
    distinct = len(set(map(tuple, pairs.tolist()))) == len(pairs)
    require(distinct, "an encoder's pairs are not distinct")
    n_targets = len(encoder.targets)
    for name in ("pair_strengths", "pair_statistics"):
        values = getattr(encoder, name)
        valid = isinstance(values, list) and len(values) == len(pairs)
        require(valid, f"an encoder's {name} are not a list with an array for each pair")
    for place, pair in enumerate(pairs.tolist()):
        require(encoder.categories[pair[0]] is not None, "a pair's first column has no categories")
        shape = (encoder.n_cells(pair), n_targets)
        valid = _is_array(encoder.pair_statistics[place], shape, np.float64)
        valid = valid and _is_array(encoder.pair_strengths[place], (n_targets,), np.float64)
        require(valid, f"statistics of pair {place} of an encoder do not fit its columns")


def _check_categories(values, column):
    valid = isinstance(values, list) and all(type(value) in (str, int, float) for value in values)
    require(valid, f"categories of column {column} of an encoder are not text and numbers")
    keys = [sort_key(value) for value in values]
    ascending = all(before < after for before, after in zip(keys[:-1], keys[1:]))
    require(ascending, f"categories of column {column} of an encoder are not ascending")


def n_tree_features(model):
    """Number of features that the trees of a model split, of an encoder that fits the model."""
    encoder = getattr(model, "encoder_", None)
    if encoder is not None:
        require(isinstance(encoder, TableEncoder), "encoder_ is not a TableEncoder")
        same = encoder.n_features_in == model.n_features_in_
        require(same, f"encoder_ has {encoder.n_features_in} columns, not n_features_in_")
        outputs = getattr(model, "n_outputs_", np.inf)
        n_targets = outputs
        if encoder.limits is not None:
            require(len(encoder.limits) == outputs, "encoder_ has limits of other outputs")
        if hasattr(model, "classes_"):
            n_targets = 1 + possible_targets(1, len(model.classes_)).max()
        require(np.all(encoder.targets < n_targets), "encoder_ has targets that the model lacks")
    return n_encoded(model)
