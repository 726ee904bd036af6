"""Accuracy of trees whose splits use few features (`max_coef`).

    python bench_sparse_directions.py --data DIR

Curvature trees with splits of at most 1, 2, 3, 5 and any number of features, at two depths: error
against f on the simulations (n = 2,000, d = 10, mean over seeds), R^2 on the real regression
sets and AUC or accuracy on the classification sets (5 folds, the protocols of
oblique_real_data.py and oblique_classification.py), and the time of a fit. On the regression sets
also the published rule with such splits, with ridge and with constant leaves.
"""

import argparse
from functools import partial
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from bench_curvature import mean_error
from measure import interleave
from oblique_classification import curvature as curvature_classifier
from oblique_classification import score as class_score
from oblique_classification import tables
from oblique_methods import curvature, fcodt
from oblique_real_data import scaled_folds
from real_data import REGRESSION_SETS, available, load_table, short_name
from report import add_arguments, print_table, seconds_text, warn_if_busy, write_json
from simulated_data import SIMULATIONS, simulate
from sklearn.metrics import r2_score
from threadpoolctl import threadpool_limits

NAME = "bench_sparse_directions"
LIMITS = (1, 2, 3, 5, None)
DEPTHS = (3, 4)
SPEED_CASES = ((2_000, 10, 4), (20_000, 50, 4))


def limited_fcodt(depth, max_coef=None, **parameters):
    """The published rule with short splits, which the estimator has no parameter for, the core has."""
    tree = fcodt(depth, min_samples_leaf=20, **parameters)
    tree._fixed = {**tree._fixed, "max_coef": max_coef}
    return tree


REGRESSORS = {
    "curvature tree": curvature,
    "FC-ODT as published": limited_fcodt,
    "FC-ODT, constant leaves": partial(limited_fcodt, leaf_model="constant"),
}


def label(limit):
    return "all" if limit is None else str(limit)


def by_limit(measure):
    """{depth: {limit: measure(depth, limit)}}."""
    return {str(depth): {label(limit): measure(depth, limit) for limit in LIMITS}
            for depth in DEPTHS}


def simulation_errors(n_seeds):
    return {simulation: by_limit(lambda depth, limit, simulation=simulation: mean_error(
                partial(curvature, max_coef=limit), depth, simulation, n_seeds))
            for simulation in SIMULATIONS}


def mean_r2(tree, folds):
    return float(np.mean([r2_score(y_test, tree.fit(X_train, y_train).predict(X_test))
                          for X_train, y_train, X_test, y_test in folds]))


def regression_scores(folder, max_rows):
    """{method: {set: mean R^2 over five folds}}."""
    names, absent = available(folder, REGRESSION_SETS)
    for name in absent:
        print(f"left out: {name}: no such file below {folder}")
    folds = {short_name(name): list(scaled_folds(*load_table(folder, name, max_rows=max_rows), 5))
             for name in names}
    return {method: {name: by_limit(lambda depth, limit, factory=factory, of=of:
                                    mean_r2(factory(depth, max_coef=limit), of))
                     for name, of in folds.items()}
            for method, factory in REGRESSORS.items()}


def classification_scores(folder, max_rows):
    """Mean AUC (two classes) or accuracy over five folds of every set, breast cancer once."""
    return {name: by_limit(lambda depth, limit, X=X, y=y: class_score(
                partial(curvature_classifier, max_coef=limit), depth, X, y)["score"])
            for name, X, y in tables(folder, max_rows) if name != "breast_cancer"}


def fit_times(repeats):
    """Seconds of a fit, by case and limit; the limits take turns."""
    times = {}
    for n, d, depth in SPEED_CASES:
        X, y, _ = simulate("sim1", n, d, seed=0)
        calls = {label(limit): partial(curvature(depth, max_coef=limit).fit, X, y)
                 for limit in LIMITS}
        timings, _ = interleave(calls, repeats=repeats)
        times[f"{n} x {d}, depth {depth}"] = {name: t.as_dict() for name, t in timings.items()}
    return times


def print_scores(title, scores, digits):
    """One row a set and depth, the mean over the sets last."""
    rows = [[f"{name}, depth {depth}", *(f"{of[label(limit)]:.{digits}f}" for limit in LIMITS)]
            for name, of_depth in scores.items() for depth, of in of_depth.items()]
    for depth in map(str, DEPTHS):
        means = [np.mean([of[depth][label(limit)] for of in scores.values()]) for limit in LIMITS]
        rows.append([f"mean, depth {depth}", *(f"{mean:.{digits}f}" for mean in means)])
    print_table(title, ["max_coef", *map(label, LIMITS)], rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR",
                        help="folder with libsvm/, regression/ and classification/")
    arguments = parser.parse_args()
    warn_if_busy()
    quick = arguments.quick
    results = {"fit": fit_times(repeats=3 if quick else 7)}
    print_table("fit", ["max_coef", *map(label, LIMITS)], [
        [case, *(seconds_text(of[label(limit)]["median_s"]) for limit in LIMITS)]
        for case, of in results["fit"].items()])
    with threadpool_limits(1):
        results["simulations"] = simulation_errors(n_seeds=2 if quick else 10)
        print_scores("error against f", results["simulations"], 4)
        results["regression"] = regression_scores(arguments.data, 1_000 if quick else 4_000)
        for method, scores in results["regression"].items():
            print_scores(f"R^2, {method}", scores, 3)
        results["classification"] = classification_scores(arguments.data, 500 if quick else 1_500)
        print_scores("AUC (two classes) or accuracy", results["classification"], 3)
    write_json(arguments.json, NAME, results, quick)
    print(f"results written to {arguments.json}")


if __name__ == "__main__":
    main()
