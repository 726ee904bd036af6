"""How well and how fast are tables with categories taken, beside the known programs?

Parts, chosen by `--only`:

accuracy   test log-loss or RMSE and seconds of a fit, two folds of each table: the boosters of
           fctree, CatBoost and HistGradientBoosting with categories as they take them, and
           symmetric boosting on one-hot codes. Real tables need `--data`.
encoding   seconds to encode 10 columns of text with 10,000 levels each, beside the building of
           CatBoost's Pool.

A library that is missing is named and left out.
"""

import argparse
import time
from functools import partial

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from measure import interleave
from peers import peer
from report import add_arguments, print_markdown, seconds_text, warn_if_busy, write_json
from sklearn.metrics import log_loss, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.compose import make_column_selector, make_column_transformer
from table_data import DRAWN_TABLES, REAL_TABLES, as_taken, draw_table, draw_wide_table, read_table

from fctree import (
    CurvatureBoostingClassifier,
    CurvatureBoostingRegressor,
    SymmetricBoostingRegressor,
)
from fctree._tables.estimators import encode_training, validate_table

try:
    import catboost
except ImportError:
    catboost = None

NAME = "bench_tables"
PARTS = ("accuracy", "encoding")
ROUNDS = 300  # of trees of depth 6 at a rate of 0.1, where settings are equal


def _equal(name, **options):
    """A library with as many trees as the others."""
    return partial(peer, name, rounds=ROUNDS, **options)


def _one_hot(classes, threads):
    text = make_column_selector(dtype_exclude="number")
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=100)
    encoder = make_column_transformer((codes, text), remainder="passthrough")
    return make_pipeline(encoder, _equal("fctree")(classes, threads=threads))


def _curvature(classes, threads):
    kind = CurvatureBoostingClassifier if classes else CurvatureBoostingRegressor
    return kind(random_state=0, n_jobs=threads)


def programs(with_default):
    """The programs by name: (build, what the table has to become)."""
    found = {
        "symmetric boosting": (_equal("fctree"), None),
        "curvature boosting": (_curvature, None),
        "symmetric, one-hot": (_one_hot, None),
        "HistGradientBoosting": (_equal("HistGradientBoosting", early_stopping=False), "category"),
    }
    if catboost is None:
        print("catboost is missing and left out")
        return found
    found["CatBoost, equal"] = (_equal("CatBoost", depth=6, learning_rate=0.1), "catboost")
    if with_default:
        found["CatBoost, default"] = (partial(peer, "CatBoost"), "catboost")
    return found


def scored(build, form, table, folds, n_jobs):
    """Mean score (less is better) and seconds of a fit over the folds."""
    X, y = table
    classes = y.dtype.kind in "iu"
    X = as_taken(X, form)
    scores, seconds = [], []
    for train, test in folds:
        model = build(classes, threads=n_jobs)
        text = [n for n, dtype in zip(X, X.dtypes, strict=True) if dtype.kind not in "fiub"]
        options = {"cat_features": text} if form == "catboost" else {}
        start = time.perf_counter()
        model.fit(X.iloc[train], y[train], **options)
        seconds.append(time.perf_counter() - start)
        if classes:
            found = model.predict_proba(X.iloc[test])
            scores.append(log_loss(y[test], found, labels=np.unique(y[train])))
        else:
            scores.append(root_mean_squared_error(y[test], model.predict(X.iloc[test])))
    return {"score": float(np.mean(scores)), "fit_s": float(np.mean(seconds))}


def run_accuracy(args):
    tables = {f"drawn: {name}": draw_table(name, args.max_rows) for name in DRAWN_TABLES}
    if args.data is not None:
        tables |= {name: read_table(args.data, name, args.max_rows) for name in REAL_TABLES}
    if args.sets:
        tables = {name: table for name, table in tables.items() if name in args.sets}
    results = []
    named = programs(args.catboost_default)
    for name, (X, y) in tables.items():
        classes = y.dtype.kind in "iu"
        splitter = (StratifiedKFold if classes else KFold)(2, shuffle=True, random_state=0)
        folds = list(splitter.split(X, y))
        row = {"table": name, "rows": len(X), "columns": X.shape[1],
               "metric": "log-loss" if classes else "RMSE"}
        for program, (build, form) in named.items():
            row[program] = scored(build, form, (X, y), folds, args.n_jobs)
        results.append(row)
        print(name, {p: round(row[p]["score"], 4) for p in named}, flush=True)
    for title, key, text in (("Score", "score", "{:.4f}".format), ("Fit", "fit_s", seconds_text)):
        print_markdown(
            title,
            ["table", "rows", "metric", *named],
            [[r["table"], r["rows"], r["metric"], *(text(r[p][key]) for p in named)]
             for r in results],
        )
    return results


def run_encoding(args):
    n = 100_000 if args.quick else 1_000_000
    X, y = draw_wide_table(n)

    def encode():
        model = SymmetricBoostingRegressor()
        coded, targets = validate_table(
            model, X, y, reset=True, dtype=np.float64, ensure_all_finite=False
        )
        return encode_training(model, coded, targets[np.newaxis], None, n_classes=None)

    calls = {"fctree: encoded": encode}
    if catboost is not None:
        text = list(X)
        calls["CatBoost: Pool"] = lambda: catboost.Pool(
            X, y, cat_features=text, thread_count=args.n_jobs
        )
    timings, _ = interleave(calls, repeats=3, slow_seconds=float("inf"))
    rows = [{"program": name, "rows": n, **timing.as_dict()} for name, timing in timings.items()]
    print_markdown(
        f"{n:,} rows, 10 columns of 10,000 levels",
        ["program", "median", "best"],
        [[r["program"], seconds_text(r["median_s"]), seconds_text(r["best_s"])] for r in rows],
    )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_arguments(parser, NAME)
    parser.add_argument("--data", metavar="DIR", help="the folder of the real tables")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sets", nargs="+", metavar="TABLE", help="only these tables")
    parser.add_argument("--max-rows", type=int, default=1000)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--catboost-default", action="store_true", help="1,000 trees too")
    args = parser.parse_args()
    warn_if_busy()
    runs = {"accuracy": run_accuracy, "encoding": run_encoding}
    results = {part: runs[part](args) for part in args.only}
    write_json(args.json, NAME, results, args.quick)


if __name__ == "__main__":
    main()
