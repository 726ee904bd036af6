"""Fits on data that lie on many machines, with Dask: ``pip install ".[dask]"`` in the source tree.

Estimators take Dask arrays and data frames, fit where the partitions are, predict lazily, and
become the plain estimators with ``to_local()``.
"""

try:
    import dask.array
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "fctree.dask needs Dask with its distributed scheduler: pip install '.[dask]'"
    ) from error

from fctree.dask.forest import (
    DaskCurvatureForestClassifier,
    DaskCurvatureForestRegressor,
)
from fctree.dask.gram import tree_ntk
from fctree.dask.kernel_ridge import DaskTreeNTKClassifier, DaskTreeNTKRegressor
from fctree.dask.oblique import (
    DaskCurvatureBoostingClassifier,
    DaskCurvatureBoostingRegressor,
)
from fctree.dask.symmetric import (
    DaskSymmetricBoostingClassifier,
    DaskSymmetricBoostingRegressor,
)

__all__ = [
    "DaskCurvatureBoostingClassifier",
    "DaskCurvatureBoostingRegressor",
    "DaskCurvatureForestClassifier",
    "DaskCurvatureForestRegressor",
    "DaskSymmetricBoostingClassifier",
    "DaskSymmetricBoostingRegressor",
    "DaskTreeNTKClassifier",
    "DaskTreeNTKRegressor",
    "tree_ntk",
]
