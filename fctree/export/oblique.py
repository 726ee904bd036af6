"""Oblique trees: projections as further columns in ONNX, a walk over nodes in C, nested cases in SQL."""

from __future__ import annotations

import numpy as np

from fctree.ensembles.trees import ObliqueTrees
from fctree.export.axis_trees import AxisTrees
from fctree.export.sql_text import clipped, linear, nested_cases

_FEW_LEAVES = 32  # in a tree: evaluating all of them is faster than gathering one
_DIRECTIONS_AT_A_TIME = 2048  # so many float64 numbers a row in memory
_MOST_STEPS = 8  # of floating-point numbers, from a quotient to the exact bound


class ObliqueScores:
    """The sum of oblique trees.

    A split along one feature compares that feature; the projections of the others are further
    columns.
    """

    def __init__(self, trees: ObliqueTrees) -> None:
        self._trees = trees
        self._splits, self._directions = _as_axis_trees(trees)
        self._is_linear = np.any(trees.leaf_coef != 0.0, axis=(1, 2))

    def onnx(self, graph, x):
        """Write the sums, (n_samples, n_outputs), to a `Graph`."""
        trees = self._trees
        if len(trees) == 0:
            return graph.zeros(x, trees.n_outputs)
        parts = [part for group in self._groups() for part in self._group_sums(graph, x, group)]
        return graph.add("Sum", *parts) if len(parts) > 1 else parts[0]

    def _groups(self):
        """Masks of consecutive trees, of which only one's projections are in memory at a time."""
        splits, dense = self._splits, self._splits.column >= self._trees.n_features
        n_directions = np.bincount(splits.tree, dense, splits.n_trees)
        group = (np.cumsum(n_directions) - 1) // _DIRECTIONS_AT_A_TIME
        return [group == number for number in np.unique(group)]

    def _group_sums(self, graph, x, group):
        """The sums over some trees: those of constant leaves, and those with linear ones."""
        trees, d = self._trees, self._trees.n_features
        splits, leaves = self._splits.choose(group)
        columns, dense = x, splits.column >= d
        if np.any(dense):
            used = np.arange(splits.column[dense].min(), splits.column[dense].max() + 1)
            directions = np.ascontiguousarray(self._directions[used - d].T)
            columns = graph.add("Concat", x, graph.add("MatMul", x, directions), axis=1)
            splits.column = np.where(dense, splits.column - used[0] + d, splits.column)
        linear = np.bincount(splits.leaf_tree, self._is_linear[leaves], splits.n_trees) > 0
        parts = []
        if not np.all(linear):
            chosen, numbers = splits.choose(~linear)
            constants = np.clip(trees.leaf_intercept, trees.leaf_lower, trees.leaf_upper)
            parts.append(chosen.sums(graph, columns, constants[leaves[numbers]]))
        if np.any(linear):
            chosen, numbers = splits.choose(linear)
            found = chosen.leaves(graph, columns)
            parts.append(self._linear_sums(graph, x, found, leaves[numbers]))
        return parts

    def _linear_sums(self, graph, x, found, leaves):
        """The leaf models of the leaves that samples have reached, clipped and added up."""
        trees = self._trees
        n_trees = self._count_trees(leaves)
        few = len(leaves) <= _FEW_LEAVES * n_trees
        evaluate = self._gather_of_all if few else self._product_of_gathered
        scores = evaluate(graph, x, found, leaves)
        scores = graph.add("Reshape", scores, np.array([0, n_trees, trees.n_outputs]))
        if self._has_bounds():
            for operator, bound in (("Max", trees.leaf_lower), ("Min", trees.leaf_upper)):
                scores = graph.add(operator, scores, graph.add("Gather", bound[leaves], found, axis=0))
        return graph.add("ReduceSum", scores, np.array([1]), keepdims=0)

    def _count_trees(self, leaves):
        """The number of trees that leaves belong to."""
        return len(np.unique(self._splits.leaf_tree[leaves]))

    def _gather_of_all(self, graph, x, found, leaves):
        """All leaf models evaluated, of which those of `found` are taken: little else than a
        product of matrices."""
        trees = self._trees
        coef = trees.leaf_coef[leaves].reshape(-1, trees.n_features)
        intercept = trees.leaf_intercept[leaves].ravel()
        scores = graph.add("Gemm", x, np.ascontiguousarray(coef.T), intercept)
        if trees.n_outputs > 1:
            index = graph.add("Mul", found, np.array(trees.n_outputs))
            index = graph.add("Unsqueeze", index, np.array([2]))
            index = graph.add("Add", index, np.arange(trees.n_outputs))
            n_columns = self._count_trees(leaves) * trees.n_outputs
            found = graph.add("Reshape", index, np.array([0, n_columns]))
        return graph.add("GatherElements", scores, found, axis=1)

    def _product_of_gathered(self, graph, x, found, leaves):
        """Only the leaf models of `found` evaluated: less arithmetic, on scattered memory."""
        trees = self._trees
        n_outputs, n_features = trees.leaf_coef.shape[1:]
        n_models = self._count_trees(leaves) * n_outputs
        coef = trees.leaf_coef[leaves].reshape(-1, n_outputs * n_features)
        coef = graph.add("Gather", coef, found, axis=0)
        coef = graph.add("Reshape", coef, np.array([0, n_models, n_features]))
        products = graph.add("MatMul", coef, graph.add("Unsqueeze", x, np.array([2])))
        products = graph.add("Reshape", products, np.array([0, n_models]))
        intercept = graph.add("Gather", trees.leaf_intercept[leaves], found, axis=0)
        intercept = graph.add("Reshape", intercept, np.array([0, n_models]))
        return graph.add("Add", products, intercept)

    def _has_bounds(self):
        trees = self._trees
        return bool(np.any(np.isfinite(trees.leaf_lower) | np.isfinite(trees.leaf_upper)))

    def sql(self, names):
        """Each tree as an expression, for one output."""
        trees = self._trees
        projections = [f"({linear(0.0, direction, names)})" for direction in self._directions]
        leaves = [
            clipped(linear(intercept, coef, names), lower, upper)
            for intercept, coef, lower, upper in zip(
                trees.leaf_intercept[:, 0], trees.leaf_coef[:, 0], trees.leaf_lower[:, 0],
                trees.leaf_upper[:, 0], strict=True)
        ]  # fmt: skip
        return nested_cases(self._splits, [*names, *projections], leaves)

    def c(self, source):
        """Write a function that adds the sums to ``out``; returns its name."""
        trees, splits = self._trees, self._splits
        for name in ("roots", "column", "threshold", "low", "high"):
            source.array(name, getattr(splits, name))
        source.array("leaf_intercept", trees.leaf_intercept)
        if len(self._directions) or np.any(self._is_linear):
            source.add_dot()
        value = "x[@column[node]]"
        if len(self._directions):
            source.array("directions", self._directions)
            d = trees.n_features
            value = (f"@column[node] < {d} ? x[@column[node]] : "
                     f"@dot(@directions + (@column[node] - {d}) * {d}, x, {d})")  # fmt: skip
        source.add(f"""
static int @find_leaf(int node, const double *x) {{
  while (node >= 0) {{
    const double value = {value};
    node = value <= @threshold[node] ? @low[node] : @high[node];
  }}
  return -1 - node;
}}
""")
        self._c_leaves(source)
        return "@add_trees"

    def _c_leaves(self, source):
        trees = self._trees
        n_outputs, d = trees.leaf_coef.shape[1:]
        model = ""
        if np.any(self._is_linear):
            source.array("leaf_coef", trees.leaf_coef[self._is_linear])
            numbers = np.where(self._is_linear, np.cumsum(self._is_linear) - 1, -1)
            source.array("leaf_model", numbers)
            model = f"""
      if (@leaf_model[leaf] >= 0)
        score += @dot(@leaf_coef + (@leaf_model[leaf] * {n_outputs} + k) * {d}, x, {d});"""
        if self._has_bounds():
            source.array("leaf_lower", trees.leaf_lower)
            source.array("leaf_upper", trees.leaf_upper)
            model += """
      if (score < @leaf_lower[at]) score = @leaf_lower[at];
      if (score > @leaf_upper[at]) score = @leaf_upper[at];"""
        source.add(f"""
static void @add_trees(const double *x, double *out) {{
  for (int tree = 0; tree < {len(trees)}; ++tree) {{
    const int leaf = @find_leaf(@roots[tree], x);
    for (int k = 0; k < {n_outputs}; ++k) {{
      const int at = leaf * {n_outputs} + k;
      double score = @leaf_intercept[at];{model}
      out[k] += score;
    }}
  }}
}}
""")


def _as_axis_trees(trees):
    """The splits as comparisons of columns, and the directions of the columns beyond the
    features."""
    tree = np.repeat(np.arange(len(trees)), np.diff(trees.node_offsets))
    first = trees.node_offsets[:-1]
    is_leaf = trees.children_left < 0
    is_node = ~is_leaf
    is_node[first] = True
    number = np.cumsum(is_node) - 1
    leaf = trees.leaf_offsets[:-1][tree] + trees.leaf_index
    column, threshold, flipped, directions = _columns_of_splits(trees, ~is_leaf)

    def child(children):
        below = np.where(is_leaf, np.arange(len(tree)), children + first[tree])
        below = np.where(is_leaf[below], ~leaf[below], number[below])
        return below[is_node]

    left, right, flipped = child(trees.children_left), child(trees.children_right), flipped[is_node]
    splits = AxisTrees(
        roots=number[first],
        tree=tree[is_node],
        column=column[is_node],
        threshold=threshold[is_node],
        missing_low=np.zeros(np.count_nonzero(is_node), dtype=bool),
        low=np.where(flipped, right, left),
        high=np.where(flipped, left, right),
        leaf_tree=np.repeat(np.arange(len(trees)), np.diff(trees.leaf_offsets)),
    )
    return splits, directions


def _columns_of_splits(trees, is_split):
    """The column and threshold of each node, whether its children are exchanged, and directions.

    ``c * x <= t`` for one feature is ``x <= b`` with the largest number b for which it holds, to the
    last bit of a product in float64; for negative c it is ``x > b`` for the largest b for which it
    does not hold.
    """
    coef = np.where(is_split[:, np.newaxis], trees.coef, 0.0)
    column = np.argmax(coef != 0.0, axis=1)
    c = coef[np.arange(len(coef)), column]
    threshold = np.where(is_split, trees.threshold, 0.0)
    bound, exact = _bounds(np.where(c == 0.0, 1.0, c), threshold)
    on_axis = exact & (np.count_nonzero(coef, axis=1) == 1)
    dense = np.flatnonzero(is_split & ~on_axis)
    column[dense] = trees.n_features + np.arange(len(dense))
    threshold = np.where(on_axis, bound, threshold)
    return column, threshold, on_axis & (c < 0.0), coef[dense]


def _bounds(c, t):
    """The largest b with ``(c * b <= t) == (c > 0)`` by element, and whether it was found."""
    with np.errstate(over="ignore", invalid="ignore"):
        bound = t / c
        for _ in range(_MOST_STEPS):
            up = np.nextafter(bound, np.inf)
            inside, above = (c * bound <= t) == (c > 0), (c * up <= t) == (c > 0)
            bound = np.where(above, up, np.where(inside, bound, np.nextafter(bound, -np.inf)))
        up = np.nextafter(bound, np.inf)
        inside, above = (c * bound <= t) == (c > 0), (c * up <= t) == (c > 0)
    return bound, inside & ~above & np.isfinite(bound)
