"""The gain of a learning rate that grows as long as steps hold out of bag, in curvature boosting.

`learning_rate="auto"` against the constant 0.05 that it begins with, default settings otherwise, two folds: on the tables that
the league knows, of `--max-rows` at most, and on simulated tables. Errors are log-loss or RMSE.
"""

import argparse
import time
from pathlib import Path

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
import pandas as pd
from league import Table, judge, known_sets, load, short_name, splits
from league_programs import formed
from report import add_arguments, print_markdown, write_json
from sklearn.datasets import make_classification, make_friedman1, make_friedman2, make_friedman3

from fctree import CurvatureBoostingClassifier, CurvatureBoostingRegressor

NAME = "bench_learning_rate"
RATES = (0.05, "auto")
FEWEST_ROWS = {1000: 100, 5000: 1100, 20_000: 5001}  # fewer: too few, or the same table as before


def drawn_tables(n_rows=5000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 10))
    yield "net of 8 units", X, np.tanh(X @ rng.normal(size=(10, 8))) @ rng.normal(size=8)
    yield "products", X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] * X[:, 4]
    X = rng.random((n_rows, 3))
    yield "waves", X, np.sin(8 * X[:, 0]) * np.cos(8 * X[:, 1]) + X[:, 2]
    for name, make in (("Friedman 1", make_friedman1), ("Friedman 2", make_friedman2), ("Friedman 3", make_friedman3)):
        X, y = make(n_rows, noise=0.0, random_state=0)
        yield name, X, y
        yield f"{name}, noisy", X, y + 0.3 * y.std() * rng.normal(size=n_rows)
    X = rng.integers(0, 4, (n_rows, 8))
    rule = (X[:, 0] == X[:, 1]) | (X[:, 2] + X[:, 3] > 4)
    for share in (0.0, 0.1):
        yield f"rule, {share:.0%} of labels drawn", X, np.where(rng.random(n_rows) < share, rng.random(n_rows) < 0.5, rule) + 0
    for n_classes in (10, 18, 26):
        X, y = make_classification(n_rows, 20, n_informative=12, n_classes=n_classes, n_clusters_per_class=2, random_state=0)
        yield f"{n_classes} classes", X, y


def compare(table):
    X = formed(table.X, "curvature boosting")
    errors, rates, seconds = [], {}, []
    for fold, (train, test) in enumerate(splits(table, 2)):
        for rate in RATES:
            make = CurvatureBoostingClassifier if table.classifies else CurvatureBoostingRegressor
            start = time.process_time()
            model = make(learning_rate=rate, n_jobs=1, random_state=fold).fit(X.iloc[train], table.y[train])
            seconds.append(time.process_time() - start)
            answers = model.predict_proba(X.iloc[test]) if table.classifies else model.predict(X.iloc[test])
            errors.append(judge(table.y[test], answers, table.classifies)["error"])
        rates[f"fold {fold}"] = model.learning_rates_[-1]
    constant, auto = (float(np.mean(errors[at::2])) for at in (0, 1))
    return {"rows": len(X), "classes": table.properties()["classes"], "constant": constant, "auto": auto,
            "ratio": auto / constant, "rates": rates, "fit, ratio": sum(seconds[1::2]) / sum(seconds[::2])}


def real_tables(folder, max_rows):
    for name in known_sets(folder):
        table = load(folder, name, max_rows)
        if len(table.y) >= FEWEST_ROWS.get(max_rows, 0) and "plant" not in name and "semeion" not in name:
            yield table


def summarise(title, records):
    print_markdown(title, ("set", "rows", "classes", "constant", "auto", "ratio", "rates", "fit, ratio"),
                   [(name, *(" ".join(map(str, v.values())) if isinstance(v, dict) else v for v in record.values()))
                    for name, record in sorted(records.items(), key=lambda item: item[1]["ratio"])])
    logs = {kind: [np.log(r["ratio"]) for r in records.values() if (r["classes"] is None) == (kind == "regression")]
            for kind in ("classification", "regression")}
    return {kind: {"sets": len(of), "geometric mean": float(np.exp(np.mean(of))), "median": float(np.exp(np.median(of))),
                   "better by over 1 %": int(np.sum(np.array(of) < np.log(0.99))),
                   "worse by over 1 %": int(np.sum(np.array(of) > np.log(1.01)))}
            for kind, of in logs.items() if of}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", type=Path, help="folder of the real tables")
    parser.add_argument("--max-rows", type=int, nargs="*", default=[1000, 5000, 20_000])
    options = parser.parse_args()
    parts = {"drawn": (Table(name, pd.DataFrame(X), y) for name, X, y in drawn_tables(1000 if options.quick else 5000))}
    for max_rows in options.max_rows if options.data else ():
        parts[f"{max_rows:,} rows"] = real_tables(options.data, max_rows)
    results = {}
    for part, tables in parts.items():
        records = {short_name(table.name).removeprefix("pmlb_"): compare(table) for table in tables}
        results[part] = {"sets": records, **summarise(part, records)}
        print({kind: results[part][kind] for kind in results[part] if kind != "sets"}, flush=True)
        write_json(options.json, NAME, results, quick=options.quick)


if __name__ == "__main__":
    main()
