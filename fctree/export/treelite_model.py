"""Treelite models of symmetric boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from fctree.export.description import describe
from fctree.export.graph import import_library
from fctree.export.symmetric import SymmetricScores

_TASKS = {"logistic": "kBinaryClf", "softmax": "kMultiClf"}
_POSTPROCESSORS = {"exp": "exponential", "logistic": "sigmoid", "softmax": "softmax"}


def to_treelite(model: Any) -> Any:
    """Convert symmetric boosting to Treelite, for its compilers and the RAPIDS Forest Inference Library.

    Thresholds and leaves are float64.

    Parameters
    ----------
    model : fitted SymmetricBoostingRegressor or SymmetricBoostingClassifier
        Model without categories; a classifier needs at least two classes.

    Returns
    -------
    model : treelite.Model

    Raises
    ------
    ImportError
        Without the library treelite.
    ValueError
        For another kind of trees, for categories, or for one class.
    NotFittedError
        If the model has not been fitted.
    """
    builder = import_library("treelite.model_builder", "treelite")
    described = describe(model)
    table, link = described.table, described.link
    if not isinstance(described.scores, SymmetricScores) or table.categories or link.kind == "certain":
        raise ValueError(
            "Treelite takes symmetric boosting on numbers, of at least two classes; to_onnx and to_c "
            f"take others, such as this {type(model).__name__}"
        )
    trees, values = described.scores.as_axis_trees(), described.scores.leaf_values
    n_outputs = values.shape[1]
    offset = np.asarray(link.offset, dtype=np.float64)
    n_targets, n_classes = (1, n_outputs) if link.classes is not None else (n_outputs, 1)
    n_trees = trees.n_trees + (n_targets > 1)
    written = builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builder.Metadata(
            num_feature=table.n_columns,
            task_type=_TASKS.get(link.kind, "kRegressor"),
            average_tree_output=False,
            num_target=n_targets,
            num_class=[n_classes] * n_targets,
            leaf_vector_shape=(n_targets, n_classes),
        ),
        tree_annotation=builder.TreeAnnotation(
            num_tree=n_trees,
            target_id=[0 if n_targets == 1 else -1] * n_trees,
            class_id=[0 if n_classes == 1 else -1] * n_trees,
        ),
        postprocessor=builder.PostProcessorFunc(name=_POSTPROCESSORS.get(link.kind, "identity")),
        base_scores=(np.zeros_like(offset) if n_targets > 1 else offset).tolist(),
    )
    for tree in range(trees.n_trees):
        _write_tree(written, trees, tree, values)
    if n_targets > 1:  # a tree for the offsets, of which tl2cgen takes the first for all targets
        written.start_tree()
        written.start_node(0)
        written.leaf(offset.tolist())
        written.end_node()
        written.end_tree()
    return written.commit()


def _write_tree(written, trees, tree, values):
    """Nodes by the numbers that they have here, leaves after them."""
    n_nodes = len(trees.tree)

    def key(child):
        return int(child) if child >= 0 else n_nodes + int(~child)

    written.start_tree()
    nodes = np.flatnonzero((trees.tree == tree) & (trees.low != trees.high))
    for node in nodes:
        written.start_node(int(node))
        written.numerical_test(
            int(trees.column[node]), float(trees.threshold[node]), opname="<=",
            default_left=bool(trees.missing_low[node]),
            left_child_key=key(trees.low[node]), right_child_key=key(trees.high[node]),
        )  # fmt: skip
        written.end_node()
    for leaf in np.flatnonzero(trees.leaf_tree == tree):
        written.start_node(n_nodes + int(leaf))
        written.leaf(float(values[leaf, 0]) if values.shape[1] == 1 else values[leaf].tolist())
        written.end_node()
    written.end_tree()
