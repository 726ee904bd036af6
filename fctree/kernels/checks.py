"""Checks of samples and vectors that kernels are computed of, and allocation of Gram matrices."""

import numpy as np
from sklearn.utils.validation import check_array

from fctree._memory import check_memory
from fctree._native.core import is_finite, is_matrix
from fctree._native_input import strided_in_elements
from fctree._tables.frames import check_frame, refuse_mask, single_precision
from fctree._warnings import warn


def check_kernel_samples(X, Y, *, batch=False):
    """``X`` and ``Y`` (or None) of one type, float32 if both are, C-contiguous and finite.

    With ``batch``, tables of shape (n_problems, n_samples, n_features) are accepted too.
    """
    X = _check_samples(X, "X", batch)
    if Y is None:
        return X, None
    Y = _check_samples(Y, "Y", batch)
    check_same_problems(X.shape, Y.shape)
    dtype = np.result_type(X, Y)
    return np.ascontiguousarray(X, dtype=dtype), np.ascontiguousarray(Y, dtype=dtype)


def _is_finite_matrix(X):
    """Whether ``X`` can be taken as it is: float32 or float64, C-contiguous, not empty, finite."""
    return type(X) is np.ndarray and X.size and is_matrix(X, X.shape[-1], True) and is_finite(X)


def _check_samples(X, name, batch):
    if _is_finite_matrix(X):
        return X
    X = check_frame(X)
    refuse_mask(name, X)
    single = single_precision(X)
    X = check_array(
        X if single is None else single, dtype=[np.float64, np.float32], order="C", input_name=name, allow_nd=batch
    )
    check_samples_shape(X.shape, name)
    return strided_in_elements(X)


def check_samples_shape(shape, name):
    """Raise ValueError for anything but non-empty tables and batches of tables."""
    if len(shape) not in (2, 3):
        raise ValueError(
            f"{name} must be (n_samples, n_features) or (n_problems, n_samples, n_features); got "
            f"an array of {len(shape)} dimensions"
        )
    if 0 in shape:
        raise ValueError(f"Found array with 0 sample(s) or feature(s) for {name}: shape {shape}")


def check_same_problems(shape_x, shape_y):
    """Raise ValueError if X and Y differ in features, or in the number of problems."""
    if shape_x[-1] != shape_y[-1]:
        raise ValueError(f"X has {shape_x[-1]} features, but Y has {shape_y[-1]}")
    if shape_x[:-2] != shape_y[:-2]:
        raise ValueError(f"X is a batch of shape {shape_x}, but Y of shape {shape_y}")


def check_vectors(v, shape, dtype):
    """Vectors to multiply Gram matrices with, whose columns belong to samples of this ``shape``.

    ``v`` is (n_y,) or (n_y, n_vectors), in a batch with n_problems in front. Returns it with an axis for
    the vectors, C-contiguous, and whether that is new.
    """
    if not (_is_finite_matrix(v) and v.dtype == dtype):
        v = check_array(
            v, dtype=dtype, ensure_2d=False, allow_nd=len(shape) == 3, order="C", input_name="v"
        )
    one = check_vectors_shape(v.shape, shape)
    return np.require(v.reshape(*shape[:-1], -1), requirements=["C", "ALIGNED"]), one


def check_vectors_shape(shape, samples):
    """Raise ValueError for vectors that do not fit samples of this shape; return whether there is
    one per problem."""
    rows = samples[:-1]
    if shape[: len(rows)] != rows or len(shape) not in (len(rows), len(rows) + 1):
        if len(rows) == 1:
            raise ValueError(f"v has {shape[0]} rows, the matrix has {rows[0]} columns")
        raise ValueError(f"v of shape {shape} does not fit a batch with columns of shape {rows}")
    if 0 in shape:
        raise ValueError(f"Found array with 0 vectors for v: shape {shape}")
    return len(shape) == len(rows)


def allocate_gram(shape, dtype, out, inputs):
    """``out`` if it fits, or a new array of this shape and type for a Gram matrix."""
    if out is None:
        remedy = (
            "pass out=numpy.memmap(...), multiply with tree_ntk_matvec, or use "
            "TreeNTKRegressor(solver='nystrom')"
        )
        check_memory("a Gram matrix", shape, dtype, remedy)
        return np.empty(shape, dtype=dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = getattr(out, "shape", None), getattr(out, "dtype", type(out))
        raise ValueError(f"out must be an array of shape {shape} and type {dtype}, got {found}")
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise ValueError("out must be C-contiguous, aligned and writeable")
    if any(np.may_share_memory(out, array) for array in inputs if array is not None):
        raise ValueError("out must not share memory with X or Y")
    return out


def warn_if_not_finite(what, values):
    """Warn of values that overflowed: inputs are finite here."""
    if not np.all(np.isfinite(values)):
        warn(f"{what} not finite: samples or vectors are too large", RuntimeWarning)
