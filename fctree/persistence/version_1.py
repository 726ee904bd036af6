"""Estimators in files of fctree 0.1 (version 1 of the format) under the names of this version.

Fitted attributes are kept. A removed parameter is dropped, with a warning if its value differs
from this version's behaviour.
"""

import numpy as np

from fctree._training.losses import has_log_link
from fctree._warnings import warn
from fctree.oblique import (
    CurvatureTreeClassifier,
    CurvatureTreeRegressor,
    FCODTClassifier,
    FCODTRegressor,
)
from fctree.oblique.parameters import SHORTCUTS
from fctree.symmetric.posterior import NOISE_STD, PRIOR_STD

_ENSEMBLES = {
    f"FCODT{kind}{task}": f"Curvature{kind}{task}"
    for kind in ("Boosting", "Forest")
    for task in ("Regressor", "Classifier")
}
_TREES = {
    "FCODTRegressor": (FCODTRegressor, CurvatureTreeRegressor),
    "FCODTClassifier": (FCODTClassifier, CurvatureTreeClassifier),
}
# All trees had all parameters.
_OF_TREES = {
    "alpha", "max_depth", "min_samples_split", "min_samples_leaf", "min_impurity_decrease",
    "feature_concatenation", "leaf_model", "fit_intercept", "directions", "n_curvature", "max_coef",
    "split_criterion", "max_thresholds", "n_screened", "parent_weight", "split_margin",
}  # fmt: skip
_OF_REGRESSION = {"quantile", "posterior_samples", "posterior_scale", "posterior_noise"}
# Parameters of symmetric boosting that are gone, with the values that are this version's behaviour.
_CONSTANT = {"model_shrink_rate": 0.0, "posterior_scale": PRIOR_STD, "posterior_noise": NOISE_STD}
_WITH_LINK = {"FCODTBoostingRegressor", "SymmetricBoostingRegressor"}
_STEPS = {"_steps", "_step_factors"}  # the trees before they shrank, for rounds to come


def upgraded(name, params, attributes):
    """The class, parameters and attributes of this version for those of a file of version 1."""
    if name in _WITH_LINK and attributes:
        attributes = {"_log_link": has_log_link(params["loss"]), **attributes}
    if "_one_output" in attributes:
        attributes["_single_target"] = attributes.pop("_one_output")
    if "X_fit_" in attributes:
        attributes = {**_kernel(params), **attributes}
    if name == "SymmetricBoostingClassifier":
        params = {key: value for key, value in params.items() if key not in _OF_REGRESSION}
    if name.startswith("SymmetricBoosting"):
        _warn_of({key for key in _CONSTANT.keys() & params.keys() if params[key] != _CONSTANT[key]})
        params = {key: value for key, value in params.items() if key not in _CONSTANT}
        attributes = {key: value for key, value in attributes.items() if key not in _STEPS}
    if not _OF_TREES <= params.keys():  # not of that family
        return name, params, attributes
    if name in _TREES:
        cls, kept = _tree_class(_TREES[name], params, {"standardize": False})
        if name == "FCODTClassifier" and attributes:
            attributes = {**attributes, "temperature_": None}  # not calibrated
        return cls.__name__, kept, attributes
    if name not in _ENSEMBLES:
        return name, params, attributes
    own = {key: value for key, value in params.items() if key not in _OF_TREES}
    standardize = {"standardize": own.pop("standardize", True)}
    if own.pop("step_min_samples_leaf", 5) != 5:
        _warn_of({"step_min_samples_leaf"})
    if name == "FCODTBoostingClassifier":
        own.pop("quantile", None)
    of_trees = {key: params[key] for key in _OF_TREES}
    cls, kept = _tree_class(_TREES["FCODTRegressor"], of_trees, standardize)
    params = {**own, "tree": cls(**kept), **dict.fromkeys(SHORTCUTS)}
    if "tree_kinds_" in attributes:  # whose trees' steps were taken in full
        n_trees = len(attributes["tree_kinds_"])
        attributes = {
            **attributes,
            "step_sums_": np.zeros((n_trees, 2, attributes["trees_"].n_outputs, 2)),
            "learning_rates_": np.full(n_trees, float(params["learning_rate"])),
        }
    elif attributes and "Forest" in name:
        chosen = {"step_share_": 0.0, "split_margin_": float(of_trees["split_margin"]), "residual_trees_": False}
        attributes = {**attributes, **chosen}
        if name.endswith("Classifier"):
            attributes |= {"exponent_": None, "class_shifts_": None}
    return _ENSEMBLES[name], params, attributes


def _kernel(params):
    """Attributes for what 0.1 read in the parameters of kernel ridge when it predicted."""
    architecture = {"_architecture": params["architecture"], "feature_matrix_": None}
    if "alphas" in params:
        return {**architecture, "architecture_": params["architecture"]}
    return {**architecture, "_depth": params["depth"], "_scale": params["scale"]}


def _tree_class(classes, params, standardize):
    """The one of the two trees that has these parameters, and those of them that it has."""
    paper, curvature = classes
    searched = params["split_criterion"] == "ridge" or params["directions"] != "ridge"
    searched = searched or params["max_coef"] is not None or standardize["standardize"]
    cls = curvature if searched else paper
    params = {**params, **standardize}
    names = cls().get_params(deep=False)
    criterion = "constant" if params["leaf_model"] == "constant" else "ridge"
    fixed = {**params, **cls._fixed, "split_criterion": criterion}
    lost = {
        key for key, value in params.items()
        if key not in names and searched and value != fixed[key]
    }
    _warn_of(lost)
    return cls, {key: value for key, value in params.items() if key in names}


def _warn_of(names):
    if not names:
        return
    warn(
        f"the file is of fctree 0.1, whose {', '.join(sorted(names))} this version does not have: "
        "the model predicts as it did, a new fit of it would differ",
    )
