"""The private names of scikit-learn that fctree uses, and replacements for versions that lack them.

Nothing else imports names with an underscore from scikit-learn.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_array

try:
    from sklearn.base import _fit_context
    from sklearn.utils._param_validation import (
        Interval,
        InvalidParameterError,
        Options,
        RealNotInt,
        StrOptions,
    )
    from sklearn.utils._param_validation import validate_params as _validate_params

    def validate_parameters(estimator):
        """Check an estimator's parameters against its ``_parameter_constraints``."""
        estimator._validate_params()

except ImportError:
    from fctree._sklearn_replacements import (
        Interval,
        InvalidParameterError,
        Options,
        RealNotInt,
        StrOptions,
        _fit_context,
        _validate_params,
        validate_parameters,
    )

_Function = TypeVar("_Function", bound=Callable[..., Any])


def fit_context(fit: _Function) -> _Function:
    """Decorate `fit` so that the parameters are checked first; its type stays."""
    return _fit_context(prefer_skip_nested_validation=True)(fit)


def validate_params(constraints: dict[str, Any]) -> Callable[[_Function], _Function]:
    """Decorate a function so that its arguments are checked first; its type stays."""
    return _validate_params(constraints, prefer_skip_nested_validation=True)


try:
    from sklearn.utils.validation import _check_monotonic_cst

    def check_monotonic_cst(estimator, monotonic_cst=None):
        """scikit-learn's check; ValueError also for values that cannot be compared with numbers."""
        try:
            return _check_monotonic_cst(estimator, monotonic_cst)
        except TypeError as error:
            raise ValueError(f"monotonic_cst must be an array-like of -1, 0 or 1, got {monotonic_cst!r}") from error

except ImportError:

    def check_monotonic_cst(estimator, monotonic_cst=None):
        """Directions of features as int8, 0 for None, from a list or a dict by name."""
        n_features = estimator.n_features_in_
        if monotonic_cst is None:
            return np.zeros(n_features, dtype=np.int8)
        if isinstance(monotonic_cst, dict):
            names = list(getattr(estimator, "feature_names_in_", ()))
            unknown = sorted(set(monotonic_cst) - set(names))
            if unknown:
                raise ValueError(f"monotonic_cst contains unexpected feature names: {unknown}")
            monotonic_cst = [monotonic_cst.get(name, 0) for name in names]
        directions = np.asarray(monotonic_cst)
        if not np.all(np.isin(directions, [-1, 0, 1])):
            raise ValueError("monotonic_cst must be an array-like of -1, 0 or 1")
        if directions.shape != (n_features,):
            raise ValueError(
                f"monotonic_cst has shape {directions.shape} but the input data X has {n_features} "
                "features."
            )
        return directions.astype(np.int8)


try:
    from sklearn.utils.validation import _check_sample_weight as check_sample_weight
except ImportError:

    def check_sample_weight(sample_weight, X, *, dtype):
        """Finite weights of shape (n_samples,), from those given or a number."""
        if np.ndim(sample_weight) == 0:
            return np.full(len(X), sample_weight, dtype=dtype)
        weight = check_array(
            sample_weight, dtype=dtype, ensure_2d=False, order="C", input_name="sample_weight"
        )
        if weight.ndim != 1:
            raise ValueError("Sample weights must be 1D array or scalar")
        if weight.shape != (len(X),):
            raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(len(X),)}!")
        return weight


try:
    from sklearn.utils.validation import _get_feature_names as get_feature_names
except ImportError:

    def get_feature_names(X):
        """Names of the columns of a data frame, or None."""
        columns = getattr(X, "columns", None)
        if columns is None or not all(isinstance(name, str) for name in columns):
            return None
        return np.asarray(columns, dtype=object)


__all__ = [
    "Interval", "InvalidParameterError", "Options", "RealNotInt", "StrOptions",
    "check_monotonic_cst", "check_sample_weight", "fit_context", "get_feature_names",
    "validate_parameters", "validate_params",
]
