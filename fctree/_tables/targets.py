"""Targets as users have them, before scikit-learn validates them."""

from scipy.sparse import issparse

from fctree._tables.columns import library_of, refuse_mask


def plain_targets(y):
    """``y``; of pandas' nullable and arrow integers and booleans the plain ones where nothing is missing.

    scikit-learn makes floats of them, in which large labels are the same. TypeError if it is sparse, ValueError if it hides
    values or has no columns.
    """
    refuse_mask("y", y)
    if getattr(y, "shape", ())[1:] == (0,):
        raise ValueError(f"y has the shape {y.shape}: it holds no targets")
    if issparse(y):
        raise TypeError("y is sparse: y.toarray() is the array that it has to be")
    if library_of(y) != "pandas":
        return y
    column = y.iloc[:, 0] if getattr(y, "shape", ())[1:] == (1,) else y
    plain = getattr(getattr(column, "dtype", None), "numpy_dtype", None)
    if getattr(plain, "kind", "") not in tuple("iub") or column.isna().any():
        return y
    return y.astype(plain)
