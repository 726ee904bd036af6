"""Settings of the programs of `boosting_real_data.py`: by default, alike, and tuned.

`out of the box`   nothing but the seed and one thread.
`alike`            200 rounds at learning rate 0.1, the rest by default.
`tuned`            the best of the grid below on a fifth of the training part, which also stops
                   the rounds; then fitted again to the whole training part with as many rounds.
"""

from itertools import product

import numpy as np
from peers import peer
from sklearn.model_selection import train_test_split

_, ALIKE, TUNED = KINDS = ("out of the box", "alike", "tuned")
ALIKE_ROUNDS, ALIKE_RATE = 200, 0.1
GRID = {"learning_rate": (0.05, 0.15), "depth": (4, 6, 8)}
MOST_ROUNDS, PATIENCE = 1000, 30


def _stop_fctree(model, X, y, X_validation, y_validation):
    model.set_params(early_stopping=True, n_iter_no_change=PATIENCE, tol=0.0)
    model.fit(X, y, eval_set=(X_validation, y_validation))
    return max(1, model.n_iter_), -float(np.max(model.validation_score_))


def _stop_catboost(model, X, y, X_validation, y_validation):
    model.fit(X, y, eval_set=(X_validation, y_validation), early_stopping_rounds=PATIENCE)
    (loss,) = model.get_best_score()["validation"].values()
    return model.get_best_iteration() + 1, loss


def _stop_lightgbm(model, X, y, X_validation, y_validation):
    from lightgbm import early_stopping

    model.fit(X, y, eval_set=[(X_validation, y_validation)],
              callbacks=[early_stopping(PATIENCE, verbose=False)])
    (loss,) = model.best_score_["valid_0"].values()
    return model.best_iteration_, loss


def _stop_hist_gradient_boosting(model, X, y, X_validation, y_validation):
    model.set_params(early_stopping=True, n_iter_no_change=PATIENCE, tol=0.0)
    model.fit(X, y, X_val=X_validation, y_val=y_validation)
    # The first score is that of no trees at all; scores are negative losses.
    scores = np.asarray(model.validation_score_)
    return max(1, int(scores.argmax())), -float(scores.max())


FCTREE, CATBOOST = "fctree", "CatBoost"
# A function of (estimator, X, y, X_validation, y_validation) fits with early stopping and returns the best
# number of rounds and the loss there, in the library's own unit.
STOPPED = {
    FCTREE: _stop_fctree,
    CATBOOST: _stop_catboost,
    "LightGBM": _stop_lightgbm,
    "HistGradientBoosting": _stop_hist_gradient_boosting,  # its threads are OpenMP's, which the benchmark limits
}


def fit_tuned(program, classifies, X, y, seed=0):
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
        model = peer(program, classifies, seed=seed, rounds=MOST_ROUNDS, learning_rate=rate, depth=depth)
        rounds, loss = STOPPED[program](model, X_train, y_train, X_validation, y_validation)
        if best is None or loss < best[0]:
            best = (loss, {"rounds": int(rounds), "learning_rate": rate, "depth": depth})
    model = peer(program, classifies, seed=seed, **best[1])
    if hasattr(model, "early_stopping"):
        model.set_params(early_stopping=False)
    return model.fit(X, y), best[1]


def fit_kind(kind, program, classifies, X, y, seed=0):
    """(fitted estimator, chosen parameters) of one kind of set-up."""
    if kind == TUNED:
        return fit_tuned(program, classifies, X, y, seed)
    alike = {"rounds": ALIKE_ROUNDS, "learning_rate": ALIKE_RATE} if kind == ALIKE else {}
    model = peer(program, classifies, seed=seed, **alike)
    if kind == ALIKE and hasattr(model, "early_stopping"):
        model.set_params(early_stopping=False)
    return model.fit(X, y), {}
