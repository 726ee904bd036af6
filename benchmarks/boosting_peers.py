"""The boosting programs that the boosting benchmarks compare, by name.

A program is built from `Settings`, which say the same thing to each of them: rounds, depth, bins,
learning rate, threads. Everything else stays at the library's default, so CatBoost draws its
bootstrap and its score noise, LightGBM and HistGradientBoosting keep 20 samples a leaf. Leaf-wise
growers get as many leaves as a tree of the depth has, less one.

A library is imported when a program is built, so one that is missing costs one row of a table.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np


@dataclass(frozen=True)
class Settings:
    """Settings shared by all programs of a comparison."""

    rounds: int = 200
    depth: int = 6
    bins: int = 128
    learning_rate: float = 0.1
    threads: int = 2
    task: str = "regression"
    seed: int = 0

    @property
    def leaves(self):
        return 2**self.depth - 1

    @property
    def classifies(self):
        return self.task == "classification"


def _predict(model, X, _threads):
    return model.predict(X)


@dataclass(frozen=True)
class Program:
    """One program: how to build it, to predict on a number of threads, and one row quickly.

    `one_row` maps the words for a call to a function of the fitted model that returns the call.
    """

    build: Callable
    predict: Callable = _predict
    one_row: dict = field(default_factory=lambda: {"predict": lambda model: model.predict})


@cache
def _thread_pools():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def fctree(settings, **parameters):
    from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor

    estimator = SymmetricBoostingClassifier if settings.classifies else SymmetricBoostingRegressor
    return estimator(max_iter=settings.rounds, max_depth=settings.depth, max_bins=settings.bins,
                     learning_rate=settings.learning_rate, n_jobs=settings.threads,
                     random_state=settings.seed, **parameters)


def _fctree_predict(model, X, threads):
    return model.set_params(n_jobs=threads).predict(X)


def catboost(settings, **parameters):
    from catboost import CatBoostClassifier, CatBoostRegressor

    estimator = CatBoostClassifier if settings.classifies else CatBoostRegressor
    return estimator(iterations=settings.rounds, depth=settings.depth, border_count=settings.bins,
                     learning_rate=settings.learning_rate, thread_count=settings.threads,
                     random_seed=settings.seed, verbose=False, allow_writing_files=False,
                     **parameters)


def _catboost_predict(model, X, threads):
    return model.predict(X, thread_count=threads)


def lightgbm(settings, **parameters):
    from lightgbm import LGBMClassifier, LGBMRegressor

    estimator = LGBMClassifier if settings.classifies else LGBMRegressor
    return estimator(n_estimators=settings.rounds, num_leaves=settings.leaves,
                     max_bin=settings.bins, learning_rate=settings.learning_rate,
                     n_jobs=settings.threads, random_state=settings.seed, verbose=-1, **parameters)


def _lightgbm_predict(model, X, threads):
    return model.predict(X, num_threads=threads)


def xgboost(settings, **parameters):
    from xgboost import XGBClassifier, XGBRegressor

    estimator = XGBClassifier if settings.classifies else XGBRegressor
    return estimator(n_estimators=settings.rounds, max_depth=settings.depth, tree_method="hist",
                     max_bin=settings.bins, learning_rate=settings.learning_rate,
                     n_jobs=settings.threads, random_state=settings.seed, **parameters)


def _xgboost_predict(model, X, threads):
    return model.set_params(n_jobs=threads).predict(X)


def hist_gradient_boosting(settings, **parameters):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    base = HistGradientBoostingClassifier if settings.classifies else HistGradientBoostingRegressor

    class Limited(base):
        """The estimator on one thread; the library itself takes all that OpenMP offers."""

        def fit(self, *arguments, **keywords):
            with _thread_pools().limit(limits=1, user_api="openmp"):
                return super().fit(*arguments, **keywords)

    estimator = Limited if settings.threads == 1 else base
    return estimator(max_iter=settings.rounds, max_leaf_nodes=settings.leaves,
                     max_bins=settings.bins, learning_rate=settings.learning_rate,
                     early_stopping=False, random_state=settings.seed, **parameters)


def _limited_predict(model, X, threads):
    if threads > 1:
        return model.predict(X)
    with _thread_pools().limit(limits=1, user_api="openmp"):
        return model.predict(X)


class YDFBoosting:
    """YDF's boosting behind `fit` and `predict`; the features go in as one column of vectors."""

    def __init__(self, settings):
        import ydf

        self.ydf = ydf
        self.settings = settings

    def fit(self, X, y):
        of = self.settings
        task = self.ydf.Task.CLASSIFICATION if of.classifies else self.ydf.Task.REGRESSION
        # Its depth counts the root, and pruning by a validation set is off as in the others.
        learner = self.ydf.GradientBoostedTreesLearner(
            label="y", task=task, num_trees=of.rounds, max_depth=of.depth + 1,
            shrinkage=of.learning_rate, num_threads=of.threads, random_seed=of.seed,
            validation_ratio=0.0, early_stopping="NONE", discretize_numerical_columns=True,
            num_discretized_numerical_bins=of.bins)
        self.model_ = learner.train({"x": X, "y": y}, verbose=0)
        return self

    def predict(self, X, threads=None):
        return np.asarray(self.model_.predict({"x": X}, num_threads=threads))


FCTREE, CATBOOST = "fctree", "CatBoost"
PROGRAMS = {
    FCTREE: Program(fctree, _fctree_predict),
    CATBOOST: Program(catboost, _catboost_predict, {
        "predict": lambda model: model.predict,
        "predict, 1 thread": lambda model: lambda row: model.predict(row, thread_count=1)}),
    "LightGBM": Program(lightgbm, _lightgbm_predict, {
        "predict": lambda model: model.predict,
        "Booster.predict": lambda model: model.booster_.predict,
        "Booster.predict, 1 thread": lambda model: lambda row: model.booster_.predict(
            row, num_threads=1)}),
    "XGBoost hist": Program(xgboost, _xgboost_predict, {
        "predict": lambda model: model.predict,
        "Booster.inplace_predict": lambda model: model.get_booster().inplace_predict}),
    "HistGradientBoosting": Program(hist_gradient_boosting, _limited_predict),
}
# Far slower to train than the others, and asked for by an option.
SLOW_PROGRAMS = {"YDF discretized": Program(YDFBoosting, YDFBoosting.predict)}
# CatBoost's bootstrap leaves out a fifth of the samples in the search for splits, its score is
# the cosine, its noise dies out: what each of them costs and brings.
VARIANTS = {
    "CatBoost, no bootstrap": Program(
        lambda settings: catboost(settings, bootstrap_type="No"), _catboost_predict),
    "CatBoost, no bootstrap, L2 score, no noise": Program(
        lambda settings: catboost(settings, bootstrap_type="No", score_function="L2",
                                  random_strength=0.0), _catboost_predict),
    "fctree, no noise": Program(
        lambda settings: fctree(settings, random_strength=0.0), _fctree_predict),
    "fctree, cosine score": Program(
        lambda settings: fctree(settings, score_function="cosine"), _fctree_predict),
}


def usable(programs):
    """Split programs into those whose library is installed and the reasons why others are not.

    fctree itself is not optional.
    """
    found, reasons = {}, {}
    for name, program in programs.items():
        try:
            program.build(Settings())
        except ImportError as error:
            if name.startswith(FCTREE):
                raise
            reasons[name] = f"not installed ({error})"
        else:
            found[name] = program
    return found, reasons
