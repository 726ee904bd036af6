"""What can be stored: a new estimator, or a new class of fitted values, is an entry here."""

from collections.abc import Callable
from dataclasses import dataclass

from fctree._tree import ObliqueTree
from fctree.symmetric import (
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
    SymmetricTrees,
)
from fctree.ensembles import (
    FCODTBoostingClassifier,
    FCODTBoostingRegressor,
    FCODTForestClassifier,
    FCODTForestRegressor,
    ObliqueTrees,
)
from fctree.kernel_ridge import (
    TreeNTKClassifier,
    TreeNTKClassifierCV,
    TreeNTKRegressor,
    TreeNTKRegressorCV,
)
from fctree.oblique import FCODTClassifier, FCODTRegressor
from fctree._tables.encoder import TableEncoder
from fctree.persistence import checks, ensemble_checks, soft_tree_checks, table_checks
from fctree.soft import SoftTreeClassifier, SoftTreeRegressor


@dataclass(frozen=True)
class StoredEstimator:
    """An estimator that holds its parameters and what `Encoder` takes, and nothing else.

    ``check(model)`` raises ValueError where its attributes do not fit together, so that no
    method of it can read outside of an array.
    """

    cls: type
    check: Callable


@dataclass(frozen=True)
class StoredClass:
    """A class of fitted values, stored by its attributes.

    ``rebuild(fields)`` gives the object with these attributes, or raises ValueError.
    """

    cls: type
    rebuild: Callable


def _by_name(*entries):
    return {entry.cls.__name__: entry for entry in entries}


ESTIMATORS = _by_name(
    StoredEstimator(FCODTBoostingClassifier, ensemble_checks.check_boosting_classifier),
    StoredEstimator(FCODTBoostingRegressor, ensemble_checks.check_boosting_regressor),
    StoredEstimator(FCODTClassifier, checks.check_fcodt_classifier),
    StoredEstimator(FCODTRegressor, checks.check_fcodt_regressor),
    StoredEstimator(FCODTForestClassifier, ensemble_checks.check_forest_classifier),
    StoredEstimator(FCODTForestRegressor, ensemble_checks.check_forest_regressor),
    StoredEstimator(SoftTreeClassifier, soft_tree_checks.check_soft_tree_classifier),
    StoredEstimator(SoftTreeRegressor, soft_tree_checks.check_soft_tree_regressor),
    StoredEstimator(SymmetricBoostingClassifier, checks.check_boosting_classifier),
    StoredEstimator(SymmetricBoostingRegressor, checks.check_boosting_regressor),
    StoredEstimator(TreeNTKClassifier, checks.check_tree_ntk_classifier),
    StoredEstimator(TreeNTKClassifierCV, checks.check_tree_ntk_classifier),
    StoredEstimator(TreeNTKRegressor, checks.check_tree_ntk_regressor),
    StoredEstimator(TreeNTKRegressorCV, checks.check_tree_ntk_regressor),
)

STORED_CLASSES = _by_name(
    StoredClass(ObliqueTree, checks.rebuild_oblique_tree),
    StoredClass(ObliqueTrees, ensemble_checks.rebuild_oblique_trees),
    StoredClass(SymmetricTrees, checks.rebuild_symmetric_trees),
    StoredClass(TableEncoder, table_checks.rebuild_table_encoder),
)
