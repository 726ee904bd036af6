"""Turning what users pass into what the core takes: the only place that casts or copies.

Oblique trees take C-contiguous float64 arrays of finite numbers; boosting takes float32 or
float64 in any layout, with NaN for missing values. NumPy arrays that already are pass
through without a copy.
"""

from contextlib import contextmanager

import joblib
import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_array, validate_data


def check_features(estimator, X):
    """``X`` for prediction: (n_samples, n_features_in_) float64, C-contiguous, finite."""
    return validate_data(estimator, X, reset=False, dtype=np.float64, order="C")


def check_training_data(estimator, X, y, sample_weight, *, multi_output):
    """``X``, ``y`` and the weights of a fit; sets ``n_features_in_`` and the names.

    Returns
    -------
    X : array of shape (n_samples, n_features), float64, C-contiguous
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    sample_weight : array of shape (n_samples,), float64, or None
    """
    X, y = validate_data(
        estimator,
        X,
        y,
        dtype=np.float64,
        order="C",
        multi_output=multi_output,
        y_numeric=multi_output,
    )
    return X, y, check_sample_weight(sample_weight, X)


_BOOSTING_DTYPES = (np.float64, np.float32)


def _strided_in_elements(X):
    """``X`` such that its strides count whole, aligned elements."""
    if X.flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides):
        return X
    return np.ascontiguousarray(X)


def check_boosting_features(estimator, X):
    """``X`` for prediction: (n_samples, n_features_in_), float32 or float64, NaN allowed.

    A NumPy array that needs no conversion is let through before the general validation,
    which takes longer than predicting a row does.
    """
    if (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in _BOOSTING_DTYPES
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    ):
        return _strided_in_elements(X)
    X = validate_data(
        estimator, X, reset=False, dtype=list(_BOOSTING_DTYPES), ensure_all_finite=False
    )
    return _strided_in_elements(X)


def check_boosting_data(estimator, X, y, *, reset, classification):
    """``X`` and ``y`` of a fit, or of its evaluation with ``reset=False``.

    Returns
    -------
    X : array of shape (n_samples, n_features), float32 or float64, NaN allowed
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    """
    X, y = validate_data(
        estimator,
        X,
        y,
        reset=reset,
        dtype=list(_BOOSTING_DTYPES),
        ensure_all_finite=False,
        multi_output=not classification,
        y_numeric=not classification,
    )
    return _strided_in_elements(X), y


def check_sample_weight(sample_weight, X):
    """Finite, non-negative weights of shape (n_samples,), or None for equal ones."""
    if sample_weight is None:
        return None
    sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(sample_weight < 0):
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: the smallest is "
            f"{sample_weight.min()}; weights must be at least 0"
        )
    if not np.any(sample_weight):
        raise ValueError("sample_weight is zero for every sample; at least one must be positive")
    return np.ascontiguousarray(sample_weight)


def check_targets(y):
    """Numeric targets as (n_samples, n_outputs) float64, C-contiguous."""
    y = check_array(y, dtype=np.float64, ensure_2d=False, order="C", input_name="y")
    return np.ascontiguousarray(y.reshape(len(y), -1))


def count_samples(limit, n_samples):
    """A number of samples from a count, or from a fraction of ``n_samples``, rounded up."""
    if isinstance(limit, (int, np.integer)):
        return int(limit)
    return int(np.ceil(limit * n_samples))


def count_threads(n_jobs):
    """OpenMP threads for ``n_jobs``, which means what it means in scikit-learn."""
    return joblib.effective_n_jobs(n_jobs)


@contextmanager
def unchanged_on_failure(estimator):
    """Puts the estimator's attributes back if the fit inside does not end.

    An interrupted or refused fit leaves it unfitted or as the last fit left it.
    """
    before = vars(estimator).copy()
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
