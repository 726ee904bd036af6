"""Trees as comparisons of single columns with thresholds, which runtimes for trees have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fctree._typing import FloatArray, NDArray


@dataclass(eq=False)
class AxisTrees:
    """Trees whose splits compare one column each.

    A sample goes on to ``low`` where ``x[column] <= threshold``, else to ``high``; a missing
    value to ``low`` where `missing_low` says so. A tree that is one leaf has a node whose children are both
    that leaf.

    Attributes
    ----------
    roots : array of shape (n_trees,), int64
        The node that each tree begins with.
    tree : array of shape (n_nodes,), int64
        The tree of each node.
    column, threshold, missing_low : arrays of shape (n_nodes,)
    low, high : arrays of shape (n_nodes,), int64
        A node, or ``~leaf``. Leaves are numbered over all trees.
    leaf_tree : array of shape (n_leaves,), int64
        The tree of each leaf.
    """

    roots: NDArray[Any]
    tree: NDArray[Any]
    column: NDArray[Any]
    threshold: FloatArray
    missing_low: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    leaf_tree: NDArray[Any]

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    def choose(self, trees):
        """Some of the trees, by a mask; returns them and the numbers of their leaves."""
        node, leaf = trees[self.tree], trees[self.leaf_tree]
        new_node, new_leaf, new_tree = (np.cumsum(kept) - 1 for kept in (node, leaf, trees))

        def renumbered(child):
            child = child[node]
            return np.where(
                child >= 0, new_node[np.maximum(child, 0)], ~new_leaf[np.maximum(~child, 0)]
            )

        chosen = AxisTrees(
            roots=new_node[self.roots[trees]],
            tree=new_tree[self.tree[node]],
            column=self.column[node],
            threshold=self.threshold[node],
            missing_low=self.missing_low[node],
            low=renumbered(self.low),
            high=renumbered(self.high),
            leaf_tree=new_tree[self.leaf_tree[leaf]],
        )
        return chosen, np.flatnonzero(leaf)

    def leaves(self, graph, x):
        """Write the leaf that each sample reaches in each tree, (n_samples, n_trees) int64."""
        if graph.ml_opset >= 5:
            numbers = np.arange(len(self.leaf_tree), dtype=np.float64)
            return graph.cast(self._ensemble(graph, x, numbers, self.leaf_tree), np.int64)
        first = np.searchsorted(self.leaf_tree, np.arange(self.n_trees))
        return graph.add("Add", graph.cast(self._ensemble_of_opset_3(graph, x, first), np.int64), first)

    def sums(self, graph, x, values):
        """Write the sums over the trees of the leaves' values (n_leaves, n_outputs), (n_samples, n_outputs)
        float64; ``x`` names the columns, (n_samples, n_columns) float64."""
        if values.shape[1] == 1 and graph.ml_opset >= 5:
            return self._ensemble(graph, x, values[:, 0], np.zeros(len(values), dtype=np.int64))
        found = graph.add("Gather", values, self.leaves(graph, x), axis=0)
        return graph.add("ReduceSum", found, np.array([1]), keepdims=0)

    def _ensemble(self, graph, x, weights, targets):
        """The operator for trees: a leaf adds its weight to its target."""
        low, high, leaves = self._distinct_children()
        weights, targets = weights[leaves], targets[leaves]
        return graph.add(
            "TreeEnsemble", x, domain="ai.onnx.ml",
            tree_roots=self.roots.tolist(),
            nodes_featureids=self.column.tolist(),
            nodes_splits=self.threshold,
            nodes_modes=np.zeros(len(self.column), dtype=np.uint8),  # <=
            nodes_missing_value_tracks_true=self.missing_low.astype(int).tolist(),
            nodes_truenodeids=np.where(low >= 0, low, ~low).tolist(),
            nodes_falsenodeids=np.where(high >= 0, high, ~high).tolist(),
            nodes_trueleafs=(low < 0).astype(int).tolist(),
            nodes_falseleafs=(high < 0).astype(int).tolist(),
            leaf_targetids=targets.tolist(),
            leaf_weights=np.ascontiguousarray(weights, dtype=np.float64),
            n_targets=int(targets.max()) + 1,
            aggregate_function=1,  # sum
            post_transform=0,
        )  # fmt: skip

    def _distinct_children(self):
        """Children of nodes, and the leaves that those without a node are numbers of.

        ONNX Runtime misreads, up to 1.28 at least, a root whose children have one number: two sides of one leaf, which become
        two leaves, or a leaf and a node, which unused leaves before all others move apart.
        """
        low, high, leaves = self.low, self.high.copy(), np.arange(len(self.leaf_tree))
        alone = low == high
        high[alone] = ~(len(leaves) + np.arange(np.count_nonzero(alone)))
        leaves = np.append(leaves, ~low[alone])
        a, b = low[self.roots], high[self.roots]
        taken = set(a + b + 1)  # of a node n and a leaf ~m it is n - m
        unused = next(n for n in range(len(taken) + 1) if n not in taken)
        low, high = (np.where(child < 0, child - unused, child) for child in (low, high))
        return low, high, np.append(np.zeros(unused, dtype=np.int64), leaves)

    def _ensemble_of_opset_3(self, graph, x, first):
        """The older operator, whose outputs are float32: exact numbers of leaves in their trees."""
        kept = self.low != self.high
        n_nodes = np.bincount(self.tree[kept], minlength=self.n_trees)
        n_leaves = len(self.leaf_tree)
        number = np.arange(n_leaves) - first[self.leaf_tree]
        node, leaf = np.arange(len(self.tree)) - self.roots[self.tree], n_nodes[self.leaf_tree] + number

        def children(child):
            below = np.where(child >= 0, node[np.maximum(child, 0)], leaf[np.maximum(~child, 0)])
            return np.concatenate([below[kept], np.zeros(n_leaves, dtype=np.int64)])[order].tolist()

        def all_nodes(of_splits, of_leaves):
            return np.concatenate([of_splits[kept], of_leaves])[order]

        order = np.arange(np.count_nonzero(kept) + n_leaves)
        order = np.lexsort([all_nodes(node, leaf), all_nodes(self.tree, self.leaf_tree)])
        zeros = np.zeros(n_leaves, dtype=np.int64)
        is_leaf = np.append(np.zeros(np.count_nonzero(kept), dtype=bool), zeros == 0)[order]
        return graph.add(
            "TreeEnsembleRegressor", x, domain="ai.onnx.ml",
            nodes_treeids=all_nodes(self.tree, self.leaf_tree).tolist(),
            nodes_nodeids=all_nodes(node, leaf).tolist(),
            nodes_featureids=all_nodes(self.column, zeros).tolist(),
            nodes_modes=["LEAF" if one else "BRANCH_LEQ" for one in is_leaf],
            nodes_values_as_tensor=all_nodes(self.threshold, zeros.astype(np.float64)),
            nodes_missing_value_tracks_true=all_nodes(self.missing_low, zeros).astype(int).tolist(),
            nodes_truenodeids=children(self.low),
            nodes_falsenodeids=children(self.high),
            target_treeids=self.leaf_tree.tolist(),
            target_nodeids=leaf.tolist(),
            target_ids=self.leaf_tree.tolist(),
            target_weights_as_tensor=number.astype(np.float64),
            n_targets=self.n_trees,
        )  # fmt: skip
