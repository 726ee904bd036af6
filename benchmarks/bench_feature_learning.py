"""Tree kernel ridge regression with and without features that it learns.

Real tables, standardised, two of five folds: R² of `TreeNTKRegressorCV` and of the same with `feature_learning=3`.

python benchmarks/bench_feature_learning.py --data FOLDER
"""

import argparse
import time

import environment  # noqa: F401  (first: it prepares the process before NumPy is loaded)

import numpy as np
from fctree import TreeNTKRegressorCV
from real_data import REGRESSION_SETS, load_table, short_name
from report import add_arguments, print_markdown, write_json
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

NAME = "bench_feature_learning"
ROUNDS = 3


def measure(X, y, n_rounds, n_folds=2):
    """Mean R² over the folds, the share of them in which a metric was kept, and seconds."""
    found = []
    for train, test in list(KFold(5, shuffle=True, random_state=0).split(X))[:n_folds]:
        model = make_pipeline(StandardScaler(), TreeNTKRegressorCV(feature_learning=n_rounds))
        start = time.perf_counter()
        model.fit(X[train], (y[train] - y[train].mean()))
        seconds = time.perf_counter() - start
        answers = model.predict(X[test]) + y[train].mean()
        score = 1.0 - ((y[test] - answers) ** 2).sum() / ((y[test] - y[test].mean()) ** 2).sum()
        found.append([score, model[-1].feature_matrix_ is not None, seconds])
    return dict(zip(("r2", "kept", "seconds"), np.mean(found, axis=0).tolist(), strict=True))


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_arguments(parser, NAME)
    parser.add_argument("--data", required=True, help="folder of the real tables (real_data.py)")
    parser.add_argument("--rows", type=int, default=1_000, help="most of a table")
    args = parser.parse_args()
    by_table = {}
    for name in REGRESSION_SETS[:4] if args.quick else REGRESSION_SETS:
        X, y = load_table(args.data, name, max_rows=args.rows)
        plain, learned = (measure(X, y.astype(float), n_rounds) for n_rounds in (0, ROUNDS))
        by_table[short_name(name)] = {
            "plain": plain["r2"], "learned": learned["r2"], "gain": learned["r2"] - plain["r2"],
            "kept": learned["kept"], "seconds, plain": plain["seconds"], "seconds": learned["seconds"],
        }
        print(short_name(name), by_table[short_name(name)], flush=True)
    gains = np.array([of["gain"] for of in by_table.values()])
    results = {
        "tables": by_table,
        "mean": {key: float(np.mean([of[key] for of in by_table.values()]))
                 for key in ("plain", "learned", "gain", "kept", "seconds, plain", "seconds")},
        "smallest gain": float(gains.min()),
        "better": int(np.sum(gains > 0.001)), "worse": int(np.sum(gains < -0.001)),
    }
    print_markdown("mean", ["plain", "learned", "gain"],
                   [[f"{results['mean'][key]:.4f}" for key in ("plain", "learned", "gain")]])
    write_json(args.json, NAME, results, quick=args.quick)


if __name__ == "__main__":
    main()
