"""Settings of the programs of `boosting_real_data.py`: by default, alike, and tuned.

`out of the box`   nothing but the seed and one thread.
`alike`            200 rounds at learning rate 0.1, the rest by default.
`tuned`            the best of the grid below on a fifth of the training part, which also stops
                   the rounds; then fitted again to the whole training part with as many rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from sklearn.model_selection import train_test_split

OUT_OF_THE_BOX, ALIKE, TUNED = KINDS = ("out of the box", "alike", "tuned")
ALIKE_ROUNDS, ALIKE_RATE = 200, 0.1
GRID = {"learning_rate": (0.05, 0.15), "depth": (4, 6, 8)}
MOST_ROUNDS, PATIENCE = 1000, 30


@dataclass(frozen=True)
class Library:
    """One program: its estimators, and its words for what all of them have.

    `stop(estimator, X, y, X_validation, y_validation)` fits with early stopping and returns the
    best number of rounds and the loss there, in the library's own unit.
    """

    estimators: Callable
    rounds: str
    threads: str | None
    seed: str
    stop: Callable
    depth: Callable = lambda depth: {"max_depth": depth}
    fixed: dict = field(default_factory=dict)

    def make(self, classifies, seed=0, rounds=None, learning_rate=None, depth=None):
        """An estimator on one thread; what is None stays at the library's default."""
        parameters = {self.seed: seed, **self.fixed}
        if self.threads is not None:
            parameters[self.threads] = 1
        if rounds is not None:
            parameters[self.rounds] = rounds
        if learning_rate is not None:
            parameters["learning_rate"] = learning_rate
        if depth is not None:
            parameters.update(self.depth(depth))
        regressor, classifier = self.estimators()
        return (classifier if classifies else regressor)(**parameters)


def _fctree():
    from fctree import SymmetricBoostingClassifier, SymmetricBoostingRegressor

    return SymmetricBoostingRegressor, SymmetricBoostingClassifier


def _stop_fctree(model, X, y, X_validation, y_validation):
    model.set_params(early_stopping=True, n_iter_no_change=PATIENCE, tol=0.0)
    model.fit(X, y, eval_set=(X_validation, y_validation))
    return max(1, model.n_iter_), -float(np.max(model.validation_score_))


def _catboost():
    from catboost import CatBoostClassifier, CatBoostRegressor

    return CatBoostRegressor, CatBoostClassifier


def _stop_catboost(model, X, y, X_validation, y_validation):
    model.fit(X, y, eval_set=(X_validation, y_validation), early_stopping_rounds=PATIENCE)
    (loss,) = model.get_best_score()["validation"].values()
    return model.get_best_iteration() + 1, loss


def _lightgbm():
    from lightgbm import LGBMClassifier, LGBMRegressor

    return LGBMRegressor, LGBMClassifier


def _stop_lightgbm(model, X, y, X_validation, y_validation):
    from lightgbm import early_stopping

    model.fit(X, y, eval_set=[(X_validation, y_validation)],
              callbacks=[early_stopping(PATIENCE, verbose=False)])
    (loss,) = model.best_score_["valid_0"].values()
    return model.best_iteration_, loss


def _hist_gradient_boosting():
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    return HistGradientBoostingRegressor, HistGradientBoostingClassifier


def _stop_hist_gradient_boosting(model, X, y, X_validation, y_validation):
    model.set_params(early_stopping=True, n_iter_no_change=PATIENCE, tol=0.0)
    model.fit(X, y, X_val=X_validation, y_val=y_validation)
    # The first score is that of no trees at all; scores are negative losses.
    scores = np.asarray(model.validation_score_)
    return max(1, int(scores.argmax())), -float(scores.max())


FCTREE, CATBOOST = "fctree", "CatBoost"
LIBRARIES = {
    FCTREE: Library(_fctree, "max_iter", "n_jobs", "random_state", _stop_fctree),
    CATBOOST: Library(
        _catboost, "iterations", "thread_count", "random_seed", _stop_catboost,
        depth=lambda depth: {"depth": depth},
        fixed={"verbose": False, "allow_writing_files": False}),
    "LightGBM": Library(
        _lightgbm, "n_estimators", "n_jobs", "random_state", _stop_lightgbm,
        depth=lambda depth: {"num_leaves": 2**depth - 1}, fixed={"verbose": -1}),
    # Its threads are OpenMP's, which the benchmark limits.
    "HistGradientBoosting": Library(
        _hist_gradient_boosting, "max_iter", None, "random_state", _stop_hist_gradient_boosting,
        depth=lambda depth: {"max_leaf_nodes": 2**depth - 1}),
}


def fit_tuned(library, classifies, X, y, seed=0):
    """Choose from the grid on a fifth of the samples, then fit to all of them.

    Returns
    -------
    (fitted estimator, dict of the chosen learning rate, depth and rounds)
    """
    part = train_test_split(X, y, test_size=0.2, random_state=seed,
                            stratify=y if classifies else None)
    X_train, X_validation, y_train, y_validation = part
    best = None
    for rate, depth in product(*GRID.values()):
        model = library.make(classifies, seed, MOST_ROUNDS, rate, depth)
        rounds, loss = library.stop(model, X_train, y_train, X_validation, y_validation)
        if best is None or loss < best[0]:
            best = (loss, {"rounds": int(rounds), "learning_rate": rate, "depth": depth})
    model = library.make(classifies, seed, **best[1])
    if hasattr(model, "early_stopping"):
        model.set_params(early_stopping=False)
    return model.fit(X, y), best[1]


def fit_kind(kind, library, classifies, X, y, seed=0):
    """(fitted estimator, chosen parameters) of one kind of set-up."""
    if kind == TUNED:
        return fit_tuned(library, classifies, X, y, seed)
    alike = {"rounds": ALIKE_ROUNDS, "learning_rate": ALIKE_RATE} if kind == ALIKE else {}
    model = library.make(classifies, seed, **alike)
    if kind == ALIKE and hasattr(model, "early_stopping"):
        model.set_params(early_stopping=False)
    return model.fit(X, y), {}
