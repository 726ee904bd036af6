"""How accurate is symmetric boosting on real data beside CatBoost, LightGBM and scikit-learn's?

    python boosting_real_data.py --data DIR

DIR holds MANIFEST.csv, regression/*.csv.gz and classification/*.csv.gz. Each program is set up in
three ways (`boosting_real_models.py`): out of the box, with 200 rounds at learning rate 0.1, and
tuned over one small grid. Cross-validation with fixed folds, one thread a fit, at most `--rows`
rows a set; missing values stay missing, text becomes indicators. Regression is judged by the
root mean squared error over the standard deviation of the test part's target, classification by
log-loss and accuracy. The answer is the mean rank over the sets and the mean ratio to CatBoost,
paired over folds.

`--extend` keeps what the result file already has; `--again NAME` computes a program once more.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from boosting_real_models import (
    CATBOOST, GRID, KINDS, MOST_ROUNDS, PATIENCE, STOPPED, fit_kind)
from joblib import Parallel, delayed
from peers import peer
from real_data import choose, load_table, manifest_sets, short_name
from report import add_arguments, earlier_sets, print_markdown, write_json
from scipy.stats import rankdata
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import LabelEncoder
from threadpoolctl import threadpool_limits
from tqdm import tqdm

NAME = "boosting_real_data"
# The same rows under another name: credit_approval, diabetes, cpu_act with fewer columns.
DOUBLES = ("classification/pmlb_crx", "classification/pmlb_pima", "regression/cpu_small")
QUICK_SETS = ("concrete", "abalone", "kin8nm", "pmlb_diabetes", "pmlb_yeast", "credit_approval")
LOSS = {"regression": "rmse", "classification": "log_loss"}


def load(arguments, name):
    """(X with NaN where values are missing, y: classes as 0 .. c - 1, task)."""
    task = name.split("/")[0]
    X, y = load_table(arguments.data, name, max_rows=arguments.rows, keep_missing=True)
    if task == "classification":
        y = LabelEncoder().fit_transform(y)
        frequent = np.bincount(y)[y] >= 3 * arguments.folds
        X, y = X[frequent], LabelEncoder().fit_transform(y[frequent])
    return X, y, task


def split(X, y, task, n_folds, seed=0):
    """Fixed folds, stratified by class."""
    kind = StratifiedKFold if task == "classification" else KFold
    return list(kind(n_folds, shuffle=True, random_state=seed).split(X, y))


def judge(model, X, y, task):
    """Scores of one fold."""
    if task == "regression":
        error = np.sqrt(np.mean((np.ravel(model.predict(X)) - y) ** 2))
        return {"rmse": float(error / (y.std() or 1.0))}
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    classes = np.arange(probabilities.shape[1])
    return {"log_loss": float(log_loss(y, probabilities, labels=classes)),
            "accuracy": float(accuracy_score(y, probabilities.argmax(axis=1)))}


def score_cell(name, program, kind, X, y, task, folds):
    """(set, program, kind, {score: values of the folds, fit_s, chosen} or the error's text)."""
    cell = {"fit_s": [], "chosen": []}
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for fold, (train, test) in enumerate(folds):
                start = time.perf_counter()
                model, chosen = fit_kind(kind, program, task == "classification",
                                         X[train], y[train], seed=fold)
                cell["fit_s"].append(time.perf_counter() - start)
                cell["chosen"].append(chosen)
                for score, value in judge(model, X[test], y[test], task).items():
                    cell.setdefault(score, []).append(value)
    except Exception as error:  # a program that fails on one set costs one cell
        return name, program, kind, f"{type(error).__name__}: {error}"[:200]
    return name, program, kind, cell


def evaluate(arguments, names, programs, results):
    """Fill `results` {set: {"n", "d", "task", "cells": {kind: {program: cell}}}}."""
    tasks = []
    for name in names:
        X, y, task = load(arguments, name)
        entry = results.setdefault(name, {"n": len(X), "d": X.shape[1], "task": task, "cells": {}})
        if task == "classification":
            entry["classes"] = int(y.max()) + 1
        folds = split(X, y, task, arguments.folds)
        for kind in arguments.kinds:
            known = entry["cells"].setdefault(kind, {})
            tasks += [(name, program, kind, X, y, task, folds) for program in programs
                      if program not in known or program in arguments.again]
    # The longest first: the last worker should not be left with one of them.
    tasks.sort(key=lambda t: (KINDS.index(t[2]) != 2, -t[3].size * (np.ptp(t[4]) if t[5] ==
                                                                    "classification" else 1)))
    done = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")(
        delayed(score_cell)(*task) for task in tasks)
    for count, (name, program, kind, cell) in enumerate(
            tqdm(done, total=len(tasks), disable=not sys.stderr.isatty())):
        if isinstance(cell, str):
            print(f"{name}: {program}, {kind}: {cell}", flush=True)
            results[name]["cells"][kind].pop(program, None)
            continue
        results[name]["cells"][kind][program] = cell
        if count % 50 == 49:  # an interrupted run can be taken up by --extend
            save(arguments, results, {})


def table_of(results, task, kind, score, programs):
    """(sets, (sets, programs) means over folds) of the sets that every program finished."""
    sets = [name for name, entry in results.items() if entry["task"] == task
            and all(p in entry["cells"].get(kind, {}) for p in programs)]
    return sets, np.array([[np.mean(results[s]["cells"][kind][p][score]) for p in programs]
                           for s in sets]).reshape(len(sets), len(programs))


def against_catboost(results, sets, kind, score, program):
    """Paired over folds: mean of log(loss / CatBoost's), sets beyond two standard errors."""
    ratios, better, worse = [], 0, 0
    for name in sets:
        cells = results[name]["cells"][kind]
        gap = np.log(np.maximum(cells[program][score], 1e-6)) - np.log(
            np.maximum(cells[CATBOOST][score], 1e-6))
        error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.inf
        ratios.append(gap.mean())
        better += bool(gap.mean() < -max(2 * error, 1e-9))
        worse += bool(gap.mean() > max(2 * error, 1e-9))
    return {"ratio": float(np.exp(np.mean(ratios))), "median": float(np.exp(np.median(ratios))),
            "better": better, "worse": worse}


def summarise(results, programs):
    """Mean ranks, mean ratios to CatBoost and seconds, by task and kind."""
    summary = {}
    for task, loss in LOSS.items():
        for kind in KINDS:
            sets, losses = table_of(results, task, kind, loss, programs)
            if not sets:
                continue
            # Losses equal to four digits are ties: no reader should see an order in them.
            ranks = rankdata([[float(f"{v:.4g}") for v in row] for row in losses], axis=1)
            rows = {}
            for i, program in enumerate(programs):
                cells = [results[s]["cells"][kind][program] for s in sets]
                rows[program] = {
                    "mean_rank": float(ranks[:, i].mean()), "wins": int((ranks[:, i] < 1.5).sum()),
                    "mean_loss": float(losses[:, i].mean()),
                    "fit_s": float(sum(sum(cell["fit_s"]) for cell in cells))}
                if CATBOOST in programs:
                    rows[program].update(against_catboost(results, sets, kind, loss, program))
                if task == "classification":
                    rows[program]["accuracy"] = float(np.mean([c["accuracy"] for c in cells]))
            if task == "classification":
                _, accuracy = table_of(results, task, kind, "accuracy", programs)
                ranks = rankdata(-accuracy.round(4), axis=1).mean(axis=0)
                for program, rank in zip(programs, ranks, strict=True):
                    rows[program]["accuracy_rank"] = float(rank)
            summary[f"{task}, {kind}"] = {"sets": len(sets), "programs": rows}
    return summary


def print_summary(summary):
    for title, of in summary.items():
        task = title.split(",")[0]
        extra = ["accuracy", "rank by it"] if task == "classification" else []
        table = []
        for program, row in of["programs"].items():
            ratio = ([f"{row['ratio']:.3f}", f"{row['median']:.3f}", row["better"], row["worse"]]
                     if "ratio" in row else ["-"] * 4)
            table.append([program, f"{row['mean_rank']:.2f}", row["wins"],
                          f"{row['mean_loss']:.4f}", *ratio,
                          *([f"{row['accuracy']:.4f}", f"{row['accuracy_rank']:.2f}"]
                            if extra else []), f"{row['fit_s']:.0f}"])
        print_markdown(f"{title}: {of['sets']} sets, {LOSS[task]}", [
            "program", "mean rank", "first", "mean", "/ CatBoost", "median", "better", "worse",
            *extra, "fit s"], table)


def print_sets(results, programs):
    """The loss on every set, one table for each task and kind."""
    for task, loss in LOSS.items():
        for kind in KINDS:
            rows = [[short_name(name), entry["n"], entry["d"],
                     *(f"{np.mean(entry['cells'][kind][p][loss]):.4f}"
                       if p in entry["cells"].get(kind, {}) else "-" for p in programs)]
                    for name, entry in results.items()
                    if entry["task"] == task and entry["cells"].get(kind)]
            if rows:
                print_markdown(f"{task}, {kind}: {loss}", ["set", "n", "d", *programs], rows)


def settings(arguments):
    """The settings of a cell besides its set, program and kind."""
    return {"rows": arguments.rows, "folds": arguments.folds, "grid": GRID,
            "most_rounds": MOST_ROUNDS, "patience": PATIENCE}


def save(arguments, results, summary):
    write_json(arguments.json, NAME, {"settings": settings(arguments), "summary": summary,
                                      "sets": results}, arguments.quick)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rows", type=int, default=10_000, help="rows a set at most (%(default)s)")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (%(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--sets", nargs="+", default=None, metavar="NAME")
    parser.add_argument("--programs", nargs="+", choices=tuple(STOPPED), default=tuple(STOPPED))
    parser.add_argument("--extend", action="store_true",
                        help="keep the scores in the result file, compute what is missing")
    parser.add_argument("--again", nargs="+", default=(), choices=tuple(STOPPED),
                        help="with --extend: compute these programs once more")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    for program in arguments.programs:
        peer(program)  # a missing library is said before anything is measured
    names = [name for task in LOSS for name in manifest_sets(arguments.data, task)
             if name not in DOUBLES]
    if arguments.quick and arguments.sets is None:
        arguments.sets, arguments.rows = QUICK_SETS, min(arguments.rows, 1_000)
    names = choose(names, arguments.sets)
    results = earlier_sets(arguments, settings(arguments))
    start = time.perf_counter()
    evaluate(arguments, names, arguments.programs, results)
    programs = [p for p in STOPPED if any(p in cells for entry in results.values()
                                            for cells in entry["cells"].values())]
    print_sets(results, programs)
    summary = summarise(results, programs)
    print_summary(summary)
    save(arguments, results, summary)
    print(f"\n{time.perf_counter() - start:.0f} s; results written to {arguments.json}")


if __name__ == "__main__":
    main()
