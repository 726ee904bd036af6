"""Validation and conversion of user input.

Oblique trees take C-contiguous float64 arrays of finite numbers, their boosting float32 too;
boosting of symmetric trees takes float32 or float64 in any layout, with NaN for missing values. Such
arrays pass through without a copy.
"""

from collections.abc import Mapping, Set
from contextlib import contextmanager
from functools import wraps

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

from fctree import _sklearn
from fctree._native.core import is_finite, is_matrix
from fctree._native_input import strided_in_elements
from fctree._tables.columns import read_column
from fctree._tables.estimators import validate_table, validated_features
from fctree._tables.frames import is_frame, naming_missing, raw_columns, refuse_mask, table_of, without_mask
from fctree._tables.targets import plain_targets
from fctree._training.weight_scale import rescale_small_weights
from fctree._warnings import warn

FLOATS = [np.float64, np.float32]
_PART_BYTES = 2**25  # of a large array that is converted a part at a time


def check_features(estimator, X):
    """``X`` for prediction, encoded: (n_samples, n_encoded) float64, C-contiguous, finite."""
    return validated_features(estimator, X, dtype=np.float64, order="C")


def check_training_data(estimator, X, y, sample_weight, *, multi_output):
    """Check data as `check_imputed_data`, and weights, scaled up if they are small: (n_samples,) float64 or None."""
    X, y = check_imputed_data(estimator, X, y, reset=True, classification=not multi_output)
    weight = rescale_small_weights(check_sample_weight(sample_weight, X))
    if multi_output and weight is not None:
        y = np.where(np.reshape(weight > 0.0, (-1,) + (1,) * (y.ndim - 1)), y, 0)  # so large that 0 times them is not 0
    return X, y, weight


def check_boosting_features(estimator, X):
    """``X`` for prediction: (n_samples, n_features_in_), float32 or float64, NaN allowed."""
    return validated_features(estimator, X, dtype=FLOATS, ensure_all_finite=False)


def check_boosting_data(estimator, X, y, *, reset, classification):
    """``X`` (n_samples, n_features) and ``y`` of a fit, or of its evaluation with ``reset=False``.

    ``X`` is float32 or float64, NaN allowed; categories are numbers, to be encoded.
    """
    return validate_table(
        estimator,
        X,
        y,
        reset=reset,
        dtype=FLOATS,
        ensure_all_finite=False,
        multi_output=not classification,
        y_numeric=not classification,
    )


def _refuse_other_arguments(sample_weight):
    """TypeError for what was meant to be another argument of `fit`."""
    if isinstance(sample_weight, str):
        raise TypeError(f"sample_weight must hold a number for each sample, got {sample_weight!r}; classifiers have class_weight")
    if isinstance(sample_weight, (Mapping, Set)):
        raise TypeError(f"sample_weight must hold a number for each sample, got a {type(sample_weight).__name__}")
    if not isinstance(sample_weight, (list, tuple)):
        return
    first = next(iter(sample_weight), None)
    if isinstance(first, str):
        raise TypeError(f"sample_weight must hold a number for each sample, got {first!r}; columns are named in the parameter "
                        "categorical_features of the estimator")
    tuples = isinstance(first, (list, tuple)) and any(hasattr(item, "shape") for item in first)
    if tuples or isinstance(sample_weight, tuple) and any(np.ndim(item) > 0 for item in sample_weight[:3]):
        raise TypeError(f"sample_weight must hold a number for each sample, got a {'list of tuples' if tuples else 'tuple'} of "
                        "arrays; evaluation sets are passed by name, such as eval_set=(X_val, y_val)")


def refuse_negative(weight):
    if np.any(weight < 0):
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: the smallest is "
            f"{weight.min()}; weights must be at least 0"
        )


def check_soft_features(estimator, X):
    """``X`` for prediction, encoded: float32 or float64, C-contiguous, finite."""
    return validated_features(estimator, X, dtype=FLOATS, order="C")


def check_imputed_data(estimator, X, y, *, reset, classification, dtype=np.float64):
    """``X`` (n_samples, n_features) and ``y`` of a fit, or of its evaluation with ``reset=False``.

    ``X`` is C-contiguous, to be encoded: missing values stay until then.
    """
    return validate_table(
        estimator,
        X,
        y,
        reset=reset,
        impute=True,
        dtype=dtype,
        order="C",
        multi_output=not classification,
        y_numeric=not classification,
    )


def check_imputed_floats(estimator, X, y, *, reset, classification):
    """Check data as `check_imputed_data`, but float32 stays where it has no missing values, whose means are float64."""
    X, y = check_imputed_data(
        estimator, X, y, reset=reset, classification=classification, dtype=FLOATS
    )
    if X.dtype == np.float32 and not is_finite(X):
        X = X.astype(np.float64)
    return X, y


def check_sample_weight(sample_weight, X):
    """Finite, non-negative weights of shape (n_samples,), or None for equal ones."""
    if sample_weight is None:
        return None
    refuse_mask("sample_weight", sample_weight)
    _refuse_other_arguments(sample_weight)
    with naming_missing("sample_weight"):
        sample_weight = strided_in_elements(
            _sklearn.check_sample_weight(sample_weight, X, dtype=np.float64)
        )
    if not np.isfinite(sample_weight[0]):  # the others are checked, but not a number for all
        raise ValueError(f"sample_weight must be finite, got {sample_weight[0]}")
    refuse_negative(sample_weight)
    if not np.any(sample_weight):
        raise ValueError("sample_weight is zero for every sample; at least one must be positive")
    return np.require(sample_weight, requirements=["C", "ALIGNED"])


def check_inspection_data(X, y, sample_weight, *, classification, allow_nan):
    """Validated data for importances: ``X`` (n_samples, n_features), float32 or float64, C-contiguous;
    ``y``; weights or None; names of the columns, ``x0``, ``x1``, ... without any."""
    names = _sklearn.get_feature_names(X)
    X = without_mask(X)
    y = plain_targets(y, not classification)
    table = X if is_frame(X) else table_of(X)
    if table is not None:
        _refuse_categories(table, names)
    with naming_missing("y"):
        X, y = check_X_y(
            X,
            y,
            dtype=FLOATS,
            order="C",
            ensure_all_finite=not allow_nan,
            multi_output=not classification,
            y_numeric=not classification,
        )
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else [str(n) for n in names]
    return X, y, check_sample_weight(sample_weight, X), names


def _refuse_categories(frame, names):
    for place, raw in enumerate(raw_columns(frame)):
        name = place if names is None else names[place]
        if read_column(raw, name, None).values is not None:
            raise ValueError(
                f"column {name!r} holds categories, and importances of this estimator take numbers: number them "
                "(of pandas: X[c].astype('category').cat.codes) and name the column in the estimator's "
                "categorical_features, or make indicators of them and withhold these together (groups)"
            )


def check_labels(y):
    """scikit-learn's `check_classification_targets`, with errors that name the types of mixed labels."""
    try:
        check_classification_targets(y)
    except (TypeError, ValueError) as error:
        kinds = sorted({type(label).__name__ for label in np.ravel(np.asarray(y, dtype=object))})
        if len(kinds) < 2 and np.asarray(y).dtype != object:
            raise
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"y holds labels of type {', '.join(kinds)}: classes need labels of one type, integers, truths or text, none of "
            "them missing"
        ) from error


def encode_labels(y, classes):
    """The index of each label in the ascending classes of a fitted model.

    ValueError for labels of another type than the classes, and for labels that are not among them.
    """
    y = np.asarray(y)
    if (y.dtype.kind in "biuf") != (classes.dtype.kind in "biuf"):
        raise ValueError(
            f"y has labels of type {y.dtype}, but those of the training data are of type "
            f"{classes.dtype}: convert them to the same type"
        )
    try:
        found = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        known = classes[found] == y
    except TypeError as error:
        raise ValueError(
            f"y has labels that cannot be compared with those of the training data: {error}"
        ) from error
    if not np.all(known):
        unknown = list(dict.fromkeys(y[~known].tolist()))
        raise ValueError(f"y has labels that the training data lack: {unknown[:10]}")
    return found


def check_predictions(scores):
    """The scores as they are, with a warning where some are not finite.

    Inputs are finite here: a score that is not overflowed, as linear models do far outside of the
    training data.
    """
    if not is_finite(scores):
        n_rows = np.count_nonzero(~np.all(np.isfinite(scores), axis=tuple(range(1, scores.ndim))))
        warn(
            f"the predictions for {n_rows} of {len(scores)} samples are not finite: their features "
            "are too far from the training data, or the targets were too large",
            RuntimeWarning,
        )
    return scores


def check_targets(y):
    """Numeric targets as (n_samples, n_outputs) float64, C-contiguous; TypeError for dates and durations."""
    dtype = np.asarray(y).dtype
    if dtype.kind in "mM":
        raise TypeError(f"y is of type {dtype}: make numbers of it, such as days since a date")
    y = check_array(y, dtype=np.float64, ensure_2d=False, order="C", input_name="y")
    return np.ascontiguousarray(y.reshape(len(y), -1))


def count_samples(limit, n_samples):
    """A number of samples from a count, or from a fraction of ``n_samples``, rounded up."""
    if isinstance(limit, (int, np.integer)):
        return int(limit)
    return int(np.ceil(limit * n_samples))


def check_fitted(estimator):
    """scikit-learn's `check_is_fitted`, which looks at all attributes, but only where it is needed."""
    if "n_features_in_" not in vars(estimator):
        check_is_fitted(estimator)


def in_parts(predict):
    """A method of rows which takes a large array of numbers that compiled code cannot read as it is (another
    type or layout, a `numpy.memmap`) a part at a time, so that it is never converted as a whole."""

    @wraps(predict)
    def predict_parts(self, X):
        if type(X) not in (np.ndarray, np.memmap) or X.nbytes <= _PART_BYTES:
            return predict(self, X)
        if X.ndim != 2 or X.dtype.kind not in "fiu" or is_matrix(X, X.shape[1]):
            return predict(self, X)
        rows = max(1, _PART_BYTES // (X.shape[1] * X.itemsize))
        return np.concatenate([predict(self, X[i : i + rows]) for i in range(0, len(X), rows)])

    return predict_parts


@contextmanager
def fitted_whole(estimator):
    """Yield a copy of the estimator to fit, whose attributes replace the estimator's if the fit inside succeeds.

    So an interrupted or failed fit leaves it as it was, and predictions in the middle of one, by a callback or
    another thread, are those of the last fit. What a callback sets meanwhile, and the fit does not, is kept.
    """
    before = dict(vars(estimator))
    fitted = object.__new__(type(estimator))
    vars(fitted).update(before)
    yield fitted
    after, missing = vars(fitted), object()
    for name, value in vars(estimator).items():
        if value is not before.get(name, missing) and after.get(name, missing) is before.get(name, missing):
            after[name] = value
    estimator.__dict__ = after


def check_total(name, total, done, unit):
    """Refuse a total that is less than what a warm start continues from."""
    if total < done:
        raise ValueError(f"{name}={total} must be at least the {done} {unit} that a warm start continues from")


def draw_seed(random_state):
    """A seed of the core's random numbers, from what scikit-learn takes for one."""
    return int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))
