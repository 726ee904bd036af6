"""Does feature concatenation help at each depth, on real data?

R^2 by depth, 5-fold: features scaled to [0, 1] and the target standardised on the training
part of each fold, at most 4,000 rows a set. FC-ODT with and without concatenation, ridge and
constant leaves, beside linear-tree, the oblique trees of treeple, YDF, obliquetree and
scikit-obliquetree (HHCART), hinge regression trees (HRT), CART, Ridge and a tuned
HistGradientBoosting. The answer is the last table: the gain of concatenation at each depth,
paired over folds, and on how many sets it is beyond the noise of the folds.

A column of the comparison is one entry of `TREES` or `FLAT`. `--extend` keeps the scores that the
result file already has and computes only what is missing, so a new column costs only itself:
`--extend --methods HRT --hrt FOLDER` adds HRT, whose authors publish it without a package.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from joblib import Parallel, delayed
from league_programs import use_hinge_trees
from measure import time_once
from oblique_methods import (
    LITERAL_TREES, cart, curvature, fcodt_trees, hhcart, hinge_tree, linear_tree, missing, obliquetree_tree,
    print_missing, ridge, treeple_tree, ydf_tree)
from oblique_real_plot import plot_scores
from real_data import REGRESSION_SETS, available, choose, load_table, short_name
from report import add_arguments, add_hinge_argument, earlier_sets, print_table, write_json
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import MinMaxScaler
from threadpoolctl import threadpool_limits
from tqdm import tqdm

NAME = "oblique_real_data"
QUICK_SETS = ("libsvm/abalone", "libsvm/bodyfat", "libsvm/space_ga", "regression/concrete")
# What concatenation changes: pairs of columns, with and without.
PAIRS = {
    "ridge leaves": ("FC-ODT", "FC-ODT, no concatenation"),
    "constant leaves": ("FC-ODT, constant leaves", "FC-ODT, constant, no concatenation"),
    "literal, ridge leaves": ("literal NumPy FC-ODT", "literal, no concatenation"),
    "literal, constant leaves": ("literal, constant leaves", "literal, constant, no concatenation"),
}


def tuned_boosting(_depth):
    """HistGradientBoosting with a small grid, tuned by 3 folds within the training part."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import GridSearchCV

    model = HistGradientBoostingRegressor(max_iter=500, early_stopping=True, n_iter_no_change=20,
                                          random_state=0)
    grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [8, 31]}
    return GridSearchCV(model, grid, cv=3, scoring="r2")


# name -> factory(depth); the score is computed at each depth.
TREES = {
    **fcodt_trees(n_jobs=1),
    "curvature tree": lambda depth: curvature(depth, n_jobs=1),
    "curvature tree, alpha loo": lambda depth: curvature(depth, n_jobs=1, alpha="loo"),
    # Grown on the features as they are scaled here, as FC-ODT is.
    "curvature tree, not standardised": lambda depth: curvature(depth, n_jobs=1, standardize=False),
    "CART": lambda depth: cart(depth),
    "treeple oblique tree": lambda depth: treeple_tree(depth),
    "linear-tree + Ridge": lambda depth: linear_tree(depth),
    "YDF sparse oblique tree": lambda depth: ydf_tree(depth),
    "obliquetree": lambda depth: obliquetree_tree(depth),
    "HHCART": lambda depth: hhcart(depth),
    "HRT": lambda depth: hinge_tree(depth),
    # The settings of its authors' script for kin8nm.
    "HRT, as in its script": lambda depth: hinge_tree(depth, ridge_alpha=1.0, step_size="auto", threshold=0.0),
}
# The depth does not apply: one score.
FLAT = {
    "Ridge": lambda _depth: ridge(),
    "HistGradientBoosting, tuned": tuned_boosting,
}


def scaled_folds(X, y, n_folds, seed=0):
    """Yield (X_train, y_train, X_test, y_test) with the scaling learnt on the training part."""
    for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(X):
        scaler = MinMaxScaler().fit(X[train])
        mean, scale = y[train].mean(), y[train].std() or 1.0
        yield (scaler.transform(X[train]), (y[train] - mean) / scale,
               scaler.transform(X[test]), (y[test] - mean) / scale)


def score_cell(method, factory, depth, key, folds):
    """(method, key, R^2 of each fold and mean seconds of a fit, or the error's text).

    One thread: the scores matter here, and fits of a few milliseconds gain nothing from more.
    """
    scores, seconds = [], 0.0
    try:
        with threadpool_limits(1):
            for X_train, y_train, X_test, y_test in folds:
                estimator = factory(depth)
                elapsed, _ = time_once(partial(estimator.fit, X_train, y_train), settle=0.0)
                scores.append(float(r2_score(y_test, np.ravel(estimator.predict(X_test)))))
                seconds += elapsed
    except Exception as error:  # a peer that fails on one set costs one cell
        return method, key, f"{type(error).__name__}: {error}"[:200]
    return method, key, {"r2": scores, "fit_s": seconds / len(folds)}


def evaluate_set(arguments, name, trees, flat, depths, known):
    """Scores of one data set: {method: {depth as text, or "-": {"r2": [..], "fit_s": float}}}."""
    X, y = load_table(arguments.data, name, max_rows=arguments.rows)
    folds = list(scaled_folds(X, y, arguments.folds))
    scores = {method: dict(known.get(method, {})) for method in {**known, **trees, **flat}}
    cells = [(m, f, d, str(d)) for m, f in trees.items() for d in depths]
    cells += [(m, f, 0, "-") for m, f in flat.items()]
    cells = [cell for cell in cells if cell[3] not in scores[cell[0]]]
    done = Parallel(n_jobs=arguments.jobs, return_as="generator")(
        delayed(score_cell)(*cell, folds) for cell in cells)
    for method, key, result in tqdm(done, total=len(cells), desc=short_name(name), leave=False,
                                    disable=not sys.stderr.isatty()):
        if isinstance(result, str):
            print(f"{name}: {method} at depth {key}: {result}")
        else:
            scores[method][key] = result
    return {"n": len(X), "d": X.shape[1], "scores": scores}


def mean_score(entry, method, key):
    """Mean R^2 over the folds, NaN if it was not computed."""
    cell = entry["scores"].get(method, {}).get(key)
    return float(np.mean(cell["r2"])) if cell else float("nan")


def print_set(name, entry, methods, flat, depths):
    """R^2 by method (rows) and depth (columns) of one set."""
    table = [[m, *(f"{mean_score(entry, m, str(d)):.3f}" for d in depths)] for m in methods]
    table += [[m, f"{mean_score(entry, m, '-'):.3f}", *("" for _ in depths[1:])] for m in flat]
    print_table(f"{name}: n = {entry['n']}, d = {entry['d']}, mean R^2",
                ["method", *(f"depth {d}" for d in depths)], table)


def means_over_sets(results, methods, flat, depths):
    """{method: {depth as text, or "-": {"r2": mean}}}, each cell clipped at -1: one bad fold must not be the mean."""
    def mean(method, key):
        scores = [max(-1.0, mean_score(e, method, key)) for e in results.values()
                  if e["scores"].get(method, {}).get(key)]
        return {"r2": float(np.mean(scores)) if scores else float("nan")}

    return {**{m: {str(d): mean(m, str(d)) for d in depths} for m in methods}, **{m: {"-": mean(m, "-")} for m in flat}}


def print_means(means, n_sets, depths):
    table = [[m, *(f"{of['r2']:.3f}" for of in cells.values()), *("" for _ in depths[len(cells):])]
             for m, cells in means.items()]
    print_table(f"mean R^2 over {n_sets} sets (cells clipped at -1)",
                ["method", *(f"depth {d}" for d in depths)], table)


def print_best(results, methods, flat, depths):
    """The best depth of each tree on each set: chosen on the test folds, so slightly rosy."""
    table = []
    for name, entry in results.items():
        cells = []
        for method in methods:
            values = [mean_score(entry, method, str(d)) for d in depths]
            if np.all(np.isnan(values)):
                cells.append("-")
                continue
            best = int(np.nanargmax(values))
            cells.append(f"{values[best]:.3f} ({depths[best]})")
        table.append([short_name(name), *cells,
                      *(f"{mean_score(entry, m, '-'):.3f}" for m in flat)])
    print_table("R^2 at each tree's best depth (the depth)", ["set", *methods, *flat], table)


def concatenation_gains(results, depths):
    """Paired differences with - without concatenation, by leaf model and depth.

    A set counts as better or worse where the mean difference over the folds is beyond two of
    its standard errors.
    """
    gains = {}
    for leaves, (with_it, without) in PAIRS.items():
        rows = []
        for depth in depths:
            means, better, worse = [], 0, 0
            for entry in results.values():
                pair = [entry["scores"].get(m, {}).get(str(depth)) for m in (with_it, without)]
                if None in pair:
                    continue
                gap = np.subtract(pair[0]["r2"], pair[1]["r2"])
                error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.inf
                # 1e-9: equal up to rounding, as at depths where concatenation changes nothing.
                threshold = max(2 * error, 1e-9)
                means.append(gap.mean())
                better += bool(gap.mean() > threshold)
                worse += bool(gap.mean() < -threshold)
            if means:
                rows.append({"depth": depth, "sets": len(means), "mean": float(np.mean(means)),
                             "median": float(np.median(means)), "better": better, "worse": worse})
        if rows:
            gains[leaves] = rows
    return gains


def print_gains(gains):
    for leaves, rows in gains.items():
        print_table(f"R^2 with concatenation minus without, {leaves}",
                    ["depth", "sets", "mean", "median", "better", "worse", "no difference"],
                    [[str(r["depth"]), r["sets"], f"{r['mean']:+.4f}", f"{r['median']:+.4f}",
                      r["better"], r["worse"], r["sets"] - r["better"] - r["worse"]]
                     for r in rows])


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR",
                        help="folder with libsvm/ and regression/")
    add_hinge_argument(parser)
    parser.add_argument("--plot", type=Path, default=None, metavar="FILE", help="PNG, R^2 by depth")
    parser.add_argument("--rows", type=int, default=4_000, help="rows a set at most (%(default)s)")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--max-depth", type=int, default=6)
    parser.add_argument("--sets", nargs="+", default=None, metavar="NAME", help="such as abalone")
    parser.add_argument("--methods", nargs="+", default=None, metavar="TEXT",
                        help="only methods whose name contains one of these texts")
    parser.add_argument("--literal", action="store_true", help="add the literal NumPy FC-ODT")
    parser.add_argument("--extend", action="store_true",
                        help="keep the scores in the result file, compute what is missing")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    use_hinge_trees(arguments.hrt)
    names, absent = available(arguments.data, choose(REGRESSION_SETS, arguments.sets))
    for name in absent:
        print(f"left out: {name}: no such file below {arguments.data}")
    if arguments.quick and arguments.sets is None:
        names = [name for name in names if name in QUICK_SETS]
    depths = list(range((4 if arguments.quick else arguments.max_depth) + 1))
    trees, flat = chosen_methods(arguments)
    results = earlier_sets(arguments, settings(arguments))
    for name in names:
        known = results.get(name, {}).get("scores", {})
        results[name] = evaluate_set(arguments, name, trees, flat, depths, known)
        shown = [m for m in results[name]["scores"] if m not in FLAT]
        print_set(name, results[name], shown, flat, depths)
        # After each set, so that an interrupted run can be taken up by --extend.
        write_json(arguments.json, NAME, {"settings": settings(arguments), "sets": results},
                   arguments.quick)
    methods = list(dict.fromkeys(m for e in results.values() for m in e["scores"] if m not in FLAT))
    flat = [m for m in FLAT if any(e["scores"].get(m) for e in results.values())]
    print_best(results, methods, flat, depths)
    means = means_over_sets(results, methods, flat, depths)
    print_means(means, len(results), depths)
    gains = concatenation_gains(results, depths)
    print_gains(gains)
    write_json(arguments.json, NAME, {"settings": settings(arguments), "sets": results,
                                      "means": means, "concatenation": gains}, arguments.quick)
    print(f"results written to {arguments.json}")
    if arguments.plot is not None:
        plot_scores(results, methods, flat, depths, arguments.plot)
        print(f"picture written to {arguments.plot}")


def settings(arguments):
    """The settings of a cell of the result besides its set, method and depth."""
    return {"rows": arguments.rows, "folds": arguments.folds}


def chosen_methods(arguments):
    """The usable trees and flat methods, filtered by `--methods`."""
    candidates = {**TREES, **(LITERAL_TREES if arguments.literal else {})}
    trees, reasons = missing(candidates)
    flat, flat_reasons = missing(FLAT)
    print_missing({**reasons, **flat_reasons})
    if arguments.quick:
        trees.pop("linear-tree + Ridge", None)
    if arguments.methods:
        def keep(name):
            return any(text in name for text in arguments.methods)
        trees = {k: v for k, v in trees.items() if keep(k)}
        flat = {k: v for k, v in flat.items() if keep(k)}
    return trees, flat


if __name__ == "__main__":
    main()
