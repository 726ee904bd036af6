"""The boosting programs that the boosting benchmarks compare, by name.

A program is built from `Settings`, which say the same thing to each of them: rounds, depth, bins,
learning rate, threads. Everything else stays at the library's default, so CatBoost draws its
bootstrap and its score noise, LightGBM and HistGradientBoosting keep 20 samples a leaf.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from peers import peer, usable


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


def built(name, **parameters):
    """A function that builds a program, with some parameters of its own."""
    def build(of):
        return peer(name, of.classifies, rounds=of.rounds, depth=of.depth, bins=of.bins, learning_rate=of.learning_rate,
                    threads=of.threads, seed=of.seed, **parameters)

    return build


def _fctree_predict(model, X, threads):
    return model.set_params(n_jobs=threads).predict(X)


def _catboost_predict(model, X, threads):
    return model.predict(X, thread_count=threads)


def _lightgbm_predict(model, X, threads):
    return model.predict(X, num_threads=threads)


def _xgboost_predict(model, X, threads):
    return model.set_params(n_jobs=threads).predict(X)


def _on_one_thread(call):
    """The call on one thread; scikit-learn itself takes all that OpenMP offers."""
    def limited(*arguments):
        with _thread_pools().limit(limits=1, user_api="openmp"):
            return call(*arguments)

    return limited


def hist_gradient_boosting(settings):
    model = built("HistGradientBoosting", early_stopping=False)(settings)
    if settings.threads == 1:
        model.fit = _on_one_thread(model.fit)
    return model


def _limited_predict(model, X, threads):
    return (model.predict if threads > 1 else _on_one_thread(model.predict))(X)


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
    FCTREE: Program(built(FCTREE), _fctree_predict),
    CATBOOST: Program(built(CATBOOST), _catboost_predict, {
        "predict": lambda model: model.predict,
        "predict, 1 thread": lambda model: lambda row: model.predict(row, thread_count=1)}),
    "LightGBM": Program(built("LightGBM"), _lightgbm_predict, {
        "predict": lambda model: model.predict,
        "Booster.predict": lambda model: model.booster_.predict,
        "Booster.predict, 1 thread": lambda model: lambda row: model.booster_.predict(
            row, num_threads=1)}),
    "XGBoost hist": Program(built("XGBoost", tree_method="hist"), _xgboost_predict, {
        "predict": lambda model: model.predict,
        "Booster.inplace_predict": lambda model: model.get_booster().inplace_predict}),
    "HistGradientBoosting": Program(hist_gradient_boosting, _limited_predict),
}
# Far slower to train than the others, and asked for by an option.
SLOW_PROGRAMS = {"YDF discretized": Program(YDFBoosting, YDFBoosting.predict)}
# CatBoost's bootstrap leaves out a fifth of the samples in the search for splits, its score is
# the cosine, its noise dies out: what each of them costs and brings.
VARIANTS = {
    "CatBoost, no bootstrap": Program(built(CATBOOST, bootstrap_type="No"), _catboost_predict),
    "CatBoost, no bootstrap, L2 score, no noise": Program(
        built(CATBOOST, bootstrap_type="No", score_function="L2", random_strength=0.0), _catboost_predict),
    "fctree, no noise": Program(built(FCTREE, random_strength=0.0), _fctree_predict),
    "fctree, cosine score": Program(built(FCTREE, score_function="cosine"), _fctree_predict),
}


def installed(programs):
    """Split programs into those whose library is installed and the reasons why others are not.

    fctree itself is not optional.
    """
    found, reasons = usable(programs, lambda name: programs[name].build(Settings()))
    for name, reason in reasons.items():
        if name.startswith(FCTREE):
            raise ImportError(f"{name}: {reason}")
    return {name: programs[name] for name in found}, reasons
