"""Whether what was read describes an ensemble of oblique trees, as `checks` does for the rest."""

from dataclasses import fields as dataclass_fields

import numpy as np

from fctree.ensembles.trees import ObliqueTrees
from fctree.persistence import checks
from fctree.persistence.checks import _require
from fctree.persistence.table_checks import n_tree_features

_INTEGERS = ("node_offsets", "leaf_offsets", "children_left", "children_right", "split_kind",
             "n_node_samples", "leaf_index")
_OF_NODES = ("children_left", "children_right", "split_kind", "threshold", "impurity",
             "n_node_samples", "weighted_n_node_samples", "leaf_index")
_AXES = {"coef": 2, "value": 2, "leaf_coef": 3, "leaf_intercept": 2, "leaf_lower": 2,
         "leaf_upper": 2, "feature_gain": 2}


def rebuild_oblique_trees(fields):
    """The ObliqueTrees with these attributes, C-contiguous as the core takes them.

    Every number that compiled code follows is checked: offsets, children, leaf numbers.
    """
    names = [field.name for field in dataclass_fields(ObliqueTrees)]
    checks._check_fields("ObliqueTrees", fields, names)
    for name in names:
        dtype = np.int64 if name in _INTEGERS else np.float64
        checks._check_array(f"the trees' {name}", fields[name], dtype, _AXES.get(name, 1))
    trees = ObliqueTrees(**{name: np.ascontiguousarray(fields[name]) for name in names})
    _require(len(trees.node_offsets) >= 1, "node_offsets is empty")
    _check_offsets("node_offsets", trees.node_offsets, trees.n_trees, len(trees.children_left))
    _check_offsets("leaf_offsets", trees.leaf_offsets, trees.n_trees, len(trees.leaf_intercept))
    _require(trees.n_outputs >= 1 and trees.n_features >= 1, "trees lack outputs or features")
    _check_shapes(trees)
    _check_leaf_numbers(trees)
    for tree in range(trees.n_trees):
        trees[tree]  # the constructor of a single tree checks its structure
    return trees


def _check_shapes(trees):
    (n_nodes, n_features), (n_leaves, n_outputs) = trees.coef.shape, trees.leaf_intercept.shape
    _require(n_nodes == len(trees.children_left), f"the trees' coef has {n_nodes} rows")
    shapes = {
        "value": (n_nodes, n_outputs),
        "leaf_coef": (n_leaves, n_outputs, n_features),
        "leaf_lower": (n_leaves, n_outputs),
        "leaf_upper": (n_leaves, n_outputs),
        "feature_gain": (trees.n_trees, n_features),
    }
    shapes |= {name: (n_nodes,) for name in _OF_NODES}
    for name, shape in shapes.items():
        given = getattr(trees, name).shape
        _require(given == shape, f"the trees' {name} has the shape {given}, not {shape}")


def _check_leaf_numbers(trees):
    """Leaves are numbered from 0 in each tree; an index beyond would read another's model."""
    most = np.repeat(np.diff(trees.leaf_offsets), np.diff(trees.node_offsets))
    leaf = trees.children_left < 0
    numbers = trees.leaf_index
    _require(np.all(numbers[leaf] >= 0), "a leaf has no number")
    _require(np.all(numbers < most), "a leaf has a number beyond its tree's")


def _check_offsets(name, offsets, n_trees, total):
    _require(len(offsets) == n_trees + 1, f"{name} is not one a tree and one more")
    _require(offsets[0] == 0 and offsets[-1] == total, f"{name} does not cover all entries")
    _require(bool(np.all(np.diff(offsets) > 0)), f"{name} is not ascending")


def _check_trees(model, n_outputs):
    trees = model.trees_
    _require(isinstance(trees, ObliqueTrees), "trees_ is not ObliqueTrees")
    _require(trees.n_features == n_tree_features(model), f"trees_ has {trees.n_features} features")
    _require(trees.n_outputs == n_outputs, f"trees_ has {trees.n_outputs} outputs")


_BOOSTING_NAMES = ("trees_", "tree_kinds_", "n_iter_", "baseline_", "alpha_", "train_score_",
                   "validation_score_", "n_outputs_", "n_features_in_", "_random_seed")


def check_boosting_regressor(model):
    """Raise ValueError unless it is unfitted or all its trees can be evaluated."""
    if checks._is_fitted(model, (*_BOOSTING_NAMES, "_single_target")):
        checks._check_whole(model, "n_outputs_", 1)
        checks._check_truth(model, "_single_target")
        _check_boosting(model)


def check_boosting_classifier(model):
    """Raise ValueError unless it is unfitted or all its trees can be evaluated."""
    if checks._is_fitted(model, (*_BOOSTING_NAMES, "classes_", "n_classes_")):
        checks._check_classes(model)
        n_scores = checks._n_scores(model.n_classes_)
        checks._check_whole(model, "n_outputs_", n_scores, n_scores)
        _check_boosting(model)


def _check_boosting(model):
    checks._check_features(model)
    checks._check_whole(model, "_random_seed", 0)
    checks._check_whole(model, "n_iter_", 0)
    _check_trees(model, model.n_outputs_)
    _require(model.n_iter_ == model.trees_.n_trees, "n_iter_ is not the number of trees")
    checks._check_array("tree_kinds_", model.tree_kinds_, np.int64, 1)
    _require(len(model.tree_kinds_) == model.n_iter_, "tree_kinds_ is not one a tree")
    _require(isinstance(model.alpha_, float), f"alpha_ is {model.alpha_!r}, not a float")
    for name in ("baseline_", "train_score_", "validation_score_"):
        checks._check_array(name, getattr(model, name), np.float64, 1)
    _require(len(model.baseline_) == model.n_outputs_, "baseline_ is not a score an output")


_FOREST_NAMES = ("trees_", "n_features_in_", "_random_seed")


def check_forest_regressor(model):
    """Raise ValueError unless it is unfitted or all its trees can be evaluated."""
    if checks._is_fitted(model, (*_FOREST_NAMES, "n_outputs_", "_single_target")):
        checks._check_whole(model, "n_outputs_", 1)
        checks._check_truth(model, "_single_target")
        _check_forest(model, model.n_outputs_)


def check_forest_classifier(model):
    """Raise ValueError unless it is unfitted or all its trees can be evaluated."""
    if checks._is_fitted(model, (*_FOREST_NAMES, "classes_", "n_classes_")):
        checks._check_classes(model)
        _check_forest(model, checks._n_scores(model.n_classes_))


def _check_forest(model, n_outputs):
    checks._check_features(model)
    checks._check_whole(model, "_random_seed", 0)
    _check_trees(model, n_outputs)
    _require(model.trees_.n_trees >= 1, "a forest has no trees")
