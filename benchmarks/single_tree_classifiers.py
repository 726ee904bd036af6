"""The programs of `single_tree_programs.py` for classes: their models have `predict_proba`.

Constant leaves give Laplace's shares of the classes of their training rows, (count + 1) / (rows + K), since with plain shares
one row of a class that its leaf has not seen costs as much as many mistakes. linear-tree's leaves know only the classes of their own
rows, and may take the same correction for one more number each.
"""

import numpy as np
from single_tree_programs import (
    CURVATURE, DISTILLED, FEW, NUMBER, OWN, SOFT, SPLIT, Program, additive_size, grid, mended, oblique_size, scores_size)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier


class LeafShares:
    """The smoothed shares of the classes in the leaves of a tree that has `apply`."""

    def __init__(self, tree, X, y):
        self.tree = tree
        self.leaves, place = np.unique(tree.apply(X), return_inverse=True)
        counts = np.ones((len(self.leaves), y.max() + 1))
        np.add.at(counts, (place, y), 1.0)
        self.shares = counts / counts.sum(axis=1, keepdims=True)

    def predict_proba(self, X):
        return self.shares[np.searchsorted(self.leaves, self.tree.apply(X))]


def leaf_shares_size(model):
    """The splits of a tree of one feature each, and K - 1 shares a leaf."""
    n_leaves, n_classes = model.shares.shape
    return (n_leaves - 1) * SPLIT + n_leaves * (n_classes - 1) * NUMBER


def curvature_tree(X, y, memory, **options):
    from fctree import CurvatureTreeClassifier

    tree = CurvatureTreeClassifier(**options).fit(X, y)
    return LeafShares(tree, X, y) if tree.leaf_model == "constant" else tree


def curvature_size(model):
    """Number of parameters; the temperature of ridge leaves is a part of their coefficients."""
    return oblique_size(model.tree if isinstance(model, LeafShares) else model)


def distilled_tree(X, y, memory, **options):
    """A curvature tree grown on the probabilities of curvature boosting."""
    from fctree import CurvatureBoostingClassifier, CurvatureTreeClassifier
    from fctree.inspection import distill

    if "teacher" not in memory:
        memory["teacher"] = CurvatureBoostingClassifier(random_state=0).fit(X, y)
    return distill(memory["teacher"], X, CurvatureTreeClassifier(**options), n_points=7, random_state=0)


def cart(X, y, memory, **options):
    return LeafShares(DecisionTreeClassifier(random_state=0, **options).fit(X, y), X, y)


class LinearLeafTree:
    """A fitted linear-tree, its leaves' probabilities smoothed or as they are."""

    def __init__(self, tree, smooth):
        self.tree = tree
        self.smooth = smooth
        self.rows = {leaf.id: leaf.n_samples for leaf in tree._leaves.values()}

    def predict_proba(self, X):
        found = self.tree.predict_proba(X)
        if not self.smooth:
            return found
        rows = np.array([self.rows[leaf] for leaf in self.tree.apply(X)])[:, np.newaxis]
        return (rows * found + 1.0) / (rows + found.shape[1])


def linear_leaf_tree(X, y, memory, smooth, **options):
    """linear-tree with logistic regression in its leaves."""
    from lineartree import LinearTreeClassifier

    key = tuple(options.items())
    if key not in memory:
        tree = mended(LinearTreeClassifier)(LogisticRegression(), criterion="crossentropy", **options)
        memory[key] = tree.fit(X, y)
    return LinearLeafTree(memory[key], smooth)


def linear_leaf_size(model):
    """A leaf of one class has a number only where it is smoothed."""
    leaves = [leaf.model for leaf in model.tree._leaves.values()]
    sizes = [scores_size(leaf.coef_) for leaf in leaves if hasattr(leaf, "coef_")]
    return (len(leaves) - 1) * SPLIT + sum(sizes) + model.smooth * len(leaves) * NUMBER


def additive_model(X, y, memory, **options):
    """An explainable boosting machine."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=1, n_jobs=1, random_state=0, **options).fit(X, y)


class BinaryTree:
    """A tree of splits on yes and no, `binary(X)`, given as nodes that are leaves or have a feature and two children."""

    def __init__(self, root, binary):
        self.root = root
        self.binary = binary

    def apply(self, X):
        rows, leaves = np.asarray(self.binary(X)), np.empty(len(X), dtype=int)
        waiting, n_leaves = [(self.root, np.arange(len(X)))], 0
        while waiting:
            node, inside = waiting.pop()
            if getattr(node, "left_child", None) is None:
                leaves[inside] = n_leaves
                n_leaves += 1
            else:
                right = rows[inside, node.feature] > 0
                waiting += [(node.left_child, inside[~right]), (node.right_child, inside[right])]
        return leaves


def optimal_tree(X, y, memory, **options):
    """STreeD's optimal tree: of the least entropy for two classes, else of the fewest mistakes and 0.1 % more a split."""
    from pystreed import STreeDClassifier

    goal = {"optimization_task": "cost-complex-accuracy", "cost_complexity": 0.001}
    if y.max() == 1:
        goal = {"optimization_task": "accuracy-flex", "accuracy_objective": "entropy"}
    model = STreeDClassifier(**goal, min_leaf_node_size=5, time_limit=2.0, **options).fit(X, y)
    tree = BinaryTree(model.get_tree(), lambda rows: model._binarize_data(rows, reset=False))
    return LeafShares(tree, X, y)


def sparse_optimal_tree(X, y, memory, thresholds, **options):
    """GOSDT's optimal sparse tree, with thresholds of its own choice or at quantiles."""
    from gosdt import GOSDTClassifier, ThresholdGuessBinarizer

    if thresholds == "guessed":
        if thresholds not in memory:
            memory[thresholds] = ThresholdGuessBinarizer(n_estimators=20, max_depth=1, random_state=0).fit(X, y)
        binary = memory[thresholds].transform
    else:
        cuts = np.unique(np.quantile(X, np.arange(1, thresholds + 1) / (thresholds + 1), axis=0), axis=0)

        def binary(rows):
            return np.concatenate([rows <= cut for cut in cuts], axis=1).astype(float)

    model = GOSDTClassifier(time_limit=2, **options).fit(binary(X), y)
    return LeafShares(BinaryTree(model.trees_[0].tree, lambda rows: 1.0 - binary(rows)), X, y)


def sparse_linear(X, y, memory, penalty):
    """Logistic regression with the penalty of the lasso."""
    model = LogisticRegression(C=1.0 / penalty, l1_ratio=1.0, solver="saga", tol=1e-3, max_iter=500, random_state=0)
    return model.fit(X, y)


CLASSIFIERS = {
    OWN[0]: Program(curvature_tree, curvature_size, CURVATURE),
    OWN[1]: Program(distilled_tree, oblique_size, DISTILLED),
    OWN[2]: Program(curvature_tree, oblique_size, SOFT),
    "CART": Program(cart, leaf_shares_size, grid(
        max_leaf_nodes=[2, 3, 4, 6, 8, 10, 14, 20, 28, 34, 50, 70, 100], min_samples_leaf=[1, 5, 10])),
    "linear-tree": Program(linear_leaf_tree, linear_leaf_size, [
        *grid(**FEW, max_depth=[1, 3], smooth=[False, True], max_bins=[10]),
        *grid(max_depth=[2], smooth=[False, True], max_bins=[10]),
        *grid(max_depth=[1, 4], smooth=[True], max_bins=[10])]),
    "EBM": Program(additive_model, additive_size, [
        *grid(features=[2, 4], max_bins=[8], interactions=[0]),
        *grid(max_bins=[3, 5, 8, 16], interactions=[0]),
        *grid(max_bins=[8], interactions=[3], max_interaction_bins=[6])]),
    "STreeD": Program(optimal_tree, leaf_shares_size, [
        *grid(max_depth=[1, 2, 3], n_thresholds=[8]), *grid(max_depth=[4], n_thresholds=[4])]),
    "GOSDT": Program(sparse_optimal_tree, leaf_shares_size, [
        *grid(thresholds=["guessed"], regularization=[0.05, 0.02, 0.01, 0.005], depth_budget=[5]),
        *grid(**FEW, thresholds=[3], regularization=[0.02, 0.01, 0.005], depth_budget=[5])]),
    "sparse logistic": Program(sparse_linear, lambda model: scores_size(model.coef_), grid(
        penalty=[100.0, 50.0, 30.0, 20.0, 10.0, 5.0, 3.0, 1.0, 0.3, 0.1])),
}
