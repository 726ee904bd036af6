"""Cost of importances: early stopping, dropout and retraining on the same data, alternately.

    python benchmarks/bench_importance.py

  all      importances of all 100 features, 5,000 samples: boosting
  shapley  Shapley values of 10 features, all 1,024 subsets, 5,000 samples: boosting, and CatBoost's
           early stopping run the same way where it is installed
  network  importances of 6 features, 2,000 samples: scikit-learn's MLPRegressor
"""

import argparse
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import importance_data as designs
import numpy as np
from fctree import SymmetricBoostingRegressor
from fctree.inspection import shapley_importance, variable_importance
from measure import interleave
from peers import peer
from report import add_arguments, print_table, warn_if_busy, write_json
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor

METHODS = ("early_stopping", "dropout", "retrain")
BOOSTING = SymmetricBoostingRegressor(max_iter=1000, max_depth=3)
NETWORK = MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=300, tol=1e-5)


def catboost_scores(X, y, n_jobs):
    """Minus the mean squared error of CatBoost's continuations for all subsets: one pass, the
    full model first, splits as in fctree; a subset without any feature is the mean."""
    continuing = partial(peer, "CatBoost", rounds=1000, depth=3, learning_rate=0.1, threads=n_jobs,
                         early_stopping_rounds=10, boosting_type="Plain", bootstrap_type="No")
    rest, test = train_test_split(np.arange(len(X)), test_size=0.25, random_state=0)
    train, validation = train_test_split(rest, test_size=0.25, random_state=0)
    full = continuing()
    full.fit(X[train], y[train], eval_set=(X[validation], y[validation]))
    means = X[train].mean(axis=0)
    n_features = X.shape[1]
    scores = np.empty(2**n_features)
    for subset in range(2**n_features):
        kept = (subset >> np.arange(n_features)) & 1 == 1
        if not kept.any():
            scores[subset] = -np.mean((y[test] - y[train].mean()) ** 2)
            continue
        replaced = np.where(kept, X, means)
        model = full
        if not kept.all():
            model = continuing()
            model.fit(replaced[train], y[train], init_model=full,
                      eval_set=(replaced[validation], y[validation]))
        scores[subset] = -np.mean((y[test] - model.predict(replaced[test])) ** 2)
    return scores


def calls_of(compute, model, data, n_jobs):
    """One call a method."""
    return {
        method: (lambda method=method: compute(
            model, *data, method=method, random_state=0, n_jobs=n_jobs))
        for method in METHODS
    }


def cases(arguments):
    """(name, calls) of what is timed."""
    n_samples = 1000 if arguments.quick else 5000
    X, y, _ = designs.high_dimensional(0, n_samples)
    yield "all", calls_of(variable_importance, BOOSTING, (X, y), arguments.n_jobs)
    X, y = designs.logistic(0, n_samples)
    calls = calls_of(shapley_importance, BOOSTING, (X, y), arguments.n_jobs)
    if arguments.catboost:
        calls["CatBoost, early stopping"] = lambda: catboost_scores(X, y, arguments.n_jobs)
    yield "shapley", calls
    X, y, _ = designs.correlated(0.5, 0, 2000)
    yield "network", calls_of(variable_importance, NETWORK, (X, y), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_arguments(parser, "bench_importance")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=["all", "shapley", "network"])
    parser.add_argument("--catboost", action="store_true", help="time CatBoost too")
    arguments = parser.parse_args()
    warn_if_busy()
    results = {}
    for name, calls in cases(arguments):
        if name not in arguments.only:
            continue
        timings, found = interleave(calls, repeats=arguments.repeats, slow_seconds=20.0)
        best = {call: min(t.seconds) if t.seconds else None for call, t in timings.items()}
        rounds = {call: int(r.n_iter.sum()) for call, r in found.items() if hasattr(r, "n_iter")}
        results[name] = {
            call: {"seconds": best[call], "rounds": rounds.get(call), "error": timings[call].error}
            for call in calls
        }
        rows = [(call, best[call], rounds.get(call),
                 best[call] / best["early_stopping"] if best[call] else None) for call in calls]
        print_table(f"{name}: best of {arguments.repeats}, {arguments.n_jobs} threads",
                    ("", "seconds", "rounds", "beside early stopping"), rows)
        write_json(arguments.json, "bench_importance", results, quick=arguments.quick)


if __name__ == "__main__":
    main()
