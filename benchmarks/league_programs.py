"""The programs of `league.py`: how each is made, how it takes a table, and what tuning may change.

A library is imported when its program is made, so one that is missing costs one row of the tables.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import ensemble_programs as known
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from table_data import as_taken

REFERENCE = "random forest"
OWN = ("curvature boosting", "symmetric boosting", "curvature forest", "curvature tree", "tree NTK", "boosting and forest")


@dataclass(frozen=True)
class Program:
    """One program.

    `make(task, categories, **options)` returns an estimator; `form` is how it takes a table: None (as it
    is), "category", "catboost" (both of `as_taken`), "filled" (categories, medians for missing numbers) or
    "encoded" (indicators, medians, unit variance). `space` has the values that tuning draws from.
    """

    make: Callable
    form: str | None = "encoded"
    space: dict = field(default_factory=dict)
    classifies: bool = True


def fctree_tree(task, **options):
    """One curvature tree."""
    import fctree

    kind = fctree.CurvatureTreeClassifier if task.classifies else fctree.CurvatureTreeRegressor
    return kind(**options)


def vote(task):
    """The mean of curvature boosting's and the curvature forest's predictions, or probabilities."""
    members = [("boosting", known.fctree_boosting(task)), ("forest", known.fctree_forest(task))]
    return VotingClassifier(members, voting="soft") if task.classifies else VotingRegressor(members)


def linear(task, penalty=1.0):
    """Ridge or logistic regression."""
    if task.classifies:
        return LogisticRegression(C=1.0 / penalty, max_iter=1000)
    return Ridge(alpha=penalty)


def boosted_additive(task, **options):
    """The explainable boosting machine of interpret."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if task.classifies else ExplainableBoostingRegressor
    return kind(n_jobs=task.threads, random_state=task.seed, **options)


def perpetual(task, **options):
    from perpetual import PerpetualClassifier, PerpetualRegressor

    kind = PerpetualClassifier if task.classifies else PerpetualRegressor
    return kind(num_threads=task.threads, seed=task.seed, **options)


def chimera(task, categories, **options):
    from chimeraboost import ChimeraBoostClassifier, ChimeraBoostRegressor

    kind = ChimeraBoostClassifier if task.classifies else ChimeraBoostRegressor
    return kind(thread_count=task.threads, random_state=task.seed, ensemble_n_jobs=1,
                cat_features=categories or None, **options)


def pytabkit(task, name, **options):
    """A network of pytabkit on the CPU, `name` such as "RealMLP_TD"."""
    import pytabkit as library

    kind = getattr(library, f"{name}_{'Classifier' if task.classifies else 'Regressor'}")
    return kind(device="cpu", n_threads=task.threads, random_state=task.seed, **options)


def raffle(task, **options):
    from pilot import RaFFLE

    return RaFFLE(random_state=task.seed, **options)


class Pilot(BaseEstimator):
    """PILOT with scikit-learn's methods."""

    def __init__(self, max_depth=20):
        import pilot  # noqa: F401  (a program that is not installed is left out when it is made)

        self.max_depth = max_depth

    def fit(self, X, y):
        from pilot import PILOT

        self.model_ = PILOT(max_depth=self.max_depth)
        self.model_.train(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


class Xrfm(BaseEstimator):
    """xRFM, which needs validation rows: a fifth of the training rows."""

    def __init__(self, task, kernel=None):
        import xrfm  # noqa: F401  (as above)

        self.task = task
        self.kernel = kernel  # (bandwidth, penalty); None for the library's own

    def fit(self, X, y):
        import torch
        from xrfm import xRFM

        classes = self.task.classifies
        held = train_test_split(X.astype(np.float32), y, test_size=0.2, random_state=self.task.seed,
                                stratify=y if classes else None)
        X, X_held, y, y_held = held
        self.mean_, self.scale_ = (0, 1) if classes else (y.mean(), y.std() or 1.0)
        if not classes:
            y, y_held = ((part - self.mean_) / self.scale_ for part in (y, y_held))
            y, y_held = (part.astype(np.float32)[:, np.newaxis] for part in (y, y_held))
        settings = None
        if self.kernel is not None:
            bandwidth, penalty = self.kernel
            settings = {"model": {"kernel": "l2_high_dim", "bandwidth": bandwidth, "exponent": 1.0,
                                  "diag": False, "bandwidth_mode": "constant"},
                        "fit": {"reg": penalty, "iters": 5, "verbose": False, "early_stop_rfm": False,
                                "get_agop_best_model": True, "return_best_params": True}}
        self.model_ = xRFM(settings, device=torch.device("cpu"), verbose=False,
                           n_threads=self.task.threads, random_state=self.task.seed)
        self.model_.fit(X, y, X_held, y_held)
        return self

    def predict(self, X):
        return np.ravel(self.model_.predict(X.astype(np.float32))) * self.scale_ + self.mean_

    def predict_proba(self, X):
        return np.asarray(self.model_.predict_proba(X.astype(np.float32)))


def hinge_tree(task, **options):
    """The authors' hinge regression tree, from a folder that `use_hinge_trees` was given."""
    from hrt import HRTRegressor

    return HRTRegressor(random_state=task.seed, **options)


def hinge_boosting(task, **options):
    """The authors' boosting of hinge regression trees, from a folder as above."""
    from hrt_boost import HRTBoostingRegressor

    return HRTBoostingRegressor(random_state=task.seed, **options)


def use_hinge_trees(folders):
    """Let `import hrt` and `import hrt_boost` find the authors' code below some folders."""
    for folder in folders:
        found = [place for place in (Path(folder), Path(folder) / "HRT") for package in ("hrt", "hrt_boost")
                 if (place / package / "__init__.py").is_file()]
        if not found:
            raise SystemExit(f"{folder} has no package hrt or hrt_boost")
        sys.path.insert(0, str(found[0].resolve()))


def _plain(make, **fixed):
    """A program that needn't be told which columns are categories."""
    return lambda task, categories, **options: make(task, **{**fixed, **options})


def _catboost(task, categories, **options):
    return known.catboost(task, cat_features=categories, **options)


_RATES = [0.02, 0.05, 0.1, 0.2]
_FOREST = {"max_features": [0.33, 0.66, 1.0, "sqrt"], "min_samples_leaf": [1, 2, 5, 10]}
PROGRAMS = {
    "curvature boosting": Program(_plain(known.fctree_boosting), None, {
        "max_iter": [300, 600], "learning_rate": ["auto", 0.02, 0.05, 0.1], "max_depth": [2, 3, 4],
        "l2_leaf_reg": [0.1, 1.0, 10.0]}),
    "symmetric boosting": Program(_plain(known.fctree_symmetric), None, {
        "max_iter": [100, 300, 600], "learning_rate": _RATES, "max_depth": [3, 4, 6, 8]}),
    "curvature forest": Program(_plain(known.fctree_forest), None, {
        "max_depth": [3, 5, 8], "max_features": [0.33, 0.66, 1.0]}),
    "boosting and forest": Program(_plain(vote), None),
    "curvature tree": Program(_plain(fctree_tree), None, {
        "max_depth": [2, 3, 4, 6], "min_samples_leaf": [10, 20, 40]}),
    "tree NTK": Program(_plain(known.tree_ntk), classifies=False),
    "CatBoost": Program(_catboost, "catboost", {
        "depth": [4, 6, 8], "l2_leaf_reg": [1.0, 3.0, 10.0], "learning_rate": _RATES}),
    "LightGBM": Program(_plain(known.lightgbm), "category", {
        "num_leaves": [7, 15, 31, 63], "learning_rate": _RATES, "n_estimators": [100, 300]}),
    "XGBoost": Program(_plain(known.xgboost, enable_categorical=True), "category", {
        "max_depth": [3, 4, 6, 8], "learning_rate": _RATES, "n_estimators": [100, 300]}),
    "HistGradientBoosting": Program(
        _plain(known.hist_gradient_boosting, categorical_features="from_dtype"), "category", {
            "max_leaf_nodes": [7, 15, 31], "learning_rate": _RATES, "max_iter": [100, 300]}),
    "ChimeraBoost": Program(chimera, "catboost", {
        "depth": [4, 6, 8], "l2_leaf_reg": [1.0, 3.0, 10.0], "learning_rate": _RATES}),
    "PerpetualBooster": Program(_plain(perpetual), "category", {"budget": [0.2, 0.5, 1.0, 1.5]}),
    "EBM": Program(_plain(boosted_additive), None, {
        "interactions": [0, "1x", "3x"], "learning_rate": [0.005, 0.015, 0.04]}),
    REFERENCE: Program(_plain(known.random_forest), "encoded", _FOREST),
    "extra trees": Program(_plain(known.extra_trees), "encoded", _FOREST),
    "linear": Program(_plain(linear), "encoded", {"penalty": list(np.logspace(-3, 3, 13))}),
    "PILOT": Program(_plain(lambda task, **options: Pilot(**options)), "encoded",
                     {"max_depth": [3, 6, 12, 20]}, classifies=False),
    "RaFFLE": Program(_plain(raffle), "encoded", {
        "n_estimators": [10, 50, 100], "max_depth": [6, 12, 20], "n_features_node": [0.33, 0.66, 1.0]},
        classifies=False),
    # Its systems have no penalty by default and are singular for indicators.
    "HRT": Program(_plain(hinge_tree, ridge_alpha=1e-6), "encoded", {"max_depth": [2, 3, 5, 7]},
                   classifies=False),
    "HRT-Boost": Program(_plain(hinge_boosting), "encoded", {
        "n_estimators": [50, 150], "learning_rate": _RATES, "max_depth": [2, 3, 4], "ridge_alpha": [0.1, 1.0]},
        classifies=False),
    "xRFM": Program(_plain(lambda task, **options: Xrfm(task, **options)), "encoded", {
        "kernel": [(bandwidth, penalty) for bandwidth in (1.0, 3.0, 10.0, 30.0)
                   for penalty in (1e-4, 1e-3, 1e-2, 1e-1, 1.0)]}),
    "RealMLP": Program(_plain(pytabkit, name="RealMLP_TD"), "filled", {
        "lr": [0.02, 0.04, 0.1], "p_drop": [0.0, 0.15, 0.3]}),
    "TabM": Program(_plain(pytabkit, name="TabM_D"), "filled", {
        "lr": [1e-3, 2e-3, 5e-3], "dropout": [0.0, 0.1, 0.3]}),
}


def text_columns(X):
    """Names of the columns that are categories."""
    return [name for name, dtype in zip(X, X.dtypes, strict=True) if dtype.kind not in "fiub"]


def encoded():
    """Indicators of at most 100 categories a column, medians for missing numbers, unit variance."""
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=100)
    numbers = SimpleImputer(strategy="median", keep_empty_features=True)
    text = make_column_selector(dtype_exclude="number")
    number = make_column_selector(dtype_include="number")
    return make_pipeline(make_column_transformer((codes, text), (numbers, number)), StandardScaler())


def formed(X, name):
    """The whole table in the program's form: which categories there are is known before the folds."""
    form = PROGRAMS[name].form
    if form != "filled":
        return as_taken(X, form)
    return as_taken(X, "catboost").astype({column: "category" for column in text_columns(X)})


class Fit:
    """A program's fit to rows of a `formed` table."""

    def __init__(self, name, task, options, X, y):
        program = PROGRAMS[name]
        self.task = task
        self.medians = X.drop(columns=text_columns(X)).median()
        self.form = program.form
        self.encoder = encoded().fit(X) if self.form == "encoded" else None
        self.model = program.make(task, text_columns(X), **options)
        self.model.fit(self._taken(X), y)

    def _taken(self, X):
        if self.form == "encoded":
            return self.encoder.transform(X)
        return X.fillna(self.medians) if self.form == "filled" else X

    def answers(self, X):
        """Predictions (n,), or probabilities (n, n_classes)."""
        X = self._taken(X)
        if self.task.classifies:
            return np.asarray(self.model.predict_proba(X), dtype=float)
        return np.ravel(np.asarray(self.model.predict(X), dtype=float))
