"""Targets as users have them, before scikit-learn validates them."""

import numpy as np
from scipy.sparse import issparse

from fctree._tables.frames import library_of, refuse_mask


def plain_targets(y, numeric):
    """``y``; of pandas' nullable and arrow integers and booleans the plain ones where nothing is missing, and numbers of
    an array of objects.

    scikit-learn makes floats of the former, in which large labels are the same, and knows no labels that are objects.
    TypeError if it is sparse, ValueError if it hides values, has no columns, or holds text though it has to be ``numeric``.
    """
    refuse_mask("y", y)
    if getattr(y, "shape", ())[1:] == (0,):
        raise ValueError(f"y has the shape {y.shape}: it holds no targets")
    if issparse(y):
        raise TypeError("y is sparse: y.toarray() is the array that it has to be")
    y = _refuse_text(y) if numeric else _of_objects(y)
    if library_of(y) != "pandas":
        return y
    column = y.iloc[:, 0] if getattr(y, "shape", ())[1:] == (1,) else y
    plain = getattr(getattr(column, "dtype", None), "numpy_dtype", None)
    if getattr(plain, "kind", "") not in tuple("iub") or column.isna().any():
        return y
    return y.astype(plain)


def _refuse_text(y):
    values = np.asarray(y)
    if values.dtype.kind in "OSUT":
        for value in values.ravel():
            try:
                float(value)
            except (TypeError, ValueError, OverflowError):
                if isinstance(value, (str, bytes)):
                    raise ValueError(f"y holds text ({str(value)!r}), but a regressor takes numbers; classifiers take labels") from None
    return values.astype(np.float64) if values.dtype.kind in "SUT" else y


def _of_objects(y):
    """``y``; of an array of objects that are all integers, truths or floats an array of these."""
    if getattr(y, "dtype", None) != object:
        return y
    values = np.asarray(y)
    kinds = {type(value) for value in values.ravel()}
    for plain, alike in ((bool, (bool, np.bool_)), (np.int64, (int, np.integer)), (np.float64, (float, np.floating))):
        if kinds and all(issubclass(kind, alike) for kind in kinds) and (plain is bool or bool not in kinds):
            try:
                return values.astype(plain)
            except OverflowError:  # of large integers
                return y
    return y
