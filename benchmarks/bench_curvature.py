"""Is one shallow curvature tree as accurate as a boosted ensemble, and fast to grow?

errors   sim1 and sim2 (n = 2,000, d = 10, noise 0.1): error against the noiseless f by depth,
         mean over seeds, beside boosting, linear trees and the published rule.
speed    fit times at the stated sizes, beside linear-tree (and its error) where it ends in
         reasonable time.
"""

import argparse
import json

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from measure import interleave
from oblique_methods import catboost, curvature, fcodt, lightgbm, linear_tree, missing, ridge
from report import (
    add_arguments, number_text, print_table, seconds_text, warn_if_busy, write_json)
from simulated_data import SIMULATIONS, simulate

NAME = "bench_curvature"
DEPTHS = (1, 2, 3, 4, 5)
TREES = {
    "curvature tree": curvature,
    "curvature tree, alpha loo": lambda depth: curvature(depth, alpha="loo"),
    "FC-ODT as published": lambda depth: fcodt(depth, min_samples_leaf=20),
    "linear-tree + Ridge": linear_tree,
}
ENSEMBLES = {
    "CatBoost depth 6, 200 trees": lambda _depth: catboost(),
    "LightGBM linear leaves, 500": lambda _depth: lightgbm(
        500, num_leaves=31, linear_tree=True, learning_rate=0.05),
    "Ridge": lambda _depth: ridge(),
}
# (n, d, depth): seconds that a curvature tree may take; None: measured against linear-tree.
SPEED = {(2_000, 10, 4): 0.030, (20_000, 50, 4): None, (100_000, 20, 5): 2.0}
TARGET_ERROR = {"sim1": 0.009, "sim2": 0.0095}


def mean_error(factory, depth, simulation, n_seeds):
    """Error against f on 10,000 new samples, mean over seeds of training data."""
    errors = []
    for seed in range(n_seeds):
        X, y, _ = simulate(simulation, 2_000, 10, seed=seed)
        X_test, _, truth = simulate(simulation, 10_000, 10, seed=1_000 + seed)
        model = factory(depth).fit(X, y)
        errors.append(np.mean((np.ravel(model.predict(X_test)) - truth) ** 2))
    return float(np.mean(errors))


def measure_errors(n_seeds):
    """{simulation: {method: {depth: error}}}; ensembles have the one key "-"."""
    trees, _ = missing(TREES)
    ensembles, _ = missing(ENSEMBLES)
    results = {}
    for simulation in SIMULATIONS:
        scores = {
            name: {str(depth): mean_error(factory, depth, simulation, n_seeds)
                   for depth in (DEPTHS if "linear" not in name else (4,))}
            for name, factory in trees.items()
        }
        scores |= {name: {"-": mean_error(factory, 0, simulation, n_seeds)}
                   for name, factory in ensembles.items()}
        results[simulation] = scores
        target = TARGET_ERROR[simulation]
        reached = scores["curvature tree"]["4"]
        print_table(f"{simulation}: error against f, mean of {n_seeds} seeds (depth 4: "
                    f"{reached:.4f}, target {target}: {'met' if reached <= target else 'missed'})",
                    ["method", *map(str, DEPTHS), "any depth"],
                    [[name, *(number_text(of.get(str(d)), 3) for d in DEPTHS),
                      number_text(of.get("-"), 3)] for name, of in scores.items()])
    return results


def measure_speed(quick, repeats):
    """Fit times at the stated sizes; linear-tree at depth 2 and 20,000 x 50 only."""
    rows, table = [], []
    for (n, d, depth), limit in SPEED.items():
        X, y, truth = simulate("sim1", n, d, seed=0)
        calls = {
            "curvature tree": lambda: curvature(depth).fit(X, y),
            "curvature tree, 1 thread": lambda: curvature(depth, n_jobs=1).fit(X, y),
            "FC-ODT as published": lambda: fcodt(depth).fit(X, y),
        }
        if limit is None and not quick and "linear-tree + Ridge" in missing(TREES)[0]:
            calls["linear-tree + Ridge, depth 2"] = lambda: linear_tree(2).fit(X, y)
        timings, models = interleave(calls, repeats=repeats)
        ours = timings["curvature tree"].median
        for name, timing in timings.items():
            error = float(np.mean((models[name].predict(X) - truth) ** 2))
            rows.append({"n": n, "d": d, "depth": depth, "method": name, "limit_s": limit,
                         "fit": timing.as_dict(), "error": error})
            table.append([f"{n} x {d}, depth {depth}", name, seconds_text(timing.median),
                          number_text(timing.median / ours, 3), seconds_text(limit),
                          number_text(error, 3)])
    print_table("fit times", ["case", "method", "fit", "/ curvature", "limit", "MSE against f"],
                table)
    return rows


def earlier_times(document):
    """The times in a result file, and when and where they were taken."""
    results = document["results"]
    taken = results.get("speed taken", {"date": document["date"], "cpu": document["machine"]["cpu"]})
    return {"speed": results["speed"], "speed taken": taken}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--seeds", type=int, default=None, help="of each simulation (10; quick: 3)")
    parser.add_argument("--errors", action="store_true", help="only the errors; the result file keeps its times")
    arguments = parser.parse_args()
    if arguments.errors:
        results = earlier_times(json.loads(arguments.json.read_text()))
    else:
        warn_if_busy()
        results = {"speed": measure_speed(arguments.quick, repeats=3 if arguments.quick else 5)}
    results["errors"] = measure_errors(arguments.seeds or (3 if arguments.quick else 10))
    write_json(arguments.json, NAME, results, arguments.quick)
    print(f"results written to {arguments.json}")


if __name__ == "__main__":
    main()
