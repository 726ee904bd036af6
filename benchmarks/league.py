"""Which program predicts tables best? fctree's estimators and their rivals, in the form of TabArena.

    python league.py --data DIR --runs FOLDER

DIR holds libsvm/, regression/, classification/ and uci90/ with gzip CSV files (`real_data.py`). Programs get
a table raw where they take categories and missing values, else as indicators and medians. Each fit is a process
of its own and a JSON file below FOLDER, so that a run goes on where it stopped; `--show` only reads them.

Settings, by `--settings`:

default    what the program does without a keyword but the seed and the number of threads
tuned      random search within `--budget` seconds of wall time, the same for all: the settings with the
           least error on three held-out folds of the training rows, fitted again to all of them
ensembled  a greedy ensemble of what the same search has tried, each fitted again to all training rows

Errors are RMSE and log-loss, means over the folds. The summary has Elo ratings (random forest: 1000), mean ranks, times and
failures; a fit over `--limit` seconds is left out and counted, one that raises loses.
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
import pandas as pd
from ensemble_programs import Task
from league_earlier import keep_times, with_earlier
from league_programs import OWN, PROGRAMS, REFERENCE, Fit, formed, text_columns, use_hinge_trees
from league_scores import choose_ensemble, elo_intervals, losses, mean_ranks
from peers import usable
from real_data import (
    REGRESSION_SETS, available, choose, classification_sets, manifest_sets, short_name)
from report import add_arguments, add_run_arguments, print_markdown, seconds_text, write_json
from sklearn.metrics import accuracy_score, log_loss, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from table_data import REAL_TABLES, read_table
from threadpoolctl import threadpool_limits

NAME = "league"
SETTINGS = ("default", "tuned", "ensembled")
INNER_FOLDS = 3
KINDS = ("regression", "binary", "multiclass")
QUICK = {"sets": ["concrete", "pmlb_vehicle", "credit_approval"], "settings": ["default"],
         "programs": [*OWN[:2], REFERENCE, "linear", "HistGradientBoosting"]}


@dataclass(frozen=True)
class Table:
    """A raw table and what it is."""

    name: str
    X: pd.DataFrame
    y: np.ndarray

    @property
    def classifies(self):
        return self.y.dtype.kind in "iu"

    @property
    def kind(self):
        if not self.classifies:
            return "regression"
        return "binary" if self.y.max() == 1 else "multiclass"

    def properties(self):
        """Size, kind and peculiarities of the table."""
        numbers = self.X.drop(columns=text_columns(self.X))
        return {"kind": self.kind, "rows": len(self.X), "columns": self.X.shape[1],
                "classes": int(self.y.max()) + 1 if self.classifies else None,
                "categories": len(text_columns(self.X)),
                "missing": float(self.X.isna().to_numpy().mean()),
                "two-valued columns": float((numbers.nunique() <= 2).sum()) / self.X.shape[1],
                "values a column": float(self.X.nunique().median()),
                "rarest class": np.bincount(self.y).min() / len(self.y) if self.classifies else None,
                "repeated rows": float(self.X.duplicated().mean())}


def known_sets(folder):
    """Names of all tables of the folder, each once."""
    names = [name for name in REGRESSION_SETS if name != "libsvm/abalone"] + ["regression/abalone"]
    names, _ = available(folder, names)
    twice = {"pmlb_crx", "pmlb_pima", "pima", "car", "statlog-vehicle", "breast-cancer-wisc-diag"}
    names += [name for name in classification_sets(folder) if short_name(name) not in twice]
    seen = {short_name(name).removeprefix("pmlb_").replace("_", "-") for name in names}
    uci = [name for name in manifest_sets(folder, "uci90") if not name.endswith(".folds")]
    return names + [name for name in uci if short_name(name) not in seen | twice]


def load(folder, name, max_rows):
    """One table with text as categories and missing values left; classes that are rarer than 10 rows are dropped."""
    for short, (file, _) in REAL_TABLES.items():
        if file == name:
            X, y = read_table(folder, short, max_rows)
            return Table(name, X, y if y.dtype.kind == "f" else y.astype(int))
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz", na_values="?")
    rows = np.sort(np.random.default_rng(0).permutation(len(frame))[:max_rows])
    frame = frame.iloc[rows].reset_index(drop=True)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    for column in text_columns(X):
        X[column] = X[column].astype(object).where(X[column].notna(), None)
    if name.split("/")[0] in ("libsvm", "regression"):
        return Table(name, X, y.to_numpy(dtype=float))
    y = pd.factorize(y, sort=True)[0]
    frequent = np.bincount(y)[y] >= 10  # every fold needs every class
    return Table(name, X[frequent].reset_index(drop=True), pd.factorize(y[frequent], sort=True)[0])


def splits(table, n_folds, rows=slice(None)):
    kind = StratifiedKFold if table.classifies else KFold
    return list(kind(n_folds, shuffle=True, random_state=0).split(table.X.iloc[rows], table.y[rows]))


def judge(y, answers, classifies):
    """Scores of answers; "error" is the one that counts."""
    if not np.isfinite(answers).all():
        raise ValueError("predictions that are not finite")
    if not classifies:
        return {"error": float(root_mean_squared_error(y, answers)), "r2": float(r2_score(y, answers))}
    answers = np.clip(answers, 1e-6, None)
    answers = answers / answers.sum(axis=1, keepdims=True)
    return {"error": float(log_loss(y, answers, labels=np.arange(answers.shape[1]))),
            "accuracy": float(accuracy_score(y, answers.argmax(axis=1)))}


def fit_default(program, table, task, train, test):
    """The record of one fit with default settings."""
    start = time.perf_counter()
    model = Fit(program, task, {}, table.X.iloc[train], table.y[train])
    fitted = time.perf_counter()
    answers = model.answers(table.X.iloc[test])
    seconds = {"fit_s": fitted - start, "predict_s": time.perf_counter() - fitted}
    return {"default": {**judge(table.y[test], answers, table.classifies), **seconds}}


def draw_options(program, seed, n_most=200):
    """The default settings, then settings drawn from the program's space, none twice."""
    rng, seen = np.random.default_rng(seed), []
    yield {}
    for _ in range(n_most if PROGRAMS[program].space else 0):
        options = {key: values[rng.integers(len(values))] for key, values in PROGRAMS[program].space.items()}
        if options not in seen:
            seen.append(options)
            yield options


def fit_tuned(program, table, task, train, test, budget):
    """The records of "tuned" and "ensembled": one search gives both."""
    def fit(options, rows):
        return Fit(program, task, options, table.X.iloc[rows], table.y[rows])

    def loss(answers):
        return judge(table.y[train], answers, table.classifies)["error"]

    start, inner, tried = time.perf_counter(), splits(table, INNER_FOLDS, train), []
    for options in draw_options(program, task.seed):
        held, models = [None] * len(train), [fit(options, train[rows]) for rows, _ in inner]
        for model, (_, held_rows) in zip(models, inner, strict=True):
            for row, answer in zip(held_rows, model.answers(table.X.iloc[train[held_rows]]), strict=True):
                held[row] = answer
        tried.append((options, np.array(held)))
        if time.perf_counter() - start > budget:
            break
    best = int(np.argmin([loss(held) for _, held in tried]))
    weights = choose_ensemble([held for _, held in tried], loss)
    searched = time.perf_counter() - start

    records = {}
    for setting, chosen in (("tuned", {best: 1.0}), ("ensembled", dict(enumerate(weights)))):
        start = time.perf_counter()
        models = [(weight, fit(tried[place][0], train)) for place, weight in chosen.items() if weight > 0]
        fitted = time.perf_counter()
        answers = sum(weight * model.answers(table.X.iloc[test]) for weight, model in models)
        records[setting] = {
            **judge(table.y[test], answers, table.classifies), "fit_s": searched + fitted - start,
            "predict_s": time.perf_counter() - fitted, "tried": len(tried), "options": str(tried[best][0])}
    return records


def work(pipe, arguments):
    """The body of a fit's process: send the records, or what went wrong."""
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            *rest, budget = arguments
            pipe.send(fit_default(*rest) if budget is None else fit_tuned(*rest, budget))
    except Exception as error:  # a program that fails on one set costs one game
        pipe.send({"failure": f"{type(error).__name__}: {error}"[:200]})


def run_apart(arguments, limit):
    """Records of a fit in a process of its own, which may crash or be too slow."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(theirs, arguments))
    process.start()
    theirs.close()
    try:
        found = ours.recv() if ours.poll(limit) else {"left out": limit}
    except EOFError:
        found = {"failure": "the process died"}
    process.kill()
    process.join()
    return found


def record_file(runs, key):
    """The file of (max_rows, n_folds, set, program, setting, fold)."""
    rows, folds, name, program, setting, fold = key
    slug = program.replace(" ", "_")
    return Path(runs) / f"{rows}_rows_{folds}_folds" / name.replace("/", "_") / slug / f"{setting}_{fold}.json"


def missing_settings(runs, key, limits):
    """The settings without a record, or left out under a lower limit than `limits[setting]` seconds.

    `key` is (max_rows, n_folds, set, program, fold).
    """
    *rest, fold = key

    def is_missing(setting):
        path = record_file(runs, (*rest, setting, fold))
        return not path.is_file() or json.loads(path.read_text()).get("left out", np.inf) < limits[setting]

    return tuple(setting for setting in limits if is_missing(setting))


def keep_records(runs, key, settings, found, facts):
    """Write what a fit gave, one file a setting."""
    *rest, fold = key
    for setting in settings:
        record = found.get(setting, {k: found[k] for k in ("failure", "left out") if k in found})
        path = record_file(runs, (*rest, setting, fold))
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps({
            "set": rest[2], "program": rest[3], "setting": setting, "fold": fold, "of": facts, **record}))
        partial.replace(path)


def run_set(arguments, name, programs):
    """All fits of one set that have no record yet."""
    table, shared = None, (arguments.max_rows, arguments.folds, name)
    limits = {s: arguments.limit + 4 * arguments.budget * (s != "default") for s in arguments.settings}
    for program in programs:
        for fold in range(arguments.folds):
            key = (*shared, program, fold)
            missing = missing_settings(arguments.runs, key, limits)
            if not missing:
                continue
            if table is None:
                table = load(arguments.data, name, arguments.max_rows)
                if table.classifies and len(np.unique(table.y)) < 2:
                    print(f"{short_name(name)}: fewer than two classes have ten rows")
                    return
                facts, folds = table.properties(), splits(table, arguments.folds)
            if table.classifies and not PROGRAMS[program].classifies:
                continue
            ours = Table(name, formed(table.X, program), table.y)
            for group in (("default",), ("tuned", "ensembled")):
                wanted = [setting for setting in group if setting in missing]
                if not wanted:
                    continue
                budget = None if group == ("default",) else arguments.budget
                task = Task(table.classifies, 1, fold)
                found = run_apart((program, ours, task, *folds[fold], budget), limits[wanted[0]])
                keep_records(arguments.runs, key, wanted, found, facts)
                text = found if {"failure", "left out"} & set(found) else {
                    s: f"{found[s]['error']:.4g} in {seconds_text(found[s]['fit_s'])}" for s in wanted}
                print(f"{short_name(name)}, {program}, {fold}: {text}", flush=True)


def read_records(runs, rows, folds):
    """All records of a folder of runs with so many rows and folds."""
    files = sorted((Path(runs) / f"{rows}_rows_{folds}_folds").glob("*/*/*.json"))
    return [json.loads(path.read_text()) for path in files]


def label(record):
    plain = record["setting"] == "default"
    return record["program"] if plain else f"{record['program']}, {record['setting']}"


def errors_of(records, kinds, n_folds):
    """(sets, programs, errors): a mean over all folds, infinite after a failure, NaN where not run."""
    cells = {}
    for record in records:
        if record["of"]["kind"] in kinds:
            cells.setdefault((record["set"], label(record)), []).append(
                np.nan if "left out" in record else record.get("error", np.inf))
    sets = sorted({name for name, _ in cells})
    programs = sorted({program for _, program in cells})
    errors = np.full((len(sets), len(programs)), np.nan)
    for (name, program), found in cells.items():
        if len(found) == n_folds:
            errors[sets.index(name), programs.index(program)] = np.mean(found)
    played = (~np.isnan(errors)).any(axis=1)
    return [name for name, kept in zip(sets, played, strict=True) if kept], programs, errors[played]


def standings(records, kinds, n_folds):
    """{program: ratings, mean rank, times and failures} on the sets of some kinds."""
    _, programs, errors = errors_of(records, kinds, n_folds)
    if REFERENCE not in programs:
        return {}
    ratings = elo_intervals(errors, programs.index(REFERENCE))
    ranks, found = mean_ranks(errors), {}
    for place, program in enumerate(programs):
        own = [r for r in records if label(r) == program and r["of"]["kind"] in kinds]
        found[program] = {
            "elo": ratings[0, place], "low": ratings[1, place], "high": ratings[2, place],
            "mean rank": ranks[place], "sets": int((~np.isnan(errors[:, place])).sum()),
            **{name: float(np.median([r[key] for r in own if key in r] or [np.nan]))
               for name, key in (("fit", "fit_s"), ("predict", "predict_s"))},
            "failures": sum("failure" in r for r in own), "left out": sum("left out" in r for r in own)}
    return dict(sorted(found.items(), key=lambda entry: -np.nan_to_num(entry[1]["elo"])))


def summarise(records, n_folds):
    """Standings of all kinds of sets, errors by set and losses: the page's numbers."""
    results = {kind: standings(records, (kind,), n_folds) for kind in KINDS}
    results["all"] = standings(records, KINDS, n_folds)
    facts = {record["set"]: record["of"] for record in records}
    defaults = [record for record in records if record["setting"] == "default"]
    sets, programs, errors = errors_of(defaults, KINDS, n_folds)
    results["sets"] = {short_name(name): facts[name] for name in sets}
    results["errors"] = {
        short_name(name): {p: e for p, e in zip(programs, row, strict=True) if np.isfinite(e)}
        for name, row in zip(sets, errors, strict=True)}
    if OWN[0] in programs:  # its losses against everything that is not fctree's
        others = [place for place, p in enumerate(programs) if p == OWN[0] or p not in OWN]
        found = losses(errors[:, others], sets, [programs[place] for place in others], OWN[0])
        results["losses"] = {short_name(name): {**entry, "set": facts[name]}
                             for name, entry in found.items()}
    return results


def show(results):
    for kind in ("all", *KINDS):
        rows = [[program, f"{of['elo']:.0f}", f"{of['low']:.0f} to {of['high']:.0f}",
                 "-" if np.isnan(of["mean rank"]) else f"{of['mean rank']:.1f}", of["sets"],
                 seconds_text(of["fit"]), seconds_text(of["predict"]), of["failures"], of["left out"]]
                for program, of in results[kind].items()]
        print_markdown(kind, ["program", "Elo", "interval", "mean rank", "sets", "fit", "predict",
                              "failures", "left out"], rows)
    rows = [[name, of["rival"], f"{of['ratio']:.2f}", of["fctree"], of["best rival"], of["set"]["rows"],
             of["set"]["columns"], of["set"]["classes"] or "-"]
            for name, of in results.get("losses", {}).items() if of["ratio"] > 1]
    print_markdown(f"{OWN[0]}: losses", ["set", "rival", "ratio", "fctree", "best rival", "rows",
                                         "columns", "classes"], rows)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    add_run_arguments(parser, PROGRAMS, max_rows=10_000, folds=5)
    parser.add_argument("--settings", nargs="*", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a search")
    parser.add_argument("--limit", type=float, default=600.0,
                        help="most seconds of a default fit; a search has four budgets more")
    parser.add_argument("--extend", action="store_true",
                        help="keep what the result file has of programs without records (default settings)")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.max_rows, arguments.folds, arguments.settings = 600, 2, QUICK["settings"]
        arguments.sets = arguments.sets or QUICK["sets"]
        arguments.programs = arguments.programs or QUICK["programs"]
    return arguments


def main():
    arguments = parse()
    use_hinge_trees(arguments.hrt)
    if not arguments.show:
        programs, reasons = usable(arguments.programs or PROGRAMS, lambda name: PROGRAMS[name].make(Task(), []))
        for program, reason in reasons.items():
            print(f"{program}: {reason}")
        names = known_sets(arguments.data)
        for wanted in arguments.sets or names:  # in the order that was asked for
            for name in choose(names, [wanted]):
                run_set(arguments, name, programs)
    records = read_records(arguments.runs, arguments.max_rows, arguments.folds)
    if arguments.extend:
        earlier = json.loads(arguments.json.read_text())["results"]
        results = summarise(with_earlier(records, earlier, arguments.folds), arguments.folds)
        keep_times(results, earlier, {record["program"] for record in records})
    else:
        results = summarise(records, arguments.folds)
    show(results)
    write_json(arguments.json, NAME, results, quick=arguments.quick)


if __name__ == "__main__":
    main()
