"""The calls of estimators: their table validated, coded and encoded.

In a fit, `validate_table` gives an array of numbers in which categories are numbered, and
`encode_training` or `encode_samples` makes features of it when targets, weights and held-out
samples are known. For a prediction, `validated_features` does both.
"""

from numbers import Integral

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_X_y, validate_data

from fctree._native.core import is_finite, is_matrix
from fctree._native_input import aligned, strided_in_elements
from fctree._parameters import with_own_name
from fctree._sklearn import StrOptions, check_monotonic_cst
from fctree._tables.columns import is_categorical, read_columns
from fctree._tables.encoder import IndicatorLimits, TableEncoder, renumber
from fctree._tables.frames import check_frame, is_frame, naming_missing, raw_columns, single_precision, table_of, without_mask
from fctree._tables.numbers import fill_numbers
from fctree._tables.offsets import relative_targets
from fctree._tables.quantities import are_quantities, warn_of_quantities
from fctree._tables.robust import cut_off, target_limits
from fctree._tables.targets import plain_targets
from fctree._threads import count_threads

_SMALL = 2**18  # values
TABLE_CONSTRAINTS = {"categorical_features": ["array-like", StrOptions({"from_dtype"}), None]}


def validate_table(estimator, X, y="no_validation", *, reset, impute=False, **checks):
    """`validate_data` of scikit-learn, for tables too.

    With ``reset`` it sets ``encoder_``: a `TableEncoder` to be fitted by `encode_training`, or None where
    the table is plain numbers and a family takes them as they are. Returns `X` (n_samples, n_features_in_)
    as ``checks`` ask for it, float64 with the numbers of categories where there are some, and `y` if it was
    passed.
    """
    if impute:
        checks["ensure_all_finite"] = "allow-nan"
    X = check_frame(X)
    X = without_mask(X)
    y = plain_targets(y, checks.get("y_numeric", False))
    try:
        with naming_missing("y"):
            out, categories = _checked(estimator, X, y, reset, checks)
    except OverflowError as error:  # of integers of Python
        raise ValueError("X or y holds numbers that are too large for float64") from error
    except (TypeError, ValueError) as error:
        if any(words in str(error) for words in ("could not convert string", "NAType")) and np.ndim(np.asarray(X, dtype=object)) == 1:
            raise ValueError("Expected 2D array, got 1D array instead: X is a single row or column. "
                             "The first row of a data frame as a table is df.iloc[[0]], of a list [x].") from error
        named = _infinite_columns(X) if "infinity" in str(error) else []
        if not named:
            raise
        raise ValueError(f"{error} It is in the columns {named[:10]}.") from error
    if reset:
        plain = all(values is None for values in categories)
        estimator.encoder_ = None if plain and not impute else TableEncoder(categories, impute)
    return tuple(map(strided_in_elements, out)) if isinstance(out, tuple) else strided_in_elements(out)


def _infinite_columns(X):
    """The names of the columns with infinite numbers, or their indices."""
    X = X if is_frame(X) else np.asarray(X)
    names = getattr(X, "column_names", getattr(X, "columns", range(X.shape[1])))
    found = []
    for name, raw in zip(names, raw_columns(X)):
        try:
            infinite = np.isinf(np.asarray(raw, dtype=np.float64)).any()
        except (TypeError, ValueError):  # no numbers
            continue
        if infinite:
            found.append(name)
    return found


def _checked(estimator, X, y, reset, checks):
    """Validated samples as `validate_table` returns them, and the categories of each column."""
    table = _table(estimator, X, reset)
    single = single_precision(X) if table is None else None
    if table is None and single is None:
        return validate_data(estimator, X, y, reset=reset, **checks), [None] * estimator.n_features_in_
    validate_data(estimator, X if table is None else table, y, reset=reset, skip_check_array=True)
    if table is None:
        X, categories = single, [None] * single.shape[1]
    else:
        X, categories = _coded(estimator, table, reset)
    if isinstance(y, str) and y == "no_validation":
        return check_array(X, input_name="X", estimator=estimator, **checks), categories
    return check_X_y(X, y, estimator=estimator, **checks), categories


def validated_features(estimator, X, **checks):
    """``X`` for prediction, encoded as the model has learned."""
    if _needs_nothing(estimator, X, **checks):
        return X
    encoder = getattr(estimator, "encoder_", None)
    impute = encoder is not None and encoder.impute
    X = validate_table(estimator, X, reset=False, impute=impute, **checks)
    return X if encoder is None else encoder.transform(X)


def _needs_nothing(estimator, X, *, dtype, order=None, ensure_all_finite=True):
    """Whether X is an array as native code takes it: to find that out by scikit-learn's validation
    takes longer than to predict a row."""
    fitted = vars(estimator)
    encoder = fitted.get("encoder_")
    return (
        is_matrix(X, fitted.get("n_features_in_", -1), isinstance(dtype, list))
        and len(X) > 0
        and "feature_names_in_" not in fitted
        and (encoder is None or encoder.keeps_finite)
        and (not ensure_all_finite or is_finite(X, _checking_threads(estimator, X)))
    )


def _checking_threads(estimator, X):
    """Threads that look for values that are not finite: one where that is a matter of microseconds."""
    return 1 if X.size < _SMALL else count_threads(getattr(estimator, "n_jobs", None))


def encode_training(estimator, X, y, weight, *, n_classes, continuing=False):
    """Make features of the training samples that `validate_table` has seen.

    The estimator's ``encoder_`` learns from the samples with a positive weight, unless a warm start is
    ``continuing``: then what is known stays. ``y`` are targets (n_targets, n_samples), or one row of class
    numbers; ``n_classes`` is None for a regression.
    """
    return _encode(estimator, (X, y, weight), [], n_classes, continuing)[0]


def encode_samples(estimator, train, evals, *, n_classes, continuing, robust=False):
    """`encode_training` for Samples, in place, and for a list of those evaluated; of ``robust`` losses targets are cut
    off; where samples bring scores, statistics are of what these leave."""
    y, weight, n_classes = _targets_of_statistics(estimator, train, n_classes, continuing)
    parts = (train.X, y, weight)
    features = [samples.X for samples in evals]
    train.X, features = _encode(estimator, parts, features, n_classes, continuing, robust)
    for samples, X in zip(evals, features):
        samples.X = X


def _targets_of_statistics(estimator, train, n_classes, continuing):
    """Targets and weights, and the number of classes unless these are no targets: see `relative_targets`."""
    encoder, initial = getattr(estimator, "encoder_", None), train.initial
    loss = getattr(estimator, "_choose_loss", lambda: None)()
    if continuing and n_classes is not None and encoder is not None and len(encoder.targets):
        if encoder.units is None:
            initial = None
        elif initial is None:
            initial = np.zeros((estimator.n_outputs_, len(train.X)))
    if encoder is None or not encoder.has_categories or initial is None or loss is None or callable(loss):
        return train.y, train.weight, n_classes
    return *relative_targets(train.y, train.weight, initial, loss, n_classes), None


def _encode(estimator, train, evals, n_classes, continuing, robust=False):
    encoder = getattr(estimator, "encoder_", None)
    X, y, weight = train
    if continuing:
        _check_kept_categories(estimator, encoder)
    if encoder is None:
        return X, evals
    if not continuing:
        encoder.limits = target_limits(y, weight) if robust else None
    y = cut_off(y, encoder.limits)
    counted = slice(None)
    if weight is not None and not np.all(weight > 0.0):
        counted = weight > 0.0
        weight = weight[counted]
    if weight is not None and not 0.0 < weight.sum() < np.inf:
        raise ValueError("the sum of sample_weight must be positive and finite")
    if continuing:
        features = encoder.refit_transform(X[counted], y[:, counted], n_classes, weight)
    else:
        unpaired = constrained_columns(estimator)
        features, numbers = encoder.fit_transform(
            X[counted], y[:, counted], n_classes, weight, unpaired, indicator_limits(estimator)
        )
        X = renumber(X, numbers)
        evals = [renumber(X_eval, numbers) for X_eval in evals]
    if not isinstance(counted, slice):
        features, counted_features = encoder.transform(X).copy(), features
        features[counted] = counted_features
    return features, [encoder.transform(X_eval) for X_eval in evals]


def _check_kept_categories(estimator, encoder):
    """ValueError if a warm start asks for other categories than the first fit has found."""
    n_features = estimator.n_features_in_
    known = [None] * n_features if encoder is None else encoder.categories
    wanted = wanted_categories(estimator, getattr(estimator, "feature_names_in_", None), n_features)
    if any(want not in (None, values is not None) for want, values in zip(wanted, known, strict=True)):
        raise ValueError(
            f"categorical_features={estimator.categorical_features!r} names other columns than the model that is continued "
            "takes for categories: keep them, or fit anew with warm_start=False"
        )


def indicator_limits(estimator):
    """Limits of the columns that may get indicators: none but in ensembles, whose trees need not take all features."""
    return getattr(estimator, "_indicator_limits", IndicatorLimits())


def constrained_columns(estimator):
    """Columns with a constraint, which a pair could violate."""
    if getattr(estimator, "interaction_cst", None) is not None:
        return range(estimator.n_features_in_)
    directions = check_monotonic_cst(estimator, getattr(estimator, "monotonic_cst", None))
    return () if directions is None else np.flatnonzero(directions).tolist()


def summed_to_columns(estimator, importances):
    """Importances of the features that trees split, as those of the table's columns."""
    encoder = getattr(estimator, "encoder_", None)
    return importances if encoder is None else encoder.summed_to_columns(importances)


def rounds_features(estimator):
    """Whether some features are sums over samples, whose last digits go by their order and units: means in place of
    missing values, or statistics of numeric targets."""
    encoder = getattr(estimator, "encoder_", None)
    return encoder is not None and (encoder.units is not None or bool(np.any(encoder.has_missing)))


def feature_groups(estimator):
    """Numbers of the encoded features, those of one column or pair the same, or None where all differ."""
    encoder = getattr(estimator, "encoder_", None)
    groups = np.empty(0) if encoder is None else encoder.players
    return groups if len(np.unique(groups)) < len(groups) else None


def n_encoded(estimator):
    """Number of features that the trees of a fitted estimator split."""
    encoder = getattr(estimator, "encoder_", None)
    return estimator.n_features_in_ if encoder is None else len(encoder.layout())


def column_names(estimator):
    """Names of the columns of a fitted estimator's table, ``x0``, ``x1``, ... without any."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(estimator.n_features_in_)]
    return [str(name) for name in names]


def encoded_names(estimator, names=None):
    """Names of the features that the trees of a fitted estimator split, or None where there are none.

    ``names`` are those of the table's columns, or already of the features, instead of the estimator's.
    """
    encoder = getattr(estimator, "encoder_", None)
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if encoder is None:
        return names
    if names is None:
        names = column_names(estimator)
    elif len(names) != encoder.n_features_in:
        return names
    return encoder.feature_names(names, getattr(estimator, "classes_", None))


def _table(estimator, X, reset):
    """``X`` where its columns have to be read, or None where scikit-learn can read all of it."""
    if reset:
        chosen = getattr(estimator, "categorical_features", "from_dtype")
        needed = chosen is not None and not isinstance(chosen, str)
    else:
        encoder = getattr(estimator, "encoder_", None)
        needed = encoder is not None and encoder.has_categories
    table = table_of(X)
    if table is None and needed:
        table = X if is_frame(X) else np.asarray(X)
    return None if table is None or len(table.shape) != 2 or 0 in table.shape else table


def _coded(estimator, table, reset):
    """The table as a float64 array with the numbers of categories, and the categories."""
    n_features = table.shape[1]
    known, remedy = [None] * n_features, []
    if reset:
        wanted = wanted_categories(estimator, getattr(estimator, "feature_names_in_", None), n_features)
    else:
        encoder = getattr(estimator, "encoder_", None)
        known = known if encoder is None else encoder.categories
        wanted = [values is not None for values in known]
        remedy = ["in fit the column held numbers. If it holds categories, name it in categorical_features"]
    coded = np.empty(table.shape, order="F")
    categories, quantities = [], []
    names = column_names(estimator)
    columns = read_columns(raw_columns(table), names, wanted, *remedy)
    for j, (name, (raw, column)) in enumerate(zip(names, columns)):
        if column.values is None:
            coded[:, j] = column.numbers
            categories.append(None)
        else:
            categories.append(fill_numbers(coded[:, j], column, known[j], name))
            if reset and wanted[j] is None and not is_categorical(raw) and are_quantities(column):
                quantities.append(name)
    if quantities:
        warn_of_quantities(quantities)
    return coded, categories


def wanted_categories(estimator, names, n_features):
    """For each column True, False, or None: whatever its type says."""
    chosen = getattr(estimator, "categorical_features", "from_dtype")
    if chosen is None:
        return [False] * n_features
    if isinstance(chosen, str):
        return [None] * n_features
    given, chosen = chosen, np.asarray(chosen)
    if chosen.ndim != 1:
        got = f"a {type(given).__name__}" if chosen.ndim == 0 else f"the shape {chosen.shape}"
        raise ValueError(f"categorical_features must be a list of names or indices, or a mask, got {got}")
    if len(chosen) and all(isinstance(item, (bool, np.bool_)) for item in chosen):
        if len(chosen) != n_features:
            raise ValueError(
                f"categorical_features is a mask of {len(chosen)} columns, but X has {n_features}"
            )
        return chosen.tolist()
    items = chosen.tolist() if given is chosen else list(given)  # where NumPy may have made text of numbers
    if len(items) == n_features > 2 and set(items) == {0, 1}:
        raise ValueError(f"categorical_features repeats the indices {items[:10]}: a mask holds True and False")
    places = {} if names is None else {name: place for place, name in enumerate(names)}
    wanted = [False] * n_features
    for item in items:
        wanted[_index(item, places, n_features)] = True
    return wanted


def _index(item, places, n_features):
    if isinstance(item, str):
        if not places:
            raise ValueError(
                f"categorical_features names {item!r}, but the columns of X have no names"
            )
        if item not in places:
            raise ValueError(f"categorical_features names {item!r}, which X does not have")
        return places[item]
    if isinstance(item, bool) or not isinstance(item, Integral) or not 0 <= item < n_features:
        raise ValueError(
            f"categorical_features holds {item!r}, which is no column of X: use names that are text, indices "
            f"from 0 to {n_features - 1}, or a mask"
        )
    return int(item)


class TakesTables:
    """The tags of estimators that take tables, their name in errors, and arrays of pickles that compiled code may read."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        with_own_name(cls)

    def __setstate__(self, state):
        super().__setstate__(aligned(state))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
