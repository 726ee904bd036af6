"""Accuracy of one tree against its number of parameters: fctree's curvature trees and their rivals.

    python bench_single_trees.py --data DIR --runs FOLDER --hrt FOLDER
    python bench_single_trees.py --data DIR --runs FOLDER --task classes

DIR holds the tables of `real_data.py`; all programs get them as numbers (`league_programs.encoded`), and classes or a target of
mean 0 and variance 1. Each setting of a program (`single_tree_programs.py`, which says what a parameter is, and
`single_tree_classifiers.py`) is fitted to the training rows, and its error, squared or log-loss, estimated by three folds of them.
For a budget of parameters, a program's score is R², or log-loss and accuracy, on the test rows of the setting with the least such
error among those whose fit to all training rows keeps the budget; the training mean, one parameter, or the frequencies of
K classes, K - 1 parameters, are a setting of every program.

Each fit is a JSON file below FOLDER, so that a run goes on where it stopped; `--show` only reads them. A setting that takes
over `--limit` seconds, its four fits together, is left out. `--extend` keeps what the result file has of programs without records:
all but the standings without indices in the count, which need everyone's.
"""

import argparse
import json
import multiprocessing
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from league import Table, judge, load, splits
from league_programs import encoded, use_hinge_trees
from real_data import REGRESSION_SETS, choose, short_name
from report import RESULTS, add_arguments, add_run_arguments, print_markdown, write_json
from scipy.stats import rankdata
from single_tree_classifiers import CLASSIFIERS
from single_tree_earlier import keep_facts, with_earlier
from single_tree_plot import plot_frontiers
from single_tree_programs import OWN, PROGRAMS, are_classes, fit
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_limits

NAME = "single_trees"
BUDGETS = (10, 30, 100, 300)
CURVE = (10, 14, 20, 30, 43, 60, 100, 140, 200, 300)
INNER_FOLDS = 3
DRAWN = ("airfoil", "cadata", "concrete", "energy_cooling", "kin8nm", "mg", "protein_casp", "wine_red")
TREES = "curvature trees"  # all of OWN, chosen among like the settings of one program
CLASS_SETS = (  # chosen by size and kind, two and more classes in turn
    "uci90/titanic", "uci90/balance-scale", "classification/pmlb_diabetes", "classification/pmlb_vehicle",
    "uci90/mammographic", "uci90/contrac", "uci90/statlog-australian-credit", "uci90/waveform",
    "classification/pmlb_breast_cancer_wisconsin", "uci90/wine-quality-white", "classification/pmlb_twonorm",
    "uci90/statlog-image", "uci90/blood", "uci90/cardiotocography-3clases",
)


@dataclass(frozen=True)
class Task:
    """Sets and programs of one kind, their file, and the score of a record that programs are compared by."""

    name: str
    file: str
    sets: tuple
    programs: dict
    score: str
    label: str
    sign: int  # of a score that is better where it is lower


TASKS = {task.name: task for task in (
    Task("regression", NAME, REGRESSION_SETS, PROGRAMS, "r2", "R2", -1),
    Task("classes", f"{NAME}_classes", CLASS_SETS, CLASSIFIERS, "log_loss", "log-loss", 1))}


def parts_of(table, n_folds, fold):
    """(X, y) of training and of test rows, all of them first and then the inner folds."""
    train, test = splits(table, n_folds)[fold]
    encoder = encoded().fit(table.X.iloc[train])
    X = np.asarray(encoder.transform(table.X), dtype=float)
    y = table.y if table.classifies else (table.y - table.y[train].mean()) / (table.y[train].std() or 1.0)
    inner = splits(Table(table.name, table.X.iloc[train], table.y[train]), INNER_FOLDS)
    rows = [(train, test), *((train[fitted], train[held]) for fitted, held in inner)]
    return [(X[a], y[a], X[b], y[b]) for a, b in rows]


def squared_error(y, predictions):
    predictions = np.ravel(np.asarray(predictions, dtype=float))
    if not np.isfinite(predictions).all():
        raise ValueError("predictions that are not finite")
    return float(np.mean((y - predictions) ** 2))


def judged(model, X, y):
    """The error of a fit on rows, and the scores of a record."""
    if are_classes(y):
        found = judge(y, model.predict_proba(X), classifies=True)
        return found["error"], {"log_loss": found["error"], "accuracy": found["accuracy"]}
    error = squared_error(y, model.predict(X))
    return error, {"r2": 1.0 - error / y.var()}


def measure(program, options, parts, memories):
    """The record of one setting."""
    start, errors = time.perf_counter(), []
    for (X, y, X_test, y_test), memory in zip(parts, memories, strict=True):
        model, size = fit(program, X, y, memory, options)
        error, of_rows = judged(model, X_test, y_test)
        errors.append(error)
        if len(errors) == 1:
            numbers, indices = (int(count) for count in size)
            seconds, scores_found = time.perf_counter() - start, of_rows
    return {"numbers": numbers, "indices": indices, **scores_found, "held": float(np.mean(errors[1:])), "fit_s": seconds}


def constant(parts):
    """The record of the training mean, or of the frequencies of the classes."""
    if not are_classes(parts[0][1]):
        return {"numbers": 1, "indices": 0, "held": np.mean([y.var() for *_, y in parts[1:]]),
                "r2": 1.0 - np.mean(parts[0][3] ** 2) / parts[0][3].var()}
    found = [judged(DummyClassifier().fit(X, y), X_test, y_test) for X, y, X_test, y_test in parts]
    return {"numbers": int(parts[0][1].max()), "indices": 0, "held": np.mean([error for error, _ in found[1:]]),
            **found[0][1]}


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
    for label, program in programs.items():
        key = (arguments.max_rows, arguments.folds, name, label, fold)
        waiting = [options for options in program.settings
                   if not record_file(arguments.runs, key, options).is_file()]
        if not waiting:
            continue
        if parts is None:
            parts = parts_of(load(arguments.data, name, arguments.max_rows), arguments.folds, fold)
            facts = {"set": short_name(name), "columns": parts[0][0].shape[1], "fold": fold, "mean": constant(parts)}
            if are_classes(parts[0][1]):
                facts["classes"] = int(parts[0][1].max()) + 1
        fewer = [options for options in waiting if options.get("features", 0) < facts["columns"]]
        start, failures = time.perf_counter(), 0
        for options, found in records(program, fewer, parts, arguments.limit):
            failures += "held" not in found
            keep_record(record_file(arguments.runs, key, options),
                        {**facts, "program": label, "options": options, **found})
        print(f"{short_name(name)}, {label}, {fold}: {len(fewer)} settings in "
              f"{time.perf_counter() - start:.1f} s, {failures} without an answer", flush=True)


def read_records(arguments, task):
    folder = Path(arguments.runs) / f"{arguments.max_rows}_rows_{arguments.folds}_folds"
    names = {short_name(name) for name in task.sets}
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*/*/*.json")) if path.parts[-3] in names]
    return [record for record in found if record["options"] in task.programs[record["program"]].settings]


def chosen(found, budget, counted, score="r2"):
    """The score of the setting with the least held-out error among those within the budget."""
    within = [found[0]["mean"]] + [record for record in found if "held" in record
                                   and sum(record[part] for part in counted) <= budget]
    return min(within, key=lambda record: record["held"])[score]


def scores(found, score="r2", counted=("numbers", "indices")):
    """{set: {program: {budget: score, mean over the folds}}} from all records."""
    cells = {}
    for record in found:
        for program in (record["program"], TREES) if record["program"] in OWN else (record["program"],):
            cells.setdefault(record["set"], {}).setdefault(program, {}).setdefault(
                record["fold"], []).append(record)
    return {name: {program: {budget: float(np.mean([chosen(fold, budget, counted, score) for fold in folds.values()]))
                             for budget in CURVE} for program, folds in programs.items()}
            for name, programs in cells.items()}


def standings(by_set, own=TREES, label="R2", sign=-1):
    """{budget: {program: mean rank, mean score, sets where it is best, sets where `own` is better}}."""
    rivals = sorted(set.intersection(*map(set, by_set.values())) - {*OWN, TREES})
    programs, found = [own, *rivals], {}
    for budget in BUDGETS:
        values = np.array([[of[program][budget] for program in programs] for of in by_set.values()])
        losses = sign * values.round(4)
        ranks = rankdata(losses, axis=1)
        found[str(budget)] = {
            program: {"mean rank": ranks[:, i].mean(), f"mean {label}": np.clip(values[:, i], 0, None).mean(),
                      "best": int((ranks[:, i] == ranks.min(axis=1)).sum()),
                      "curvature trees better": int((losses[:, 0] < losses[:, i]).sum())}
            for i, program in enumerate(programs)}
    return found


def mean_accuracy(found):
    """{budget: {program: mean accuracy over the sets}} of the settings that log-loss chose."""
    by_set = list(scores(found, "accuracy").values())
    programs = sorted(set.intersection(*map(set, by_set)) - {*OWN})
    return {str(budget): {program: {"mean accuracy": np.mean([of[program][budget] for of in by_set])}
                          for program in programs} for budget in BUDGETS}


def summarise(found, task, earlier=None):
    """Standings, scores by set and budget: the page's numbers. Programs without records are those of an earlier result."""
    by_set = scores(found, task.score)
    programs = {record["program"] for record in found}
    results = {
        "settings": {program: len(task.programs[program].settings) for program in programs},
        "without an answer": {program: sum("held" not in record for record in found if record["program"] == program)
                              for program in programs}}
    labelled = {"label": task.label, "sign": task.sign}
    if task.score != "r2":
        results["accuracy"] = mean_accuracy(found)
    if earlier is None:
        results["without indices"] = standings(scores(found, task.score, ("numbers",)), **labelled)
    else:
        by_set = with_earlier(by_set, earlier, task.label)
        keep_facts(results, earlier)
    facts = {record["set"]: {fact: record[fact] for fact in ("columns", "classes") if fact in record} for record in found}
    best = {name: {str(budget): min((program for program in of if program not in OWN),
                                    key=lambda program: task.sign * of[program][budget]) for budget in BUDGETS}
            for name, of in by_set.items()}
    return {
        task.name: standings(by_set, **labelled),
        "alone": {own: {budget: of[own] for budget, of in standings(by_set, own, **labelled).items()}
                  for own in OWN if all(own in of for of in by_set.values())},
        "sets": {name: {**facts[name], "best": best[name], task.label: {
            program: {str(budget): value for budget, value in of.items()}
            for program, of in programs_of.items()}} for name, programs_of in by_set.items()},
        **results,
    }


def show(results, task):
    in_order = sorted(results[task.name]["100"], key=lambda p: results[task.name]["100"][p]["mean rank"])
    keys = {"mean rank": 1, f"mean {task.label}": 3, "best": 0, "curvature trees better": 0}
    for part, digits_of in ((task.name, keys), ("without indices", keys), ("accuracy", {"mean accuracy": 3})):
        for key, digits in digits_of.items() if part in results else ():
            print_markdown(f"{part}: {key}", ["program", *map(str, BUDGETS)], [
                [program, *(f"{results[part][str(budget)][program][key]:.{digits}f}" for budget in BUDGETS)]
                for program in in_order])
    print_markdown("one variant alone, mean rank", ["program", *map(str, BUDGETS)], [
        [own, *(f"{of[str(budget)]['mean rank']:.1f} ({of[str(budget)][f'mean {task.label}']:.3f})" for budget in BUDGETS)]
        for own, of in results["alone"].items()])
    rows = []
    for name, of in results["sets"].items():
        cells = [f"{of['best'][str(b)]} {of[task.label][of['best'][str(b)]][str(b)]:.3f} "
                 f"({of[task.label][TREES][str(b)]:.3f})" for b in BUDGETS]
        rows.append([name, of["columns"], of.get("classes", "-"), *cells])
    print_markdown("best on each set (curvature trees)", ["set", "columns", "classes", *map(str, BUDGETS)], rows)
    print("without an answer:", results["without an answer"])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    add_run_arguments(parser, {**PROGRAMS, **CLASSIFIERS}, max_rows=1000, folds=2)
    parser.add_argument("--task", choices=list(TASKS), default="regression")
    parser.set_defaults(json=None)  # that of the task
    parser.add_argument("--limit", type=float, default=20.0, help="most seconds of a setting's fits")
    parser.add_argument("--extend", action="store_true",
                        help="keep what the result file has of programs without records")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="where the picture is written")
    arguments = parser.parse_args()
    arguments.task = TASKS[arguments.task]
    arguments.json = arguments.json or RESULTS / f"{arguments.task.file}.json"
    if arguments.quick:
        sets = {"regression": ["concrete", "mg"], "classes": ["titanic", "pmlb_vehicle"]}
        arguments.max_rows, arguments.sets = 400, arguments.sets or sets[arguments.task.name]
        arguments.programs = ["curvature tree", "CART", list(arguments.task.programs)[-1]]
    return arguments


def main():
    arguments = parse()
    task = arguments.task
    use_hinge_trees(arguments.hrt)
    if not arguments.show:
        programs = {label: program for label, program in task.programs.items()
                    if label in (arguments.programs or task.programs)}
        for wanted in arguments.sets or task.sets:  # in the order that was asked for
            for name in choose(task.sets, [wanted]):
                for fold in range(arguments.folds):
                    run_fold(arguments, name, fold, programs)
    earlier = json.loads(arguments.json.read_text())["results"] if arguments.extend else None
    results = summarise(read_records(arguments, task), task, earlier)
    show(results, task)
    write_json(arguments.json, task.file, results, quick=arguments.quick)
    if arguments.plot is not None:
        plot_frontiers(results["sets"], [name for name in DRAWN if name in results["sets"]], arguments.plot)


if __name__ == "__main__":
    main()
