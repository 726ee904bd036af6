"""Whether what was read describes a model.

A digest says that a file is as it was written, not that somebody wrote a model: compiled code
follows the numbers of a tree without looking, so everything that it indexes with is checked
here. All checks are O(size of the model).
"""

import inspect
from dataclasses import fields as dataclass_fields

import numpy as np

from fctree._native_input import require
from fctree._tree import ObliqueTree
from fctree.kernel_ridge.solvers import TreeKernel
from fctree.kernels.architecture import check_scale
from fctree.persistence.table_checks import n_tree_features
from fctree.symmetric.trees import SymmetricTrees

_MOST_THRESHOLDS = 254  # of a feature: bins are numbered by a byte


# Trees ----------------------------------------------------------------------------------


def _check_fields(name, fields, required, optional=()):
    missing = [field for field in required if field not in fields]
    unknown = sorted(set(fields) - set(required) - set(optional))
    require(not missing, f"a {name} lacks {', '.join(missing)}")
    require(not unknown, f"a {name} has no {', '.join(unknown)}")


def rebuild_oblique_tree(fields):
    """The ObliqueTree with these attributes; its constructor checks the structure."""
    parameters = inspect.signature(ObliqueTree).parameters
    optional = ("n_classes", "split_kind", "feature_scale", "boundary_width")
    _check_fields("ObliqueTree", fields, [p for p in parameters if p not in optional], optional)
    for name, array in fields.items():
        if name != "n_classes" and (name not in optional or array is not None):
            check_array(f"the tree's {name}", array)
    n_classes = fields.get("n_classes")
    require(
        n_classes is None or (type(n_classes) is int and n_classes >= 1),
        f"a tree has n_classes={n_classes!r}",
    )
    return ObliqueTree(**fields)


def rebuilds(cls):
    """Function that makes a dataclass of arrays from its attributes; its constructor checks the structure."""

    def rebuild(fields):
        _check_fields(cls.__name__, fields, [field.name for field in dataclass_fields(cls)])
        try:
            return cls(**fields)
        except TypeError as error:  # what is no array at all is a ValueError too, of a file
            raise ValueError(str(error)) from error

    return rebuild


def check_array(name, array, dtype=None, n_axes=None):
    """Raise ValueError unless it is an array, of this type and so many axes."""
    require(isinstance(array, np.ndarray), f"{name} is not an array")
    if dtype is not None:
        given, expected = array.dtype, np.dtype(dtype)
        require(given == expected, f"{name} has values of type {given}, not {expected}")
    if n_axes is not None:
        require(array.ndim == n_axes, f"{name} has {array.ndim} axes, not {n_axes}")


# Estimators -----------------------------------------------------------------------------


def _has_all(model, names):
    """Whether the model has these attributes; ValueError if it has some of them."""
    present = [name for name in names if hasattr(model, name)]
    missing = [name for name in names if not hasattr(model, name)]
    require(not present or not missing, f"the fitted model lacks {', '.join(missing)}")
    return bool(present)


def is_fitted(model, names):
    """Whether the model is fitted, and has these attributes; ValueError if it has some only."""
    fitted = _has_all(model, names)
    others = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    require(fitted or not others, f"the model has {', '.join(others)}, but is not fitted")
    return fitted


def check_intervals(model, n_outputs, n_scales=None):
    """Raise ValueError unless the conformity scores, if there are any, fit to the model.

    Files of version 1 and models fitted on Dask have none. ``n_scales`` is the number of leaves with a
    scale each; None if the model has no scales.
    """
    names = ["interval_scores_", "interval_levels_"]
    names += [] if n_scales is None else ["interval_scales_"]
    if not _has_all(model, names):
        return
    arrays = [getattr(model, name) for name in names]
    for name, array in zip(names, arrays, strict=True):
        check_array(name, array, np.float64, 2)
        require(bool(np.all(array >= 0.0)), f"{name} has negative values")
    require(arrays[0].shape == arrays[1].shape, "interval_levels_ is not one a score")
    require(all(array.shape[1] == n_outputs for array in arrays), "intervals have other outputs than the model")
    require(n_scales in (None, len(arrays[-1])), "interval_scales_ is not one a leaf")


def check_quantile_models(model, check_trees):
    """Raise ValueError unless the quantile models of a boosting regressor, if any, can be evaluated.

    ``check_trees(name, trees, model)`` raises it for trees of another kind or size.
    """
    n_outputs = model.n_outputs_
    check_intervals(model, n_outputs)
    names = ("interval_scores_", "interval_trees_", "interval_baselines_", "interval_reach_")
    if not _has_all(model, names):
        return
    trees = model.interval_trees_
    require(isinstance(trees, list) and len(trees) == 3, "interval_trees_ is not a list of three")
    for index, of_model in enumerate(trees):
        check_trees(f"interval_trees_[{index}]", of_model, model)
    for name, n_models in (("interval_baselines_", 3), ("interval_reach_", 2)):
        check_array(name, getattr(model, name), np.float64, 2)
        shape = (n_models, n_outputs)
        require(getattr(model, name).shape == shape, f"{name} has not the shape {shape}")


def check_whole(model, name, least, most=2**63 - 1):
    """Raise ValueError unless the attribute is an int within these bounds."""
    value = getattr(model, name)
    valid = type(value) is int and least <= value <= most
    require(valid, f"{name} is {value!r}, not an integer from {least} to {most}")


def _check_single_target(model):
    value = model._single_target
    require(type(value) is bool, f"_single_target is {value!r}, not True or False")


def check_features(model):
    """Raise ValueError unless the number of features is an int, and their names are as many."""
    check_whole(model, "n_features_in_", 1)
    if hasattr(model, "feature_names_in_"):
        names = model.feature_names_in_
        check_array("feature_names_in_", names, object, 1)
        require(
            len(names) == model.n_features_in_ and all(isinstance(name, str) for name in names),
            "feature_names_in_ is not a name for each feature",
        )


def check_classes(model):
    """Raise ValueError unless classes are as many as the model says, and sorted: labels are found in them by bisection."""
    check_whole(model, "n_classes_", 1)
    classes = model.classes_
    check_array("classes_", classes, n_axes=1)
    require(len(classes) == model.n_classes_, "classes_ has another length than n_classes_")
    try:
        ascending = bool(np.all(classes[:-1] < classes[1:]))
    except TypeError:
        ascending = False
    require(ascending, "classes_ is not ascending")


def _check_oblique_tree(model, n_outputs, n_classes):
    tree = model.tree_
    require(isinstance(tree, ObliqueTree), "tree_ is not an ObliqueTree")
    require(tree.n_features == n_tree_features(model), "tree_ has another number of features")
    require(tree.n_outputs == n_outputs, f"tree_ has {tree.n_outputs} outputs, not {n_outputs}")
    require(tree.n_classes == n_classes, f"tree_ has n_classes={tree.n_classes!r}")
    require(isinstance(model.alpha_, float), f"alpha_ is {model.alpha_!r}, not a float")


def check_tree_regressor(model):
    """Raise ValueError unless it is unfitted or its tree is that of a regressor."""
    names = ("tree_", "alpha_", "n_features_in_", "n_outputs_", "_single_target")
    if is_fitted(model, names):
        check_features(model)
        check_whole(model, "n_outputs_", 1)
        _check_single_target(model)
        _check_oblique_tree(model, model.n_outputs_, None)
        check_intervals(model, model.tree_.n_outputs, model.tree_.n_leaves)


def check_positive_or_none(model, name):
    """Raise ValueError unless the attribute is such a float, or None."""
    value = getattr(model, name)
    valid = value is None or (type(value) is float and value > 0.0)
    require(valid, f"{name} is {value!r}, not a positive float or None")


def check_tree_classifier(model):
    """Raise ValueError unless it is unfitted or its tree is that of a classifier."""
    names = ("tree_", "alpha_", "n_features_in_", "classes_", "n_classes_", "temperature_")
    if is_fitted(model, names):
        check_positive_or_none(model, "temperature_")
        check_features(model)
        check_classes(model)
        _check_oblique_tree(model, n_class_scores(model.n_classes_), model.n_classes_)


def n_class_scores(n_classes):
    """Raw scores of a classifier: the second class's where there are two."""
    return n_classes if n_classes > 2 else 1


def of_regressors(names, check):
    """Raise ValueError unless a regressor is unfitted, or has these attributes and passes `check`."""

    def check_regressor(model):
        if is_fitted(model, (*names, "n_outputs_", "_single_target")):
            check_whole(model, "n_outputs_", 1)
            _check_single_target(model)
            check(model)

    return check_regressor


def of_classifiers(names, check):
    """Raise ValueError unless a classifier is unfitted, or has these attributes and passes `check`."""

    def check_classifier(model):
        if is_fitted(model, (*names, "n_outputs_", "classes_", "n_classes_")):
            check_classes(model)
            n_scores = n_class_scores(model.n_classes_)
            check_whole(model, "n_outputs_", n_scores, n_scores)
            check(model)

    return check_classifier


_BOOSTING_NAMES = (
    "trees_", "n_iter_", "baseline_", "bin_thresholds_", "train_score_", "validation_score_",
    "n_features_in_", "_random_seed",
)  # fmt: skip


def check_rounds(model, check_trees):
    """Raise ValueError unless boosted trees of any kind, and their scores, fit to the model."""
    check_features(model)
    check_whole(model, "_random_seed", 0)
    for name in ("baseline_", "train_score_", "validation_score_"):
        check_array(name, getattr(model, name), np.float64, 1)
    require(len(model.baseline_) == model.n_outputs_, "baseline_ is not a score an output")
    check_trees("trees_", model.trees_, model)
    check_whole(model, "n_iter_", 0)
    require(model.n_iter_ == model.trees_.n_trees, "n_iter_ is not the number of trees")
    require(type(vars(model).get("_log_link", False)) is bool, "_log_link is not True or False")
    check_array("_judged", vars(model).get("_judged", np.empty(0)), np.float64, 1)  # not in files of version 1


def _check_boosting(model):
    check_rounds(model, _check_trees)
    _check_thresholds(model)
    posterior = getattr(model, "posterior_trees_", [])
    require(isinstance(posterior, list), "posterior_trees_ is not a list")
    for index, trees in enumerate(posterior):
        _check_trees(f"posterior_trees_[{index}]", trees, model)


def _check_boosting_regressor(model):
    _check_boosting(model)
    check_quantile_models(model, _check_trees)


def _check_trees(name, trees, model):
    require(isinstance(trees, SymmetricTrees), f"{name} is not SymmetricTrees")
    require(trees.n_outputs == model.n_outputs_, f"{name} has {trees.n_outputs} outputs")
    largest = trees.split_feature.max(initial=-1)
    require(largest < n_tree_features(model), f"{name} splits by feature {largest}")


check_boosting_regressor = of_regressors(_BOOSTING_NAMES, _check_boosting_regressor)
check_boosting_classifier = of_classifiers(_BOOSTING_NAMES, _check_boosting)


def _check_thresholds(model):
    thresholds = model.bin_thresholds_
    require(
        isinstance(thresholds, list) and len(thresholds) == n_tree_features(model),
        "bin_thresholds_ is not a list of an array for each feature",
    )
    for feature, values in enumerate(thresholds):
        name = f"bin_thresholds_[{feature}]"
        check_array(name, values, np.float64, 1)
        require(len(values) <= _MOST_THRESHOLDS, f"{name} has {len(values)} thresholds")
        # A single NaN is above nothing, not even itself.
        ascending = np.all(values[:-1] < values[1:]) and not np.any(np.isnan(values))
        require(ascending, f"{name} is not ascending")


_TREE_NTK_NAMES = ("X_fit_", "dual_coef_", "n_features_in_", "feature_matrix_", "_architecture")
_SEARCHED_NAMES = ("alpha_", "depth_", "scale_", "best_score_", "cv_results_")


def check_tree_ntk_regressor(model):
    """Raise ValueError unless it is unfitted or its expansion fits together."""
    if is_fitted(model, (*_TREE_NTK_NAMES, *_chosen_names(model), "_single_target")):
        _check_single_target(model)
        n_axes = 1 if model._single_target else 2
        _check_tree_ntk(model, n_axes)
        check_intervals(model, _n_columns(model))
        _check_system(model)


def check_tree_ntk_classifier(model):
    """Raise ValueError unless it is unfitted or its expansion fits together."""
    if is_fitted(model, (*_TREE_NTK_NAMES, *_chosen_names(model), "classes_")):
        check_array("classes_", model.classes_, n_axes=1)
        _check_tree_ntk(model, 2)
        n_columns = model.dual_coef_.shape[1]
        require(n_columns == len(model.classes_), "dual_coef_ is not a column a class")


def _chosen_names(model):
    return _SEARCHED_NAMES if hasattr(model, "alphas") else ("n_iter_", "_depth", "_scale")


def _check_tree_ntk(model, n_axes):
    check_features(model)
    check_array("X_fit_", model.X_fit_, np.float64, 2)
    check_array("dual_coef_", model.dual_coef_, np.float64, n_axes)
    n_rows, n_features = model.X_fit_.shape
    require(n_features == n_tree_features(model), f"X_fit_ has {n_features} features")
    require(n_rows >= 1 and np.all(np.isfinite(model.X_fit_)), "X_fit_ is not finite samples")
    require(len(model.dual_coef_) == n_rows, "dual_coef_ is not a row a sample of X_fit_")
    matrix = model.feature_matrix_
    if matrix is not None:
        check_array("feature_matrix_", matrix, np.float64, 2)
        valid = matrix.shape == (n_features, n_features) and np.all(np.isfinite(matrix))
        require(bool(valid), "feature_matrix_ is not a finite matrix of the features")
    _check_kernel(model)


def _n_columns(model):
    """Outputs of an expansion, whose coefficients may be a vector."""
    return model.dual_coef_.reshape(len(model.X_fit_), -1).shape[1]


def _check_system(model):
    """Penalty and weights of the fit; files of version 1 have none."""
    penalty, weights = (vars(model).get(name) for name in ("_penalty", "_fit_weights"))
    require(penalty is None or "_fit_weights" in vars(model), "it lacks _fit_weights")
    valid = penalty is None or (isinstance(penalty, float) and penalty >= 0.0)
    require(valid, f"_penalty is {penalty!r}, not a float or None")
    errors = vars(model).get("_fold_errors")
    if errors is not None:
        check_array("_fold_errors", errors, np.float64, 2)
        valid = len(errors) == len(model.X_fit_) or penalty is None
        require(valid and errors.shape[1] == _n_columns(model),
                "_fold_errors is not one an output of each sample")
    if weights is not None:
        check_array("_fit_weights", weights, np.float64, 1)
        valid = len(weights) == len(model.X_fit_) or penalty is None
        require(valid and bool(np.all(weights >= 0.0)), "_fit_weights is not one a sample")


def _check_kernel(model):
    """Kernel settings of predictions, those of the fit."""
    searched = hasattr(model, "alphas")
    depth, scale = (model.depth_, model.scale_) if searched else (model._depth, model._scale)
    try:
        TreeKernel(depth, check_scale(scale), model._architecture, "cpu", 1).spec()
    except TypeError as error:
        raise ValueError(str(error)) from error
