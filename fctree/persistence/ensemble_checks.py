"""Checks that loaded arrays describe an ensemble of oblique trees, as `checks` does for the rest."""

import numpy as np

from fctree._native_input import require
from fctree.ensembles.trees import ObliqueTrees
from fctree.persistence import checks
from fctree.persistence.table_checks import n_tree_features


def _check_trees(name, trees, model):
    require(isinstance(trees, ObliqueTrees), f"{name} is not ObliqueTrees")
    require(trees.n_features == n_tree_features(model), f"{name} has {trees.n_features} features")
    known = hasattr(model, "n_outputs_")
    n_outputs = model.n_outputs_ if known else checks.n_class_scores(model.n_classes_)
    require(trees.n_outputs == n_outputs, f"{name} has {trees.n_outputs} outputs")


_BOOSTING_NAMES = ("trees_", "tree_kinds_", "step_sums_", "learning_rates_", "n_iter_", "baseline_",
                   "alpha_", "train_score_", "validation_score_", "n_features_in_", "_random_seed")


def _check_boosting(model):
    checks.check_rounds(model, _check_trees)
    checks.check_array("tree_kinds_", model.tree_kinds_, np.int64, 1)
    require(
        len(model.tree_kinds_) == model.n_iter_ and np.isin(model.tree_kinds_, range(5)).all(),
        "tree_kinds_ is not one of 0 to 4 a tree",
    )
    checks.check_array("step_sums_", model.step_sums_, np.float64, 4)
    require(
        model.step_sums_.shape == (model.n_iter_, 2, model.trees_.n_outputs, 2) and np.isfinite(model.step_sums_).all(),
        "step_sums_ is not two finite pairs a score and tree",
    )
    checks.check_array("learning_rates_", model.learning_rates_, np.float64, 1)
    require(len(model.learning_rates_) == model.n_iter_, "learning_rates_ is not one a tree")
    require(isinstance(model.alpha_, float), f"alpha_ is {model.alpha_!r}, not a float")


def _check_boosting_regressor(model):
    _check_boosting(model)
    checks.check_quantile_models(model, _check_trees)


check_boosting_regressor = checks.of_regressors(_BOOSTING_NAMES, _check_boosting_regressor)
check_boosting_classifier = checks.of_classifiers(_BOOSTING_NAMES, _check_boosting)


_FOREST_NAMES = ("trees_", "n_features_in_", "_random_seed", "step_share_")


def _check_forest_regressor(model):
    _check_forest(model)
    checks.check_intervals(model, model.trees_.n_outputs, len(model.trees_.leaf_intercept))


check_forest_regressor = checks.of_regressors(_FOREST_NAMES, _check_forest_regressor)


def check_forest_classifier(model):
    """Raise ValueError unless it is unfitted or all its trees can be evaluated."""
    if checks.is_fitted(model, (*_FOREST_NAMES, "classes_", "n_classes_", "exponent_", "class_shifts_")):
        checks.check_positive_or_none(model, "exponent_")
        checks.check_classes(model)
        _check_class_shifts(model)
        _check_forest(model)


def _check_class_shifts(model):
    shifts = model.class_shifts_
    require((shifts is None) == (model.exponent_ is None), "exponent_ and class_shifts_ are not both None")
    if shifts is not None:
        checks.check_array("class_shifts_", shifts, np.float64, 1)
        known = len(shifts) == model.n_classes_ and np.isfinite(shifts).all()
        require(known, "class_shifts_ are not a finite number for each class")


def _check_forest(model):
    checks.check_features(model)
    checks.check_whole(model, "_random_seed", 0)
    _check_trees("trees_", model.trees_, model)
    require(model.trees_.n_trees >= 1, "a forest has no trees")
    share = model.step_share_
    require(type(share) is float and 0.0 <= share <= 1.0, f"step_share_ is {share!r}, not a share")
    margin = vars(model).get("split_margin_", 0.0)  # not in files from before it was chosen
    require(type(margin) is float and margin >= 0.0, f"split_margin_ is {margin!r}, not a margin")
    residual = vars(model).get("residual_trees_", False)
    require(type(residual) is bool, f"residual_trees_ is {residual!r}, not True or False")
