"""Oblique trees with soft boundaries: all leaf models, weighted by the shares of a sample."""

from __future__ import annotations

import numpy as np

from fctree._tree import ObliqueTree

# A share of exp(-1000) is 0.
_MOST_WIDTHS = 1000.0


class SoftBoundaryScores:
    """The values of one tree with `boundary_width`."""

    def __init__(self, tree: ObliqueTree) -> None:
        self._tree = tree
        self._splits = np.flatnonzero(tree.children_left >= 0)
        self._coef = np.zeros((tree.n_leaves, tree.n_outputs, tree.n_features))
        if len(tree.leaf_coef):
            self._coef = tree.leaf_coef

    def onnx(self, graph, x):
        """Write the values, (n_samples, n_outputs), to a `Graph`."""
        tree, splits = self._tree, self._splits
        coef = self._coef.reshape(-1, tree.n_features)
        values = graph.add("Gemm", x, np.ascontiguousarray(coef.T), tree.leaf_intercept.ravel())
        if len(splits) == 0:
            return values
        values = graph.add("Reshape", values, np.array([0, tree.n_leaves, tree.n_outputs]))
        projections = graph.add("MatMul", x, np.ascontiguousarray(tree.coef[splits].T))
        away = graph.add("Sub", projections, tree.threshold[splits])
        away = graph.add("Div", away, tree.boundary_width[splits])
        away = graph.add("Clip", away, np.array(-_MOST_WIDTHS), np.array(_MOST_WIDTHS))
        # log(1 + exp(away)), the logarithm of the share that goes left, but for its sign.
        small = graph.add("Exp", graph.add("Neg", graph.add("Abs", away)))
        left = graph.add("Log", graph.add("Add", small, np.array(1.0)))
        left = graph.add("Add", left, graph.add("Max", away, np.array(0.0)))
        both = graph.add("Concat", graph.add("Sub", left, away), left, axis=1)
        shares = graph.add("Exp", graph.add("MatMul", both, -self._paths()))
        shares = graph.add("Unsqueeze", shares, np.array([2]))
        return graph.add("ReduceSum", graph.add("Mul", values, shares), np.array([1]), keepdims=0)

    def _paths(self):
        """1 where the path to a leaf goes right at a split, and then where it goes left."""
        tree, n_splits = self._tree, len(self._splits)
        paths = np.zeros((2 * n_splits, tree.node_count))
        for place, split in enumerate(self._splits):  # parents first
            for side, child in enumerate((tree.children_right[split], tree.children_left[split])):
                paths[:, child] = paths[:, split]
                paths[side * n_splits + place, child] = 1.0
        leaves = np.flatnonzero(tree.leaf_index >= 0)
        return paths[:, leaves[np.argsort(tree.leaf_index[leaves])]]

    def c(self, source):
        """Write a function that adds the values to ``out``; returns its name."""
        tree, n_outputs, d = self._tree, self._tree.n_outputs, self._tree.n_features
        split = tree.children_left >= 0
        source.add_dot()
        for name in ("children_left", "children_right", "leaf_index", "leaf_intercept"):
            source.array(name, getattr(tree, name))
        source.array("leaf_coef", self._coef)
        source.array("threshold", np.where(split, tree.threshold, 0.0))
        source.array("boundary_width", np.where(split, tree.boundary_width, 1.0))
        source.array("coef", np.where(split[:, np.newaxis], tree.coef, 0.0))
        source.add(f"""
static void @add_node(int node, double share, const double *x, double *out) {{
  const int leaf = @leaf_index[node];
  if (leaf >= 0) {{
    for (int k = 0; k < {n_outputs}; ++k) {{
      const int at = leaf * {n_outputs} + k;
      out[k] += share * (@leaf_intercept[at] + @dot(@leaf_coef + at * {d}, x, {d}));
    }}
    return;
  }}
  const double away = (@dot(@coef + node * {d}, x, {d}) - @threshold[node]) / @boundary_width[node];
  const double left = 1.0 / (1.0 + exp(away));
  @add_node(@children_left[node], share * left, x, out);
  @add_node(@children_right[node], share * (1.0 - left), x, out);
}}

static void @add_trees(const double *x, double *out) {{
  @add_node(0, 1.0, x, out);
}}
""")
        return "@add_trees"
