"""Rows of unequal weight: do a few heavy ones spoil a forest?

Rare classes with `class_weight="balanced"`: log-loss on 20,000 new rows, by the same weights, of probabilities of 1e-6
at least. Regressions with weights: RMSE for the truth on 5,000 new rows, by weight. Means over the draws; fctree's forest
as it is by default, and with the leaves that it has without weights (`min_samples_leaf=10`).
"""

import argparse

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from report import add_arguments, print_markdown, write_json
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.utils.class_weight import compute_sample_weight

from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    CurvatureForestClassifier,
    CurvatureForestRegressor,
    SymmetricBoostingClassifier,
    SymmetricBoostingRegressor,
)

NAME = "bench_unequal_weights"
BALANCED = {"class_weight": "balanced"}
CLASSIFIERS = {
    "curvature forest": CurvatureForestClassifier(random_state=0, **BALANCED),
    "leaves of 10": CurvatureForestClassifier(random_state=0, min_samples_leaf=10, **BALANCED),
    "curvature boosting": CurvatureBoostingClassifier(random_state=0, **BALANCED),
    "symmetric boosting": SymmetricBoostingClassifier(random_state=0, **BALANCED),
    "random forest": RandomForestClassifier(random_state=0, **BALANCED),
    "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0, **BALANCED),
    "logistic regression": LogisticRegression(**BALANCED),
}
REGRESSORS = {
    "curvature forest": CurvatureForestRegressor(random_state=0),
    "leaves of 10": CurvatureForestRegressor(random_state=0, min_samples_leaf=10),
    "curvature boosting": CurvatureBoostingRegressor(random_state=0),
    "symmetric boosting": SymmetricBoostingRegressor(random_state=0),
    "random forest": RandomForestRegressor(random_state=0),
    "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
}
SCORES = {
    "line and step": lambda X: 1.5 * X[:, 0] + X[:, 1] + 1.5 * (X[:, 2] > 1),
    "product of signs": lambda X: 3.0 * np.sign(X[:, 0] * X[:, 1]),
    "box": lambda X: 4.0 * ((X[:, 0] > 0.5) & (X[:, 1] < 0.3)),
    "distance": lambda X: np.square(X[:, :3]).sum(axis=1),
}
SHARES = {0.002: 20_000, 0.01: 5000, 0.1: 2000}  # of the rare class, and training rows
WEIGHTS = {
    "weights without a meaning": lambda X, rng: (np.exp(rng.normal(size=len(X))), 1.0),
    "weights of noise": lambda X, rng: (w := np.exp(rng.normal(size=len(X))), 2.0 / np.sqrt(w)),
    "a heavy tenth": lambda X, rng: (np.where(X[:, 0] > 0.9, 20.0, 0.2), 1.0),
}


def losses_of_classes(score, share, n, seed):
    """{program: log-loss} of one draw."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 20_000, 6))
    noisy = score(X) + rng.logistic(size=len(X))
    y = (noisy > np.quantile(noisy, 1.0 - share)).astype(int)
    weight = compute_sample_weight("balanced", y[n:])
    found = {name: model.fit(X[:n], y[:n]).predict_proba(X[n:])[:, 1] for name, model in CLASSIFIERS.items()}
    return {name: log_loss(y[n:], np.clip(p, 1e-6, 1.0 - 1e-6), sample_weight=weight) for name, p in found.items()}


def errors_of_weights(weigh, n, seed):
    """{program: RMSE} of one draw."""
    X, truth = make_friedman1(n + 5000, n_features=8, random_state=seed)
    rng = np.random.default_rng(seed)
    weight, noise = weigh(X, rng)
    y = truth + noise * rng.normal(size=len(X))
    return {name: root_mean_squared_error(truth[n:], model.fit(X[:n], y[:n], weight[:n]).predict(X[n:]),
                                          sample_weight=weight[n:])
            for name, model in REGRESSORS.items()}


def means(of_draw, n_draws):
    found = [of_draw(seed) for seed in range(n_draws)]
    return {name: float(np.mean([of[name] for of in found])) for name in found[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    arguments = parser.parse_args()
    n_draws, part = (1, 4) if arguments.quick else (4, 1)
    results = {
        "classes": {f"{name}, {100 * share:g} %": means(lambda seed: losses_of_classes(score, share, n // part, seed), n_draws)
                    for name, score in SCORES.items() for share, n in SHARES.items()},
        "regression": {f"{name}, {n:,} rows": means(lambda seed: errors_of_weights(weigh, n // part, seed), n_draws)
                       for name, weigh in WEIGHTS.items() for n in (500, 3000)}}
    for kind, of_kind in results.items():
        columns = list(next(iter(of_kind.values())))
        print_markdown(kind, ["", *columns], [[name, *(f"{v:.3f}" for v in of.values())] for name, of in of_kind.items()])
    write_json(arguments.json, NAME, results, quick=arguments.quick)


if __name__ == "__main__":
    main()
