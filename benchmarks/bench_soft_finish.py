"""One curvature tree with hard and with soft boundaries.

Real tables, two of five folds: R² of the tree with hard splits and with `leaf_model="soft"`, by depth, and of 30 rounds of
boosting with trees of depth 2.

python benchmarks/bench_soft_finish.py --data FOLDER
"""

import argparse
import time

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import CurvatureBoostingRegressor, CurvatureTreeRegressor
from real_data import REGRESSION_SETS, load_table, short_name
from report import add_arguments, print_markdown, write_json
from sklearn.model_selection import KFold

NAME = "bench_soft_finish"
DEPTHS = (3, 4, 5, 6)
BOOSTING = "30 rounds of depth 2"


def score(model, X, y, n_folds=2):
    """Mean R² over the folds, the share of them in which the soft tree was kept, and seconds."""
    found = []
    for train, test in list(KFold(5, shuffle=True, random_state=0).split(X))[:n_folds]:
        start = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - start
        kept = hasattr(model, "tree_") and model.tree_.boundary_width is not None
        found.append([model.score(X[test], y[test]), kept, seconds])
    return np.mean(found, axis=0).tolist()


def compare(tables, depth):
    """The results of one depth, by table and on average."""
    by_table = {}
    for name, (X, y) in tables.items():
        hard, _, hard_seconds = score(CurvatureTreeRegressor(max_depth=depth), X, y)
        soft, kept, seconds = score(CurvatureTreeRegressor(max_depth=depth, leaf_model="soft"), X, y)
        by_table[name] = {"hard": hard, "soft": soft, "gain": soft - hard, "kept": kept,
                          "seconds": seconds, "seconds, hard": hard_seconds}
    gains = np.array([of["gain"] for of in by_table.values()])
    return {
        "tables": by_table,
        "mean": {key: float(np.mean([of[key] for of in by_table.values()]))
                 for key in ("hard", "soft", "gain", "kept", "seconds", "seconds, hard")},
        "median gain": float(np.median(gains)), "smallest gain": float(gains.min()),
        "better": int(np.sum(gains > 0.001)), "worse": int(np.sum(gains < -0.001)),
    }


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", required=True, help="folder of the real tables (real_data.py)")
    parser.add_argument("--rows", type=int, default=5_000, help="most of a table")
    args = parser.parse_args()
    tables = {}
    for name in REGRESSION_SETS[:4] if args.quick else REGRESSION_SETS:
        X, y = load_table(args.data, name, max_rows=args.rows)
        tables[short_name(name)] = X, y.astype(float)
    results = {}
    for depth in DEPTHS[:1] if args.quick else DEPTHS:
        found = results[f"depth {depth}"] = compare(tables, depth)
        print_markdown(
            f"depth {depth}", ["table", "hard", "soft", "gain", "kept", "seconds"],
            [[name, *(f"{of[key]:.4f}" for key in ("hard", "soft", "gain")), of["kept"],
              f"{of['seconds']:.2f}"] for name, of in {**found["tables"], "mean": found["mean"]}.items()])
        print({key: value for key, value in found.items() if key not in ("tables", "mean")}, flush=True)
        write_json(args.json, NAME, results, quick=args.quick)
    boosting = CurvatureBoostingRegressor(max_iter=30, learning_rate=0.1, max_depth=2, random_state=0)
    by_table = {name: score(boosting, X, y)[0] for name, (X, y) in tables.items()}
    results[BOOSTING] = {"tables": by_table, "mean": float(np.mean(list(by_table.values())))}
    print(BOOSTING, results[BOOSTING]["mean"])
    write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
