"""Registry of the classes that can be stored; a new one is an entry here."""

from collections.abc import Callable
from dataclasses import dataclass

from fctree._tables.encoder import TableEncoder
from fctree._tree import ObliqueTree
from fctree.symmetric import (
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    SymmetricTrees,
)
from fctree.ensembles import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    ObliqueTrees,
)
from fctree.kernel_ridge import (
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from fctree.oblique import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
)
from fctree.persistence import checks, ensemble_checks, soft_tree_checks, table_checks
from fctree.soft import SoftTreeClassifier, SoftTreeRegressor


@dataclass(frozen=True)
class StoredEstimator:
    """An estimator that holds only its parameters and what `Encoder` accepts.

    ``check(model)`` raises ValueError where its attributes do not fit together, so that no
    method of it can read outside of an array.
    """

    cls: type
    check: Callable


@dataclass(frozen=True)
class StoredClass:
    """A class of values, stored by what ``fields_of(value)`` gives.

    ``rebuild(fields)`` gives the object with these fields, or raises ValueError.
    """

    cls: type
    rebuild: Callable
    fields_of: Callable = vars


def _by_name(*entries):
    return {entry.cls.__name__: entry for entry in entries}


ESTIMATORS = _by_name(
    StoredEstimator(CurvatureBoostingClassifier, ensemble_checks.check_boosting_classifier),
    StoredEstimator(CurvatureBoostingRegressor, ensemble_checks.check_boosting_regressor),
    StoredEstimator(CurvatureForestClassifier, ensemble_checks.check_forest_classifier),
    StoredEstimator(CurvatureForestRegressor, ensemble_checks.check_forest_regressor),
    StoredEstimator(CurvatureTreeClassifier, checks.check_tree_classifier),
    StoredEstimator(CurvatureTreeRegressor, checks.check_tree_regressor),
    StoredEstimator(FCODTClassifier, checks.check_tree_classifier),
    StoredEstimator(FCODTRegressor, checks.check_tree_regressor),
    StoredEstimator(SoftTreeClassifier, soft_tree_checks.check_soft_tree_classifier),
    StoredEstimator(SoftTreeRegressor, soft_tree_checks.check_soft_tree_regressor),
    StoredEstimator(SymmetricBoostingClassifier, checks.check_boosting_classifier),
    StoredEstimator(SymmetricBoostingRegressor, checks.check_boosting_regressor),
    StoredEstimator(TreeNTKClassifier, checks.check_tree_ntk_classifier),
    StoredEstimator(TreeNTKClassifierCV, checks.check_tree_ntk_classifier),
    StoredEstimator(TreeNTKRegressor, checks.check_tree_ntk_regressor),
    StoredEstimator(TreeNTKRegressorCV, checks.check_tree_ntk_regressor),
)


def _as_parameter(cls):
    """An estimator that is a parameter of another: stored unfitted."""

    def rebuild(fields):
        unknown = sorted(fields.keys() - cls().get_params(deep=False).keys())
        if unknown:
            raise ValueError(f"{cls.__name__} has no parameter {', '.join(unknown)}")
        return cls(**fields)

    return StoredClass(cls, rebuild, lambda estimator: estimator.get_params(deep=False))


STORED_CLASSES = _by_name(
    *map(
        _as_parameter,
        (CurvatureTreeClassifier, CurvatureTreeRegressor, FCODTClassifier, FCODTRegressor),
    ),
    StoredClass(ObliqueTree, checks.rebuild_oblique_tree),
    StoredClass(ObliqueTrees, ensemble_checks.rebuild_oblique_trees),
    StoredClass(SymmetricTrees, checks.rebuild_symmetric_trees),
    StoredClass(TableEncoder, table_checks.rebuild_table_encoder),
)
