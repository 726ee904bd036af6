"""Parameters of one oblique tree: estimators' names to the core's (native/oblique/params.hpp)."""

from numbers import Integral, Real

import numpy as np

from fctree._native_input import native_params
from fctree._sklearn import Interval, RealNotInt, StrOptions, validate_parameters
from fctree._tables.estimators import TABLE_CONSTRAINTS
from fctree._tree import SPLIT_KINDS, direction_bits
from fctree._validation import count_samples

_UNLIMITED = 2**31

_POSITIVE = Interval(Integral, 1, None, closed="left")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

_SHARED = {
    "alpha": [_NOT_NEGATIVE, StrOptions({"loo"})],
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
    "min_samples_leaf": [_POSITIVE, Interval(RealNotInt, 0, 1, closed="neither")],
    "feature_concatenation": ["boolean"],
    "leaf_model": [StrOptions({"ridge", "constant"})],
    **TABLE_CONSTRAINTS,
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}

FCODT_CONSTRAINTS = {
    **_SHARED,
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0, 1, closed="right"),
    ],
    "min_impurity_decrease": [_NOT_NEGATIVE],
    "fit_intercept": ["boolean"],
}

CURVATURE_CONSTRAINTS = {
    **_SHARED,
    "max_coef": [_POSITIVE, None],
    "standardize": ["boolean"],
    "directions": [StrOptions({*SPLIT_KINDS, "all"}), tuple, list],
    "n_curvature": [_POSITIVE],
    "n_screened": [_POSITIVE, None],
    "max_thresholds": [_POSITIVE],
    "parent_weight": [_NOT_NEGATIVE],
    "split_margin": [_NOT_NEGATIVE],
    "leaf_model": [StrOptions({"ridge", "constant", "soft"})],
}

# Settings for which a tree has no parameter.
FCODT_FIXED = {
    "max_coef": None,
    "standardize": False,
    "directions": "ridge",
    "n_curvature": 1,
    "n_screened": None,
    "max_thresholds": 1,
    "parent_weight": 0.0,
    "split_margin": 0.0,
    "ridge_criterion": False,
    "refines_cuts": False,
    "scales_scores": False,
}
CURVATURE_FIXED = {
    "min_samples_split": 2,
    "min_impurity_decrease": 0.0,
    "fit_intercept": True,
    "ridge_criterion": True,  # where leaves are ridge models
    "refines_cuts": True,
    "scales_scores": True,  # that children get as features, and several outputs
}

# Parameters that ensembles have too.
SHORTCUTS = ("max_depth", "alpha", "min_samples_leaf", "max_coef")
SHORTCUT_CONSTRAINTS = {
    name: [*(each for each in CURVATURE_CONSTRAINTS[name] if each is not None), None]
    for name in SHORTCUTS
}

# Ordinary trees: splits along axes, constant leaves, all thresholds; without the limits on their depth and leaves.
STEP_TREE = {
    "alpha": 0.0,
    "min_samples_split": 2,
    "min_impurity_decrease": 0.0,
    "feature_concatenation": False,
    "leaf_model": "constant",
    "fit_intercept": True,
    **FCODT_FIXED,
    "directions": "axis",
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


def native_tree_params(settings, n_samples, *, impurity_scale, target_unit=1.0):
    """The fields of ``native/oblique/params.hpp``, from the parameters of a tree and what is fixed for it;
    fractions refer to ``n_samples``."""
    directions = chosen_directions(settings["directions"])
    ridge_leaves = settings["leaf_model"] != "constant"
    choose_alpha = isinstance(settings["alpha"], str)

    def limit(name):
        return _UNLIMITED if settings[name] is None else settings[name]

    params = {
        "standardize": settings["standardize"],
        "alpha": 0.0 if choose_alpha else settings["alpha"],
        "choose_alpha": choose_alpha,
        "max_depth": limit("max_depth"),
        "min_samples_split": max(count_samples(settings["min_samples_split"], n_samples), 2),
        "min_samples_leaf": count_samples(settings["min_samples_leaf"], n_samples),
        "max_leaves": settings.get("max_leaves", _UNLIMITED),
        "min_impurity_decrease": settings["min_impurity_decrease"],
        "feature_concatenation": settings["feature_concatenation"],
        "ridge_leaves": ridge_leaves,
        "fit_intercept": settings["fit_intercept"],
        "impurity_scale": impurity_scale,
        "target_unit": target_unit if settings["scales_scores"] else 0.0,
        "direction_kinds": direction_bits(directions),
        "n_curvature": settings["n_curvature"],
        "max_coef": limit("max_coef"),
        "n_screened": limit("n_screened"),
        "ridge_criterion": ridge_leaves and settings["ridge_criterion"],
        "max_thresholds": settings["max_thresholds"],
        "refines_cuts": settings["refines_cuts"],
        "parent_weight": settings["parent_weight"],
        "split_margin": settings["split_margin"],
        "node_features": {"max_features": _UNLIMITED, "seed": 0, "tree": 0, "once": False},
    }
    return native_params(params)


def ensemble_tree_settings(ensemble, default):
    """All settings of an ensemble's trees: its `tree`, or `default`, overridden by its shortcuts.

    Ensembles do not refine cuts: with many trees the best of a few thresholds is good enough.
    """
    tree = default if ensemble.tree is None else ensemble.tree
    validate_parameters(tree)
    if tree.leaf_model == "soft":
        raise ValueError('leaf_model="soft" is for single trees, those of ensembles have hard splits')
    chosen = tree.categorical_features
    if not (isinstance(chosen, str) or np.array_equal(chosen, ensemble.categorical_features)):
        raise ValueError(
            f"tree has categorical_features={chosen!r}, but an ensemble's own count for all of its trees: "
            f"{type(ensemble).__name__}(categorical_features=...)"
        )
    own = {name: getattr(ensemble, name) for name in SHORTCUTS}
    given = {name: own[name] for name in own if own[name] is not None}
    return {**tree._settings(), **given, "refines_cuts": False}
