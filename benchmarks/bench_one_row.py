"""How long does the prediction of one row take, for each estimator, CatBoost and LightGBM?

Models of 1,000 training samples of 10 features, ensembles of 100 trees; one thread. A call is that of
a user: `predict` or `predict_proba` of a float64 array (1, 10), with its validation. The programs take
turns; the least time of a call over batches is given. A peer that is missing is named and left out.
"""

import argparse
import timeit
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from peers import peer
from report import add_arguments, print_markdown, seconds_text, warn_if_busy, write_json

import fctree

NAME = "bench_one_row"
N_SAMPLES, N_FEATURES, N_TREES = 1000, 10, 100
FAMILIES = {
    "CurvatureTree": {},
    "FCODT": {},
    "CurvatureForest": {"n_estimators": N_TREES, "random_state": 0},
    "CurvatureBoosting": {"max_iter": N_TREES, "random_state": 0},
    "SymmetricBoosting": {"max_iter": N_TREES, "random_state": 0},
    "SoftTree": {"max_epochs": 5, "random_state": 0},
    "TreeNTK": {},
}
TASKS = {"regression": 0, "2 classes": 2, "3 classes": 3}


def ours(name, parameters):
    def make(is_classifier):
        kind = "Classifier" if is_classifier else "Regressor"
        return getattr(fctree, name + kind)(n_jobs=1, **parameters)

    return make


PROGRAMS = {
    **{name: ours(name, parameters) for name, parameters in FAMILIES.items()},
    **{name: partial(peer, name, rounds=N_TREES) for name in ("CatBoost", "LightGBM")},
}


def data(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    y = X[:, 0] + np.maximum(X[:, 1], 0.0) + 0.1 * rng.standard_normal(N_SAMPLES)
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    return X, y


def calls():
    """Functions that predict one row, by program and by what they predict."""
    found = {}
    for task, n_classes in TASKS.items():
        X, y = data(n_classes)
        row = X[:1].copy()
        for program, make in PROGRAMS.items():
            try:
                model = make(n_classes > 0)
            except ImportError as error:
                print(f"{program} is left out: {error}")
                continue
            model.fit(X, y)
            found[program, f"{task}: predict"] = lambda model=model, row=row: model.predict(row)
            if n_classes and hasattr(model, "predict_proba"):
                found[program, f"{task}: predict_proba"] = (
                    lambda model=model, row=row: model.predict_proba(row)
                )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_arguments(parser, NAME)
    args = parser.parse_args()
    warn_if_busy()
    least, n_calls = {}, 50
    functions = calls()
    for _ in range(10 if args.quick else 40):
        for key, function in functions.items():
            function()
            seconds = timeit.timeit(function, number=n_calls) / n_calls
            least[key] = min(least.get(key, np.inf), seconds)
    columns = list(dict.fromkeys(column for _, column in least))
    rows = [
        [program, *(seconds_text(least.get((program, column))) for column in columns)]
        for program in dict.fromkeys(program for program, _ in least)
    ]
    print_markdown("One row", ["", *columns], rows)
    results = {}
    for (program, column), seconds in least.items():
        results.setdefault(program, {})[column] = seconds
    write_json(args.json, NAME, results, args.quick)


if __name__ == "__main__":
    main()
