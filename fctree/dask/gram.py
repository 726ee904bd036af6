"""Gram matrices of tree kernels as Dask arrays."""

import dask.array as da
import numpy as np

from fctree import kernels
from fctree.dask.partitions import is_dask


def tree_ntk(X, Y=None, **parameters):
    """Compute the Gram matrix of a tree kernel as a Dask array, one task per block.

    Parameters
    ----------
    X : Dask array of shape (n_x, n_features)
    Y : Dask array of shape (n_y, n_features), default=None
        None is `X`.
    **parameters
        ``depth``, ``scale``, ``architecture``, ``device`` and ``n_jobs`` as in
        `fctree.kernels.tree_ntk`.

    Returns
    -------
    K : Dask array of shape (n_x, n_y)
        Chunked by the rows of both; ``to_zarr`` and ``to_hdf5`` write it without holding it in memory.

    Raises
    ------
    TypeError
        For anything but Dask arrays.
    ValueError, TypeError
        For parameters that `fctree.kernels.tree_ntk` refuses.
    """
    kernels.tree_ntk(np.zeros((1, 1)), **{**parameters, "device": "cpu"})  # refuses what it would on the workers
    Y = X if Y is None else Y
    for array, name in ((X, "X"), (Y, "Y")):
        if not is_dask(array) or getattr(array, "ndim", 0) != 2 or not hasattr(array, "chunks"):
            raise TypeError(f"{name} must be a Dask array of two dimensions, got {type(array)}")
    X, Y = X.rechunk({1: -1}), Y.rechunk({1: -1})
    return da.blockwise(
        _gram_block, "ij", X, "ik", Y, "jk", parameters=parameters, concatenate=True,
        dtype=np.result_type(X.dtype, Y.dtype, np.float32), meta=np.empty((0, 0)),
    )


def _gram_block(X, Y, parameters):
    return kernels.tree_ntk(X, Y, **parameters)
