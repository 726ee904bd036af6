"""The trees of literal ensembles: as the core grows them, word by word, and sums of a linear model and a tree."""

import numpy as np
from fctree import CurvatureTreeRegressor
from fctree.oblique.parameters import CURVATURE_FIXED
from reference.literal_curvature import LiteralCurvatureTree


class MemberTree(CurvatureTreeRegressor):
    """A curvature tree as ensembles grow it."""

    _fixed = {**CURVATURE_FIXED, "refines_cuts": False}


class LiteralMember:
    """The arrays of a literal tree that `LiteralTree` reads; of rows of these weights, so many samples each."""

    def __init__(self, parameters, Z, target, weight, count):
        assert parameters["n_screened"] is None and parameters["directions"] == "all"
        rest = {name: parameters[name] for name in parameters if name not in ("n_screened", "directions")}
        self.literal = LiteralCurvatureTree(**rest, refines_cuts=False).fit(Z, target, weight, count)
        self.nodes = list(self.literal.root_.walk())
        self.children_left = np.array([1 if node.children else -1 for node in self.nodes])
        self.leaf_index = np.where(self.children_left < 0, np.cumsum(self.children_left < 0) - 1, -1)
        self.weighted_n_node_samples = np.array([weight[node.rows].sum() for node in self.nodes])
        self.value = np.array([np.average(target[node.rows], axis=0, weights=weight[node.rows]) for node in self.nodes])
        self.value = self.value[:, :, np.newaxis]
        self.n_leaves, self.n_outputs = self.leaf_index.max() + 1, target.shape[1]

    def apply(self, Z):
        numbers = {id(node): number for number, node in enumerate(self.nodes)}
        reached = np.zeros(len(Z), dtype=int)
        for number, node in enumerate(self.nodes):
            if node.children:
                here = reached == number
                left, right = (numbers[id(child)] for child in node.children)
                reached[here] = np.where(Z[here] @ node.direction <= node.threshold, left, right)
        return reached

    def predict(self, Z):
        values, reached = np.empty((len(Z), self.n_outputs)), self.apply(Z)
        for number in np.unique(reached):
            values[reached == number] = self.nodes[number].model.predict(Z[reached == number])
        return values


class LiteralSum:
    """A model of one leaf and a tree of some of its features on what it leaves: what `LiteralTree` reads of them."""

    def __init__(self, model, tree, places):
        self.model, self.tree, self.places = model, tree, places
        for name in ("children_left", "leaf_index", "weighted_n_node_samples", "n_leaves", "n_outputs"):
            setattr(self, name, getattr(tree, name))

    def apply(self, Z):
        return self.tree.apply(np.ascontiguousarray(Z[:, self.places]))

    def predict(self, Z):
        shape = len(Z), self.n_outputs
        parts = self.model.predict(Z), self.tree.predict(np.ascontiguousarray(Z[:, self.places]))
        return sum(part.reshape(shape) for part in parts)

    def find_means(self, Z, target, weight):
        """Of the targets in each leaf."""
        self.value, reached = np.full((len(self.children_left), self.n_outputs, 1), np.nan), self.apply(Z)
        for node in np.unique(reached[weight > 0]):
            self.value[node, :, 0] = np.average(target[reached == node], axis=0, weights=weight[reached == node])
