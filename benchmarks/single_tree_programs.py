"""The one-tree models of `bench_single_trees.py`: settings from small to large, and how many parameters a fit has.

A program's `fit(X, y, memory, **options)` returns a model with `predict`, and `size(model)` counts as [numbers, indices]:
a threshold, a coefficient that is not zero, an intercept and a leaf's value are a number each; which feature a
coefficient or a threshold belongs to is an index. A vector is written in the cheaper way: its k coefficients with k indices,
or all d numbers without any. A split on one feature has no coefficient. Of the scores of K > 2 classes only the differences
matter: they are counted as the model has them or as K - 1 differences from one of them, in the cheaper way, and constant ones as
K - 1 numbers. Bounds that clip features or predictions (PILOT, Cubist), the arms of the tree and the encoding of the table are not
counted. `memory` is a dict kept for the same rows. Programs for classes are in `single_tree_classifiers.py`.

A library is imported when its program fits, so one that is missing costs one row of the tables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, OrthogonalMatchingPursuit, Ridge
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import validate_data

SPLIT = np.array([1, 1])  # a threshold, and which feature
NUMBER = np.array([1, 0])


@dataclass(frozen=True)
class Program:
    """One program and the settings that it is fitted with."""

    fit: Callable
    size: Callable
    settings: list


def are_classes(y):
    return y.dtype.kind in "iu"


def grid(**values):
    """All combinations of settings."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def vector_size(coef):
    """[numbers, indices] of one linear function without its intercept."""
    k, d = np.count_nonzero(coef), np.size(coef)
    return np.array([k, min(k, d - k)])


def linear_size(coef):
    return vector_size(coef) + NUMBER


def scores_size(coef):
    """[numbers, indices] of the linear scores of a leaf, (n_scores, d), with their intercepts."""
    coef = np.asarray(coef)
    ways = [coef]
    if len(coef) > 2:
        ways += [np.delete(coef - own, k, axis=0) for k, own in enumerate(coef)]
    return min((sum(map(linear_size, way)) for way in ways), key=np.sum)


def n_free(n_scores):
    """Numbers of a leaf of constant scores: one of a number or of two classes, K - 1 of K classes."""
    return n_scores - (n_scores > 2)


def curvature_tree(X, y, memory, **options):
    from fctree import CurvatureTreeRegressor

    return CurvatureTreeRegressor(**options).fit(X, y)


def distilled_tree(X, y, memory, **options):
    """A curvature tree grown on the predictions of curvature boosting."""
    from fctree import CurvatureBoostingRegressor, CurvatureTreeRegressor
    from fctree.inspection import distill

    if "teacher" not in memory:
        memory["teacher"] = CurvatureBoostingRegressor(random_state=0).fit(X, y)
    tree = CurvatureTreeRegressor(**options)
    return distill(memory["teacher"], X, tree, n_points=7, random_state=0)


def oblique_size(model):
    """Splits, leaves and widths of a curvature tree."""
    tree = model.tree_
    inner = tree.children_left >= 0
    axes = np.count_nonzero(tree.coef, axis=1) <= 1
    sizes = [SPLIT if axis else linear_size(coef) for axis, coef in zip(axes[inner], tree.coef[inner], strict=True)]
    if len(tree.leaf_coef):
        sizes += [scores_size(coef) for coef in tree.leaf_coef[tree.leaf_index[~inner]]]
    else:
        sizes += [n_free(tree.leaf_intercept.shape[1]) * NUMBER] * int((~inner).sum())
    if tree.boundary_width is not None:
        sizes += [NUMBER] * int(inner.sum())
    return sum(sizes)


def cart(X, y, memory, **options):
    return DecisionTreeRegressor(random_state=0, **options).fit(X, y)


def cart_size(model):
    leaves = model.get_n_leaves()
    return (leaves - 1) * SPLIT + leaves * NUMBER


class Pilot:
    """PILOT, `slope_cost` scaling the degrees of freedom as RaFFLE's `alpha` does; bounds clip its predictions."""

    def __init__(self, X, y, slope_cost, **options):
        from pilot import PILOT

        freedom = [1.0 + slope_cost * extra for extra in (0, 1, 4, 4, 6, 4)]
        self.model = PILOT(df_settings=freedom, **options)
        self.model.train(X, y)

    def predict(self, X):
        return self.model.predict(X)


def pilot_tree(X, y, memory, **options):
    return Pilot(X, y, **options)


def pilot_size(model):
    """A constant ends every path and is a number only where nothing else is above it."""
    sizes = {"con": NUMBER, "lin": np.array([2, 1]), "pcon": np.array([3, 1]),
             "blin": np.array([5, 1]), "plin": np.array([5, 1])}
    return sum(sizes[kind] for kind in model.model.tree_summary()["node_type"])


def hinge_tree(X, y, memory, **options):
    """The authors' hinge regression tree, from a folder that `use_hinge_trees` was given."""
    from hrt import HRTRegressor

    return HRTRegressor(random_state=0, **options).fit(X, y)


def hinge_size(model):
    def of(node):
        if node.is_leaf:
            return linear_size(node.params[:-1])
        return linear_size(node.split_coeffs[:-1]) + of(node.children[0]) + of(node.children[1])

    return of(model.root_node)


def mended(linear_tree):
    """A class of linear-tree 0.3.5, which calls a method that scikit-learn 1.6 has made a function."""

    class Mended(linear_tree):
        def _validate_data(self, X, y="no_validation", *, force_all_finite, **checks):
            return validate_data(self, X, y, ensure_all_finite=force_all_finite, **checks)

    return Mended


def linear_leaf_tree(X, y, memory, penalty, **options):
    """linear-tree with ridge leaves, or lasso leaves where `penalty` is given."""
    from lineartree import LinearTreeRegressor

    leaf = Ridge() if penalty is None else Lasso(alpha=penalty)
    return mended(LinearTreeRegressor)(leaf, max_bins=10, **options).fit(X, y)


def linear_leaf_size(model):
    leaves = [leaf.model for leaf in model._leaves.values()]
    return (len(leaves) - 1) * SPLIT + sum(linear_size(leaf.coef_) for leaf in leaves)


def cubist(X, y, memory, **options):
    """Quinlan's Cubist, one committee: the rules that came out of M5."""
    from cubist import Cubist

    return Cubist(n_committees=1, random_state=0, **options).fit(X, y)


def cubist_size(model):
    conditions = 0 if model.splits_ is None else len(model.splits_)
    coef = model.coeffs_.drop(columns=["(Intercept)", "committee", "rule"]).to_numpy(float)
    full = np.zeros((len(coef), model.n_features_in_))
    full[:, :coef.shape[1]] = np.nan_to_num(coef)
    return conditions * SPLIT + sum(linear_size(row) for row in full)


def additive_model(X, y, memory, **options):
    """An explainable boosting machine."""
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(outer_bags=1, n_jobs=1, random_state=0, **options).fit(X, y)


def additive_size(model):
    """Scores of the bins and their edges; neighbours with equal scores are one bin."""
    n_scores = n_free(np.size(model.intercept_))
    total = n_scores * NUMBER
    for scores, features in zip(model.term_scores_, model.term_features_, strict=True):
        scores = np.asarray(scores)[(slice(1, -1),) * len(features)]  # less missing and unknown
        for axis in range(len(features)):
            moved = np.moveaxis(scores, axis, 0)
            changes = [True, *(np.any(above != below) for above, below in zip(moved[1:], moved[:-1], strict=True))]
            scores = np.moveaxis(moved[np.array(changes)], 0, axis)
        if (scores != 0).any():
            bins = scores.shape[:len(features)]
            total += [np.prod(bins) * n_scores + sum(bins) - len(bins), len(bins)]
    return total


def optimal_tree(X, y, memory, leaf, **options):
    """STreeD's optimal tree with constant leaves, lines of one feature, or lasso models."""
    from pystreed import STreeDPiecewiseLinearRegressor, STreeDRegressor

    options = {"time_limit": 2.0, "cost_complexity": 0.001, **options}
    if leaf == "constant":
        return STreeDRegressor(min_leaf_node_size=5, **options).fit(X, y)
    return STreeDPiecewiseLinearRegressor(simple=leaf == "line", **options).fit(X, y)


def optimal_size(model):
    def of(node):
        if node.is_branching_node():
            return SPLIT + of(node.left_child) + of(node.right_child)
        if isinstance(node.label, float):
            return NUMBER
        return linear_size(node.label.coefficients)

    return of(model.get_tree())


def sparse_linear(X, y, memory, penalty=None, n_coef=None):
    """Lasso, or orthogonal matching pursuit where the number of features is given."""
    if n_coef is None:
        return Lasso(alpha=penalty).fit(X, y)
    return OrthogonalMatchingPursuit(n_nonzero_coefs=min(n_coef, X.shape[1])).fit(X, y)


class OnFeatures:
    """A program on the features that a random forest finds most important: any program may be given `features`."""

    def __init__(self, program, X, y, memory, features, options):
        if "order" not in memory:
            kind = RandomForestClassifier if are_classes(y) else RandomForestRegressor
            forest = kind(50, min_samples_leaf=3, max_features=0.5, random_state=0)
            memory["order"] = np.argsort(-forest.fit(X, y).feature_importances_)
        self.chosen = memory["order"][:features]
        within = memory.setdefault(features, {})
        self.model = program.fit(X[:, self.chosen], y, within, **options)

    def predict(self, X):
        return self.model.predict(X[:, self.chosen])

    def predict_proba(self, X):
        return self.model.predict_proba(X[:, self.chosen])


def fit(program, X, y, memory, options):
    """The model of one setting, and its size as [numbers, indices]."""
    options = dict(options)
    features = options.pop("features", None)
    if features is None:
        model = program.fit(X, y, memory, **options)
        return model, program.size(model)
    model = OnFeatures(program, X, y, memory, features, options)
    return model, program.size(model.model) + [0, features]


_LEAVES = {"leaf_model": ["ridge"]}
FEW = {"features": [3, 6]}
CURVATURE = [
    *grid(max_depth=[0], **_LEAVES),
    *grid(max_depth=[1, 2, 3, 4, 6], max_coef=[None, 1, 2, 3, 5], **_LEAVES),
    *grid(**FEW, max_depth=[0, 1, 2, 3, 4], max_coef=[None, 1], **_LEAVES),
    *grid(max_depth=[0, 1, 2, 3, 4], max_coef=[None, 1], alpha=["loo"], **_LEAVES),
    *grid(max_depth=[2, 3, 4, 6], max_coef=[None, 1, 2], min_samples_leaf=[5], leaf_model=["constant"]),
]
DISTILLED = [
    *grid(max_depth=[2, 3, 4, 6], max_coef=[None, 1], **_LEAVES),
    *grid(**FEW, max_depth=[2, 4], **_LEAVES),
    *grid(max_depth=[4, 6], max_coef=[1], leaf_model=["constant"]),
]
SOFT = [
    *grid(max_depth=[1, 2, 3], max_coef=[None], leaf_model=["soft"]),
    *grid(**FEW, max_depth=[1, 2, 3], leaf_model=["soft"]),
]
_STREED = [
    *grid(leaf=["constant"], max_depth=[2, 3], n_thresholds=[8]),
    *grid(leaf=["constant"], max_depth=[4], n_thresholds=[4]),
    *grid(leaf=["line"], max_depth=[1, 2]),
    *grid(leaf=["linear"], max_depth=[0, 1, 2], lasso_penalty=[0.02, 0.1]),
]
OWN = ("curvature tree", "distilled curvature tree", "soft curvature tree")
PROGRAMS = {
    OWN[0]: Program(curvature_tree, oblique_size, CURVATURE),
    OWN[1]: Program(distilled_tree, oblique_size, DISTILLED),
    OWN[2]: Program(curvature_tree, oblique_size, SOFT),
    "CART": Program(cart, cart_size, grid(
        max_leaf_nodes=[2, 3, 4, 6, 8, 10, 14, 20, 28, 34, 50, 70, 100], min_samples_leaf=[1, 5, 10])),
    "PILOT": Program(pilot_tree, pilot_size, [
        *grid(max_depth=[1, 2, 3], max_model_depth=[3, 6, 100], slope_cost=[1.0, 0.5]),
        *grid(max_depth=[6, 20], max_model_depth=[100], slope_cost=[1.0, 0.5])]),
    "HRT": Program(hinge_tree, hinge_size, [
        *grid(max_depth=[0, 1, 2, 3, 4, 5], ridge_alpha=[1e-6]),
        *grid(max_depth=[2, 4], ridge_alpha=[1.0]),
        *grid(**FEW, max_depth=[0, 1, 2, 3, 4], ridge_alpha=[1e-6])]),
    "linear-tree": Program(linear_leaf_tree, linear_leaf_size, [
        *grid(penalty=[None, 0.05], max_depth=[4]), *grid(**FEW, penalty=[None], max_depth=[1, 4])]),
    "Cubist": Program(cubist, cubist_size, [
        *grid(n_rules=[1, 2, 3, 5, 8, 12, 100]), *grid(**FEW, n_rules=[2, 5])]),
    "EBM": Program(additive_model, additive_size, [
        *grid(features=[2, 4], max_bins=[8], interactions=[0]),
        *grid(max_bins=[5, 8, 16], interactions=[0]),
        *grid(max_bins=[8], interactions=[3], max_interaction_bins=[6])]),
    "STreeD": Program(optimal_tree, optimal_size, _STREED),
    "sparse linear": Program(sparse_linear, lambda model: linear_size(model.coef_), [
        *grid(n_coef=[1, 2, 3, 4, 5, 6, 8, 10, 15]),
        *grid(penalty=[0.3, 0.1, 0.03, 0.01, 0.003, 0.001])]),
}
