"""The parameters that ensembles share with single oblique trees."""

import numpy as np

from fctree._native_input import native_params
from fctree._tree import SPLIT_KINDS
from fctree._validation import count_samples
from fctree.oblique.base import BaseFCODT

_UNLIMITED = 2**31

TREE_CONSTRAINTS = {
    name: rule
    for name, rule in BaseFCODT._parameter_constraints.items()
    if name not in ("n_jobs", "random_state")
}


def chosen_directions(directions):
    """``directions`` as a list of names."""
    if isinstance(directions, str):
        return list(SPLIT_KINDS) if directions == "all" else [directions]
    chosen = list(directions)
    if not chosen or not all(name in SPLIT_KINDS for name in chosen):
        raise ValueError(
            f"directions must be 'all', one of {SPLIT_KINDS} or a non-empty tuple of them, "
            f"got {directions!r}"
        )
    return chosen


def native_tree_params(model, n_samples, *, impurity_scale, alpha):
    """The fields of ``native/oblique/params.hpp`` for the trees of an ensemble."""
    directions = chosen_directions(model.directions)
    choose_alpha = isinstance(alpha, str)
    params = {
        "alpha": 0.0 if choose_alpha else alpha,
        "choose_alpha": choose_alpha,
        "max_depth": _UNLIMITED if model.max_depth is None else model.max_depth,
        "min_samples_split": max(count_samples(model.min_samples_split, n_samples), 2),
        "min_samples_leaf": count_samples(model.min_samples_leaf, n_samples),
        "min_impurity_decrease": model.min_impurity_decrease,
        "feature_concatenation": model.feature_concatenation,
        "ridge_leaves": model.leaf_model == "ridge",
        "fit_intercept": model.fit_intercept,
        "impurity_scale": impurity_scale,
        "ridge_directions": "ridge" in directions,
        "curvature_directions": "curvature" in directions,
        "axis_directions": "axis" in directions,
        "n_curvature": model.n_curvature,
        "max_coef": _UNLIMITED if model.max_coef is None else model.max_coef,
        "n_screened": _UNLIMITED if model.n_screened is None else model.n_screened,
        "ridge_criterion": model.split_criterion == "ridge",
        "max_thresholds": model.max_thresholds,
        "parent_weight": model.parent_weight,
        "split_margin": model.split_margin,
        "node_features": {"max_features": _UNLIMITED, "seed": 0, "tree": 0},
    }
    return native_params(params)


def step_tree_params(tree_params, depth, min_samples_leaf):
    """Those of ordinary trees: splits along axes, constant leaves, all thresholds."""
    params = {
        **tree_params,
        "alpha": 0.0,
        "choose_alpha": False,
        "max_depth": depth,
        "min_samples_split": 2,
        "min_samples_leaf": min_samples_leaf,
        "feature_concatenation": False,
        "ridge_leaves": False,
        "ridge_directions": False,
        "curvature_directions": False,
        "axis_directions": True,
        "ridge_criterion": False,
    }
    return native_params(params)


def bound_of(extrapolation):
    """The core's number for `extrapolation`."""
    return np.inf if extrapolation is None else extrapolation
