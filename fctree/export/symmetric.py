"""Symmetric trees: nodes in ONNX, a table of splits and one of leaves in C, nested cases in SQL."""

from __future__ import annotations

import numpy as np

from fctree.export.axis_trees import AxisTrees
from fctree.export.sql_text import nested_cases, number
from fctree.symmetric.trees import SymmetricTrees


class SymmetricScores:
    """The sum of symmetric trees; `leaf_values` (n_leaves, n_outputs) has those of all."""

    def __init__(self, trees: SymmetricTrees) -> None:
        self._trees = trees
        self._n_levels = np.count_nonzero(trees.split_feature >= 0, axis=1)
        steps = 2 ** (trees.depth - self._n_levels)
        leaves = [trees.leaf_values[t, ::step] for t, step in enumerate(steps)]
        self.leaf_values = np.concatenate([np.zeros((0, trees.n_outputs)), *leaves])

    def onnx(self, graph, x):
        """Write the sums, (n_samples, n_outputs), to a `Graph`."""
        if len(self._trees) == 0:
            return graph.zeros(x, self._trees.n_outputs)
        return self.as_axis_trees().sums(graph, x, self.leaf_values)

    def as_axis_trees(self):
        """All nodes of the trees, breadth-first in each."""
        trees, n_levels = self._trees, self._n_levels
        n_nodes = np.maximum(2**n_levels - 1, 1)
        n_leaves = 2**n_levels
        roots = np.cumsum(n_nodes) - n_nodes
        first_leaf = np.cumsum(n_leaves) - n_leaves
        tree = np.repeat(np.arange(len(trees)), n_nodes)
        number = np.arange(len(tree)) - roots[tree]
        level = np.frexp(number + 1.0)[1] - 1  # the logarithm to base 2, rounded down

        def child(side):
            below = 2 * number + side
            leaf = np.maximum(below - n_nodes[tree], 0)
            leaf[n_levels[tree] == 0] = 0
            is_leaf = (below >= n_nodes[tree]) | (n_levels[tree] == 0)
            return np.where(is_leaf, ~(first_leaf[tree] + leaf), roots[tree] + below)

        return AxisTrees(
            roots=roots,
            tree=tree,
            column=np.maximum(trees.split_feature[tree, level], 0),
            threshold=trees.split_threshold[tree, level],
            missing_low=~trees.missing_right[tree, level],
            low=child(1),
            high=child(2),
            leaf_tree=np.repeat(np.arange(len(trees)), n_leaves),
        )

    def sql(self, names):
        """Each tree as an expression, for one output."""
        return nested_cases(self.as_axis_trees(), names, [*map(number, self.leaf_values[:, 0])])

    def c(self, source):
        """Write a function that adds the sums to ``out``; returns its name."""
        trees = self._trees
        used = trees.split_feature >= 0
        source.array("split_feature", trees.split_feature[used])
        source.array("split_threshold", trees.split_threshold[used])
        source.array("n_levels", self._n_levels)
        source.array("leaf_values", self.leaf_values)
        right = "value > @split_threshold[split]"
        if np.any(trees.missing_right[used]):
            source.array("missing_right", trees.missing_right[used].astype(np.int64))
            right = f"({right}) | (@missing_right[split] && isnan(value))"
        source.add(f"""
static void @add_trees(const double *x, double *out) {{
  int split = 0;
  const double *values = @leaf_values;
  for (int tree = 0; tree < {len(trees)}; ++tree) {{
    int leaf = 0;
    for (const int last = split + @n_levels[tree]; split < last; ++split) {{
      const double value = x[@split_feature[split]];
      leaf = 2 * leaf + ({right});
    }}
    for (int k = 0; k < {trees.n_outputs}; ++k) out[k] += values[leaf * {trees.n_outputs} + k];
    values += {trees.n_outputs} * (1 << @n_levels[tree]);
  }}
}}
""")
        return "@add_trees"
