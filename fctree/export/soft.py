"""Soft trees: probabilities of whole levels in ONNX, a walk over reachable nodes in C."""

from __future__ import annotations

from typing import Any

import numpy as np

from fctree._native import soft as _native

_LEFT = {
    "logistic": """
  *left = 1.0 / (1.0 + exp(-t));
  *right = 1.0 / (1.0 + exp(t));""",
    "erf": """
  *left = 0.5 * erfc(-t);
  *right = 0.5 * erfc(t);""",
    "smooth_step": """
  const double v = t < -0.5 ? 0.0 : t > 0.5 ? 1.0 : 0.5 + t;
  const double w = t < -0.5 ? 1.0 : t > 0.5 ? 0.0 : 0.5 - t;
  *left = v * v * (3.0 - 2.0 * v);
  *right = w * w * (3.0 - 2.0 * w);""",
}


class SoftScores:
    """The sum of soft trees, of a fitted estimator."""

    def __init__(self, model: Any) -> None:
        rule = model._rule
        self._routing = rule["routing"]
        hardness = {
            "smooth_step": 1.0 / rule["gamma"], "logistic": 6.0 / rule["gamma"], "erf": rule["scale"]
        }[self._routing]  # fmt: skip
        weights = hardness * model.split_weights_.astype(np.float64)
        self._intercepts = hardness * model.split_intercepts_.astype(np.float64)
        standardization = model._standardization()
        mean = standardization[0]
        if mean is not None:
            weights *= _native.factors_of(standardization)
        self._mean = np.zeros(weights.shape[2]) if mean is None else mean
        self._weights = weights
        self._leaves = model.leaf_weights_.astype(np.float64)
        self._children = model.children_

    @property
    def is_single_precision(self):
        """Whether runtimes for ONNX compute less than float64."""
        return self._routing == "erf"

    def onnx(self, graph, x):
        """Write the sums, (n_samples, n_outputs), to a `Graph`."""
        n_trees, n_nodes, n_features = self._weights.shape
        centred = graph.add("Sum", x, -self._mean)  # not Sub: `_scaled` of links.py
        weights = np.ascontiguousarray(self._weights.reshape(-1, n_features).T)
        t = graph.add("Add", graph.add("MatMul", centred, weights), self._intercepts.ravel())
        left = graph.add("Reshape", self._left(graph, t), np.array([0, n_trees, n_nodes]))
        level_sizes = self._level_sizes()
        levels = [left]
        if len(level_sizes) > 1:
            sizes = np.array(level_sizes)
            levels = graph.add("Split", left, sizes, axis=2, n_outputs=len(level_sizes))
        reached, leaves, first = None, [], 0
        for n_splits, share in zip(level_sizes, levels, strict=True):
            if reached is None:
                low, high = share, graph.add("Sub", np.ones((1, 1, 1)), share)
            else:
                low = graph.add("Mul", reached, share)
                high = graph.add("Sub", reached, low)
            pair = [graph.add("Unsqueeze", side, np.array([3])) for side in (low, high)]
            pairs = graph.add("Concat", *pair, axis=3)
            reached = graph.add("Reshape", pairs, np.array([0, n_trees, 2 * n_splits]))
            is_leaf = self._children[first : first + n_splits].ravel() >= n_nodes
            first += n_splits
            if is_leaf.any() and not is_leaf.all():
                leaves.append(graph.add("Gather", reached, np.flatnonzero(is_leaf), axis=2))
                reached = graph.add("Gather", reached, np.flatnonzero(~is_leaf), axis=2)
        if leaves:
            reached = graph.add("Concat", *leaves, reached, axis=2)
        reached = graph.add("Reshape", reached, np.array([0, n_trees * (n_nodes + 1)]))
        return graph.add("MatMul", reached, self._leaves.reshape(-1, self._leaves.shape[2]))

    def _level_sizes(self):
        """The number of splits at each depth."""
        n_nodes = len(self._children)
        sizes, first, end = [], 0, 1
        while first < end:
            sizes.append(end - first)
            first, end = end, end + int(np.sum(self._children[first:end] < n_nodes))
        return sizes

    def _left(self, graph, t):
        """The probabilities of going left, in place of the products with the weights."""
        if self._routing == "logistic":
            return graph.add("Sigmoid", t)
        if self._routing == "erf":
            # Runtimes have the error function in float32 only.
            error = graph.cast(graph.add("Erf", graph.cast(t, np.float32)), np.float64)
            return graph.add("Mul", graph.add("Add", error, np.array(1.0)), np.array(0.5))
        shifted = graph.add("Add", t, np.array(0.5))
        v = graph.add("Clip", shifted, np.array(0.0), np.array(1.0))
        slope = graph.add("Sub", np.array(3.0), graph.add("Mul", v, np.array(2.0)))
        return graph.add("Mul", graph.add("Mul", v, v), slope)

    def c(self, source):
        """Write a function that adds the sums to ``out``; returns its name."""
        n_trees, n_nodes, d = self._weights.shape
        n_outputs = self._leaves.shape[2]
        source.add_dot()
        source.array("split_weights", self._weights)
        source.array("split_intercepts", self._intercepts)
        source.array("means", self._mean)
        source.array("leaf_weights", self._leaves)
        below = "2 * node + 1", "2 * node + 2"
        if not np.array_equal(self._children.ravel(), np.arange(1, 2 * n_nodes + 1)):
            source.array("children", self._children)
            below = "@children[2 * node]", "@children[2 * node + 1]"
        source.add(f"""
static void @route(double t, double *left, double *right) {{{_LEFT[self._routing]}
}}

static void @add_node(int tree, int node, double reached, const double *z, double *out) {{
  if (node >= {n_nodes}) {{
    const double *values = @leaf_weights + (tree * {n_nodes + 1} + node - {n_nodes}) * {n_outputs};
    for (int k = 0; k < {n_outputs}; ++k) out[k] += reached * values[k];
    return;
  }}
  const int at = tree * {n_nodes} + node;
  double left, right;
  @route(@dot(@split_weights + at * {d}, z, {d}) + @split_intercepts[at], &left, &right);
  if (left != 0.0) @add_node(tree, {below[0]}, reached * left, z, out);
  if (right > 0.0) @add_node(tree, {below[1]}, reached * right, z, out);
}}

static void @add_trees(const double *x, double *out) {{
  double z[{d}];
  for (int j = 0; j < {d}; ++j) z[j] = x[j] - @means[j];
  for (int tree = 0; tree < {n_trees}; ++tree) @add_node(tree, 0, 1.0, z, out);
}}
""")
        return "@add_trees"
