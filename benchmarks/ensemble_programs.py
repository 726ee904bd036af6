"""The ensembles that `bench_ensembles.py` and `ensembles_real_data.py` compare, by name.

A program is a function of the task, the number of threads and a seed that returns an estimator with
`fit` and `predict` (or `predict_proba`). A library is imported when its program is built, so one that is
missing costs one row of a table. treeple needs an older scikit-learn and so an environment of its own:
run these programs there as well, with the same result file.
"""

from dataclasses import dataclass

import numpy as np
from oblique_methods import treeple_forest_regressor
from peers import peer
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@dataclass(frozen=True)
class Task:
    """The task and its resources."""

    classifies: bool = False
    threads: int = 1
    seed: int = 0


def _either(task, regressor, classifier):
    return classifier if task.classifies else regressor


def fctree_boosting(task, **options):
    import fctree

    kind = _either(task, fctree.CurvatureBoostingRegressor, fctree.CurvatureBoostingClassifier)
    return kind(n_jobs=task.threads, random_state=task.seed, **options)


def fctree_forest(task, **options):
    import fctree

    kind = _either(task, fctree.CurvatureForestRegressor, fctree.CurvatureForestClassifier)
    return kind(n_jobs=task.threads, random_state=task.seed, **options)


def tree_ntk(task):
    """Kernel ridge regression with the tree kernel, its penalty, depth and scale by leave-one-out."""
    import fctree

    kind = _either(task, fctree.TreeNTKRegressorCV, fctree.TreeNTKClassifierCV)
    grid = {"alphas": np.logspace(-3, 1, 9), "depths": (1, 2, 3, 5)}
    return make_pipeline(StandardScaler(), kind(**grid))


def boosting(name, **fixed):
    """A boosting library; parameters as in `peers.py`."""
    def make(task, **options):
        return peer(name, task.classifies, threads=task.threads, seed=task.seed, **fixed, **options)

    return make


fctree_symmetric, catboost, lightgbm, xgboost = map(boosting, ("fctree", "CatBoost", "LightGBM", "XGBoost"))
hist_gradient_boosting = boosting("HistGradientBoosting", early_stopping=False)


def random_forest(task, **options):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return _either(task, RandomForestRegressor, RandomForestClassifier)(
        n_jobs=task.threads, random_state=task.seed, **options)


def extra_trees(task, **options):
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    return _either(task, ExtraTreesRegressor, ExtraTreesClassifier)(
        n_jobs=task.threads, random_state=task.seed, **options)


def treeple_forest(task, **options):
    from treeple import ObliqueRandomForestClassifier

    return _either(task, treeple_forest_regressor(), ObliqueRandomForestClassifier)(
        n_jobs=task.threads, random_state=task.seed, **options)


class YDFOblique(BaseEstimator):
    """YDF's sparse oblique boosting or forest with the methods of scikit-learn's estimators."""

    def __init__(self, task=Task(), learner="RandomForestLearner", num_trees=100, max_depth=None,
                 min_examples=5):
        import ydf  # noqa: F401  (a program that is not installed is left out when it is made)

        self.task = task
        self.learner = learner
        self.num_trees = num_trees
        self.max_depth = max_depth
        self.min_examples = min_examples

    def fit(self, X, y):
        import ydf

        boosts = self.learner == "GradientBoostedTreesLearner"
        options = {"validation_ratio": 0.0, "early_stopping": "NONE"} if boosts else {}
        if self.max_depth is not None:
            options["max_depth"] = self.max_depth
        kind = ydf.Task.CLASSIFICATION if self.task.classifies else ydf.Task.REGRESSION
        learner = getattr(ydf, self.learner)(
            label="y", task=kind, split_axis="SPARSE_OBLIQUE", num_trees=self.num_trees,
            min_examples=self.min_examples, num_threads=self.task.threads,
            random_seed=self.task.seed, **options)
        self.classes_ = np.unique(y)  # of a classification: 0 .. c - 1
        self.model_ = learner.train({"x": X, "y": y}, verbose=0)
        return self

    def _answers(self, X):
        return np.asarray(self.model_.predict({"x": X}))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.task.classifies else "regressor"
        return tags

    def predict(self, X):
        if self.task.classifies:
            return self.predict_proba(X).argmax(axis=1)
        return self._answers(X)

    def predict_proba(self, X):
        positive = self._answers(X)
        return positive if positive.ndim == 2 else np.column_stack([1 - positive, positive])


FCTREE, FCTREE_100 = "fctree boosting", "fctree boosting, 100 trees"
FOREST, CATBOOST = "fctree forest", "CatBoost"
FASTER = {"max_iter": 100, "learning_rate": 0.1}
# Default settings unless the name says otherwise.
PROGRAMS = {
    FCTREE: fctree_boosting,
    FCTREE_100: lambda task: fctree_boosting(task, **FASTER),
    FOREST: fctree_forest,
    "fctree symmetric": fctree_symmetric,
    "tree NTK": tree_ntk,
    CATBOOST: catboost,
    "LightGBM": lightgbm,
    "LightGBM, linear leaves": lambda task: lightgbm(task, linear_tree=True),
    "XGBoost": xgboost,
    "HistGradientBoosting": hist_gradient_boosting,
    "random forest": random_forest,
    "extra trees": extra_trees,
    "treeple forest": treeple_forest,
    "YDF oblique boosting": lambda task: YDFOblique(
        task, "GradientBoostedTreesLearner", num_trees=200),
    "YDF oblique forest": lambda task: YDFOblique(task, "RandomForestLearner"),
}
# Small grids for tuning on the training part, the programs' own defaults among their points. The
# tree NTK chooses its penalty, depth and scale itself.
_LEAVES = {"num_leaves": [7, 31, 63], "learning_rate": [0.05, 0.1]}
_FOREST = {"max_features": [0.33, 0.66, 1.0], "min_samples_leaf": [1, 5]}
GRIDS = {
    FCTREE: {"max_depth": [2, 3, 4], "l2_leaf_reg": [1.0, 10.0]},
    FOREST: {"max_depth": [5, 8], "max_features": [0.33, 0.66, 1.0]},
    "fctree symmetric": {"max_depth": [4, 6, 8], "learning_rate": [0.05, 0.1]},
    "tree NTK": {},
    CATBOOST: {"depth": [4, 6, 8], "l2_leaf_reg": [1.0, 10.0]},
    "LightGBM": _LEAVES,
    "LightGBM, linear leaves": _LEAVES,
    "XGBoost": {"max_depth": [3, 6, 8], "learning_rate": [0.05, 0.1]},
    "HistGradientBoosting": {"max_leaf_nodes": [7, 31, 63], "learning_rate": [0.05, 0.1]},
    "random forest": _FOREST,
    "extra trees": _FOREST,
    "treeple forest": {**_FOREST, "max_features": [0.33, 0.66, 0.99]},
    "YDF oblique boosting": {"max_depth": [4, 6, 8], "min_examples": [5, 10]},
    "YDF oblique forest": {"max_depth": [8, 16], "min_examples": [1, 5]},
}
