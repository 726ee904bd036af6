"""Registry of the classes that can be stored; a new one is an entry here."""

from collections.abc import Callable
from dataclasses import dataclass

from fctree import ensembles, kernel_ridge, oblique, soft, symmetric
from fctree._tables.encoder import TableEncoder
from fctree._tree import ObliqueTree
from fctree.persistence import checks, ensemble_checks, soft_tree_checks, table_checks


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
    StoredEstimator(ensembles.CurvatureBoostingClassifier, ensemble_checks.check_boosting_classifier),
    StoredEstimator(ensembles.CurvatureBoostingRegressor, ensemble_checks.check_boosting_regressor),
    StoredEstimator(ensembles.CurvatureForestClassifier, ensemble_checks.check_forest_classifier),
    StoredEstimator(ensembles.CurvatureForestRegressor, ensemble_checks.check_forest_regressor),
    StoredEstimator(oblique.CurvatureTreeClassifier, checks.check_tree_classifier),
    StoredEstimator(oblique.CurvatureTreeRegressor, checks.check_tree_regressor),
    StoredEstimator(oblique.FCODTClassifier, checks.check_tree_classifier),
    StoredEstimator(oblique.FCODTRegressor, checks.check_tree_regressor),
    StoredEstimator(soft.SoftTreeClassifier, soft_tree_checks.check_soft_tree_classifier),
    StoredEstimator(soft.SoftTreeRegressor, soft_tree_checks.check_soft_tree_regressor),
    StoredEstimator(symmetric.SymmetricBoostingClassifier, checks.check_boosting_classifier),
    StoredEstimator(symmetric.SymmetricBoostingRegressor, checks.check_boosting_regressor),
    StoredEstimator(kernel_ridge.TreeNTKClassifier, checks.check_tree_ntk_classifier),
    StoredEstimator(kernel_ridge.TreeNTKClassifierCV, checks.check_tree_ntk_classifier),
    StoredEstimator(kernel_ridge.TreeNTKRegressor, checks.check_tree_ntk_regressor),
    StoredEstimator(kernel_ridge.TreeNTKRegressorCV, checks.check_tree_ntk_regressor),
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
    *(_as_parameter(getattr(oblique, name)) for name in oblique.__all__),
    StoredClass(ObliqueTree, checks.rebuild_oblique_tree),
    StoredClass(ensembles.ObliqueTrees, checks.rebuilds(ensembles.ObliqueTrees)),
    StoredClass(symmetric.SymmetricTrees, checks.rebuilds(symmetric.SymmetricTrees)),
    StoredClass(TableEncoder, table_checks.rebuild_table_encoder),
)
