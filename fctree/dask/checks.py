"""Checks of the rows of one partition, maybe none."""

import numpy as np
from sklearn.utils.validation import check_array

from fctree._native_input import strided_in_elements
from fctree._validation import FLOATS, refuse_negative


def check_boosting_rows(X):
    """Some rows of ``X``, maybe none: float32 or float64, NaN allowed."""
    X = check_array(
        X,
        dtype=FLOATS,
        ensure_all_finite=False,
        ensure_min_samples=0,
        input_name="X",
    )
    return strided_in_elements(X)


def check_features_part(X):
    """The features of some rows, maybe none: finite float64, C-contiguous."""
    return check_array(X, dtype=np.float64, order="C", ensure_min_samples=0, input_name="X")


def check_targets_part(y):
    """The targets of some rows, maybe none: finite float64."""
    return check_array(y, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, input_name="y")


def check_sample_weight_part(sample_weight, X):
    """The weights of some rows, maybe none: (n,) float64, finite and non-negative."""
    weight = check_array(
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        ensure_min_samples=0,
        input_name="sample_weight",
    )
    if weight.shape != (len(X),):
        raise ValueError(f"sample_weight has the shape {weight.shape}, expected {(len(X),)}")
    refuse_negative(weight)
    return weight
