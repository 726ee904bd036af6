"""Checks that loaded arrays describe a soft tree model: compiled code relies on its shapes."""

import numpy as np

from fctree._native.soft import check_children
from fctree._native_input import require
from fctree.persistence.checks import check_array, check_features, check_whole, of_classifiers, of_regressors
from fctree.persistence.table_checks import n_tree_features
from fctree.soft.state import ARRAYS, LAST_WEIGHTS, MOST_LEAVES

_NAMES = (
    "_state", "_random_seed", "baseline_", "output_scale_", "n_features_in_",
    "n_iter_", "loss_curve_", "validation_loss_curve_", "reachable_leaves_curve_",
)  # fmt: skip
_COUNTERS = ("n_batches", "n_epochs")
_LARGEST = float(np.finfo(np.float64).max)


def _check_outputs(model, name):
    values = getattr(model, name)
    check_array(name, values, np.float64, 1)
    require(len(values) == model.n_outputs_, f"{name} is not a number an output")


def _check_soft_trees(model):
    check_features(model)
    check_whole(model, "_random_seed", 0)
    check_whole(model, "n_iter_", 0)
    for name in ("baseline_", "output_scale_"):
        _check_outputs(model, name)
    for name in ("loss_curve_", "validation_loss_curve_", "reachable_leaves_curve_"):
        curve = getattr(model, name)
        numbers = isinstance(curve, list) and all(type(value) is float for value in curve)
        require(numbers, f"{name} is not a list of floats")
    check_array("_judged", vars(model).get("_judged", np.empty(0)), np.float64, 1)  # not in files of version 1
    _check_rule(model)
    _check_state(model)


def _check_soft_tree_regressor(model):
    _check_outputs(model, "_target_scale")
    _check_soft_trees(model)


check_soft_tree_regressor = of_regressors((*_NAMES, "_target_scale"), _check_soft_tree_regressor)
check_soft_tree_classifier = of_classifiers(_NAMES, _check_soft_trees)


def _check_rule(model):
    if not hasattr(model, "_rule"):  # files of 0.1 have the parameters only
        model._rule = {name: getattr(model, name) for name in model._RULE}
    require(isinstance(model._rule, dict) and set(model._rule) == set(model._RULE), "_rule has other names")
    rule = {name: value.item() if isinstance(value, np.generic) else value for name, value in model._rule.items()}
    model._rule = rule
    for name in ("batch_norm", "fit_intercept"):
        require(type(rule[name]) is bool, f"{name} is {rule[name]!r}, not True or False")
    for name in ("gamma", "scale"):
        valid = type(rule[name]) in (int, float) and 0 < rule[name] <= _LARGEST
        require(valid, f"{name} is {rule[name]!r}")
    routings = ("smooth_step", "logistic", "erf")
    require(rule["routing"] in routings, "routing has no such value")


def _check_children(state, n_nodes):
    """Children of every split; files of older releases have perfect trees and no children."""
    if "children" not in state:
        require(n_nodes & (n_nodes + 1) == 0, f"{n_nodes} splits are not those of a perfect tree")
        state["children"] = np.arange(1, 2 * n_nodes + 1, dtype=np.int32).reshape(-1, 2)
    check_array("children", state["children"], np.int32, 2)
    require(state["children"].flags.c_contiguous, "children is not in C order")
    check_children(state["children"], n_nodes)


def _check_state(model):
    state = model._state
    require(isinstance(state, dict), "_state is not a dict")
    last = LAST_WEIGHTS if not state.keys().isdisjoint(LAST_WEIGHTS) else ()
    require({*state, "children"} == {*ARRAYS, *last, *_COUNTERS, "children"}, "_state has other names than a state's")
    for name in _COUNTERS:
        value = state[name]
        require(type(value) is int and value >= 0, f"{name} is {value!r}")
    splits = state["split_weights"]
    check_array("split_weights", splits, n_axes=3)
    require(splits.dtype in (np.float32, np.float64), f"split_weights are {splits.dtype}")
    n_trees, n_nodes, width = splits.shape
    n_leaves = n_nodes + 1
    sizes = n_trees >= 1 and 2 <= n_leaves <= MOST_LEAVES
    require(sizes, f"split_weights have the shape {splits.shape}")
    _check_children(state, n_nodes)
    expected = n_tree_features(model) + int(model._rule["fit_intercept"])
    require(width == expected, f"splits have weights of {width} features, not {expected}")
    leaves = (n_trees, n_leaves, model.n_outputs_)
    shapes = {
        "leaf_weights": leaves,
        "split_first_moment": splits.shape,
        "split_second_moment": splits.shape,
        "leaf_first_moment": leaves,
        "leaf_second_moment": leaves,
    }
    if last:
        shapes |= {"last_split_weights": splits.shape, "last_leaf_weights": leaves}
    for name, shape in shapes.items():
        check_array(name, state[name], splits.dtype)
        require(state[name].shape == shape, f"{name} has the shape {state[name].shape}")
    lengths = {
        "running_mean": n_tree_features(model),
        "running_variance": n_tree_features(model),
        "reached_leaves": n_trees,
    }
    if last:
        lengths |= {f"last_{name}": lengths[name] for name in ("running_mean", "running_variance")}
    for name, length in lengths.items():
        check_array(name, state[name], np.float64, 1)
        require(len(state[name]) == length, f"{name} has {len(state[name])} values")
    for name in (*ARRAYS, *last):
        require(state[name].flags.c_contiguous, f"{name} is not in C order")
