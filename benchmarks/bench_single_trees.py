"""Accuracy of one tree against its number of parameters: fctree's curvature trees and their rivals.

    python bench_single_trees.py --data DIR --runs FOLDER --hrt FOLDER

DIR holds the tables of `real_data.py`; all programs get them as numbers (`league_programs.encoded`) and a target of mean 0
and variance 1. Each setting of a program (`single_tree_programs.py`, which says what a parameter is) is fitted to the training
rows, and its error estimated by three folds of them. For a budget of parameters, a program's score is R² on the test rows of the
setting with the least such error among those whose fit to all training rows keeps the budget; the training mean, one
parameter, is a setting of every program.

Each fit is a JSON file below FOLDER, so that a run goes on where it stopped; `--show` only reads them. A setting that takes
over `--limit` seconds, its four fits together, is left out.
"""

import argparse
import json
import multiprocessing
import time
import warnings
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from league import Table, load, splits
from league_programs import encoded, use_hinge_trees
from real_data import REGRESSION_SETS, choose, short_name
from report import add_arguments, add_run_arguments, print_markdown, write_json
from scipy.stats import rankdata
from single_tree_plot import plot_frontiers
from single_tree_programs import OWN, PROGRAMS, fit
from threadpoolctl import threadpool_limits

NAME = "single_trees"
BUDGETS = (10, 30, 100, 300)
CURVE = (10, 14, 20, 30, 43, 60, 100, 140, 200, 300)
INNER_FOLDS = 3
DRAWN = ("airfoil", "cadata", "concrete", "energy_cooling", "kin8nm", "mg", "protein_casp", "wine_red")
TREES = "curvature trees"  # all of OWN, chosen among like the settings of one program


def parts_of(table, n_folds, fold):
    """(X, y) of training and of test rows, all of them first and then the inner folds."""
    train, test = splits(table, n_folds)[fold]
    encoder = encoded().fit(table.X.iloc[train])
    X = np.asarray(encoder.transform(table.X), dtype=float)
    y = (table.y - table.y[train].mean()) / (table.y[train].std() or 1.0)
    inner = splits(Table(table.name, table.X.iloc[train], table.y[train]), INNER_FOLDS)
    rows = [(train, test), *((train[fitted], train[held]) for fitted, held in inner)]
    return [(X[a], y[a], X[b], y[b]) for a, b in rows]


def squared_error(y, predictions):
    predictions = np.ravel(np.asarray(predictions, dtype=float))
    if not np.isfinite(predictions).all():
        raise ValueError("predictions that are not finite")
    return float(np.mean((y - predictions) ** 2))


def measure(program, options, parts, memories):
    """The record of one setting."""
    start, errors = time.perf_counter(), []
    for (X, y, X_test, y_test), memory in zip(parts, memories, strict=True):
        model, size = fit(program, X, y, memory, options)
        errors.append(squared_error(y_test, model.predict(X_test)))
        if len(errors) == 1:
            numbers, indices = (int(count) for count in size)
            seconds = time.perf_counter() - start
    return {"numbers": numbers, "indices": indices, "r2": 1.0 - errors[0] / parts[0][3].var(),
            "held": float(np.mean(errors[1:])), "fit_s": seconds}


def work(pipe, program, settings, parts):
    """The body of a process: send one record a setting."""
    memories = [{} for _ in parts]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in settings:
            try:
                pipe.send(measure(program, options, parts, memories))
            except Exception as error:  # a setting that fails is not chosen
                pipe.send({"failure": f"{type(error).__name__}: {error}"[:200]})


def records(program, settings, parts, limit):
    """Pairs of setting and record, from a process that is replaced when it is too slow or dies."""
    context = multiprocessing.get_context("fork")
    settings = list(settings)
    while settings:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(theirs, program, settings, parts))
        process.start()
        theirs.close()
        found = {}
        while settings and not {"left out", "died"} & set(found):
            try:
                found = ours.recv() if ours.poll(limit) else {"left out": limit}
            except EOFError:
                found = {"failure": "the process died", "died": True}
            yield settings.pop(0), found
        process.kill()
        process.join()


def record_file(runs, key, options):
    """The file of one fit; `key` is (max_rows, n_folds, set, program, fold)."""
    rows, folds, name, program, fold = key
    slug = ",".join(f"{option}={value}" for option, value in options.items())
    folder = Path(runs) / f"{rows}_rows_{folds}_folds" / short_name(name) / program.replace(" ", "_")
    return folder / f"{slug}_{fold}.json"


def keep_record(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(record))
    partial.replace(path)


def run_fold(arguments, name, fold, programs):
    """All fits of one fold of a set that have no record yet."""
    parts = None
    for program in programs:
        key = (arguments.max_rows, arguments.folds, name, program, fold)
        waiting = [options for options in PROGRAMS[program].settings
                   if not record_file(arguments.runs, key, options).is_file()]
        if not waiting:
            continue
        if parts is None:
            parts = parts_of(load(arguments.data, name, arguments.max_rows), arguments.folds, fold)
            mean = {"numbers": 1, "indices": 0, "held": np.mean([y.var() for *_, y in parts[1:]]),
                    "r2": 1.0 - np.mean(parts[0][3] ** 2) / parts[0][3].var()}
            facts = {"set": short_name(name), "columns": parts[0][0].shape[1], "fold": fold, "mean": mean}
        fewer = [options for options in waiting if options.get("features", 0) < facts["columns"]]
        start, failures = time.perf_counter(), 0
        for options, found in records(PROGRAMS[program], fewer, parts, arguments.limit):
            failures += "r2" not in found
            keep_record(record_file(arguments.runs, key, options),
                        {**facts, "program": program, "options": options, **found})
        print(f"{short_name(name)}, {program}, {fold}: {len(fewer)} settings in "
              f"{time.perf_counter() - start:.1f} s, {failures} without an answer", flush=True)


def read_records(arguments):
    folder = Path(arguments.runs) / f"{arguments.max_rows}_rows_{arguments.folds}_folds"
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*/*/*.json"))]
    return [record for record in found if record["options"] in PROGRAMS[record["program"]].settings]


def chosen(found, budget, counted):
    """R² of the setting with the least held-out error among those within the budget."""
    within = [found[0]["mean"]] + [record for record in found if "r2" in record
                                   and sum(record[part] for part in counted) <= budget]
    return min(within, key=lambda record: record["held"])["r2"]


def scores(found, counted=("numbers", "indices")):
    """{set: {program: {budget: R², mean over the folds}}} from all records."""
    cells = {}
    for record in found:
        for program in (record["program"], TREES) if record["program"] in OWN else (record["program"],):
            cells.setdefault(record["set"], {}).setdefault(program, {}).setdefault(
                record["fold"], []).append(record)
    return {name: {program: {budget: float(np.mean([chosen(fold, budget, counted) for fold in folds.values()]))
                             for budget in CURVE} for program, folds in programs.items()}
            for name, programs in cells.items()}


def standings(by_set, own=TREES):
    """{budget: {program: mean rank, mean R², sets where it is best, sets where `own` is better}}."""
    rivals = sorted(set.intersection(*map(set, by_set.values())) - {*OWN, TREES})
    programs, found = [own, *rivals], {}
    for budget in BUDGETS:
        r2 = np.array([[of[program][budget] for program in programs] for of in by_set.values()])
        ranks = rankdata(-r2.round(4), axis=1)
        found[str(budget)] = {
            program: {"mean rank": ranks[:, i].mean(), "mean R2": np.clip(r2[:, i], 0, None).mean(),
                      "best": int((ranks[:, i] == ranks.min(axis=1)).sum()),
                      "curvature trees better": int((r2[:, 0].round(4) > r2[:, i].round(4)).sum())}
            for i, program in enumerate(programs)}
    return found


def summarise(found):
    """Standings, scores by set and budget: the page's numbers."""
    by_set = scores(found)
    best = {name: {str(budget): max((program for program in of if program not in OWN),
                                    key=lambda program: of[program][budget]) for budget in BUDGETS}
            for name, of in by_set.items()}
    facts = {record["set"]: record["columns"] for record in found}
    programs = {record["program"] for record in found}
    return {
        "regression": standings(by_set),
        "without indices": standings(scores(found, ("numbers",))),
        "alone": {own: {budget: of[own] for budget, of in standings(by_set, own).items()}
                  for own in OWN if own in programs},
        "sets": {name: {"columns": facts[name], "best": best[name], "R2": {
            program: {str(budget): value for budget, value in of.items()}
            for program, of in programs_of.items()}} for name, programs_of in by_set.items()},
        "settings": {program: len(PROGRAMS[program].settings) for program in programs},
        "without an answer": {program: sum("r2" not in record for record in found if record["program"] == program)
                              for program in programs},
    }


def show(results):
    for part in ("regression", "without indices"):
        programs = sorted(results[part]["100"], key=lambda p: results[part]["100"][p]["mean rank"])
        for key, digits in (("mean rank", 1), ("mean R2", 3), ("best", 0), ("curvature trees better", 0)):
            print_markdown(f"{part}: {key}", ["program", *map(str, BUDGETS)], [
                [program, *(f"{results[part][str(budget)][program][key]:.{digits}f}" for budget in BUDGETS)]
                for program in programs])
    print_markdown("one variant alone, mean rank", ["program", *map(str, BUDGETS)], [
        [own, *(f"{of[str(budget)]['mean rank']:.1f} ({of[str(budget)]['mean R2']:.3f})" for budget in BUDGETS)]
        for own, of in results["alone"].items()])
    rows = []
    for name, of in results["sets"].items():
        cells = [f"{of['best'][str(b)]} {of['R2'][of['best'][str(b)]][str(b)]:.3f} "
                 f"({of['R2'][TREES][str(b)]:.3f})" for b in BUDGETS]
        rows.append([name, of["columns"], *cells])
    print_markdown("best on each set (curvature trees)", ["set", "columns", *map(str, BUDGETS)], rows)
    print("without an answer:", results["without an answer"])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    add_run_arguments(parser, PROGRAMS, max_rows=1000, folds=2)
    parser.add_argument("--limit", type=float, default=20.0, help="most seconds of a setting's fits")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="where the picture is written")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.max_rows, arguments.sets = 400, arguments.sets or ["concrete", "mg"]
        arguments.programs = ["curvature tree", "CART", "sparse linear"]
    return arguments


def main():
    arguments = parse()
    use_hinge_trees(arguments.hrt)
    if not arguments.show:
        for wanted in arguments.sets or REGRESSION_SETS:  # in the order that was asked for
            for name in choose(REGRESSION_SETS, [wanted]):
                for fold in range(arguments.folds):
                    run_fold(arguments, name, fold, arguments.programs or list(PROGRAMS))
    results = summarise(read_records(arguments))
    show(results)
    write_json(arguments.json, NAME, results, quick=arguments.quick)
    if arguments.plot is not None:
        plot_frontiers(results["sets"], [name for name in DRAWN if name in results["sets"]], arguments.plot)


if __name__ == "__main__":
    main()
