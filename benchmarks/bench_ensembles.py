"""How fast are ensembles of curvature trees, and how accurate for their time?

    python bench_ensembles.py

Sums of bent planes with noise (`fctree.datasets`), errors against the noiseless truth. Three questions:
fit and prediction times beside other ensembles at their usual sizes; fit times of forests at equal
trees and depth; growth of the fit time with samples, features, depth and trees against the formula of
docs/algorithms/ensembles.md. `--plot FILE` draws error over fit time. Results are saved as they come.

Times are the best of the repeats in turns: seconds on the clock, and processor seconds, which other
programs on the machine lengthen far less. `--threads 1` makes the two comparable between programs.
"""

import argparse
import time
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from ensemble_programs import PROGRAMS, Task, YDFOblique, fctree_boosting, fctree_forest, treeple_forest
from peers import usable
from report import add_arguments, print_markdown, seconds_text, warn_if_busy, write_json

from fctree import FCODTRegressor
from fctree.datasets import make_ridge_exp, make_ridge_relu

NAME = "bench_ensembles"
TRUTHS = {"sim1": make_ridge_relu, "sim2": make_ridge_exp}
LEFT_OUT = ("tree NTK",)  # its cost is cubic


def timed(calls, repeats):
    """({name: {"wall_s", "cpu_s"} or {"error"}}, {name: result}), the best of the repeats in turns."""
    best, results = {}, {}
    for _ in range(repeats):
        for name, call in calls.items():
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                results[name] = call()
            except Exception as error:  # a program that fails costs one row of a table
                best[name] = {"error": f"{type(error).__name__}: {error}"[:200]}
                continue
            found = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
            known = best.setdefault(name, found)
            best[name] = {unit: min(known[unit], found[unit]) for unit in found}
    return best, results


def tables(truth, n, d):
    X, y = truth(n_samples=n, n_features=d, random_state=0)
    X_new, f = truth(n_samples=4000, n_features=d, noise=0.0, random_state=1)
    return X, y, X_new, f


def against_peers(arguments, results):
    programs, reasons = usable([name for name in PROGRAMS if name not in LEFT_OUT], lambda name: PROGRAMS[name](Task()))
    for program, reason in reasons.items():
        print(f"{program}: {reason}")
    task = Task(threads=arguments.threads)
    for name, n, d in arguments.sizes:
        X, y, X_new, f = tables(TRUTHS[name], n, d)
        own = [p for p in programs if n <= 5000 or "YDF" not in p]
        fits = {p: lambda p=p: PROGRAMS[p](task).fit(X, y) for p in own}
        fits["fctree boosting, depth 2"] = lambda: fctree_boosting(task, max_depth=2).fit(X, y)
        fits["fctree boosting, no step trees"] = lambda: fctree_boosting(
            task, step_depth=None).fit(X, y)
        timings, models = timed(fits, arguments.repeats)
        predict, answers = timed({p: lambda m=m: m.predict(X_new) for p, m in models.items()},
                                 arguments.repeats)
        cells = {p: {"fit": timings[p], "predict_row_s": predict[p]["cpu_s"] / len(f),
                     "error": float(np.mean((np.ravel(answers[p]) - f) ** 2))} for p in models}
        results[f"{name}, {n} x {d}"] = cells
        print_markdown(f"{name}, {n} x {d}", ["program", "fit, clock", "fit, processor", "error",
                                             "predict a row"], [
            [p, *(seconds_text(c["fit"][unit]) for unit in ("wall_s", "cpu_s")),
             f"{c['error']:.4f}", seconds_text(c["predict_row_s"])] for p, c in cells.items()])
        write_json(arguments.json, NAME, results, arguments.quick)


def equal_forests(arguments, results):
    """Forests, and oblique boosting, of as many trees of the same depth."""
    X, y, X_new, f = tables(make_ridge_relu, 2000, 10)
    task, trees = Task(threads=arguments.threads), 100
    for depth in (3, 5):
        shape = {"n_estimators": trees, "max_depth": depth}
        makers = {
            "fctree forest": lambda: fctree_forest(task, **shape),
            "fctree forest, paper's splits, constant leaves": lambda: fctree_forest(
                task, **shape, step_trees=False, tree=FCODTRegressor(leaf_model="constant")),
            "fctree boosting": lambda: fctree_boosting(task, max_iter=trees, max_depth=depth),
            "treeple forest": lambda: treeple_forest(task, **shape),
            "YDF oblique forest": lambda: YDFOblique(
                task, "RandomForestLearner", num_trees=trees, max_depth=depth + 1),
            "YDF oblique boosting": lambda: YDFOblique(
                task, "GradientBoostedTreesLearner", num_trees=trees, max_depth=depth + 1),
        }
        timings, models = timed({name: lambda make=make: make().fit(X, y)
                                 for name, make in makers.items()}, arguments.repeats)
        cells = {p: {"fit": timings[p], "error": float(
            np.mean((np.ravel(m.predict(X_new)) - f) ** 2))} for p, m in models.items()}
        results[f"equal trees, depth {depth}"] = cells
        print_markdown(f"100 trees of depth {depth}, sim1, 2,000 x 10", [
            "program", "fit, clock", "fit, processor", "error"], [
            [p, *(seconds_text(c["fit"][unit]) for unit in ("wall_s", "cpu_s")),
             f"{c['error']:.4f}"] for p, c in cells.items()])
        write_json(arguments.json, NAME, results, arguments.quick)


def formula(n, d, depth, trees):
    """Multiply-adds of the curvature trees: docs/algorithms/ensembles.md with the defaults."""
    candidates, cuts, rows = 7, 9, 0.7 * n
    level = (candidates + 1) * rows * d**2 / 2 + rows * d**2 + 5 * rows * d
    models = 2**depth * 2 * cuts * candidates * (d**3 / 2 + 2 * d**2)
    return trees * (depth * level + models)


def growth(arguments, results):
    base = {"n": 2000, "d": 10, "depth": 3, "trees": 50}
    steps = {"n": (8000, 32000), "d": (20, 40), "depth": (2, 4), "trees": (100, 200)}
    cells = {}
    for name, value in [("n", 2000), *((k, v) for k, vs in steps.items() for v in vs)]:
        shape = {**base, name: value}
        X, y, _, _ = tables(make_ridge_relu, shape["n"], shape["d"])
        model = fctree_boosting(Task(threads=1), max_iter=shape["trees"], step_depth=None,
                                max_depth=shape["depth"])
        timings, _ = timed({"fit": lambda model=model: model.fit(X, y)}, arguments.repeats)
        cells[f"{name}={value}"] = {"fit": timings["fit"], "formula": formula(**shape)}
    results["growth"] = cells
    unit = cells["n=2000"]
    print_markdown("Growth, one thread; both relative to 2,000 x 10, depth 3, 50 trees", [
        "", "fit, processor", "times the first", "by the formula"], [
        [name, seconds_text(c["fit"]["cpu_s"]),
         f"{c['fit']['cpu_s'] / unit['fit']['cpu_s']:.2f}",
         f"{c['formula'] / unit['formula']:.2f}"] for name, c in cells.items()])
    write_json(arguments.json, NAME, results, arguments.quick)


def plot(results, path):
    import matplotlib.pyplot as plt

    chosen = [name for name in results if name.startswith("sim")]
    figure, axes = plt.subplots(1, len(chosen), figsize=(5.5 * len(chosen), 4.5), squeeze=False)
    for axis, name in zip(axes[0], chosen):
        shown = {p: cell for p, cell in results[name].items() if p in PROGRAMS}
        by_time = sorted(shown.items(), key=lambda item: item[1]["fit"]["cpu_s"])
        for index, (program, cell) in enumerate(by_time):
            own, where = program.startswith("fctree"), (cell["fit"]["cpu_s"], cell["error"])
            axis.plot(*where, "o", color="C3" if own else "C0")
            axis.annotate(program, where, fontsize=7, xytext=(4, (4, -9)[index % 2]),
                          textcoords="offset points")
        axis.margins(x=0.3, y=0.08)
        axis.set(xscale="log", yscale="log", xlabel="fit, processor seconds",
                 ylabel="mean squared error against the truth", title=name)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser, NAME)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", nargs="*", default=["peers", "equal", "growth"])
    parser.add_argument("--large", action="store_true", help="20,000 x 20 as well")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    arguments.sizes = [("sim1", 2000, 10), ("sim2", 2000, 10)]
    if arguments.large:
        arguments.sizes.append(("sim1", 20_000, 20))
    if arguments.quick:
        arguments.repeats = 1
    warn_if_busy()
    results = {}
    parts = {"peers": against_peers, "equal": equal_forests, "growth": growth}
    for part in arguments.parts:
        parts[part](arguments, results)
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
