"""Fitted models as the formats read them: steps of the table, sums of trees, and a link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fctree._scored_trees import ensemble_of
from fctree._validation import check_fitted
from fctree.ensembles.boosting import BaseCurvatureBoosting
from fctree.ensembles.forest import BaseCurvatureForest
from fctree.export.links import Link
from fctree.export.oblique import ObliqueScores
from fctree.export.soft import SoftScores
from fctree.export.soft_boundaries import SoftBoundaryScores
from fctree.export.symmetric import SymmetricScores
from fctree.export.tables import TableSteps
from fctree.oblique.base import BaseObliqueTree
from fctree.soft.base import BaseSoftTree
from fctree.symmetric.base import BaseSymmetricBoosting


@dataclass(eq=False)
class Description:
    """A fitted model; `scores` have ``onnx(graph, features)`` and ``c(source)`` for the sums over trees,
    (n_samples, n_outputs), and those of hard splits ``sql(names)``."""

    table: TableSteps
    scores: Any
    link: Link


def _boosted(model):
    scores = SymmetricScores if isinstance(model, BaseSymmetricBoosting) else ObliqueScores
    return scores(model.trees_), Link.of(model, model.baseline_, 1.0, indicators=False)


def _forest(model):
    trees = model.trees_
    mean = Link.of(model, np.zeros(trees.n_outputs), 1.0 / trees.n_trees, indicators=True)
    return ObliqueScores(trees), mean


def _tree(model):
    tree = model.tree_
    is_soft = tree.boundary_width is not None
    scores = SoftBoundaryScores(tree) if is_soft else ObliqueScores(ensemble_of(tree))
    return scores, Link.of(model, np.zeros(tree.n_outputs), 1.0, indicators=True)


def _soft(model):
    link = Link.of(model, model.baseline_, model.output_scale_, indicators=False)
    return SoftScores(model), link


# The function that reads each family.
FAMILIES = {
    BaseSymmetricBoosting: _boosted,
    BaseCurvatureBoosting: _boosted,
    BaseCurvatureForest: _forest,
    BaseObliqueTree: _tree,
    BaseSoftTree: _soft,
}


def describe(model: Any) -> Description:
    """Read a fitted model; TypeError if it is not one of trees, NotFittedError if it has not been fitted, ValueError if its
    constant is not finite."""
    for family, read in FAMILIES.items():
        if isinstance(model, family):
            check_fitted(model)
            described = Description(TableSteps(model), *read(model))
            if not np.all(np.isfinite(described.link.offset)):
                raise ValueError(f"the constant of this {type(model).__name__} is not finite: {described.link.offset}")
            return described
    hint = ""
    if hasattr(model, "steps"):
        hint = "; register_skl2onnx() lets skl2onnx convert pipelines"
    raise TypeError(
        "expected a tree, a forest, boosting or soft trees of fctree, got a "
        f"{type(model).__name__}{hint}"
    )
