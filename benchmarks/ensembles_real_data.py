"""How accurate are ensembles of curvature trees on real data beside other ensembles?

    python ensembles_real_data.py --data DIR

DIR holds libsvm/, regression/ and classification/ with gzip CSV files (`real_data.py`). Cross-validation
with fixed folds, one thread a fit, at most `--rows` rows a set; missing numbers become medians, text
becomes indicators. Every program as it comes; `--tune` looks for the best of a small grid of each
(`ensemble_programs.py`) by three folds of the training part. Regression is judged by R², classification
by accuracy and log-loss; the answer is the mean rank over the sets that all programs finished.

Results are saved after each cell and kept by the next run, which computes what is missing: a program
in an environment of its own adds to the same file. `--again NAME` computes a program once more;
`--show` prints the table of `--programs`.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from ensemble_programs import CATBOOST, FCTREE, FCTREE_100, FOREST, GRIDS, PROGRAMS, Task
from peers import usable
from real_data import (
    REGRESSION_SETS, available, choose, classification_sets, load_table, short_name)
from report import add_arguments, print_markdown, write_json
from scipy.stats import rankdata
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import LabelEncoder
from threadpoolctl import threadpool_limits

NAME = "ensembles_real_data"
DOUBLES = ("classification/pmlb_crx", "classification/pmlb_pima")  # rows of other sets
QUICK_SETS = ("concrete", "abalone", "kin8nm", "pmlb_diabetes", "pmlb_vehicle")


def load(arguments, name):
    """(X, y: classes as 0 .. c - 1, whether they are classes)."""
    classifies = name.startswith("classification/")
    X, y = load_table(arguments.data, name, max_rows=arguments.rows)
    if classifies:
        y = LabelEncoder().fit_transform(y)
        frequent = np.bincount(y)[y] >= 3 * arguments.folds
        X, y = X[frequent], LabelEncoder().fit_transform(y[frequent])
    return X, y, classifies


def judge(model, X, y, classifies):
    """Scores of one fold."""
    if not classifies:
        return {"r2": float(r2_score(y, np.ravel(model.predict(X))))}
    if not hasattr(model, "predict_proba"):
        return {"accuracy": float(accuracy_score(y, model.predict(X)))}
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    probabilities = np.clip(probabilities, 1e-6, None)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    classes = np.arange(probabilities.shape[1])
    return {"accuracy": float(accuracy_score(y, probabilities.argmax(axis=1))),
            "log_loss": float(log_loss(y, probabilities, labels=classes))}


def score_cell(program, X, y, classifies, arguments):
    """{score: values of the folds, "fit_s": ..} or {"error": text}."""
    kind = StratifiedKFold if classifies else KFold
    folds = list(kind(arguments.folds, shuffle=True, random_state=0).split(X, y))
    cell = {"fit_s": []}
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for fold, (train, test) in enumerate(folds[:arguments.used_folds]):
                start = time.perf_counter()
                model = PROGRAMS[program](Task(classifies, 1, fold))
                if arguments.tune and GRIDS[program]:
                    model = GridSearchCV(
                        model, GRIDS[program], cv=kind(3, shuffle=True, random_state=0),
                        scoring="neg_log_loss" if classifies else "r2")
                model.fit(X[train], y[train])
                cell["fit_s"].append(time.perf_counter() - start)
                for score, value in judge(model, X[test], y[test], classifies).items():
                    cell.setdefault(score, []).append(value)
    except Exception as error:  # a program that fails on one set costs one cell
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    return cell


def ranks_of(results, score, sign, chosen=None):
    """(sets, programs, means (sets, programs), mean ranks) where all programs have the score."""
    programs = sorted({p for entry in results.values() for p, cell in entry["cells"].items()
                       if score in cell and (not chosen or p in chosen)},
                      key=list(PROGRAMS).index)
    sets = [name for name, entry in results.items() if programs
            and all(score in entry["cells"].get(p, {}) for p in programs)]
    means = np.array([[np.mean(results[name]["cells"][p][score]) for p in programs]
                      for name in sets]).reshape(len(sets), len(programs))
    ranks = np.array([rankdata(-sign * np.round(row, 6)) for row in means])
    return sets, programs, means, ranks.mean(axis=0) if len(sets) else []


def show(results, chosen):
    for score, sign in (("r2", 1), ("accuracy", 1), ("log_loss", -1)):
        sets, programs, means, ranks = ranks_of(results, score, sign, chosen)
        if not len(sets):
            continue
        base = programs.index(CATBOOST) if CATBOOST in programs else None
        rows = []
        for index, program in enumerate(programs):
            seconds = np.mean([np.mean(results[s]["cells"][program]["fit_s"]) for s in sets])
            wins = "-" if base is None else int(np.sum(
                sign * (means[:, index] - means[:, base]) > 1e-6))
            rows.append([program, f"{ranks[index]:.2f}", f"{means[:, index].mean():.4f}", wins,
                         f"{seconds:.2f}"])
        print_markdown(f"{score}, {len(sets)} sets", ["program", "mean rank", "mean",
                                                      "better than CatBoost on", "fit s"], rows)
        print_markdown(f"{score} by set", ["set", *programs],
                       [[short_name(s), *(f"{v:.4f}" for v in row)]
                        for s, row in zip(sets, means)])


def plot(results, path, limit=0.06):
    """R² of some programs less CatBoost's, set by set; differences beyond the limit stand at it."""
    import matplotlib.pyplot as plt

    sets, programs, means, _ = ranks_of(results, "r2", 1)
    base = means[:, programs.index(CATBOOST)]
    chosen = [p for p in (FCTREE, FCTREE_100, FOREST, "YDF oblique boosting", "extra trees",
                          "HistGradientBoosting") if p in programs]
    order = np.argsort(means[:, programs.index(chosen[0])] - base)
    figure, axis = plt.subplots(figsize=(8, 5.5))
    axis.axvline(0, color="black", linewidth=1)
    for program, mark in zip(chosen, "ooosdx"):
        gain = np.clip((means[:, programs.index(program)] - base)[order], -limit, limit)
        own = program.startswith("fctree")
        axis.plot(gain, range(len(sets)), mark, label=program, markersize=7 if own else 4,
                  color=None if own else "0.45", fillstyle="full" if own else "none")
    axis.set_yticks(range(len(sets)), [short_name(sets[i]) for i in order], fontsize=8)
    axis.set(xlabel=f"R² less that of {CATBOOST}", xlim=(-1.1 * limit, 1.1 * limit))
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser, NAME)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000, help="most rows of a set")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--used-folds", type=int, default=None, help="stop after so many of them")
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--programs", nargs="*", choices=list(PROGRAMS))
    parser.add_argument("--again", nargs="*", default=[], choices=list(PROGRAMS))
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--plot", type=Path, help="draw the differences to CatBoost")
    parser.add_argument("--show", action="store_true", help="only print what the file has")
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.quick:
        arguments.rows, arguments.sets = 1000, arguments.sets or QUICK_SETS
    names, _ = available(arguments.data, REGRESSION_SETS)
    names += [n for n in classification_sets(arguments.data) if n not in DOUBLES]
    names = choose(names, arguments.sets)
    wanted = arguments.programs or list(GRIDS if arguments.tune else PROGRAMS)
    programs, reasons = usable(wanted, lambda name: PROGRAMS[name](Task()))
    for program, reason in reasons.items():
        print(f"{program}: {reason}")
    results = {}
    if arguments.json.is_file():
        results = json.loads(arguments.json.read_text())["results"]
    for name in [] if arguments.show else names:
        X, y, classifies = load(arguments, name)
        entry = results.setdefault(name, {"n": len(X), "d": X.shape[1], "cells": {}})
        for program in programs:
            if program in entry["cells"] and program not in arguments.again:
                continue
            entry["cells"][program] = score_cell(program, X, y, classifies, arguments)
            print(f"{short_name(name)}: {program}", flush=True)
            write_json(arguments.json, NAME, results, arguments.quick)
    show(results, arguments.programs)
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
