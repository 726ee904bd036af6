"""The estimators that the oblique benchmarks compare, by name.

A method is a factory: depth -> unfitted estimator with `fit(X, y)` and `predict(X)`. A factory
imports its library when called, so a library that is missing costs one row of a table: see
`missing`. A new column of the comparison is one more entry of a dict.
"""

import numpy as np
from peers import peer

ALPHA = 1.0
MIN_SAMPLES_LEAF = 10
# treeple, linear-tree and YDF run with the settings their users get, except for the depth:
# with linear-tree's default a leaf holds at least a tenth of the samples, which is what its
# published times are about.


def fcodt(depth, n_jobs=-1, **parameters):
    """fctree's FC-ODT with the benchmarks' penalty and leaf size."""
    from fctree import FCODTRegressor

    parameters = {"alpha": ALPHA, "min_samples_leaf": MIN_SAMPLES_LEAF, **parameters}
    return FCODTRegressor(max_depth=depth, n_jobs=n_jobs, **parameters)


def curvature(depth, n_jobs=-1, **parameters):
    """A curvature tree: every kind of direction, judged by the children's ridge models."""
    from fctree import CurvatureTreeRegressor

    return CurvatureTreeRegressor(max_depth=depth, n_jobs=n_jobs, **{"alpha": ALPHA, **parameters})


def literal(depth, **parameters):
    """The plain NumPy version of the same algorithm."""
    from literal_fcodt import LiteralFCODTRegressor

    return LiteralFCODTRegressor(
        alpha=ALPHA, min_samples_leaf=MIN_SAMPLES_LEAF, max_depth=depth, **parameters)


def mean_only():
    """An axis-parallel tree of depth 0: the mean."""
    from sklearn.dummy import DummyRegressor

    return DummyRegressor()


def cart(depth):
    from sklearn.tree import DecisionTreeRegressor

    if depth == 0:
        return mean_only()
    return DecisionTreeRegressor(max_depth=depth, random_state=0)


def treeple_tree(depth):
    from treeple.tree import ObliqueDecisionTreeRegressor

    if depth == 0:
        return mean_only()
    return ObliqueDecisionTreeRegressor(max_depth=depth, random_state=0)


def treeple_forest_regressor():
    """treeple's class, mended."""
    from treeple import ObliqueRandomForestRegressor
    from treeple._lib.sklearn.ensemble._forest import ForestRegressor

    class Forest(ObliqueRandomForestRegressor):
        def __sklearn_tags__(self):
            # treeple 0.10.3 sets a tag that scikit-learn's slotted class refuses.
            return super(ForestRegressor, self).__sklearn_tags__()

    return Forest


def treeple_forest(n_estimators=100):
    return treeple_forest_regressor()(n_estimators=n_estimators, n_jobs=-1, random_state=0)


def ridge(alpha=ALPHA):
    from sklearn.linear_model import Ridge

    return Ridge(alpha=alpha)


def linear_tree(depth):
    from lineartree import LinearTreeRegressor

    if depth == 0:
        return ridge()
    return LinearTreeRegressor(ridge(), max_depth=depth)


class YDFRegressor:
    """A YDF learner behind `fit` and `predict`.

    The features go in as one two-dimensional column: no text is parsed, and no data frame is
    built inside the timed call.
    """

    def __init__(self, learner_name, **parameters):
        import ydf

        self.learner = getattr(ydf, learner_name)(
            label="y", task=ydf.Task.REGRESSION, split_axis="SPARSE_OBLIQUE", **parameters)

    def fit(self, X, y):
        self.model_ = self.learner.train({"x": X, "y": y}, verbose=0)
        return self

    def predict(self, X):
        return np.asarray(self.model_.predict({"x": X}))


def ydf_tree(depth):
    # YDF counts the root as a level. Pruning (validation_ratio) is off: it would spend a tenth
    # of the samples, and raises the error on both simulations.
    return YDFRegressor("CartLearner", max_depth=depth + 1, validation_ratio=0.0)


def ydf_forest(num_trees=100):
    return YDFRegressor("RandomForestLearner", num_trees=num_trees)


def ydf_boosting(num_trees=200):
    return YDFRegressor("GradientBoostedTreesLearner", num_trees=num_trees,
                        validation_ratio=0.0, early_stopping="NONE")


def obliquetree_tree(depth):
    """A program of its own: directions of two features by gradient descent on a soft split."""
    from obliquetree import Regressor

    if depth == 0:
        return mean_only()
    return Regressor(max_depth=depth, random_state=0)


def hhcart(depth):
    """HHCART as scikit-obliquetree has it: reflected by the first principal component, cuts at the mean alone."""
    from scikit_obliquetree.HHCART import HouseHolderCART
    from scikit_obliquetree.segmentor import MSE, MeanSegmentor

    return HouseHolderCART(MSE(), MeanSegmentor(msl=MIN_SAMPLES_LEAF), max_depth=depth)


def hinge_tree(depth, **parameters):
    """The authors' HRT, from the folder given by `--hrt`; features standardised as in their scripts.

    Without a penalty its systems are singular where columns are indicators.
    """
    from hrt import HRTRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    parameters = {"ridge_alpha": 1e-6, **parameters}
    return make_pipeline(StandardScaler(), HRTRegressor(max_depth=depth, random_state=0, **parameters))


def hist_gradient_boosting():
    return peer("HistGradientBoosting", rounds=200, early_stopping=False)


def catboost():
    return peer("CatBoost", rounds=200, depth=6, learning_rate=0.1, threads=None)


def lightgbm(rounds=200, **parameters):
    return peer("LightGBM", rounds=rounds, threads=None, **{"num_leaves": 63, **parameters})


def fcodt_trees(n_jobs=-1):
    """The four forms of FC-ODT: with and without concatenation, both leaf models."""
    def tree(**parameters):
        return lambda depth: fcodt(depth, n_jobs=n_jobs, **parameters)

    return {
        "FC-ODT": tree(),
        "FC-ODT, no concatenation": tree(feature_concatenation=False),
        "FC-ODT, constant leaves": tree(leaf_model="constant"),
        "FC-ODT, constant, no concatenation": tree(
            leaf_model="constant", feature_concatenation=False),
    }


FCODT_TREES = fcodt_trees()
LITERAL_TREES = {
    "literal NumPy FC-ODT": lambda depth: literal(depth),
    "literal, no concatenation": lambda depth: literal(depth, feature_concatenation=False),
    "literal, constant leaves": lambda depth: literal(depth, leaf_model="constant"),
    "literal, constant, no concatenation": lambda depth: literal(
        depth, leaf_model="constant", feature_concatenation=False),
}
PEER_TREES = {
    "CART (scikit-learn)": cart,
    "treeple oblique tree": treeple_tree,
    "YDF sparse oblique tree": ydf_tree,
    "linear-tree + Ridge": linear_tree,
}
# Ensembles and the linear model: context for the errors, the depth does not apply.
CONTEXT = {
    "Ridge": lambda depth: ridge(),
    "treeple oblique forest, 100": lambda depth: treeple_forest(),
    "YDF oblique forest, 100": lambda depth: ydf_forest(),
    "YDF oblique boosting, 200": lambda depth: ydf_boosting(),
    "HistGradientBoosting, 200": lambda depth: hist_gradient_boosting(),
    "CatBoost depth 6, 200": lambda depth: catboost(),
    "LightGBM 63 leaves, 200": lambda depth: lightgbm(),
}


def missing(methods):
    """Split methods into those that can be built and the reasons why the others cannot.

    Returns
    -------
    (dict of name to factory, dict of name to reason)
    """
    usable, reasons = {}, {}
    for name, factory in methods.items():
        try:
            factory(1)
        except ImportError as error:
            reasons[name] = f"not installed ({error})"
        except (TypeError, ValueError, AttributeError) as error:
            reasons[name] = f"not available in the installed version ({error})"
        else:
            usable[name] = factory
    return usable, reasons


def print_missing(reasons):
    for name, reason in reasons.items():
        print(f"left out: {name}: {reason}")
